//! Decisions on real files.

mod desk;
mod landing;
mod live;

use std::{fs, path::Path};

use legwork_model::TaskState;
use legwork_wire::{ErrorKind, HunkState};

use super::*;
use desk::{AGENT, BASE, Desk, decide, kind, path};

#[test]
fn a_bulk_accept_leaves_the_sensitive_and_undo_brings_every_byte_back() {
    let desk = Desk::new();
    let before = desk.tree();
    let decided = desk.accept(&[]).unwrap();
    assert_eq!((decided.hunks, decided.pending), (5, 1));
    assert_eq!(decided.skipped.len(), 1);
    assert_eq!(decided.skipped[0].path, path("Makefile"));
    let written: Vec<_> = decided.written.iter().map(ToString::to_string).collect();
    for name in ["a.txt", "dir/new.txt", "from.txt", "old.txt", "to.txt"] {
        assert!(written.contains(&name.to_owned()), "{name} in {written:?}");
    }
    let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let after = [
        text("Makefile", "all:\n"),
        text("a.txt", AGENT),
        text("dir/new.txt", "new\n"),
        text("to.txt", "moved\n"),
    ];
    assert_eq!(desk.tree(), after);
    assert_eq!(desk.state(), TaskState::Ready);

    assert_eq!(
        kind(desk.accept(&[])),
        ErrorKind::Policy,
        "only the sensitive one is left"
    );
    assert_eq!(desk.accept(&[("Makefile", None)]).unwrap().pending, 0);
    assert_eq!(desk.state(), TaskState::Ended);
    assert_eq!(desk.read("Makefile"), "all: evil\n");

    assert_eq!(desk.undo().unwrap().pending, 1);
    assert_eq!(desk.state(), TaskState::Ready);
    let undone = desk.undo().unwrap();
    assert_eq!((undone.hunks, undone.pending), (5, 6));
    assert_eq!(desk.tree(), before);
    assert!(
        !desk.root.join("dir").exists(),
        "the directory that was made is gone"
    );
    assert_eq!(kind(desk.undo()), ErrorKind::Conflict);
}

#[test]
fn a_folder_that_was_there_stays_when_its_only_file_is_taken_back() {
    let desk = Desk::new();
    fs::create_dir(desk.root.join("dir")).unwrap();
    desk.accept(&[("dir", None)]).unwrap();
    assert_eq!(desk.read("dir/new.txt"), "new\n");
    desk.undo().unwrap();
    assert_eq!(fs::read_dir(desk.root.join("dir")).unwrap().count(), 0);
}

#[test]
fn hunks_are_decided_one_by_one_and_never_twice() {
    let desk = Desk::new();
    desk.accept(&[("a.txt", Some(2))]).unwrap();
    assert_eq!(desk.read("a.txt"), BASE.replace('8', "EIGHT"));
    desk.reject(&[("a.txt", Some(1))]).unwrap();
    assert_eq!(
        desk.read("a.txt"),
        BASE.replace('8', "EIGHT"),
        "a reject touches no file"
    );
    assert_eq!(
        desk.states("a.txt"),
        [HunkState::Rejected, HunkState::Accepted]
    );
    let again = desk.accept(&[("a.txt", Some(2))]).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
    assert!(again.to_string().contains("already accepted"), "{again}");
    let again = desk.accept(&[("a.txt", Some(1))]).unwrap_err();
    assert!(again.to_string().contains("already rejected"), "{again}");
    assert_eq!(kind(desk.accept(&[("a.txt", None)])), ErrorKind::Conflict);
    assert_eq!(kind(desk.accept(&[("a.txt", Some(9))])), ErrorKind::Usage);
    assert_eq!(kind(desk.accept(&[("nowhere", None)])), ErrorKind::Usage);
    assert_eq!(
        desk.accept(&[("dir", None)]).unwrap().hunks,
        1,
        "a directory means all below it"
    );
    desk.undo().unwrap();
    assert!(!desk.root.join("dir").exists());
    desk.undo().unwrap();
    assert_eq!(
        desk.states("a.txt"),
        [HunkState::Pending, HunkState::Accepted],
        "the reject was undone"
    );
}

