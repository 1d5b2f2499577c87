//! Decisions that an editor carries out, and two editors at once.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use legwork_model::{Digest, TaskState};
use legwork_wire::{Landed, Pick, Reopen, Settle, Undo};

use super::{
    desk::{AGENT, BASE, Desk, decide, kind, path},
    *,
};

const ONE: &str = "1\nTWO\n3\n4\n5\n6\n7\n8\n9\n";

fn landed(at: &str, hunks: &[u32], texts: Option<(&str, &str)>) -> Landed {
    Landed {
        path: path(at),
        hunks: hunks.to_vec(),
        texts: texts.map(|(without, with)| (without.to_owned(), with.to_owned())),
    }
}

impl Desk {
    fn claim(&self, picks: &[(&str, Option<u32>)]) -> Result<legwork_wire::Claimed, ReviewError> {
        self.reviewer.claim(self.task.as_str(), &decide(picks))
    }

    fn settle(&self, token: Option<&str>, landed: &[Landed]) -> Result<Decided, ReviewError> {
        let settle = Settle {
            token: token.map(str::to_owned),
            landed: landed.to_vec(),
            gesture: None,
        };
        self.reviewer.landed(self.task.as_str(), &settle)
    }

    fn reopen(&self, picks: &[(&str, Option<u32>)]) -> Result<Decided, ReviewError> {
        let picks = picks
            .iter()
            .map(|(at, hunk)| Pick {
                path: path(at),
                hunk: *hunk,
            })
            .collect();
        self.reviewer.reopen(self.task.as_str(), &Reopen { picks })
    }

    /// As if all claims had been held for too long.
    fn later(&self) {
        let later = Instant::now() + Duration::from_secs(legwork_wire::CLAIM_SECONDS + 1);
        self.reviewer.lock().expire(later);
    }
}

fn sentence<T: std::fmt::Debug>(result: Result<T, ReviewError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    error.to_string()
}

#[test]
fn an_editor_gets_every_version_that_the_reviews_name_and_no_other() {
    let desk = Desk::new();
    let name = desk.task.as_str();
    let shown = desk.reviewer.desk(name).unwrap();
    assert_eq!(shown.digest, desk.show().digest);
    assert_eq!(
        (shown.state, shown.title.as_str()),
        (TaskState::Ready, "true")
    );
    let order: Vec<_> = shown
        .files
        .iter()
        .map(|file| (file.path.to_string(), file.why.as_str()))
        .collect();
    assert_eq!(
        order[0],
        ("Makefile".to_owned(), "sensitive: runs on build")
    );
    assert_eq!(
        order[1],
        ("old.txt".to_owned(), "deleted documentation, 1 line")
    );
    assert_eq!(order.len(), 5);
    for file in &shown.files {
        let bytes = [file.review.base(), file.review.agent()].map(|stored| {
            stored.map(|stored| desk.reviewer.contents(name, stored.digest).unwrap())
        });
        let [base, agent] = bytes.each_ref().map(Option::as_deref);
        file.review.open(base, agent).unwrap();
    }
    assert_eq!(
        desk.reviewer.readings_len(),
        2,
        "of what is text and was modified"
    );
    let other = desk.reviewer.blobs.put(b"somebody else's").unwrap();
    for digest in [other.digest, Digest::of(b"nothing")] {
        assert_eq!(kind(desk.reviewer.contents(name, digest)), ErrorKind::Usage);
    }
}

