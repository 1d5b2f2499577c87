//! Which files a request is about: those that hold its words first, then those that these refer to and are referred to by,
//! through a personalised PageRank over who uses whom.

use std::collections::HashMap;

use crate::{
    index::{Index, number},
    words,
};

/// What is asked, and where.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// The request in words.
    pub text: String,
    /// The file in which the user stands.
    pub place: Option<String>,
    /// What else is known: the selected text, the name around it, what tools say.
    pub more: String,
}

/// How much of its weight a file hands on to those that it refers to.
const DAMPING: f64 = 0.45;

/// How often weights are handed on.
const ROUNDS: usize = 20;

/// A name that more files than this define says nothing.
const COMMON: usize = 8;

/// What a word weighs in the path, in the name of something defined, and anywhere in the text.
const WEIGHTS: (f64, f64, f64) = (3.0, 2.0, 1.0);

/// What an import weighs beside a reference.
const IMPORT: f64 = 2.0;

/// What a reference weighs backwards: who uses it, beside whom it uses.
const BACKWARDS: f64 = 0.3;

/// The most words of a request that count.
const MOST_WORDS: usize = 64;

/// The most edges: sixty-four megabytes of them.
const MOST_EDGES: usize = 4_000_000;

/// To whom each file hands how much on.
type Edges = Vec<Vec<(u32, f64)>>;

/// What came of it.
pub(crate) struct Ranked {
    /// Files by their numbers, the most wanted first, with their weight.
    pub(crate) files: Vec<(usize, f64)>,
    /// The words of the request, and what each weighs.
    pub(crate) words: Vec<(u32, f64)>,
    /// The names that the request says, as numbers.
    pub(crate) names: Vec<u32>,
    /// In how many files each name is used that is defined somewhere.
    pub(crate) used: HashMap<u32, u32>,
}

impl Index {
    pub(crate) fn rank(&self, query: &Query) -> Ranked {
        let mut wanted = words::of_request(&query.text);
        let said = wanted.len();
        for word in words::of_request(&query.more) {
            if !wanted.contains(&word) {
                wanted.push(word);
            }
        }
        wanted.truncate(MOST_WORDS);
        let names = words::names(&format!("{} {}", query.text, query.more));
        let count = self.files.len();
        let mut paths: Vec<Vec<u32>> = Vec::with_capacity(count);
        for file in &self.files {
            let mut words = Vec::new();
            words::each(&file.path, |word| words.push(words::hash(word)));
            paths.push(words);
        }
        // A word that few files hold says more.
        let weighed: Vec<(u32, f64)> = wanted
            .iter()
            .enumerate()
            .map(|(at, word)| {
                let holds = self
                    .files
                    .iter()
                    .zip(&paths)
                    .filter(|(file, path)| has(&file.tags.words, *word) || path.contains(word))
                    .count();
                let rare = ((1 + count) as f64 / (1 + holds) as f64).ln() + 0.1;
                (*word, if at < said { rare } else { rare / 3.0 })
            })
            .collect();
        let wants_tests = ["test", "spec"]
            .iter()
            .any(|word| wanted.contains(&words::hash(word)));
        let mut seeds = vec![0.0; count];
        for (index, file) in self.files.iter().enumerate() {
            let mut weight = 0.0;
            for (word, rare) in &weighed {
                weight += rare
                    * (WEIGHTS.0 * f64::from(u8::from(paths[index].contains(word)))
                        + WEIGHTS.1 * f64::from(u8::from(has(&file.tags.named, *word)))
                        + WEIGHTS.2 * f64::from(u8::from(has(&file.tags.words, *word))));
            }
            // A long text holds many words by chance.
            let length = 1.0 + (file.tags.words.len() as f64 / 200.0).sqrt();
            seeds[index] = (weight / length).powf(1.6) * kind_of(&file.path, wants_tests);
        }
        self.said(&names, &mut seeds);
        if let Some(place) = query.place.as_deref().and_then(|place| self.find(place)) {
            seeds[place] += 2.0 * seeds.iter().copied().fold(1.0, f64::max);
        }
        let total: f64 = seeds.iter().sum();
        let even = 1.0 / count.max(1) as f64;
        for seed in &mut seeds {
            // A little for all: where nothing is said, what most is used counts.
            *seed = if total > 0.0 {
                0.97 * *seed / total + 0.03 * even
            } else {
                even
            };
        }
        let names: Vec<u32> = names
            .iter()
            .map(|name| words::hash(name.rsplit([':', '.']).next().unwrap_or(name)))
            .collect();
        let (edges, used) = self.edges(&names);
        let ranks = handed_on(&seeds, &edges);
        let mut files: Vec<(usize, f64)> = ranks.into_iter().enumerate().collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ranked {
            files,
            words: weighed,
            names,
            used,
        }
    }