#[test]
fn hunks_move_with_the_users_file_and_collide_only_where_it_changed() {
    let desk = Desk::new();
    fs::write(
        desk.root.join("a.txt"),
        format!("0\n{}", BASE.replace("8\n", "my eight\n")),
    )
    .unwrap();
    assert_eq!(
        desk.states("a.txt"),
        [HunkState::Pending, HunkState::Conflicted]
    );
    assert_eq!(desk.show().files[1].hunks[0].live, Some(3));
    assert_eq!(
        kind(desk.accept(&[("a.txt", Some(2))])),
        ErrorKind::Conflict
    );
    let decided = desk.accept(&[("a.txt", None)]).unwrap();
    assert_eq!(
        (
            decided.hunks,
            decided.skipped.len(),
            decided.skipped[0].hunk
        ),
        (1, 1, Some(2))
    );
    assert_eq!(
        desk.read("a.txt"),
        "0\n1\nTWO\n3\n4\n5\n6\n7\nmy eight\n9\n"
    );
    // The user goes on; an undo takes out only what was accepted.
    fs::write(
        desk.root.join("a.txt"),
        "0\n1\nTWO\n3\n4\n5\n6\n7\nmy eight\n9\n10\n",
    )
    .unwrap();
    desk.undo().unwrap();
    assert_eq!(
        desk.read("a.txt"),
        "0\n1\n2\n3\n4\n5\n6\n7\nmy eight\n9\n10\n"
    );
    // And where the user changed just that, nothing is done.
    desk.accept(&[("a.txt", Some(1))]).unwrap();
    let mine = desk.read("a.txt").replace("TWO", "my two");
    fs::write(desk.root.join("a.txt"), &mine).unwrap();
    assert_eq!(kind(desk.undo()), ErrorKind::Conflict);
    assert_eq!(desk.read("a.txt"), mine);
}

#[test]
fn one_file_that_cannot_be_written_means_that_none_is() {
    let desk = Desk::new();
    // The user made a link where the new file's directory was to be: nothing is written through it.
    std::os::unix::fs::symlink("/tmp", desk.root.join("dir")).unwrap();
    assert_eq!(
        kind(desk.accept(&[("dir/new.txt", Some(1))])),
        ErrorKind::Conflict
    );
    assert!(!Path::new("/tmp/new.txt").exists());
    let decided = desk.accept(&[]).unwrap();
    assert!(
        decided
            .skipped
            .iter()
            .any(|skipped| skipped.path == path("dir/new.txt")),
        "{decided:?}"
    );
    // A renamed file whose old path was changed is left as it is.
    desk.undo().unwrap();
    fs::write(desk.root.join("from.txt"), "mine\n").unwrap();
    assert_eq!(
        kind(desk.accept(&[("to.txt", Some(1))])),
        ErrorKind::Conflict
    );
    assert_eq!(desk.read("from.txt"), "mine\n");
}

#[test]
fn a_decision_is_bound_to_what_was_shown() {
    let desk = Desk::new();
    let shown = Some(desk.show().digest);
    desk.reject(&[("old.txt", None)]).unwrap();
    let stale = Decide {
        digest: shown,
        ..decide(&[("a.txt", None)])
    };
    let refused = desk.reviewer.accept(desk.task.as_str(), &stale);
    assert_eq!(kind(refused), ErrorKind::Conflict);
    assert_eq!(desk.read("a.txt"), BASE);
    let fresh = Decide {
        digest: Some(desk.show().digest),
        ..decide(&[("a.txt", None)])
    };
    desk.reviewer.accept(desk.task.as_str(), &fresh).unwrap();
    assert_eq!(desk.read("a.txt"), AGENT);
}

