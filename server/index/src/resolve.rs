//! Which files an import means. It is right for the usual layouts of a package; what it cannot tell it leaves out.

use std::collections::{HashMap, HashSet};

use crate::packages::{Kind, Package};

/// The most files that one import means: all of a package of Go or Java.
const MOST: usize = 50;

/// Files by their paths, and the packages among them.
pub(crate) struct Resolver<'a> {
    files: HashMap<&'a str, u32>,
    /// Files by their names, for imports that say only the end of a path.
    named: HashMap<&'a str, Vec<u32>>,
    folders: HashMap<&'a str, Vec<u32>>,
    paths: Vec<&'a str>,
    /// Packages that have a name, with their folders.
    packages: HashMap<(Kind, &'a str), (&'a str, &'a Package)>,
    /// The folders of all packages.
    homes: HashSet<(Kind, &'a str)>,
    /// The folders of the packages of Python, which say no name.
    python: Vec<&'a str>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        paths: Vec<&'a str>,
        packages: impl Iterator<Item = (&'a str, &'a Package)>,
    ) -> Self {
        let mut resolver = Self {
            files: HashMap::with_capacity(paths.len()),
            named: HashMap::new(),
            folders: HashMap::new(),
            paths,
            packages: HashMap::new(),
            homes: HashSet::new(),
            python: Vec::new(),
        };
        for (path, package) in packages {
            let dir = folder(path);
            resolver.homes.insert((package.kind, dir));
            if package.kind == Kind::Python && resolver.python.len() < MOST {
                resolver.python.push(dir);
            }
            if !package.name.is_empty() {
                let key = (package.kind, package.name.as_str());
                resolver.packages.entry(key).or_insert((dir, package));
            }
        }
        for (index, path) in resolver.paths.iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            resolver.files.insert(path, index);
            let name = path.rsplit('/').next().unwrap_or(path);
            resolver.named.entry(name).or_default().push(index);
            resolver
                .folders
                .entry(folder(path))
                .or_default()
                .push(index);
        }
        resolver
    }

    /// The files that an import in `from` means, each once.
    pub(crate) fn resolve(&self, from: &str, import: &str) -> Vec<u32> {
        let extension = from.rsplit('.').next().unwrap_or_default();
        let mut found = match extension {
            "rs" => self.rust(from, import).into_iter().collect(),
            "py" | "pyi" | "pyw" => self.python(from, import).into_iter().collect(),
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" => {
                self.script(from, import).into_iter().collect()
            }
            "go" => self.go(import),
            "java" => self.java(import),
            "rb" | "rake" | "gemspec" => self.ruby(from, import).into_iter().collect(),
            "sh" | "bash" => self.plain(from, import).into_iter().collect(),
            _ => self.plain(from, import).into_iter().collect::<Vec<u32>>(),
        };
        found.sort_unstable();
        found.dedup();
        found.truncate(MOST);
        found
    }

    fn file(&self, path: &str) -> Option<u32> {
        self.files.get(path).copied()
    }

    /// The nearest package of this kind that a file is in.
    fn package_of<'p>(&self, from: &'p str, kind: Kind) -> Option<&'p str> {
        let mut dir = folder(from);
        loop {
            if self.homes.contains(&(kind, dir)) {
                return Some(dir);
            }
            if dir.is_empty() {
                return None;
            }
            dir = folder(dir);
        }
    }

    /// The package that an import with slashes begins with, and the rest of it.
    fn package_in<'i>(
        &self,
        kind: Kind,
        import: &'i str,
    ) -> Option<(&'a str, &'a Package, &'i str)> {
        let mut name = import;
        loop {
            if let Some((dir, package)) = self.packages.get(&(kind, name)) {
                return Some((dir, package, import[name.len()..].trim_start_matches('/')));
            }
            name = folder(name);
            if name.is_empty() {
                return None;
            }
        }
    }

    fn rust(&self, from: &str, import: &str) -> Option<u32> {
        let parts: Vec<&str> = import.split("::").map(str::trim).collect();
        let (first, rest) = parts.split_first()?;
        let name = from.rsplit('/').next().unwrap_or(from);
        let here = folder(from);
        // The folder in which the modules below this file stand.
        let below = match name {
            "mod.rs" | "lib.rs" | "main.rs" => here.to_owned(),
            _ => join(here, name.trim_end_matches(".rs")),
        };
        match *first {
            "crate" => {
                let package = self.package_of(from, Kind::Cargo)?;
                self.module(&join(package, "src"), rest)
                    .or_else(|| self.crate_root(package))
            }
            "self" => self.module(&below, rest),
            "super" => {
                let (mut dir, mut rest) = (folder(&below), rest);
                while let Some((&"super", more)) = rest.split_first() {
                    (dir, rest) = (folder(dir), more);
                }
                let parent = || {
                    [
                        join(dir, "mod.rs"),
                        format!("{dir}.rs"),
                        join(dir, "lib.rs"),
                        join(dir, "main.rs"),
                    ]
                    .iter()
                    .find_map(|path| self.file(path))
                };
                self.module(dir, rest).or_else(parent)
            }
            first => match self.packages.get(&(Kind::Cargo, first)) {
                Some((folder, package)) => self
                    .module(&join(folder, "src"), rest)
                    .or_else(|| self.file(&join(folder, package.entry.as_deref()?)))
                    .or_else(|| self.crate_root(folder)),
                None => self.module(&below, &parts),
            },
        }
    }

    fn crate_root(&self, package: &str) -> Option<u32> {
        ["src/lib.rs", "src/main.rs"]
            .iter()
            .find_map(|root| self.file(&join(package, root)))
    }

    /// The deepest module of a path of which there is a file.
    fn module(&self, dir: &str, parts: &[&str]) -> Option<u32> {
        (1..=parts.len()).rev().find_map(|count| {
            let path = join(dir, &parts[..count].join("/"));
            self.file(&format!("{path}.rs"))
                .or_else(|| self.file(&format!("{path}/mod.rs")))
        })
    }

    fn python(&self, from: &str, import: &str) -> Option<u32> {
        let dots = import.bytes().take_while(|byte| *byte == b'.').count();
        let path = import[dots..].replace('.', "/");
        let at = |dir: &str| {
            let whole = join(dir, &path);
            let module = |path: &str| {
                ["py", "pyi"]
                    .iter()
                    .find_map(|end| self.file(&format!("{path}.{end}")))
                    .or_else(|| self.file(&join(path, "__init__.py")))
            };
            module(&whole)
        };
        if dots > 0 {
            let mut dir = folder(from);
            for _ in 1..dots {
                dir = folder(dir);
            }
            return at(dir);
        }
        // Its own folders upwards, then every package of the repository.
        let mut dir = folder(from);
        loop {
            if let Some(file) = at(dir).or_else(|| at(&join(dir, "src"))) {
                return Some(file);
            }
            if dir.is_empty() {
                break;
            }
            dir = folder(dir);
        }
        self.python
            .iter()
            .find_map(|dir| at(dir).or_else(|| at(&join(dir, "src"))))
    }

    fn script(&self, from: &str, import: &str) -> Option<u32> {
        if import.starts_with('.') {
            return self.script_at(&normal(folder(from), import)?);
        }
        if let Some(rest) = import
            .strip_prefix("@/")
            .or_else(|| import.strip_prefix("~/"))
        {
            let package = self.package_of(from, Kind::Npm).unwrap_or_default();
            return self
                .script_at(&join(&join(package, "src"), rest))
                .or_else(|| self.script_at(&join(package, rest)));
        }
        let (dir, package, rest) = self.package_in(Kind::Npm, import)?;
        if !rest.is_empty() {
            return self
                .script_at(&join(dir, rest))
                .or_else(|| self.script_at(&join(&join(dir, "src"), rest)));
        }
        let entry = package.entry.as_deref().and_then(|entry| {
            let path = normal(dir, entry)?;
            // What is built is not there; what it is built from is.
            self.script_at(&path)
                .or_else(|| self.script_at(&path.replacen("dist/", "src/", 1)))
        });
        entry
            .or_else(|| self.script_at(&join(dir, "src/index")))
            .or_else(|| self.script_at(&join(dir, "index")))
    }

    fn script_at(&self, path: &str) -> Option<u32> {
        const ENDS: [&str; 6] = ["ts", "tsx", "js", "jsx", "mjs", "cjs"];
        // In TypeScript an import of `./a.js` means `./a.ts`.
        let bare = path
            .rsplit_once('.')
            .filter(|(_, end)| ENDS.contains(end))
            .map(|(bare, _)| bare);
        self.file(path)
            .or_else(|| {
                ENDS.iter()
                    .find_map(|end| self.file(&format!("{path}.{end}")))
            })
            .or_else(|| {
                ENDS.iter()
                    .find_map(|end| self.file(&format!("{}.{end}", bare?)))
            })
            .or_else(|| {
                ENDS.iter()
                    .find_map(|end| self.file(&format!("{path}/index.{end}")))
            })
    }

    fn go(&self, import: &str) -> Vec<u32> {
        let Some((dir, _, rest)) = self.package_in(Kind::Go, import) else {
            return Vec::new();
        };
        let dir = join(dir, rest);
        let files = self
            .folders
            .get(dir.as_str())
            .into_iter()
            .flatten()
            .copied()
            .take(10 * MOST);
        files
            .filter(|file| {
                let path = self.path(*file);
                path.ends_with(".go") && !path.ends_with("_test.go")
            })
            .collect()
    }

    fn java(&self, import: &str) -> Vec<u32> {
        let path = import.replace('.', "/");
        let mut path = path.as_str();
        // A member of a class is imported by the class's file.
        for _ in 0..2 {
            let name = path.rsplit('/').next().unwrap_or(path);
            if let Some(file) = self.ending(&format!("{name}.java"), &format!("{path}.java")) {
                return vec![file];
            }
            path = folder(path);
        }
        Vec::new()
    }

    fn ruby(&self, from: &str, import: &str) -> Option<u32> {
        let path = if import.ends_with(".rb") {
            import.to_owned()
        } else {
            format!("{import}.rb")
        };
        if import.starts_with('.') {
            return self.file(&normal(folder(from), &path)?);
        }
        self.plain(from, &path)
    }

    /// A path from the folder of the file, from the top, or the end of one.
    fn plain(&self, from: &str, import: &str) -> Option<u32> {
        let import = import.trim_start_matches('/');
        let name = import.rsplit('/').next()?;
        normal(folder(from), import)
            .and_then(|path| self.file(&path))
            .or_else(|| self.file(import))
            .or_else(|| {
                self.ending(
                    name,
                    import.trim_start_matches("./").trim_start_matches("../"),
                )
            })
    }

    /// The one file with this name whose path ends in `end`; the shortest if there are several.
    fn ending(&self, name: &str, end: &str) -> Option<u32> {
        // Where hundreds have the same name, its end says little.
        let files = self.named.get(name)?.iter().copied().take(10 * MOST);
        files
            .filter(|file| {
                let path = self.path(*file);
                path.strip_suffix(end)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            })
            .min_by_key(|file| self.path(*file).len())
    }

    fn path(&self, file: u32) -> &'a str {
        usize::try_from(file)
            .ok()
            .and_then(|file| self.paths.get(file))
            .copied()
            .unwrap_or_default()
    }
}

/// The folder of a path, empty for the top.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn join(dir: &str, path: &str) -> String {
    match (dir, path) {
        ("", path) => path.to_owned(),
        (dir, "") => dir.to_owned(),
        (dir, path) => format!("{dir}/{path}"),
    }
}

/// A relative path from a folder; `None` for what leads out at the top.
fn normal(dir: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests;