    /// Names and paths that the request says as such weigh most.
    fn said(&self, names: &[String], seeds: &mut [f64]) {
        let most = seeds.iter().copied().fold(1.0, f64::max);
        for name in names {
            let bare = name.trim_start_matches("./");
            if name.contains('/') || name.contains('.') {
                let mut ending = self.files.iter().enumerate().filter(|(_, file)| {
                    file.path
                        .strip_suffix(bare)
                        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
                });
                if let (Some((at, _)), None) = (ending.next(), ending.next()) {
                    seeds[at] += 1.5 * most;
                }
            }
            let last = bare.rsplit([':', '.']).next().unwrap_or(bare);
            if let Some(places) = self
                .defined
                .get(&words::hash(last))
                .filter(|places| places.len() <= COMMON)
            {
                for (file, _) in places {
                    if let Some(seed) = usize::try_from(*file)
                        .ok()
                        .and_then(|file| seeds.get_mut(file))
                    {
                        *seed += 1.5 * most / places.len() as f64;
                    }
                }
            }
        }
    }

    /// Who hands how much on to whom, and by how many files each name is used.
    fn edges(&self, names: &[u32]) -> (Edges, HashMap<u32, u32>) {
        let mut edges: Edges = vec![Vec::new(); self.files.len()];
        let mut used: HashMap<u32, u32> = HashMap::new();
        let mut left = MOST_EDGES;
        let mut join = |from: usize, to: u32, weight: f64| {
            let Ok(back) = usize::try_from(to) else {
                return;
            };
            if left > 1 && from != back && back < edges.len() {
                left -= 2;
                edges[from].push((to, weight));
                edges[back].push((number(from), weight * BACKWARDS));
            }
        };
        for (index, file) in self.files.iter().enumerate() {
            for import in &file.imports {
                join(index, *import, IMPORT);
            }
            for (name, count) in &file.tags.references {
                let Some(places) = self.defined.get(name) else {
                    continue;
                };
                *used.entry(*name).or_default() += 1;
                if places.len() > COMMON {
                    continue;
                }
                let weight = f64::from(*count).sqrt() / places.len() as f64
                    * if names.contains(name) { 5.0 } else { 1.0 };
                for (to, at) in places {
                    let is_private = self.definition(*to, *at).is_some_and(|(_, definition)| {
                        definition.name.starts_with('_') || definition.name.len() < 4
                    });
                    join(index, *to, if is_private { weight * 0.2 } else { weight });
                }
            }
        }
        (edges, used)
    }
}

fn has(sorted: &[u32], word: u32) -> bool {
    sorted.binary_search(&word).is_ok()
}

/// Tests, examples and what others wrote are less wanted, if they are not asked for.
fn kind_of(path: &str, wants_tests: bool) -> f64 {
    let is_part = |part: &str| path.split(['/', '.', '_', '-']).any(|word| word == part);
    let is_test = ["test", "tests", "spec", "__tests__", "fixtures", "testdata"]
        .iter()
        .any(|part| is_part(part));
    if ["vendor", "third_party", "generated", "dist"]
        .iter()
        .any(|part| is_part(part))
    {
        0.3
    } else if is_test && !wants_tests {
        0.4
    } else {
        1.0
    }
}

/// The weights after all was handed on: each file keeps coming back to what was asked for.
fn handed_on(seeds: &[f64], edges: &[Vec<(u32, f64)>]) -> Vec<f64> {
    let totals: Vec<f64> = edges
        .iter()
        .map(|edges| edges.iter().map(|(_, weight)| weight).sum())
        .collect();
    let mut ranks = seeds.to_vec();
    for _ in 0..ROUNDS {
        let mut next: Vec<f64> = seeds.iter().map(|seed| seed * (1.0 - DAMPING)).collect();
        for (from, edges) in edges.iter().enumerate() {
            if edges.is_empty() {
                // What has nobody to hand on to keeps it.
                next[from] += DAMPING * ranks[from];
            }
            for (to, weight) in edges {
                if let Some(to) = usize::try_from(*to).ok().and_then(|to| next.get_mut(to)) {
                    *to += DAMPING * ranks[from] * weight / totals[from];
                }
            }
        }
        ranks = next;
    }
    ranks
}
