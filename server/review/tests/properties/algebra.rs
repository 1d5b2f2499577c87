//! Accepting and rejecting in a file that nobody else touches.

use legwork_review::{FileReview, Mode, Part, State, Version};
use proptest::{collection::vec, prelude::*};

use crate::texts::{accept_each, noise, open, review, versions};

/// The base with exactly these hunks, built from the numbers a review shows and nothing else.
fn model(review: &FileReview, base: &[u8], agent: &[u8], ids: &[u32]) -> Vec<u8> {
    let split = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|&byte| byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    };
    let (mut lines, agent) = (split(base), split(agent));
    for hunk in review
        .hunks()
        .iter()
        .rev()
        .filter(|hunk| ids.contains(&hunk.id))
    {
        let at = |span: legwork_review::Span| span.start as usize..(span.start + span.len) as usize;
        lines.splice(at(hunk.before), agent[at(hunk.after)].iter().cloned());
    }
    lines.concat()
}

fn either() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    prop_oneof![4 => versions(), 1 => (noise(), noise())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_subset_in_any_order_and_grouping_is_the_same(
        (base, agent) in either(),
        keys in vec((any::<u16>(), any::<bool>(), any::<bool>()), 40),
    ) {
        let first = review(&base, &agent);
        let mut chosen: Vec<(u16, u32, bool)> = first
            .pending()
            .into_iter()
            .zip(&keys)
            .filter(|(_, key)| key.1)
            .map(|(id, key)| (key.0, id, key.2))
            .collect();
        let ordered: Vec<u32> = chosen.iter().map(|(_, id, _)| *id).collect();
        let expected = model(&first, &base, &agent, &ordered);

        let at_once = open(&first, &base, &agent)
            .accept(Some(Version::regular(&base)), &ordered)
            .unwrap();
        prop_assert_eq!(&at_once.result().unwrap().bytes, &expected);
        prop_assert_eq!(at_once.changes_live(), base != expected);

        // In another order, with all the others rejected first or last, in groups of one or two.
        chosen.sort_unstable();
        let others: Vec<u32> =
            first.pending().into_iter().filter(|id| !ordered.contains(id)).collect();
        let early = keys[0].2;
        let mut now = if early { first.reject(&others).unwrap() } else { first };
        let mut live = base.clone();
        let mut rest = &chosen[..];
        while let Some(&(_, _, pair)) = rest.first() {
            let (group, left) = rest.split_at(rest.len().min(1 + usize::from(pair)));
            let ids: Vec<u32> = group.iter().map(|(_, id, _)| *id).collect();
            let accepted = open(&now, &base, &agent)
                .accept(Some(Version::regular(&live)), &ids)
                .unwrap();
            live = accepted.result().unwrap().bytes.clone();
            now = accepted.review().clone();
            rest = left;
            // The truth of the review is the truth of the file.
            prop_assert_eq!(&open(&now, &base, &agent).base_effective().unwrap().bytes, &live);
        }
        prop_assert_eq!(&live, &expected);
        if !early {
            now = now.reject(&others).unwrap();
        }
        prop_assert_eq!(open(&now, &base, &agent).agent_effective().unwrap().bytes, expected);
        prop_assert!(now.pending().is_empty());
    }

    #[test]
    fn all_accepted_is_the_agents_and_all_rejected_the_base((base, agent) in either()) {
        let first = review(&base, &agent);
        let all = first.pending();
        prop_assert_eq!(&open(&first, &base, &agent).agent_effective().unwrap().bytes, &agent);
        prop_assert_eq!(&open(&first, &base, &agent).base_effective().unwrap().bytes, &base);
        let backwards: Vec<u32> = all.iter().rev().copied().collect();
        prop_assert_eq!(&accept_each(&base, &agent, &backwards).1, &agent);
        let rejected = first.reject(&all).unwrap();
        let opened = open(&rejected, &base, &agent);
        prop_assert_eq!(opened.agent_effective().unwrap().bytes, base.clone());
        prop_assert_eq!(opened.base_effective().unwrap().bytes, base);
    }

    #[test]
    fn hunks_are_apart_in_order_and_really_different((base, agent) in either()) {
        let first = review(&base, &agent);
        let mut end = None;
        for (index, hunk) in first.hunks().iter().enumerate() {
            prop_assert_eq!(hunk.id as usize, index + 1);
            prop_assert_eq!(hunk.part, Part::Lines);
            prop_assert!(hunk.before.len + hunk.after.len > 0);
            prop_assert!(end.is_none_or(|end| hunk.before.start > end));
            end = Some(hunk.before.start + hunk.before.len);
        }
        prop_assert_eq!(first.hunks().is_empty(), base == agent);
    }

    #[test]
    fn a_view_has_every_line_of_the_change_once((base, agent) in versions()) {
        let first = review(&base, &agent);
        for (view, hunk) in open(&first, &base, &agent).views().iter().zip(first.hunks()) {
            let count = |kind| view.lines.iter().filter(|line| line.kind == kind).count();
            prop_assert_eq!(count(legwork_review::LineKind::Removed), hunk.before.len as usize);
            prop_assert_eq!(count(legwork_review::LineKind::Added), hunk.after.len as usize);
            prop_assert!(count(legwork_review::LineKind::Context) <= 6);
            prop_assert!(view.lines.iter().all(|line| !line.text.contains(['\n', '\r', '\x1b'])));
        }
    }

    #[test]
    fn whole_changes_have_one_hunk_and_no_merge(
        file in noise(),
        created in any::<bool>(),
        live in noise(),
    ) {
        let (base, agent) = if created { (None, Some(file)) } else { (Some(file), None) };
        let side = |bytes: &Option<Vec<u8>>| bytes.clone().map(|bytes| (bytes, Mode::EXECUTABLE));
        let (base, agent) = (side(&base), side(&agent));
        fn version(side: &Option<(Vec<u8>, Mode)>) -> Option<Version<'_>> {
            side.as_ref().map(|(bytes, mode)| Version { bytes, mode: *mode })
        }
        let first = FileReview::propose(version(&base), version(&agent));
        prop_assert_eq!(first.pending(), [1]);
        prop_assert!(first.is_whole());
        let opened = first
            .open(version(&base).map(|v| v.bytes), version(&agent).map(|v| v.bytes))
            .unwrap();
        let accepted = opened.accept(version(&base), &[1]).unwrap();
        prop_assert_eq!(accepted.result().map(|content| content.as_version()), version(&agent));
        prop_assert_eq!(accepted.review().hunks()[0].state, State::Accepted);
        // Whatever else stands there is the user's.
        let other = Version { bytes: &live, mode: Mode::EXECUTABLE };
        let taken = [version(&base), version(&agent)].contains(&Some(other));
        prop_assert_eq!(opened.accept(Some(other), &[1]).is_ok(), taken);
    }

    #[test]
    fn a_review_of_other_bytes_is_refused((base, agent) in versions(), other in noise()) {
        let first = review(&base, &agent);
        prop_assume!(other != agent);
        prop_assert!(first.open(Some(&base), Some(&other)).is_err());
        prop_assert!(first.open(Some(&base), None).is_err());
    }

    #[test]
    fn a_revision_starts_from_what_was_accepted(
        (base, agent) in versions(),
        newer in versions(),
        keys in vec(0..3_u8, 40),
        same in any::<bool>(),
    ) {
        let first = review(&base, &agent);
        let pick = |wanted: u8| -> Vec<u32> {
            let ids = first.pending().into_iter().zip(&keys);
            ids.filter(|(_, key)| **key == wanted).map(|(id, _)| id).collect()
        };
        let (yes, no) = (pick(0), pick(1));
        let accepted = open(&first, &base, &agent)
            .accept(Some(Version::regular(&base)), &yes)
            .unwrap();
        let now = accepted.review().reject(&no).unwrap();
        let newer = if same { agent.clone() } else { newer.1 };
        let revised = open(&now, &base, &agent).revise(Some(Version::regular(&newer)));
        let new_base = revised.base.clone().unwrap();
        prop_assert_eq!(&new_base.bytes, &accepted.result().unwrap().bytes);
        let opened = revised.review.open(Some(&new_base.bytes), Some(&newer)).unwrap();
        if revised.review.in_pending_only() {
            prop_assert_eq!(opened.agent_effective().unwrap().bytes, newer.clone());
        }
        let mut ids: Vec<u32> = revised.review.hunks().iter().map(|hunk| hunk.id).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), revised.review.hunks().len());
        // The agent still has all of it: nothing that was decided is asked again.
        if same && yes.is_empty() {
            prop_assert_eq!(&revised.review, &now);
        }

        // A renewal keeps even what was accepted, as long as the agent does.
        let before = open(&now, &base, &agent);
        let renewed = before.renew(Some(Version::regular(&newer)), 50);
        let kept_base = renewed.base.clone().unwrap();
        let opened = renewed.review.open(Some(&kept_base.bytes), Some(&newer)).unwrap();
        prop_assert_eq!(opened.base_effective(), before.base_effective());
        if same {
            prop_assert_eq!(&renewed.review, &now);
        }
        for hunk in renewed.review.hunks() {
            let old = now.hunk(hunk.id);
            prop_assert_eq!(old.is_none(), hunk.id > 50, "{:?}", hunk);
            prop_assert_eq!(old.map_or(State::Pending, |old| old.state), hunk.state);
        }
        // Taking all that was accepted out of the base again: it is all asked for, and what was turned down is not.
        let undone = opened.rebase(Some(Version::regular(&base)), 60);
        prop_assert_eq!(undone.hunks().iter().all(|hunk| hunk.state != State::Accepted), true);
        let again = undone.open(Some(&base), Some(&newer)).unwrap();
        prop_assert_eq!(again.base_effective().unwrap().bytes, base.clone());
        if same && yes.is_empty() {
            prop_assert_eq!(&undone, &now);
        }
    }
}

/// What the revision property asks of a review.
trait PendingOnly {
    /// Whether no hunk was decided.
    fn in_pending_only(&self) -> bool;
}

impl PendingOnly for FileReview {
    fn in_pending_only(&self) -> bool {
        self.hunks().iter().all(|hunk| hunk.state == State::Pending)
    }
}