#[test]
fn what_one_editor_has_in_hand_nobody_else_decides() {
    let desk = Desk::new();
    let claimed = desk.claim(&[("a.txt", Some(1))]).unwrap();
    assert_eq!(claimed.files, [(path("a.txt"), vec![1])]);
    for refused in [
        sentence(desk.accept(&[("a.txt", Some(1))])),
        sentence(desk.reject(&[("a.txt", Some(1))])),
        sentence(desk.claim(&[("a.txt", Some(1))])),
        sentence(desk.settle(None, &[landed("a.txt", &[1], None)])),
        sentence(desk.settle(Some("another"), &[landed("a.txt", &[1], None)])),
    ] {
        assert!(
            refused.contains("is being accepted in another editor"),
            "{refused}"
        );
    }
    // Of several, it is left out.
    let second = desk.claim(&[]).unwrap();
    let skipped: Vec<_> = second
        .skipped
        .iter()
        .map(|skipped| (skipped.path.to_string(), skipped.hunk))
        .collect();
    assert_eq!(
        skipped,
        [("Makefile".to_owned(), None), ("a.txt".to_owned(), Some(1))]
    );
    assert!(second.files.contains(&(path("a.txt"), vec![2])));
    assert!(sentence(desk.accept(&[("dir", None)])).contains("another editor"));
    assert!(sentence(desk.accept(&[("a.txt", None)])).contains("another editor"));
    // Let go of with nothing landed, or held for too long: as if it had never been.
    assert_eq!(
        desk.settle(Some(&second.token), &[]).unwrap(),
        Decided {
            pending: 6,
            ..Decided::default()
        }
    );
    assert_eq!(desk.accept(&[("a.txt", None)]).unwrap().hunks, 1);
    assert_eq!(desk.read("a.txt"), BASE.replace('8', "EIGHT"));
    desk.later();
    desk.accept(&[("a.txt", Some(1))]).unwrap();
    assert_eq!(desk.read("a.txt"), AGENT);
    // And whoever comes back with it hears of that.
    let late = sentence(desk.settle(Some(&claimed.token), &[landed("a.txt", &[1], None)]));
    assert!(late.contains("already accepted"), "{late}");
    assert_eq!(kind(desk.claim(&[("a.txt", Some(9))])), ErrorKind::Usage);
    let sensitive = desk.claim(&[("Makefile", Some(1))]).unwrap();
    assert_eq!(sensitive.files.len(), 1, "it was named");
}

#[test]
fn of_many_editors_at_once_one_gets_each_hunk() {
    let desk = Desk::new();
    let start = std::sync::Barrier::new(8);
    let won: Vec<_> = std::thread::scope(|scope| {
        let editors: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let claimed = desk.claim(&[("a.txt", Some(1))]).ok()?;
                    let texts = Some((BASE, ONE));
                    desk.settle(Some(&claimed.token), &[landed("a.txt", &[1], texts)])
                        .ok()
                })
            })
            .collect();
        let ended = editors.into_iter().map(|editor| editor.join().unwrap());
        ended.flatten().collect()
    });
    assert_eq!(won.len(), 1, "{won:?}");
    assert_eq!(desk.undo().unwrap().hunks, 1);
    assert_eq!(
        kind(desk.undo()),
        ErrorKind::Conflict,
        "it was recorded once"
    );
}

#[test]
fn what_landed_is_accepted_and_the_rest_waits_again() {
    let desk = Desk::new();
    let before = desk.tree();
    let claimed = desk.claim(&[("a.txt", None), ("old.txt", None)]).unwrap();
    let texts = Some((BASE, ONE));
    let decided = desk
        .settle(Some(&claimed.token), &[landed("a.txt", &[1], texts)])
        .unwrap();
    assert_eq!(
        (decided.hunks, decided.pending, decided.written.len()),
        (1, 5, 0)
    );
    assert_eq!(desk.tree(), before, "the editor writes, not the daemon");
    assert_eq!(
        desk.states("a.txt"),
        [HunkState::Accepted, HunkState::Pending]
    );
    // Nothing was saved: there is nothing to take back but the record.
    let undone = desk.undo().unwrap();
    assert_eq!(
        (undone.hunks, undone.pending, undone.written.len()),
        (1, 6, 0)
    );
    assert_eq!(desk.tree(), before);
    assert_eq!(desk.states("a.txt"), [HunkState::Pending; 2]);

    // Saved as it was, with a mode that stays.
    let file = desk.root.join("a.txt");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    desk.settle(None, &[landed("a.txt", &[1, 1], texts)])
        .unwrap();
    fs::write(&file, ONE).unwrap();
    assert_eq!(desk.undo().unwrap().written, [path("a.txt")]);
    assert_eq!(desk.read("a.txt"), BASE);
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o111,
        0o111
    );
    // Saved with more: only what was accepted goes.
    let claimed = desk.claim(&[("a.txt", Some(1))]).unwrap();
    desk.later();
    desk.settle(Some(&claimed.token), &[landed("a.txt", &[1], texts)])
        .unwrap();
    fs::write(&file, format!("0\n{ONE}")).unwrap();
    desk.undo().unwrap();
    assert_eq!(desk.read("a.txt"), format!("0\n{BASE}"));
    // Changed at the same place: by hand.
    desk.settle(None, &[landed("a.txt", &[1], texts)]).unwrap();
    fs::write(&file, ONE.replace("TWO", "mine")).unwrap();
    assert_eq!(kind(desk.undo()), ErrorKind::Conflict);
    assert_eq!(desk.read("a.txt"), ONE.replace("TWO", "mine"));
}

