//! Decisions on a task that goes on.

use std::{collections::BTreeMap, fs};

use legwork_model::{Change, ChangeKind, EventBody, Side, TaskState, TreePath};
use legwork_wire::{ErrorKind, HunkState, Settle};
use proptest::prelude::*;

use super::super::Told;
use super::desk::{AGENT, BASE, Desk, change, decide, file, kind, path};

use HunkState::{Accepted, Pending, Rejected};

const ONE: &str = "1\nTWO\n3\n4\n5\n6\n7\n8\n9\n";

/// A running task, and what it showed.
struct Live {
    desk: Desk,
    told: Told,
}

impl Live {
    fn new() -> Self {
        Self {
            desk: Desk::running(),
            told: Told::default(),
        }
    }

    /// The guest now has these texts where it had the workspace's.
    fn shows(&mut self, texts: &[(&str, Option<&str>)]) {
        let changes = self.changes(texts);
        assert!(self.revise(changes, true));
    }

    fn changes(&self, texts: &[(&str, Option<&str>)]) -> Vec<Change> {
        let found: BTreeMap<&str, &str> = [
            ("a.txt", BASE),
            ("old.txt", "old\n"),
            ("Makefile", "all:\n"),
            ("from.txt", "moved\n"),
        ]
        .into();
        let blobs = &self.desk.reviewer.blobs;
        let change = |(at, after): &(&str, Option<&str>)| {
            let before = found.get(at).and_then(|text| file(blobs, text));
            let after = after.and_then(|text| file(blobs, text));
            let kind = match (&before, &after) {
                (None, _) => ChangeKind::Create,
                (_, None) => ChangeKind::Delete,
                _ => ChangeKind::Modify,
            };
            (before != after).then(|| change(at, kind, before, after, *at == "Makefile"))
        };
        texts.iter().filter_map(change).collect()
    }

    fn revise(&mut self, changes: Vec<Change>, patient: bool) -> bool {
        let task = &self.desk.task;
        let revised = self
            .desk
            .reviewer
            .revise(task, &mut self.told, changes, patient);
        revised.unwrap()
    }

    /// Number and state of each hunk of a file.
    fn hunks(&self, at: &str) -> Vec<(u32, HunkState)> {
        let review = self.desk.show();
        let file = review.files.iter().find(|file| file.path == path(at));
        file.map_or(Vec::new(), |file| {
            let hunks = file.hunks.iter().map(|hunk| (hunk.id, hunk.state));
            hunks.collect()
        })
    }

    fn accept(&self, at: &str, hunk: u32) {
        self.desk.accept(&[(at, Some(hunk))]).unwrap();
    }

    fn reject(&self, at: &str, hunk: u32) {
        self.desk.reject(&[(at, Some(hunk))]).unwrap();
    }

    fn diff(&self) -> String {
        let diff = self.desk.reviewer.diff(self.desk.task.as_str()).unwrap();
        String::from_utf8(diff).unwrap()
    }

    /// The snapshot of the task is the workspace as it is now.
    fn capture(&self) {
        let dir = crate::job::dir_of(&self.desk.state, &self.desk.task);
        fs::create_dir_all(&dir).unwrap();
        let workspace = legwork_workspace::Workspace::open(&self.desk.root).unwrap();
        let options = legwork_workspace::CaptureOptions::default();
        let image = dir.join("base.erofs");
        let captured =
            legwork_workspace::capture(&workspace, &image, &options, &mut |_, _| {}).unwrap();
        captured.save(&dir.join("manifest.json")).unwrap();
    }
}

