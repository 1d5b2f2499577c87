//! How good the map of a repository is: for fifty requests, whether the file that has to be changed is in the map's first 1,500 tokens,
//! beside what a plain `grep` for the request's words shows in as many.

#![expect(clippy::print_stdout, reason = "the table is for people")]

mod generated;
mod queries;

use std::collections::BTreeMap;

use generated::Project;
use kit::archive;
use legwork_index::{Index, Kept, Key, MapOptions, Query, Source};
use legwork_model::Digest;
use queries::QUERIES;

/// Bytes of 1,500 tokens.
const ROOM: usize = 1_500 * 7 / 2;

/// How many of a hundred requests must have their file in the map.
const WANTED: usize = 80;

fn projects() -> BTreeMap<&'static str, Project> {
    let small = |name: &str| -> Project {
        let text = archive::read(&format!("scripts/projects/{name}.txt"));
        archive::files(&text)
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect()
    };
    let mut projects: BTreeMap<&'static str, Project> = ["shop", "platform", "ledger", "services"]
        .into_iter()
        .map(|name| (name, small(name)))
        .collect();
    projects.insert("clinic", generated::clinic());
    projects.insert("market", generated::market());
    projects.insert("fleet", generated::fleet());
    projects
}

fn index(project: &Project) -> Index {
    let sources: Vec<Source> = project
        .iter()
        .map(|(path, text)| Source {
            path: path.clone(),
            key: Key::new(path, &Digest::of(text.as_bytes())),
        })
        .collect();
    let read = |at: usize| project.get(at).map(|(_, text)| text.clone().into_bytes());
    Index::build(&sources, &Kept::default(), &read).0
}

/// The words that somebody would look for.
fn words(request: &str) -> Vec<String> {
    const SMALL: [&str; 26] = [
        "should", "when", "with", "that", "they", "them", "their", "from", "have", "must", "only",
        "than", "into", "each", "after", "before", "again", "read", "wait", "same", "over", "need",
        "does", "were", "those", "whatever",
    ];
    let words = request.split(|c: char| !c.is_alphanumeric() && c != '_');
    words
        .filter(|word| word.len() >= 4)
        .map(str::to_lowercase)
        .filter(|word| !SMALL.contains(&word.as_str()))
        .collect()
}

/// `grep -rniE` for any of the words, in as many bytes.
fn grep_lines(project: &Project, words: &[String]) -> Vec<String> {
    let (mut room, mut files) = (ROOM, Vec::new());
    for (path, text) in project {
        for line in text.lines() {
            let low = line.to_lowercase();
            if words.iter().any(|word| low.contains(word.as_str())) {
                let length = path.len() + line.len() + 6;
                if length > room {
                    return files;
                }
                room -= length;
                files.push(path.clone());
            }
        }
    }
    files
}

/// `grep -rciE` sorted by how many lines match, in as many bytes.
fn grep_counts(project: &Project, words: &[String]) -> Vec<String> {
    let mut counted: Vec<(usize, &String)> = project
        .iter()
        .map(|(path, text)| {
            let matches = text.lines().map(str::to_lowercase);
            let count = matches
                .filter(|line| words.iter().any(|word| line.contains(word.as_str())))
                .count();
            (count, path)
        })
        .filter(|(count, _)| *count > 0)
        .collect();
    counted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let (mut room, mut files) = (ROOM, Vec::new());
    for (_, path) in counted {
        if path.len() + 4 > room {
            break;
        }
        room -= path.len() + 4;
        files.push(path.clone());
    }
    files
}

/// Requests, and of how many the file is in the map, among its first five files, in `grep`'s lines and in its counts.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    requests: usize,
    map: usize,
    first: usize,
    lines: usize,
    counts: usize,
}

#[test]
fn the_file_that_a_task_needs_is_in_the_map() {
    let projects = projects();
    let indexes: BTreeMap<&str, Index> = projects
        .iter()
        .map(|(name, project)| (*name, index(project)))
        .collect();
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    let mut missed = Vec::new();
    for (name, request, wanted) in QUERIES {
        let project = &projects[name];
        assert!(
            project.iter().any(|(path, _)| path == wanted),
            "{wanted} is in {name}"
        );
        let query = Query {
            text: request.to_owned(),
            ..Query::default()
        };
        let map = indexes[name].map(&query, MapOptions::default());
        assert!(map.len() <= ROOM, "{request}: {}", map.len());
        let files: Vec<&str> = map.lines().filter(|line| !line.starts_with(' ')).collect();
        let words = words(request);
        let score = scores.entry(name).or_default();
        score.requests += 1;
        match files.iter().position(|file| *file == wanted) {
            Some(at) => {
                score.map += 1;
                score.first += usize::from(at < 5);
            }
            None => missed.push((request, wanted)),
        }
        score.lines += usize::from(
            grep_lines(project, &words)
                .iter()
                .any(|file| file == wanted),
        );
        score.counts += usize::from(
            grep_counts(project, &words)
                .iter()
                .any(|file| file == wanted),
        );
    }
    println!(
        "{:<10} {:>6} {:>9} {:>6} {:>12} {:>12} {:>12}",
        "project", "files", "requests", "map", "its first 5", "grep lines", "grep counts"
    );
    let (mut all, mut large) = (Score::default(), Score::default());
    for (name, score) in &scores {
        println!(
            "{name:<10} {:>6} {:>9} {:>6} {:>12} {:>12} {:>12}",
            projects[name].len(),
            score.requests,
            score.map,
            score.first,
            score.lines,
            score.counts
        );
        let is_large = projects[name].len() > 100;
        for sum in [Some(&mut all), is_large.then_some(&mut large)]
            .into_iter()
            .flatten()
        {
            sum.requests += score.requests;
            sum.map += score.map;
            sum.first += score.first;
            sum.lines += score.lines;
            sum.counts += score.counts;
        }
    }
    println!("all: {all:?}\nof them large: {large:?}\nmissed: {missed:#?}");
    assert_eq!((all.requests, large.requests), (50, 30));
    // In a small project all files have room, so the large ones are asked for by themselves too.
    for score in [all, large] {
        assert!(
            score.map * 100 >= score.requests * WANTED,
            "{score:?}: {missed:?}"
        );
    }
}

#[test]
fn generated_projects_are_always_the_same_and_large() {
    for (name, project) in [
        ("clinic", generated::clinic()),
        ("market", generated::market()),
        ("fleet", generated::fleet()),
    ] {
        assert!(project.len() > 240, "{name}: {}", project.len());
        assert!(
            project.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "{name}"
        );
    }
    assert_eq!(generated::clinic(), generated::clinic());
    let (_, text) = generated::market()
        .into_iter()
        .find(|(path, _)| path == "packages/coupon/src/filter.ts")
        .unwrap();
    assert!(text.contains("export function loadCouponFilter(id: string)"));
}
