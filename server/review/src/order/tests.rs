//! Who comes before whom, and why.

use proptest::prelude::*;

use super::*;
use crate::{State, Version};

#[derive(Debug)]
struct File {
    path: TreePath,
    kind: ChangeKind,
    sensitive: Option<String>,
    review: FileReview,
    signature: Option<Digest>,
}

/// A file of which so many lines changed.
fn file(path: &str, kind: ChangeKind, lines: usize) -> File {
    let [old, new] = ["old\n", "new\n"].map(|line| line.repeat(lines));
    let version = |text: &'static str| Version::regular(text.as_bytes());
    let (old, new) = (version(old.leak()), version(new.leak()));
    let review = match kind {
        ChangeKind::Create => FileReview::propose(None, Some(new)),
        ChangeKind::Delete => FileReview::propose(Some(old), None),
        _ => FileReview::propose(Some(old), Some(new)),
    };
    File {
        path: path.parse().unwrap(),
        kind,
        sensitive: None,
        review,
        signature: None,
    }
}

fn walk(files: &[File]) -> Vec<(String, String)> {
    let candidates: Vec<Candidate<'_>> = files
        .iter()
        .map(|file| Candidate {
            path: &file.path,
            kind: &file.kind,
            sensitive: file.sensitive.as_deref(),
            review: &file.review,
            signature: file.signature,
        })
        .collect();
    order(&candidates)
        .into_iter()
        .map(|turn| (files[turn.index].path.to_string(), turn.why))
        .collect()
}

#[test]
fn risk_comes_first_then_code_by_weight_and_what_is_made_by_programs_last() {
    let mut files = vec![
        file("Cargo.lock", ChangeKind::Modify, 500),
        file("README.md", ChangeKind::Modify, 90),
        file("a.rs", ChangeKind::Modify, 2),
        file("b.rs", ChangeKind::Create, 42),
        file("c.rs", ChangeKind::Delete, 1),
        file("build.rs", ChangeKind::Modify, 1),
        file("conf/x.toml", ChangeKind::Modify, 3),
        file("tests/a.rs", ChangeKind::Modify, 70),
    ];
    files[5].sensitive = Some("it runs on build".to_owned());
    for (path, kind) in [
        ("z1.rs", ChangeKind::Modify),
        ("docs/z2.md", ChangeKind::Modify),
        ("m.rs", ChangeKind::Modify),
    ] {
        files.push(File {
            signature: Some(Digest::of(b"same")),
            ..file(path, kind, 1)
        });
    }
    let walked = walk(&files);
    let told: Vec<(&str, &str)> = walked.iter().map(|(path, why)| (&**path, &**why)).collect();
    assert_eq!(
        told,
        [
            ("build.rs", "sensitive: it runs on build"),
            ("c.rs", "deleted code, 1 line"),
            ("b.rs", "new code, 42 lines"),
            ("a.rs", "code, 2 lines"),
            ("docs/z2.md", "the same change in 3 files"),
            ("m.rs", "the same change in 3 files"),
            ("z1.rs", "the same change in 3 files"),
            ("conf/x.toml", "configuration, 3 lines"),
            ("tests/a.rs", "test, 70 lines"),
            ("README.md", "documentation, 90 lines"),
            ("Cargo.lock", "lock file, 500 lines"),
        ]
    );
    // Two are not many, and what is sensitive is in no group.
    files[8].sensitive = Some("x".to_owned());
    assert!(!walk(&files).iter().any(|(_, why)| why.contains("the same")));
}

prop_compose! {
    fn any_file()(
        path in "(src|tests|docs|vendor)/[a-z]{1,4}\\.(rs|md|toml|lock)",
        kind in prop_oneof![
            Just(ChangeKind::Create),
            Just(ChangeKind::Modify),
            Just(ChangeKind::Delete),
        ],
        lines in 1_usize..9,
        sensitive in proptest::option::weighted(0.2, Just("x".to_owned())),
        signature in proptest::option::of(0_u8..2),
    ) -> File {
        File {
            sensitive,
            signature: signature.map(|number| Digest::of(&[number])),
            ..file(&path, kind, lines)
        }
    }
}

proptest! {
    #[test]
    fn every_file_has_one_turn_whatever_order_they_come_in_and_whatever_was_decided(
        mut files in proptest::collection::vec(any_file(), 0..20),
        seed in any::<prop::sample::Index>(),
    ) {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        let walked = walk(&files);
        prop_assert_eq!(walked.len(), files.len());
        let sensitive = files.iter().filter(|file| file.sensitive.is_some()).count();
        let told = walked.iter().take_while(|(_, why)| why.starts_with("sensitive")).count();
        prop_assert_eq!(told, sensitive);
        // A group stands in one piece, after the code.
        for signature in [0_u8, 1].map(|number| Digest::of(&[number])) {
            let alike: Vec<String> = files
                .iter()
                .filter(|file| file.sensitive.is_none() && file.signature == Some(signature))
                .map(|file| file.path.to_string())
                .collect();
            let places: Vec<usize> = (0..walked.len())
                .filter(|at| alike.contains(&walked[*at].0))
                .collect();
            if alike.len() >= ALIKE {
                prop_assert_eq!(places[places.len() - 1] - places[0] + 1, places.len());
            }
        }
        if !files.is_empty() {
            let turn = seed.index(files.len());
            files.rotate_left(turn);
            prop_assert_eq!(&walk(&files), &walked);
            let review = &mut files[turn].review;
            *review = review.with(&[1], State::Accepted);
            prop_assert_eq!(&walk(&files), &walked);
        }
    }
}
