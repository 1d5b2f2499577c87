//! Accepting and undoing in a file that the user works on.

use legwork_review::{AcceptError, Placement, Version, undo};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::texts::{accept_each, open, review, splice, text, versions};

/// What happens to one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Keep,
    Replace(Who),
    Delete(Who),
    Insert(Who),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Agent,
    User,
}

impl Deed {
    fn who(self) -> Option<Who> {
        match self {
            Self::Keep => None,
            Self::Replace(who) | Self::Delete(who) | Self::Insert(who) => Some(who),
        }
    }
}

/// One deed for each line of a text whose lines are all different. Most lines are kept.
fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    use Who::{Agent, User};
    let deed = select(vec![
        Deed::Replace(Agent),
        Deed::Delete(Agent),
        Deed::Insert(Agent),
        Deed::Replace(User),
        Deed::Delete(User),
        Deed::Insert(User),
    ]);
    vec(prop_oneof![2 => Just(Deed::Keep), 1 => deed], 1..24)
}

/// The same, with a kept line between the agent's and the user's, and one at the end.
fn apart() -> impl Strategy<Value = Vec<Deed>> {
    deeds().prop_map(|mut deeds| {
        for line in 1..deeds.len() {
            let (above, here) = (deeds[line - 1].who(), deeds[line].who());
            if above.is_some() && here.is_some() && above != here {
                deeds[line] = Deed::Keep;
            }
        }
        deeds.push(Deed::Keep);
        deeds
    })
}

/// The text after the deeds for which `done` holds.
fn perform(deeds: &[Deed], done: impl Fn(usize, Who) -> bool) -> Vec<u8> {
    let mut text = Vec::new();
    for (line, deed) in deeds.iter().enumerate() {
        let kept = format!("line {line}\n");
        let deed = deed
            .who()
            .filter(|who| done(line, *who))
            .map_or(Deed::Keep, |_| *deed);
        let lines = match deed {
            Deed::Keep => kept,
            Deed::Replace(who) => format!("{who:?} instead of {line}\n"),
            Deed::Delete(_) => String::new(),
            Deed::Insert(who) => format!("{who:?} above {line}\n{kept}"),
        };
        text.extend(lines.into_bytes());
    }
    text
}