#[test]
fn what_the_user_typed_is_accepted_and_an_undo_leaves_it() {
    let desk = Desk::new();
    fs::write(desk.root.join("a.txt"), AGENT).unwrap();
    let typed = [landed("a.txt", &[2, 1], None), landed("to.txt", &[1], None)];
    assert_eq!(desk.settle(None, &typed).unwrap().hunks, 3);
    // Some of it again: the rest is told and the new is recorded.
    let more = [
        landed("a.txt", &[1, 7], None),
        landed("old.txt", &[1], None),
    ];
    let decided = desk.settle(None, &more).unwrap();
    let reasons: Vec<_> = decided
        .skipped
        .iter()
        .map(|skipped| &*skipped.reason)
        .collect();
    assert_eq!(
        reasons,
        [
            "it was already accepted",
            "the task has changed something else there since"
        ]
    );
    assert_eq!(decided.hunks, 1);
    desk.undo().unwrap();
    desk.undo().unwrap();
    assert_eq!(desk.read("a.txt"), AGENT);
    assert_eq!(
        desk.show()
            .files
            .iter()
            .map(|file| file.hunks.len())
            .sum::<usize>(),
        6
    );
    assert_eq!(kind(desk.undo()), ErrorKind::Conflict);
    let twice = [landed("a.txt", &[1], None), landed("a.txt", &[2], None)];
    assert_eq!(kind(desk.settle(None, &twice)), ErrorKind::Usage);
    let nowhere = [landed("nowhere", &[1], None)];
    assert_eq!(kind(desk.settle(None, &nowhere)), ErrorKind::Usage);
}

#[test]
fn what_is_reopened_leaves_its_decision_and_an_undo_leaves_it_alone() {
    let desk = Desk::new();
    desk.accept(&[]).unwrap();
    desk.accept(&[("Makefile", None)]).unwrap();
    assert_eq!(desk.state(), TaskState::Ended);
    let after = desk.tree();
    let decided = desk
        .reopen(&[("a.txt", Some(1)), ("to.txt", None)])
        .unwrap();
    assert_eq!((decided.hunks, decided.pending), (2, 2));
    assert_eq!(desk.tree(), after, "no file is touched");
    assert_eq!(desk.state(), TaskState::Ready);
    assert_eq!(
        desk.states("a.txt"),
        [HunkState::Pending, HunkState::Accepted]
    );
    assert_eq!(
        desk.reopen(&[("a.txt", Some(1))]).unwrap().hunks,
        0,
        "it waits already"
    );
    assert_eq!(desk.reopen(&[("Makefile", None)]).unwrap().hunks, 1);
    // The decision on the Makefile has nothing left; that on the rest has neither the rename nor the first hunk.
    fs::write(desk.root.join("a.txt"), AGENT.replace("TWO", "2")).unwrap();
    let undone = desk.undo().unwrap();
    assert_eq!((undone.hunks, undone.pending), (3, 6));
    assert_eq!(desk.read("a.txt"), BASE);
    assert_eq!(desk.read("to.txt"), "moved\n");
    assert!(!desk.root.join("from.txt").exists());
    assert_eq!(desk.read("Makefile"), "all: evil\n");
    assert_eq!(desk.read("old.txt"), "old\n");
    assert_eq!(kind(desk.undo()), ErrorKind::Conflict);

    // A rejected hunk that is wanted after all.
    desk.reject(&[("a.txt", None)]).unwrap();
    assert_eq!(desk.reopen(&[("a.txt", Some(2))]).unwrap().hunks, 1);
    desk.accept(&[("a.txt", Some(2))]).unwrap();
    desk.undo().unwrap();
    assert_eq!(
        desk.states("a.txt"),
        [HunkState::Rejected, HunkState::Pending]
    );
    desk.undo().unwrap();
    assert_eq!(desk.states("a.txt"), [HunkState::Pending; 2]);
    assert_eq!(kind(desk.reopen(&[])), ErrorKind::Usage);
    assert_eq!(kind(desk.reopen(&[("a.txt", Some(9))])), ErrorKind::Usage);
    assert_eq!(kind(desk.reopen(&[("nowhere", None)])), ErrorKind::Usage);
}

