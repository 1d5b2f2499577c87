//! The order in which the changes of a task are best read: what can do harm first, then code by how much of it changed,
//! changes that are all alike together, and what is made by programs last. The alphabet decides only where nothing else
//! does, and what was decided already moves nothing.

use std::{cmp::Reverse, collections::BTreeMap};

use legwork_model::{ChangeKind, Digest, TreePath};

use crate::FileReview;

mod kinds;

use kinds::Kind;

/// From how many files on the same change is read as one.
const ALIKE: usize = 3;

/// Deleting a file weighs as much as changing so many lines more.
const DELETED: u64 = 200;

/// Renaming a file, or putting something of another type in its place, weighs as much as changing so many lines more.
const MOVED: u64 = 50;

/// A changed file that is to have its place.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Where it is.
    pub path: &'a TreePath,
    /// How the change is told.
    pub kind: &'a ChangeKind,
    /// Why it is in no bulk accept, if so.
    pub sensitive: Option<&'a str>,
    /// Its hunks.
    pub review: &'a FileReview,
    /// [`crate::Opened::signature`], if there is one.
    pub signature: Option<Digest>,
}

/// Whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index in what was given.
    pub index: usize,
    /// Why it is here, as a few words.
    pub why: String,
}

/// What comes first is compared first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank<'a> {
    stage: Stage,
    /// Of a group of files that are alike: how many, and then how heavy the whole is; else how heavy the file is.
    weight: (Reverse<usize>, Reverse<u64>),
    /// The first path of a group, or the file's own.
    group: &'a [u8],
    path: &'a [u8],
}

/// The stages of the walk, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Sensitive,
    Code,
    Alike,
    Configuration,
    Test,
    Documentation,
    Binary,
    Generated,
}

/// Puts files into the order in which they are best read.
pub fn order(candidates: &[Candidate<'_>]) -> Vec<Turn> {
    let groups = groups(candidates);
    let mut turns: Vec<(Rank<'_>, Turn)> = candidates
        .iter()
        .enumerate()
        .map(|(index, candidate)| {
            let group = candidate
                .signature
                .filter(|_| candidate.sensitive.is_none())
                .and_then(|signature| groups.get(&signature))
                .filter(|group| group.files >= ALIKE);
            let (rank, why) = match group {
                Some(group) => (
                    Rank {
                        stage: Stage::Alike,
                        weight: (Reverse(group.files), Reverse(group.weight)),
                        group: group.first,
                        path: candidate.path.as_bytes(),
                    },
                    format!("the same change in {} files", group.files),
                ),
                None => alone(candidate),
            };
            (rank, Turn { index, why })
        })
        .collect();
    turns.sort_by(|(a, _), (b, _)| a.cmp(b));
    turns.into_iter().map(|(_, turn)| turn).collect()
}

/// Files in which the same was changed.
#[derive(Debug)]
struct Group<'a> {
    files: usize,
    weight: u64,
    first: &'a [u8],
}

fn groups<'a>(candidates: &[Candidate<'a>]) -> BTreeMap<Digest, Group<'a>> {
    let mut groups: BTreeMap<Digest, Group<'a>> = BTreeMap::new();
    for candidate in candidates {
        let (Some(signature), None) = (candidate.signature, candidate.sensitive) else {
            continue;
        };
        let path = candidate.path.as_bytes();
        let group = groups.entry(signature).or_insert(Group {
            files: 0,
            weight: 0,
            first: path,
        });
        group.files += 1;
        group.weight += weight(candidate);
        group.first = group.first.min(path);
    }
    groups
}

fn alone<'a>(candidate: &Candidate<'a>) -> (Rank<'a>, String) {
    let kind = Kind::of(candidate.path);
    let stage = match (candidate.sensitive, kind) {
        (Some(_), _) => Stage::Sensitive,
        (None, Kind::Generated | Kind::Lock) => Stage::Generated,
        (None, _) if candidate.review.is_binary() => Stage::Binary,
        (None, Kind::Code) => Stage::Code,
        (None, Kind::Configuration) => Stage::Configuration,
        (None, Kind::Test) => Stage::Test,
        (None, Kind::Documentation) => Stage::Documentation,
    };
    let why = match (candidate.sensitive, stage) {
        (Some(reason), _) => format!("sensitive: {reason}"),
        (None, Stage::Binary) => told(candidate, "binary file"),
        (None, _) => told(candidate, kind.name()),
    };
    let path = candidate.path.as_bytes();
    let rank = Rank {
        stage,
        weight: (Reverse(0), Reverse(weight(candidate))),
        group: path,
        path,
    };
    (rank, why)
}

/// What kind of file it is, what became of it, and how much of it is another.
fn told(candidate: &Candidate<'_>, kind: &str) -> String {
    let what = match candidate.kind {
        ChangeKind::Create => format!("new {kind}"),
        ChangeKind::Delete => format!("deleted {kind}"),
        ChangeKind::Rename { .. } => format!("renamed {kind}"),
        ChangeKind::Retype => format!("{kind} of another type"),
        ChangeKind::Mode => format!("{kind}, mode only"),
        ChangeKind::Modify => kind.to_owned(),
    };
    match lines(candidate.review) {
        0 => what,
        1 => format!("{what}, 1 line"),
        lines => format!("{what}, {lines} lines"),
    }
}

fn weight(candidate: &Candidate<'_>) -> u64 {
    let more = match candidate.kind {
        ChangeKind::Delete => DELETED,
        ChangeKind::Rename { .. } | ChangeKind::Retype => MOVED,
        ChangeKind::Create | ChangeKind::Modify | ChangeKind::Mode => 0,
    };
    lines(candidate.review) + more
}

/// Lines that go or come: those that are replaced count as many as the longer side has.
fn lines(review: &FileReview) -> u64 {
    let count = |hunk: &crate::Hunk| u64::from(hunk.before.len.max(hunk.after.len));
    review.hunks().iter().map(count).sum()
}

#[cfg(test)]
mod tests;