#[test]
fn what_is_decided_while_it_runs_stays_decided() {
    let mut live = Live::new();
    assert_eq!(kind(live.desk.accept(&[])), ErrorKind::Conflict, "not yet");
    live.shows(&[("a.txt", Some(ONE)), ("new", Some("new\n"))]);
    assert_eq!(live.hunks("a.txt"), [(1, Pending)]);
    live.accept("a.txt", 1);
    live.reject("new", 1);
    assert_eq!(live.desk.read("a.txt"), ONE);
    assert_eq!(live.desk.state(), TaskState::Running);
    // It goes on, and so does the review.
    live.shows(&[("a.txt", Some(AGENT)), ("new", Some("new\n"))]);
    assert_eq!(live.hunks("a.txt"), [(1, Accepted), (2, Pending)]);
    assert_eq!(live.hunks("new"), [(1, Rejected)]);
    live.shows(&[
        ("a.txt", Some(AGENT)),
        ("new", Some("newer\n")),
        ("old.txt", None),
    ]);
    assert_eq!(live.hunks("new"), [(2, Pending)], "it is another one");
    live.reject("new", 2);
    live.desk.finish();
    assert_eq!(live.desk.state(), TaskState::Ready);
    assert_eq!(live.desk.accept(&[]).unwrap().pending, 0);
    assert_eq!(live.desk.read("a.txt"), AGENT);
    assert!(!live.desk.root.join("new").exists() && !live.desk.root.join("old.txt").exists());
    assert_eq!(live.desk.state(), TaskState::Ended);
    // All of it can be taken back, the last decision first.
    for _ in 0..4 {
        live.desk.undo().unwrap();
    }
    assert_eq!(live.desk.read("a.txt"), BASE);
    assert_eq!(live.hunks("a.txt"), [(1, Pending), (2, Pending)]);
    assert_eq!(live.hunks("new"), [(2, Pending)]);
}

#[test]
fn only_news_are_told_and_what_goes_may_come_again() {
    let mut live = Live::new();
    let store = live.desk.reviewer.store.clone();
    let task = live.desk.task.clone();
    let told = || {
        let events = store.with(|db| db.events(Some(&task), 0, 100)).unwrap();
        let changes = events.iter().filter_map(|event| match event.body {
            EventBody::Changes { pending } => Some(pending),
            _ => None,
        });
        changes.collect::<Vec<_>>()
    };
    live.shows(&[]);
    live.shows(&[("a.txt", Some(AGENT)), ("new", Some("new\n"))]);
    live.shows(&[("new", Some("new\n")), ("a.txt", Some(AGENT))]);
    assert_eq!(told(), [3]);
    live.reject("a.txt", 1);
    live.shows(&[("new", Some("new\n"))]);
    assert_eq!(told(), [3, 1]);
    assert!(live.hunks("a.txt").is_empty());
    // An undo of what is not there any more is no trouble.
    live.shows(&[("a.txt", Some(&AGENT.replace("EIGHT", "OCHO")))]);
    assert_eq!(live.hunks("a.txt"), [(1, Rejected), (3, Pending)]);
    live.shows(&[]);
    live.desk.undo().unwrap();
    live.desk.finish();
    assert_eq!(live.desk.state(), TaskState::Ended);
    live.shows(&[("new", Some("late\n"))]);
    assert!(live.desk.show().files.is_empty(), "it is too late");
}