#[test]
fn a_file_that_an_editor_made_is_gone_after_an_undo() {
    let desk = Desk::new();
    let made = [landed("dir/new.txt", &[1], Some(("", "new\n")))];
    desk.settle(None, &made).unwrap();
    fs::create_dir(desk.root.join("dir")).unwrap();
    fs::write(desk.root.join("dir/new.txt"), "new\n").unwrap();
    desk.undo().unwrap();
    assert!(!desk.root.join("dir/new.txt").exists());
}

#[test]
fn what_was_done_in_one_go_is_taken_back_in_one_go() {
    let desk = Desk::new();
    let before = desk.tree();
    let gesture = Some("one".to_owned());
    let task = desk.task.as_str();
    let accept = |picks: &[(&str, Option<u32>)]| {
        let decide = Decide {
            gesture: gesture.clone(),
            ..decide(picks)
        };
        desk.reviewer.accept(task, &decide).unwrap()
    };
    desk.reject(&[("old.txt", None)]).unwrap();
    accept(&[("a.txt", Some(1))]);
    accept(&[("a.txt", Some(2))]);
    accept(&[("Makefile", Some(1))]);
    let undone = desk.undo().unwrap();
    assert_eq!((undone.hunks, undone.skipped.len()), (3, 0));
    assert_eq!(desk.tree(), before);
    assert_eq!(desk.undo().unwrap().hunks, 1, "the reject before it");
    assert_eq!(kind(desk.undo()), ErrorKind::Conflict);
    // It has a name, and others are left alone; what cannot be taken back stops it, and is told.
    accept(&[("a.txt", Some(1))]);
    accept(&[("Makefile", Some(1))]);
    desk.reject(&[("old.txt", None)]).unwrap();
    fs::write(desk.root.join("a.txt"), "mine\n").unwrap();
    let undo = Undo { gesture };
    let undone = desk.reviewer.undo(task, &undo).unwrap();
    assert_eq!(undone.hunks, 1);
    assert_eq!(undone.skipped[0].path, path("a.txt"));
    assert_eq!(desk.read("a.txt"), "mine\n");
    let error = desk.reviewer.undo(task, &undo).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let other = Undo {
        gesture: Some("other".to_owned()),
    };
    assert_eq!(desk.reviewer.undo(task, &other).unwrap().hunks, 0);
}

#[test]
fn an_editor_is_told_what_it_could_take_back() {
    let desk = Desk::new();
    let last = || desk.reviewer.last(desk.task.as_str()).unwrap().files;
    assert_eq!(last(), []);
    // Through an editor, and by the daemon.
    let texts = Some((BASE, ONE));
    desk.settle(None, &[landed("a.txt", &[1], texts)]).unwrap();
    assert_eq!(last(), [landed("a.txt", &[1], texts)]);
    desk.accept(&[("a.txt", Some(2)), ("old.txt", None)])
        .unwrap();
    let both = last();
    assert_eq!(both[0].hunks, [2]);
    let (without, with) = both[0].texts.clone().unwrap();
    assert_eq!(
        (without.as_str(), with.as_str()),
        (BASE, BASE.replace('8', "EIGHT").as_str())
    );
    assert_eq!((&both[1].path, &both[1].texts), (&path("old.txt"), &None));
    // What is reopened is not told again, and a reject has nothing to take out of a text.
    desk.reopen(&[("a.txt", Some(2))]).unwrap();
    assert_eq!(last().len(), 1);
    desk.reject(&[("a.txt", Some(2))]).unwrap();
    assert_eq!(last(), []);
    // What was decided in one go is told as one, the latest first.
    for hunk in [1, 2] {
        desk.reopen(&[("a.txt", Some(hunk))]).unwrap();
        let decide = Decide {
            gesture: Some("go".to_owned()),
            ..decide(&[("a.txt", Some(hunk))])
        };
        desk.reviewer.accept(desk.task.as_str(), &decide).unwrap();
    }
    let hunks: Vec<_> = last().into_iter().map(|file| file.hunks).collect();
    assert_eq!(hunks, [[2], [1]]);
    let told = desk.reviewer.last(desk.task.as_str()).unwrap();
    assert_eq!(told.gesture.as_deref(), Some("go"));
}
