//! What is ignored, tracked, secret or left out by rule.

use std::process::Command;

use super::*;

/// Git without the machine's or the user's settings.
fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git is needed for this test");
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn with(files: &[(&str, &str)]) -> Rules {
    let mut rules = Rules {
        dirs: BTreeMap::new(),
        outer: Vec::new(),
        global: Gitignore::empty(),
    };
    for (dir, text) in files {
        rules.add_file(dir.as_bytes(), text.as_bytes());
    }
    rules
}

#[test]
fn the_deepest_rule_wins_and_the_last_line_of_it() {
    let rules = with(&[
        ("", "*.log\r\n/only\nbuild/\n# c\nt\u{fc}r\n"),
        ("keep", "!*.log\n"),
    ]);
    for (path, is_dir, ignored) in [
        ("a.log", false, true),
        ("x/y/a.log", false, true),
        ("keep/a.log", false, false),
        ("only", false, true),
        ("x/only", false, false),
        ("build", true, true),
        ("build", false, false),
        ("x/build", true, true),
        ("tür", false, true),
    ] {
        assert_eq!(rules.ignores(path.as_bytes(), is_dir), ignored, "{path}");
    }
}

#[test]
fn a_repository_inside_starts_afresh() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", "sub"]);
    let mut rules = with(&[("", "*.log\n")]);
    rules.add_repository(b"sub", &dir.path().join("sub/.git"));
    assert!(rules.ignores(b"a.log", false));
    assert!(!rules.ignores(b"sub/a.log", false));
}

#[test]
fn every_version_of_the_index_is_read() {
    for (version, format) in [("2", "sha1"), ("3", "sha1"), ("4", "sha1"), ("2", "sha256")] {
        let dir = tempfile::tempdir().unwrap();
        git(
            dir.path(),
            &["init", "-q", &format!("--object-format={format}")],
        );
        for name in [
            "a",
            "a.b",
            "dir/one",
            "dir/two",
            "dir/\u{fc}",
            &"n".repeat(200),
        ] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        git(dir.path(), &["add", "a", "a.b", "dir"]);
        if version == "3" {
            git(dir.path(), &["add", "-N", &"n".repeat(200)]);
        } else {
            git(dir.path(), &["add", "."]);
        }
        git(dir.path(), &["update-index", "--index-version", version]);
        let rules = Repository::at(&dir.path().join(".git"));
        let known: Vec<_> = rules
            .tracked
            .iter()
            .map(|path| String::from_utf8_lossy(path))
            .collect();
        let all = [
            "a",
            "a.b",
            "dir/one",
            "dir/two",
            "dir/\u{fc}",
            &"n".repeat(200),
        ];
        assert_eq!(known, all, "{version} {format}");
    }
    assert_eq!(index::paths(b"DIRC"), None);
    assert_eq!(
        index::paths(&[b"DIRC\0\0\0\x02\xff\xff\xff\xff".as_slice(), &[7; 99]].concat()),
        None
    );
}

#[test]
fn a_repository_above_counts_if_it_knows_the_workspace() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q"]);
    let inside = dir.path().join("services/api");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(dir.path().join(".gitignore"), "*\n!.gitignore\n").unwrap();
    std::fs::write(inside.join("main.rs"), "").unwrap();
    assert!(!Rules::around(&inside).ignores(b"main.rs", false));
    git(dir.path(), &["add", "-f", "services/api/main.rs"]);
    let rules = Rules::around(&inside);
    assert!(rules.ignores(b"other.rs", false));
    assert!(rules.is_tracked(b"main.rs") && !rules.is_tracked(b"other.rs"));
}

#[test]
fn tracked_files_of_a_worktree_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let main = dir.path().join("main");
    git(dir.path(), &["init", "-q", "main"]);
    std::fs::create_dir(main.join("gen")).unwrap();
    std::fs::write(main.join("gen/x"), "").unwrap();
    git(&main, &["add", "."]);
    git(&main, &["commit", "-qm", "x"]);
    std::fs::write(main.join(".git/info/exclude"), "*.tmp\n").unwrap();
    git(&main, &["worktree", "add", "-q", "../wt"]);
    let mut rules = with(&[("", "gen/\n")]);
    rules.add_repository(b"", &dir.path().join("wt/.git"));
    assert!(rules.ignores(b"gen", true) && rules.has_tracked_below(b"gen"));
    assert!(rules.is_tracked(b"gen/x") && !rules.is_tracked(b"gen/y"));
    assert!(rules.ignores(b"a.tmp", false));
}

#[test]
fn includes_name_paths_and_lead_to_them() {
    let include = Include::new(&[".env".into(), "gen/types.ts".into()]).unwrap();
    assert!(include.names(b"packages/app/.env", false));
    assert!(include.leads_through(b"gen") && !include.leads_through(b"node_modules"));
    assert!(Include::new(&["a[".into()]).is_err());
}