#[test]
fn where_it_changes_its_mind_after_an_accept_it_is_asked_again() {
    let mut live = Live::new();
    live.capture();
    live.shows(&[("a.txt", Some(AGENT)), ("new", Some("new\n"))]);
    live.accept("a.txt", 1);
    live.accept("new", 1);
    live.reject("a.txt", 2);
    let zwei = AGENT.replace("TWO", "ZWEI");
    live.shows(&[("a.txt", Some(&zwei)), ("new", Some("new\nmore\n"))]);
    assert_eq!(live.hunks("a.txt"), [(3, Pending), (2, Rejected)]);
    assert_eq!(live.hunks("new"), [(2, Pending)]);
    assert_eq!(live.desk.read("a.txt"), ONE, "nothing comes by itself");
    let review = live.desk.show();
    assert_eq!(review.files[1].kind, ChangeKind::Modify, "for the user");
    // The diff is still that of the whole task.
    let diff = live.diff();
    for part in ["-2\n+ZWEI\n", "new file mode", "+new\n+more\n"] {
        assert!(diff.contains(part), "{part} in {diff}");
    }
    live.accept("a.txt", 3);
    assert_eq!(live.desk.read("a.txt"), BASE.replace('2', "ZWEI"));
    // Undone one by one: the older accept is part of the base by now.
    live.desk.undo().unwrap();
    assert_eq!(live.desk.read("a.txt"), ONE);
    live.desk.undo().unwrap();
    assert_eq!(live.hunks("a.txt"), [(3, Pending), (2, Pending)]);
    live.desk.undo().unwrap();
    assert!(!live.desk.root.join("new").exists());
    live.desk.undo().unwrap();
    assert_eq!(live.desk.read("a.txt"), BASE);
    let pending = |at: &str| {
        live.hunks(at)
            .iter()
            .map(|(_, state)| *state)
            .collect::<Vec<_>>()
    };
    assert_eq!(pending("a.txt"), [Pending, Pending]);
    assert_eq!(pending("new"), [Pending]);
    live.desk.finish();
    live.desk.accept(&[]).unwrap();
    assert_eq!(live.desk.read("a.txt"), zwei);
    assert_eq!(live.desk.read("new"), "new\nmore\n");
}

#[test]
fn what_it_takes_back_after_an_accept_is_a_change_to_decide_on() {
    let mut live = Live::new();
    live.capture();
    live.shows(&[
        ("a.txt", Some(ONE)),
        ("new", Some("new\n")),
        ("old.txt", None),
    ]);
    live.desk.accept(&[]).unwrap();
    live.shows(&[]);
    assert_eq!(live.hunks("a.txt"), [(2, Pending)]);
    assert_eq!(live.hunks("new"), [(2, Pending)]);
    assert_eq!(live.hunks("old.txt"), [(2, Pending)]);
    assert_eq!(live.diff(), "", "all in all it has changed nothing");
    live.desk.finish();
    live.desk.accept(&[]).unwrap();
    assert_eq!(live.desk.read("a.txt"), BASE);
    assert_eq!(live.desk.read("old.txt"), "old\n");
    assert!(!live.desk.root.join("new").exists());
}

fn rename(live: &Live, to: &str, text: &str) -> Change {
    let side: Option<Side> = file(&live.desk.reviewer.blobs, text);
    let from: TreePath = path("from.txt");
    change(to, ChangeKind::Rename { from }, side.clone(), side, false)
}

#[test]
fn a_copy_that_was_accepted_and_becomes_a_rename_is_asked_for_the_rest() {
    let mut live = Live::new();
    live.shows(&[("to.txt", Some("moved\n"))]);
    live.accept("to.txt", 1);
    let renamed = rename(&live, "to.txt", "moved\n");
    live.revise(vec![renamed], true);
    assert_eq!(live.hunks("to.txt"), [(1, Accepted)]);
    assert_eq!(live.hunks("from.txt"), [(1, Pending)]);
    live.desk.accept(&[]).unwrap();
    assert!(!live.desk.root.join("from.txt").exists());
    assert_eq!(live.desk.read("to.txt"), "moved\n");
}

#[test]
fn a_rename_that_was_accepted_and_is_none_any_more_is_asked_for_the_rest() {
    let mut live = Live::new();
    let renamed = rename(&live, "to.txt", "moved\n");
    live.revise(vec![renamed], true);
    live.accept("to.txt", 1);
    assert!(!live.desk.root.join("from.txt").exists());
    // The old one is there again, as it was.
    live.shows(&[("to.txt", Some("moved\n"))]);
    assert_eq!(live.hunks("to.txt"), [(1, Accepted)]);
    assert_eq!(live.hunks("from.txt"), [(1, Pending)]);
    // And away again, while the new one goes on.
    live.shows(&[("to.txt", Some("moved on\n")), ("from.txt", None)]);
    assert_eq!(live.hunks("to.txt"), [(2, Pending)]);
    assert!(live.hunks("from.txt").is_empty());
    live.shows(&[("to.txt", Some("moved on\n")), ("from.txt", Some("back\n"))]);
    assert_eq!(live.hunks("from.txt"), [(2, Pending)]);
    live.desk.accept(&[]).unwrap();
    assert_eq!(live.desk.read("to.txt"), "moved on\n");
    assert_eq!(live.desk.read("from.txt"), "back\n");
}