#[test]
fn another_folder_in_the_place_of_the_workspace_is_never_written_to() {
    let desk = Desk::new();
    fs::rename(&desk.root, desk.root.with_file_name("moved")).unwrap();
    fs::create_dir(&desk.root).unwrap();
    fs::write(desk.root.join("a.txt"), BASE).unwrap();
    assert_eq!(kind(desk.accept(&[("a.txt", None)])), ErrorKind::Conflict);
    assert_eq!(desk.read("a.txt"), BASE);
    assert_eq!(desk.show().files.len(), 5, "it can still be looked at");
}

/// A daemon that ends between the last byte written and the record of it.
#[test]
fn a_decision_that_was_cut_off_is_finished_or_forgotten_by_the_next_daemon() {
    let desk = Desk::new();
    let store = &desk.reviewer.store;
    let id = &desk.task;
    let case = desk.reviewer.case(id.as_str()).unwrap();
    let workspace = desk.reviewer.workspace(id, &case.task).unwrap();
    let intend = || {
        let choice = Choice::of(
            &case.rows,
            &decide(&[("a.txt", None)]),
            DecisionKind::Accept,
        )
        .unwrap();
        let plan = desk.reviewer.plan(&case, choice, &workspace).unwrap();
        let decision = Decision {
            token: TaskId::random().to_string(),
            gesture: None,
            kind: DecisionKind::Accept,
            reason: None,
            picks: plan
                .picks
                .into_iter()
                .map(|chosen| (chosen.path, chosen.ids))
                .collect(),
            moved: plan
                .moved
                .iter()
                .map(|row| (row.path().clone(), row.review.clone()))
                .collect(),
            edits: plan.edits,
            undo: Vec::new(),
        };
        store.with(|db| db.intend(id, &decision, 4)).unwrap();
        decision
    };
    // Nothing was written.
    intend();
    desk.reviewer.recover().unwrap();
    assert_eq!(desk.states("a.txt"), [HunkState::Pending; 2]);
    assert!(store.with(|db| db.unsettled()).unwrap().is_empty());
    // All was written, and the journal is closed.
    let decision = intend();
    Applier::new(
        &workspace,
        &desk.state.join("journal"),
        &desk.reviewer.blobs,
    )
    .apply(&decision.edits, &decision.token)
    .unwrap();
    desk.reviewer.recover().unwrap();
    desk.reviewer.recover().unwrap();
    assert_eq!(desk.read("a.txt"), AGENT);
    assert_eq!(desk.states("a.txt"), [HunkState::Accepted; 2]);
    // It can be taken back as any other; that is cut off too.
    let edits = desk
        .reviewer
        .reverse(
            &workspace,
            &store
                .with(|db| db.last_decision(id, None))
                .unwrap()
                .unwrap(),
        )
        .unwrap();
    store
        .with(|db| db.intend_undo(&decision.token, &edits))
        .unwrap();
    desk.reviewer.recover().unwrap();
    assert_eq!(
        desk.states("a.txt"),
        [HunkState::Accepted; 2],
        "it was not written"
    );
    store
        .with(|db| db.intend_undo(&decision.token, &edits))
        .unwrap();
    fs::write(desk.root.join("a.txt"), BASE).unwrap();
    desk.reviewer.recover().unwrap();
    assert_eq!(desk.states("a.txt"), [HunkState::Pending; 2]);
}

#[test]
fn the_diff_and_the_view_show_all_there_is() {
    let desk = Desk::new();
    let diff = String::from_utf8(desk.reviewer.diff(desk.task.as_str()).unwrap()).unwrap();
    for part in [
        "-2\n+TWO\n",
        "+++ b/dir/new.txt",
        "deleted file mode",
        "rename from from.txt",
        "+all: evil",
    ] {
        assert!(diff.contains(part), "{part} in {diff}");
    }
    let review = desk.show();
    let to = review
        .files
        .iter()
        .find(|file| file.path == path("to.txt"))
        .unwrap();
    assert_eq!(
        (to.summary.as_deref(), to.hunks.len()),
        (Some("renamed from from.txt"), 1)
    );
    assert_eq!(review.files[0].sensitive.as_deref(), Some("runs on build"));
    assert_eq!(review.files[1].hunks[0].lines.len(), 6);
}