/// The number of the hunk that holds the agent's deed on a line.
fn hunk_of(review: &legwork_review::FileReview, deeds: &[Deed], line: usize) -> Option<u32> {
    let line_number = u32::try_from(line).unwrap();
    review
        .hunks()
        .iter()
        .find(|hunk| {
            let end = hunk.before.start + hunk.before.len;
            if matches!(deeds[line], Deed::Insert(_)) {
                (hunk.before.start..=end).contains(&line_number)
            } else {
                (hunk.before.start..end).contains(&line_number)
            }
        })
        .map(|hunk| hunk.id)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn both_the_users_and_the_agents_lines_are_there(deeds in deeds()) {
        let base = perform(&deeds, |_, _| false);
        let agent = perform(&deeds, |_, who| who == Who::Agent);
        let live = perform(&deeds, |_, who| who == Who::User);
        let first = review(&base, &agent);
        let opened = open(&first, &base, &agent);
        let placements = opened.place(Some(Version::regular(&live)));
        let mut placed = Vec::new();
        let mut lost = Vec::new();
        for (hunk, placement) in first.hunks().iter().zip(&placements) {
            let (start, end) = (hunk.before.start as usize, (hunk.before.start + hunk.before.len) as usize);
            let near = start.saturating_sub(1)..(end + 1).min(deeds.len());
            let alone = deeds[near].iter().all(|deed| deed.who() != Some(Who::User));
            match placement {
                Placement::At { .. } => placed.push(hunk.id),
                Placement::Conflicted if !alone => lost.push(hunk.id),
                other => prop_assert!(false, "hunk {} is {other:?}", hunk.id),
            }
        }
        let expected = perform(&deeds, |line, who| match who {
            Who::User => true,
            Who::Agent => hunk_of(&first, &deeds, line).is_some_and(|id| placed.contains(&id)),
        });
        let accepted = opened.accept(Some(Version::regular(&live)), &placed).unwrap();
        let result = &accepted.result().unwrap().bytes;
        prop_assert_eq!(String::from_utf8_lossy(result), String::from_utf8_lossy(&expected));

        // The splices say the same.
        let mut spliced = live.clone();
        for splice in accepted.splices().iter().rev() {
            spliced.splice(splice.range.clone(), splice.bytes.iter().copied());
        }
        prop_assert_eq!(&spliced, result);

        // A hunk without a place takes all others down with it.
        if !lost.is_empty() {
            let all = first.pending();
            let refused = opened.accept(Some(Version::regular(&live)), &all).unwrap_err();
            prop_assert_eq!(refused, AcceptError::Conflicted { ids: lost });
        }

        // What was accepted can be taken back, and only that; also after more edits of the user's.
        let taken_back = undo(
            Some(Version::regular(&live)),
            Some(Version::regular(result)),
            Some(Version::regular(result)),
        );
        prop_assert_eq!(taken_back.unwrap().unwrap().bytes, live);
    }

    #[test]
    fn an_undo_leaves_later_edits_alone(deeds in deeds()) {
        let base = perform(&deeds, |_, _| false);
        let agent = perform(&deeds, |_, who| who == Who::Agent);
        let both = perform(&deeds, |_, _| true);
        let users = perform(&deeds, |_, who| who == Who::User);
        let touching = deeds.windows(2).any(|pair| {
            let (above, below) = (pair[0].who(), pair[1].who());
            above.is_some() && below.is_some() && above != below
        });
        let undone = undo(
            Some(Version::regular(&base)),
            Some(Version::regular(&agent)),
            Some(Version::regular(&both)),
        );
        match undone {
            Ok(content) => {
                let bytes = content.unwrap().bytes;
                prop_assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&users));
            }
            Err(error) => prop_assert!(touching, "{error}"),
        }
    }

    #[test]
    fn a_changed_line_conflicts_with_its_hunk_alone(mut deeds in deeds(), which in any::<usize>()) {
        deeds.push(Deed::Replace(Who::Agent));
        let base = perform(&deeds, |_, _| false);
        let agent = perform(&deeds, |_, who| who == Who::Agent);
        let first = review(&base, &agent);
        let hunks: Vec<_> = first.hunks().iter().filter(|hunk| hunk.before.len > 0).collect();
        let hit = hunks[which % hunks.len()];
        let offset = u32::try_from(which / hunks.len() % 7).unwrap() % hit.before.len;
        let live = splice(&base, (hit.before.start + offset) as usize, 1, &[b"mine\n"]);
        let opened = open(&first, &base, &agent);
        let version = Some(Version::regular(&live));
        for (hunk, placement) in first.hunks().iter().zip(opened.place(version)) {
            if hunk.id == hit.id {
                prop_assert_eq!(placement, Placement::Conflicted);
            } else {
                prop_assert_eq!(placement, Placement::At { line: hunk.before.start + 1 });
            }
        }
        prop_assert_eq!(
            opened.accept(version, &first.pending()).unwrap_err(),
            AcceptError::Conflicted { ids: vec![hit.id] }
        );
    }

    #[test]
    fn what_the_user_typed_too_is_done_already((base, agent) in versions()) {
        let first = review(&base, &agent);
        let opened = open(&first, &base, &agent);
        let accepted = opened.accept(Some(Version::regular(&agent)), &first.pending()).unwrap();
        prop_assert_eq!(&accepted.result().unwrap().bytes, &agent);
        prop_assert!(!accepted.changes_live());
    }

    #[test]
    fn one_hunk_typed_too_is_done_and_the_others_are_not(
        (base, agent) in versions(),
        which in any::<usize>(),
    ) {
        let first = review(&base, &agent);
        let ids = first.pending();
        prop_assume!(!ids.is_empty());
        let typed = ids[which % ids.len()];
        let (_, live) = accept_each(&base, &agent, &[typed]);
        let opened = open(&first, &base, &agent);
        match opened.accept(Some(Version::regular(&live)), &ids) {
            Ok(accepted) => {
                let bytes = &accepted.result().unwrap().bytes;
                prop_assert_eq!(bytes, &agent);
            }
            // Look-alike lines can leave more than one reading; then nothing is done.
            Err(AcceptError::Conflicted { .. }) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn an_accept_takes_out_nothing_but_the_hunks_lines(
        (base, agent) in versions(),
        live in text(),
        edits in vec((0..16_usize, 0..3_usize), 0..4),
        near in any::<bool>(),
    ) {
        let live = if near {
            edits.into_iter().fold(base.clone(), |text, (at, len)| splice(&text, at, len, &[b"u\n"]))
        } else {
            live
        };
        let ends = |text: &[u8]| text.is_empty() || text.ends_with(b"\n");
        let mixed = |text: &[u8]| !text.windows(2).any(|pair| pair == b"\r\n");
        let first = review(&base, &agent);
        let opened = open(&first, &base, &agent);
        for hunk in first.hunks() {
            let version = Some(Version::regular(&live));
            let Ok(accepted) = opened.accept(version, &[hunk.id]) else { continue };
            let result = &accepted.result().unwrap().bytes;
            let mut spliced = live.clone();
            for splice in accepted.splices().iter().rev() {
                let out: Vec<u8> = spliced.splice(splice.range.clone(), splice.bytes.clone()).collect();
                if [&base, &agent, &live].iter().all(|text| ends(text) && mixed(text)) {
                    let lines: Vec<&[u8]> = base.split_inclusive(|&byte| byte == b'\n').collect();
                    let start = hunk.before.start as usize;
                    prop_assert_eq!(out, lines[start..start + hunk.before.len as usize].concat());
                }
            }
            prop_assert_eq!(&spliced, result);
            prop_assert!(accepted.splices().len() <= 1);
            let back = undo(version, Some(Version::regular(result)), Some(Version::regular(result)));
            prop_assert_eq!(&back.unwrap().unwrap().bytes, &live);
        }
    }

    #[test]
    fn a_file_with_all_endings_changed_gets_hunks_with_its_own(deeds in apart(), to_crlf in any::<bool>()) {
        let crlf = |text: &[u8]| String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes();
        let (was, is) = if to_crlf {
            (<[u8]>::to_vec as fn(&[u8]) -> Vec<u8>, crlf as fn(&[u8]) -> Vec<u8>)
        } else {
            (crlf as fn(&[u8]) -> Vec<u8>, <[u8]>::to_vec as fn(&[u8]) -> Vec<u8>)
        };
        let base = was(&perform(&deeds, |_, _| false));
        let agent = was(&perform(&deeds, |_, who| who == Who::Agent));
        let live = is(&perform(&deeds, |_, who| who == Who::User));
        let first = review(&base, &agent);
        let accepted = open(&first, &base, &agent)
            .accept(Some(Version::regular(&live)), &first.pending())
            .unwrap();
        let expected = is(&perform(&deeds, |_, _| true));
        prop_assert_eq!(&accepted.result().unwrap().bytes, &expected);
    }
}
