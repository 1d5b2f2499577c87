//! Follows names and imports: where something is defined, who uses it, and how a file comes to another.

use std::{
    collections::{HashSet, VecDeque},
    fmt,
    fmt::Write as _,
};

use crate::{
    index::{Index, number},
    words,
};

/// The most places that are told of each kind.
const MOST: usize = 40;

/// Over how many files a name is handed on.
const HOPS: usize = 3;

/// What is known of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Path, line and text of each definition.
    pub definitions: Vec<(String, u32, String)>,
    /// Paths of files that say it, how often, and whether they import a file that defines it or hands it on.
    pub users: Vec<(String, u16, bool)>,
}

/// How a file comes to another: each imports the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain(pub Vec<String>);

impl Index {
    /// Where a name is defined and used. Of `a::b` or `a.b` the last part counts.
    pub fn named(&self, name: &str) -> Named {
        let last = name.rsplit([':', '.']).next().unwrap_or(name);
        let hash = words::hash(last);
        let places = self
            .defined
            .get(&hash)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut named = Named::default();
        let mut homes: HashSet<u32> = HashSet::new();
        for (file, at) in places {
            if let Some((place, definition)) = self.definition(*file, *at)
                && definition.name == last
            {
                homes.insert(*file);
                named.definitions.push((
                    place.path.clone(),
                    definition.line,
                    definition.text.clone(),
                ));
            }
        }
        let says: Vec<(usize, u16)> = self
            .files
            .iter()
            .enumerate()
            .filter_map(|(index, file)| {
                let references = &file.tags.references;
                let at = references
                    .binary_search_by_key(&hash, |(name, _)| *name)
                    .ok()?;
                Some((index, references[at].1))
            })
            .collect();
        // Who says it and imports it may hand it on: `export { a } from './a'`.
        for _ in 0..HOPS {
            let more = says.iter().map(|(index, _)| *index).filter(|index| {
                let imports = &self.files[*index].imports;
                !homes.contains(&number(*index))
                    && imports.iter().any(|import| homes.contains(import))
            });
            let more: Vec<u32> = more.map(number).collect();
            homes.extend(more);
        }
        for (index, count) in says {
            let file = &self.files[index];
            let imports = file.imports.iter().any(|import| homes.contains(import));
            named.users.push((file.path.clone(), count, imports));
        }
        // Who imports it uses it for certain; who only says the name may mean another.
        named
            .users
            .sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(&b.0)));
        named
    }

    /// The shortest chain of imports from one file to another; `Err` names the path that is not there.
    ///
    /// # Errors
    ///
    /// A path that is not in the index.
    pub fn chain<'a>(&self, from: &'a str, to: &'a str) -> Result<Option<Chain>, &'a str> {
        let start = self.find(from).ok_or(from)?;
        let end = self.find(to).ok_or(to)?;
        let mut before: Vec<Option<usize>> = vec![None; self.files.len()];
        let mut queue = VecDeque::from([start]);
        before[start] = Some(start);
        while let Some(at) = queue.pop_front() {
            if at == end {
                let mut chain = vec![self.files[at].path.clone()];
                let mut at = at;
                while at != start {
                    at = before[at].unwrap_or(start);
                    chain.push(self.files[at].path.clone());
                }
                chain.reverse();
                return Ok(Some(Chain(chain)));
            }
            for next in &self.files[at].imports {
                if let Ok(next) = usize::try_from(*next)
                    && before[next].is_none()
                {
                    before[next] = Some(at);
                    queue.push_back(next);
                }
            }
        }
        Ok(None)
    }

    /// The files that import a file, and those that it imports.
    ///
    /// # Errors
    ///
    /// The path, if it is not in the index.
    pub fn neighbours<'a>(&self, path: &'a str) -> Result<(Vec<String>, Vec<String>), &'a str> {
        let at = self.find(path).ok_or(path)?;
        let importers = self
            .files
            .iter()
            .filter(|file| file.imports.contains(&number(at)));
        let imported = self.files[at]
            .imports
            .iter()
            .filter_map(|file| self.files.get(usize::try_from(*file).ok()?));
        Ok((
            importers.map(|file| file.path.clone()).collect(),
            imported.map(|file| file.path.clone()).collect(),
        ))
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = String::new();
        let (definitions, users) = (self.definitions.len(), self.users.len());
        let _ = writeln!(told, "defined in {definitions} places");
        for (path, line, text) in self.definitions.iter().take(MOST) {
            let _ = writeln!(told, "{path}:{line}:{text}");
        }
        let _ = writeln!(told, "said in {users} files");
        for (path, count, imports) in self.users.iter().take(MOST) {
            let how = if *imports { ", imports it" } else { "" };
            let _ = writeln!(told, "{path}: {count} times{how}");
        }
        if definitions > MOST || users > MOST {
            let _ = writeln!(
                told,
                "[more than {MOST} are not listed; `search` by a pattern]"
            );
        }
        f.write_str(&told)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n  imports "))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Tags;

    fn index(files: &[(&str, &str)]) -> Index {
        let changes = files.iter().map(|(path, text)| {
            (
                (*path).to_owned(),
                Some(Arc::new(Tags::of(path, text.as_bytes()))),
            )
        });
        Index::default().with(changes.collect())
    }

    #[test]
    fn names_and_imports_are_followed_across_packages() {
        let index = index(&[
            ("apps/web/package.json", "{\"name\": \"web\"}"),
            (
                "apps/web/src/page.ts",
                "import { label } from '@acme/ui';\nexport const page = () => label('a');\n",
            ),
            (
                "apps/web/src/other.ts",
                "export const label_not = 1;\nconst x = label;\n",
            ),
            ("packages/ui/package.json", "{\"name\": \"@acme/ui\"}"),
            (
                "packages/ui/src/index.ts",
                "export { label } from './label';\n",
            ),
            (
                "packages/ui/src/label.ts",
                "export function label(text: string) {\n  return text;\n}\n",
            ),
        ]);
        let named = index.named("ui.label");
        assert_eq!(
            named.definitions,
            [(
                "packages/ui/src/label.ts".to_owned(),
                1,
                "export function label(text: string)".to_owned()
            )]
        );
        let users: Vec<(&str, bool)> = named
            .users
            .iter()
            .map(|(path, _, imports)| (path.as_str(), *imports))
            .collect();
        assert_eq!(
            users,
            [
                ("apps/web/src/page.ts", true),
                ("packages/ui/src/index.ts", true),
                ("apps/web/src/other.ts", false)
            ]
        );
        let chain = index
            .chain("apps/web/src/page.ts", "packages/ui/src/label.ts")
            .unwrap()
            .unwrap();
        assert_eq!(
            chain.0,
            [
                "apps/web/src/page.ts",
                "packages/ui/src/index.ts",
                "packages/ui/src/label.ts"
            ]
        );
        assert_eq!(
            index.chain("packages/ui/src/label.ts", "apps/web/src/page.ts"),
            Ok(None)
        );
        assert_eq!(
            index.chain("packages/ui/src/label.ts", "nowhere.ts"),
            Err("nowhere.ts")
        );
        assert_eq!(
            index.neighbours("packages/ui/src/index.ts").unwrap(),
            (
                vec!["apps/web/src/page.ts".to_owned()],
                vec!["packages/ui/src/label.ts".to_owned()]
            )
        );
    }

    #[test]
    fn a_circle_of_imports_ends() {
        let index = index(&[("a.py", "import b\n"), ("b.py", "import a\n"), ("c.py", "")]);
        assert_eq!(index.chain("a.py", "c.py"), Ok(None));
        assert_eq!(index.chain("a.py", "a.py").unwrap().unwrap().0, ["a.py"]);
    }
}
