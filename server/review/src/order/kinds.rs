//! What kind of file a path names, as far as names tell.

use legwork_model::TreePath;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Code,
    Configuration,
    Test,
    Documentation,
    /// Written by a program, or by other people.
    Generated,
    /// Versions of dependencies, written by a package manager.
    Lock,
}

/// Directories, at any depth.
const DIRS: [(&str, Kind); 14] = [
    ("vendor", Kind::Generated),
    ("third_party", Kind::Generated),
    ("node_modules", Kind::Generated),
    ("dist", Kind::Generated),
    ("generated", Kind::Generated),
    ("__generated__", Kind::Generated),
    ("__snapshots__", Kind::Generated),
    ("tests", Kind::Test),
    ("test", Kind::Test),
    ("__tests__", Kind::Test),
    ("testdata", Kind::Test),
    ("fixtures", Kind::Test),
    ("docs", Kind::Documentation),
    ("doc", Kind::Documentation),
];

/// Whole names, in lower case.
const NAMES: [(&str, Kind); 10] = [
    ("package-lock.json", Kind::Lock),
    ("npm-shrinkwrap.json", Kind::Lock),
    ("pnpm-lock.yaml", Kind::Lock),
    ("bun.lockb", Kind::Lock),
    ("go.sum", Kind::Lock),
    ("gradle.lockfile", Kind::Lock),
    ("requirements.txt", Kind::Configuration),
    ("license", Kind::Documentation),
    ("changelog", Kind::Documentation),
    ("readme", Kind::Documentation),
];

/// Ends of names, in lower case; the first that fits counts.
const ENDS: [(&str, Kind); 40] = [
    (".lock", Kind::Lock),
    (".min.js", Kind::Generated),
    (".min.css", Kind::Generated),
    (".map", Kind::Generated),
    (".snap", Kind::Generated),
    (".pb.go", Kind::Generated),
    ("_pb2.py", Kind::Generated),
    (".g.dart", Kind::Generated),
    ("_test.go", Kind::Test),
    ("_test.py", Kind::Test),
    ("_test.rb", Kind::Test),
    ("_spec.rb", Kind::Test),
    ("_test.c", Kind::Test),
    ("_test.cc", Kind::Test),
    ("_test.cpp", Kind::Test),
    ("/tests.rs", Kind::Test),
    ("_test.rs", Kind::Test),
    ("_tests.rs", Kind::Test),
    (".test.js", Kind::Test),
    (".test.jsx", Kind::Test),
    (".test.ts", Kind::Test),
    (".test.tsx", Kind::Test),
    (".spec.js", Kind::Test),
    (".spec.ts", Kind::Test),
    (".spec.tsx", Kind::Test),
    ("test.java", Kind::Test),
    (".md", Kind::Documentation),
    (".rst", Kind::Documentation),
    (".adoc", Kind::Documentation),
    (".org", Kind::Documentation),
    (".txt", Kind::Documentation),
    (".toml", Kind::Configuration),
    (".yaml", Kind::Configuration),
    (".yml", Kind::Configuration),
    (".json", Kind::Configuration),
    (".ini", Kind::Configuration),
    (".cfg", Kind::Configuration),
    (".conf", Kind::Configuration),
    (".properties", Kind::Configuration),
    (".xml", Kind::Configuration),
];

impl Kind {
    /// What a file of this path is.
    pub(super) fn of(path: &TreePath) -> Self {
        let lower = |part: &[u8]| String::from_utf8_lossy(part).to_lowercase();
        let mut parts: Vec<String> = path.components().map(lower).collect();
        let name = format!("/{}", parts.pop().unwrap_or_default());
        let dir = parts
            .iter()
            .find_map(|part| DIRS.iter().find(|(dir, _)| dir == part))
            .map(|(_, kind)| *kind);
        let whole = NAMES.iter().find(|(known, _)| *known == &name[1..]);
        let end = ENDS.iter().find(|(end, _)| name.ends_with(end));
        let named = whole.or(end).map(|(_, kind)| *kind);
        match (dir, named) {
            // What a program wrote is of no interest wherever it is.
            (_, Some(kind @ (Self::Lock | Self::Generated))) => kind,
            (Some(kind), _) => kind,
            (None, Some(kind)) => kind,
            (None, None) if name.starts_with("/test_") => Self::Test,
            (None, None) if name.starts_with("/.") => Self::Configuration,
            (None, None) => Self::Code,
        }
    }

    /// As a few words.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Configuration => "configuration",
            Self::Test => "test",
            Self::Documentation => "documentation",
            Self::Generated => "generated",
            Self::Lock => "lock file",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_is_for() {
        for (kind, paths) in [
            (
                Kind::Code,
                &[
                    "src/main.rs",
                    "lib/contest.py",
                    "a/latest.go",
                    "bin/run",
                    "src/map",
                ][..],
            ),
            (
                Kind::Test,
                &[
                    "tests/a.rs",
                    "a/parse_test.go",
                    "src/hunks/tests.rs",
                    "test_x.py",
                    "web/a.test.tsx",
                ],
            ),
            (
                Kind::Documentation,
                &["README.md", "LICENSE", "docs/conf.py", "a/notes.txt"],
            ),
            (
                Kind::Configuration,
                &[
                    "a/config.yaml",
                    ".editorconfig",
                    "tsconfig.json",
                    "requirements.txt",
                ],
            ),
            (
                Kind::Lock,
                &[
                    "Cargo.lock",
                    "web/package-lock.json",
                    "tests/x/yarn.lock",
                    "go.sum",
                ],
            ),
            (
                Kind::Generated,
                &[
                    "vendor/a/b.go",
                    "web/app.min.js",
                    "src/__snapshots__/a.snap",
                ],
            ),
        ] {
            for path in paths {
                assert_eq!(Kind::of(&path.parse().unwrap()), kind, "{path}");
            }
        }
    }
}