#[test]
fn a_file_in_an_editors_hand_waits_for_it() {
    let mut live = Live::new();
    live.shows(&[("a.txt", Some(ONE))]);
    let task = live.desk.task.clone();
    let claimed = live.desk.reviewer.claim(task.as_str(), &decide(&[]));
    let token = Some(claimed.unwrap().token);
    let other = live.changes(&[("a.txt", Some(ONE)), ("new", Some("new\n"))]);
    assert!(live.revise(other, true), "another file is no matter");
    let more = live.changes(&[("a.txt", Some(AGENT)), ("new", Some("new\n"))]);
    assert!(!live.revise(more.clone(), true));
    assert_eq!(live.hunks("a.txt"), [(1, Pending)]);
    let settle = Settle {
        token,
        landed: Vec::new(),
        gesture: None,
    };
    live.desk.reviewer.landed(task.as_str(), &settle).unwrap();
    assert!(live.revise(more, true));
    assert_eq!(live.hunks("a.txt"), [(1, Pending), (2, Pending)]);
    live.desk
        .reviewer
        .claim(task.as_str(), &decide(&[]))
        .unwrap();
    let less = live.changes(&[("a.txt", Some(ONE))]);
    assert!(live.revise(less, false), "the end does not wait for ever");
}

/// Texts that have much in common.
fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..3_u8, 6).prop_map(|lines| {
        let lines = lines.iter().enumerate();
        let line = |(index, kind): (usize, &u8)| match kind {
            0 => format!("line {index}\n"),
            1 => format!("LINE {index}\n"),
            _ => String::new(),
        };
        lines.map(line).collect()
    })
}

fn step() -> impl Strategy<Value = (Option<String>, Vec<u8>)> {
    (
        proptest::option::weighted(0.9, text()),
        proptest::collection::vec(0..3_u8, 8),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However the agent changes its mind and whatever is accepted on the way: accepting the rest at the end makes the
    /// user's file the agent's, unless something was rejected; and undoing it all makes it what it was.
    #[test]
    fn accepting_all_in_the_end_equals_the_agent(
        steps in proptest::collection::vec(step(), 1..5),
        reject in any::<bool>(),
        created in any::<bool>(),
    ) {
        let mut live = Live::new();
        let at = if created { "new" } else { "a.txt" };
        let target = live.desk.root.join(at);
        let standing = || fs::read_to_string(&target).ok();
        let before = standing();
        let mut given: BTreeMap<u32, ()> = BTreeMap::new();
        let mut decisions = 0;
        let mut rejected = false;
        let mut last = None;
        for (text, keys) in &steps {
            live.shows(&[(at, text.as_deref())]);
            last = text.clone();
            for ((hunk, state), key) in live.hunks(at).into_iter().zip(keys) {
                given.insert(hunk, ());
                match (state, key) {
                    (Pending, 0) => live.accept(at, hunk),
                    (Pending, 1) if reject => live.reject(at, hunk),
                    _ => continue,
                }
                rejected |= *key == 1;
                decisions += 1;
            }
        }
        live.desk.finish();
        if live.desk.accept(&[]).is_ok() {
            decisions += 1;
        }
        if !rejected {
            prop_assert_eq!(standing(), last.filter(|_| true));
        }
        for _ in 0..decisions {
            live.desk.undo().unwrap();
        }
        prop_assert_eq!(standing(), before);
        prop_assert_eq!(kind(live.desk.undo()), ErrorKind::Conflict);
    }
}
