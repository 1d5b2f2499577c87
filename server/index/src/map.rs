//! The map that a model is shown: the files that a request is about, and of each the lines that say most.

use std::fmt::Write as _;

use crate::{
    index::{File, Index},
    rank::{Query, Ranked},
    words,
};

/// How long a map is.
#[derive(Clone, Copy, Debug)]
pub struct MapOptions {
    /// Tokens, at three and a half bytes each.
    pub tokens: usize,
}

impl Default for MapOptions {
    /// 1,500 tokens.
    fn default() -> Self {
        Self { tokens: 1_500 }
    }
}

/// How many lines the first files have, and the others.
const LINES: [(usize, usize); 3] = [(6, 6), (20, 2), (usize::MAX, 0)];

impl Index {
    /// The files that a request is about, the most wanted first; below a file are lines of it, with their numbers.
    pub fn map(&self, query: &Query, options: MapOptions) -> String {
        let ranked = self.rank(query);
        let room = options.tokens * 7 / 2;
        let mut map = String::new();
        let mut shown = 0;
        for (file, _) in &ranked.files {
            let Some(file) = self.files.get(*file) else {
                continue;
            };
            let lines = LINES
                .iter()
                .find(|(below, _)| shown < *below)
                .map_or(0, |(_, lines)| *lines);
            let mut entry = format!("{}\n", file.path);
            for (line, text) in best(file, &ranked, lines) {
                let _ = writeln!(entry, "  {line}: {text}");
            }
            if map.len() + entry.len() > room {
                entry.truncate(file.path.len() + 1);
            }
            if map.len() + entry.len() > room {
                break;
            }
            map.push_str(&entry);
            shown += 1;
        }
        map
    }
}

/// The definitions of a file that say most, in the order of the text.
fn best<'a>(file: &'a File, ranked: &Ranked, most: usize) -> Vec<(u32, &'a str)> {
    if most == 0 {
        return Vec::new();
    }
    let mut scored: Vec<(f64, usize)> = file
        .tags
        .definitions
        .iter()
        .enumerate()
        .map(|(at, definition)| {
            let name = words::hash(&definition.name);
            let mut score = f64::from(ranked.used.get(&name).copied().unwrap_or(0)).ln_1p();
            if ranked.names.contains(&name) {
                score += 100.0;
            }
            words::each(&definition.name, |word| {
                let word = words::hash(word);
                let weight = ranked.words.iter().find(|(wanted, _)| *wanted == word);
                score += 3.0 * weight.map_or(0.0, |(_, weight)| *weight);
            });
            (score, at)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.truncate(most);
    let mut best: Vec<(u32, &str)> = scored
        .iter()
        .map(|(_, at)| {
            let definition = &file.tags.definitions[*at];
            (definition.line, definition.text.as_str())
        })
        .collect();
    best.sort_unstable();
    best.dedup_by_key(|(line, _)| *line);
    best
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

    fn map(index: &Index, text: &str, tokens: usize) -> String {
        let query = Query {
            text: text.to_owned(),
            ..Query::default()
        };
        index.map(&query, MapOptions { tokens })
    }

    #[test]
    fn what_a_request_names_comes_first_and_who_uses_it_after() {
        let index = index(&[
            ("a/unrelated.py", "def weather():\n    pass\n"),
            (
                "shop/bill.py",
                "from shop.tax import tax_of\n\ndef grand_total(cart):\n    return tax_of(cart)\n",
            ),
            (
                "shop/tax.py",
                "RATE = 20\n\ndef tax_of(cart):\n    return cart\n",
            ),
            (
                "web/page.py",
                "from shop.bill import grand_total\n\ndef show(cart):\n    return grand_total(cart)\n",
            ),
        ]);
        let paths = |text: &str| -> Vec<String> {
            let map = map(&index, text, 1_500);
            map.lines()
                .filter(|line| !line.starts_with(' '))
                .map(str::to_owned)
                .collect()
        };
        let first = paths("the grand totals are rounded wrongly");
        assert_eq!(first[0], "shop/bill.py", "{first:?}");
        assert_eq!(first[3], "a/unrelated.py", "{first:?}");
        assert_eq!(paths("look at `tax_of`")[0], "shop/tax.py");
        assert_eq!(paths("read web/page.py")[0], "web/page.py");
        assert!(
            map(&index, "grand totals", 1_500)
                .contains("shop/bill.py\n  3: def grand_total(cart)\n")
        );
    }

    #[test]
    fn a_map_is_as_long_as_it_may_be() {
        let files: Vec<(String, String)> = (0..500)
            .map(|n| {
                (
                    format!("d{n}/part{n}.rs"),
                    format!("pub fn part{n}() {{}}\n"),
                )
            })
            .collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        let index = index(&files);
        for tokens in [0, 10, 100, 1_000] {
            let map = map(&index, "part", tokens);
            assert!(
                map.len() <= tokens * 7 / 2 && (tokens < 100 || map.len() > tokens * 3),
                "{tokens}: {}",
                map.len()
            );
        }
        assert_eq!(map(&Index::default(), "part", 1_000), "");
    }
}
