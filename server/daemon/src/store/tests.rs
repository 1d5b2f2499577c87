//! What is stored survives: restarts, damage, newer schemas, and illegal transitions are refused.

use legwork_model::{
    Change, ChangeKind, Digest, EventBody, Failure, FailureKind, Outcome, Report, Side, TaskId,
    TaskSpec, TaskState, Transition, TreePath, Worker,
};
use legwork_review::{FileReview, Version};

use super::*;

fn spec() -> TaskSpec {
    TaskSpec::new(
        "/home/me/project".into(),
        Worker::Command {
            argv: vec!["true".to_owned()],
        },
    )
}

fn submit(store: &Store) -> TaskId {
    let task = NewTask {
        id: TaskId::random(),
        spec: spec(),
        buffers: vec![("a".parse().unwrap(), "text".to_owned())],
    };
    store.with(|db| db.submit(&task, 1)).unwrap();
    task.id
}

fn created(path: &str) -> FileRow {
    let bytes = b"one\ntwo\n";
    let after = Side::File {
        digest: Digest::of(bytes),
        size: 8,
        permissions: legwork_model::Permissions::PLAIN,
    };
    let change = Change {
        path: path.parse().unwrap(),
        kind: ChangeKind::Create,
        before: None,
        after: Some(after),
        binary: false,
        sensitive: None,
    };
    FileRow::new(
        change,
        FileReview::propose(None, Some(Version::regular(bytes))),
    )
}

/// Runs a task to its end, with these files to review.
fn finish(store: &Store, task: &TaskId, files: Vec<FileRow>) {
    store
        .with(|db| {
            for transition in [Transition::Start, Transition::Boot, Transition::End] {
                db.transition(task, transition, 2)?;
            }
            db.revise(task, &[], &files, 3)?;
            db.finish(task, &Finish::with(Outcome::Done, Report::default()), 3)
        })
        .unwrap();
}

fn rejection(files: &[&str]) -> Decision {
    Decision {
        token: TaskId::random().to_string(),
        gesture: None,
        kind: DecisionKind::Reject,
        reason: None,
        picks: files
            .iter()
            .map(|path| (path.parse::<TreePath>().unwrap(), vec![1]))
            .collect(),
        moved: Vec::new(),
        edits: Vec::new(),
        undo: Vec::new(),
    }
}

fn rejected(row: &FileRow) -> FileRow {
    FileRow::new(row.change.clone(), row.review.reject(&[1]).unwrap())
}

#[test]
fn what_was_stored_is_there_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (store, notice) = Store::open(dir.path()).unwrap();
    assert_eq!(notice, None);
    let (queued, done) = (submit(&store), submit(&store));
    finish(&store, &done, vec![created("b/c"), created("b\u{1}")]);
    let last = *store.last_event().borrow();
    drop(store);

    let (store, _) = Store::open(dir.path()).unwrap();
    assert_eq!(*store.last_event().borrow(), last);
    let tasks = store.with(|db| db.tasks(None)).unwrap();
    assert_eq!(
        tasks.iter().map(|task| &task.id).collect::<Vec<_>>(),
        [&done, &queued],
        "newest first"
    );
    assert_eq!(
        (tasks[0].state, tasks[0].pending, tasks[0].finished),
        (TaskState::Ready, 2, Some(3))
    );
    assert_eq!(
        (tasks[1].state, tasks[1].pending, tasks[1].spec.clone()),
        (TaskState::Queued, 0, spec())
    );
    assert_eq!(store.with(|db| db.buffers(&queued)).unwrap().len(), 1);
    assert_eq!(
        store.with(|db| db.buffers(&done)).unwrap().len(),
        0,
        "buffers go with the end"
    );
    let paths: Vec<_> = store
        .with(|db| db.files(&done))
        .unwrap()
        .iter()
        .map(|row| row.path().to_string())
        .collect();
    assert_eq!(paths, ["b\\x01", "b/c"]);
    let events = store.with(|db| db.events(Some(&done), 0, 100)).unwrap();
    assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert!(matches!(
        &events.last().unwrap().body,
        EventBody::Outcome {
            outcome: Outcome::Done,
            pending: 2
        }
    ));
    let workspace = store
        .with(|db| db.tasks(Some(Path::new("/elsewhere"))))
        .unwrap();
    assert!(workspace.is_empty());
}

#[test]
fn ids_may_be_shortened_while_they_are_unique() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(dir.path()).unwrap();
    let tasks: Vec<_> = (0..40).map(|_| submit(&store)).collect();
    let resolve = |prefix: &str| store.with(|db| db.resolve(prefix));
    assert_eq!(resolve(tasks[7].as_str()).unwrap(), tasks[7]);
    // Forty ids and sixteen letters: some letter begins two of them.
    let twice = tasks.iter().map(|task| &task.as_str()[..1]).find(|first| {
        tasks
            .iter()
            .filter(|task| task.as_str().starts_with(first))
            .count()
            > 1
    });
    let Err(StoreError::Ambiguous { candidates, .. }) = resolve(twice.unwrap()) else {
        panic!("it is ambiguous")
    };
    assert!(candidates.len() > 1);
    for prefix in ["", "zzz", "%", "_", "../x", "aaaaaaaaaaaaa"] {
        assert!(
            matches!(resolve(prefix), Err(StoreError::NoTask(_))),
            "{prefix}"
        );
    }
}

#[test]
fn a_task_only_moves_as_the_states_allow() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(dir.path()).unwrap();
    let task = submit(&store);
    let events = store.with(|db| db.events(Some(&task), 0, 100)).unwrap();
    let wrong = store.with(|db| db.transition(&task, Transition::End, 2));
    assert!(matches!(wrong, Err(StoreError::Illegal { .. })));
    assert_eq!(
        store.with(|db| db.events(Some(&task), 0, 100)).unwrap(),
        events,
        "nothing was written"
    );
    finish(&store, &task, Vec::new());
    assert_eq!(
        store.with(|db| db.task(&task)).unwrap().state,
        TaskState::Ended
    );
    let failure = Failure::new(FailureKind::Interrupted, "", "");
    let again = Finish::with(Outcome::Failed(failure), Report::default());
    assert!(store.with(|db| db.finish(&task, &again, 9)).is_err());
    assert_eq!(
        store.with(|db| db.task(&task)).unwrap().outcome,
        Some(Outcome::Done)
    );
}

#[test]
fn a_decision_is_stored_once_and_moves_the_task() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(dir.path()).unwrap();
    let task = submit(&store);
    let row = created("a");
    finish(&store, &task, vec![row.clone()]);
    let decision = rejection(&["a"]);
    let state = || store.with(|db| db.task(&task)).unwrap().state;
    assert_eq!(
        store
            .with(|db| db.decide(&task, &decision, &[rejected(&row)], 4))
            .unwrap(),
        0
    );
    assert_eq!(state(), TaskState::Ended);
    let events = *store.last_event().borrow();
    assert_eq!(
        store
            .with(|db| db.decide(&task, &decision, &[rejected(&row)], 5))
            .unwrap(),
        0
    );
    assert_eq!(
        *store.last_event().borrow(),
        events,
        "the second time does nothing"
    );
    assert_eq!(
        store.with(|db| db.last_decision(&task, None)).unwrap(),
        Some(decision.clone())
    );
    assert_eq!(
        store
            .with(|db| db.undone(&task, &decision.token, std::slice::from_ref(&row), 6))
            .unwrap(),
        1
    );
    assert_eq!(state(), TaskState::Ready);
    assert_eq!(
        store
            .with(|db| db.undone(&task, &decision.token, &[rejected(&row)], 7))
            .unwrap(),
        1
    );
    assert_eq!(
        store.with(|db| db.last_decision(&task, None)).unwrap(),
        None
    );
}

#[test]
fn reviews_move_with_a_running_task_and_stay_when_it_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(dir.path()).unwrap();
    let task = submit(&store);
    for transition in [Transition::Start, Transition::Boot] {
        store
            .with(|db| db.transition(&task, transition, 2))
            .unwrap();
    }
    let rows = ["a", "b", "c"].map(created);
    let paths = || -> Vec<String> {
        let rows = store.with(|db| db.files(&task)).unwrap();
        rows.iter().map(|row| row.path().to_string()).collect()
    };
    let state = || store.with(|db| db.task(&task)).unwrap().state;
    let revise = |gone: &[TreePath], rows: &[FileRow]| {
        store.with(|db| db.revise(&task, gone, rows, 3)).unwrap()
    };
    assert_eq!(revise(&[], &rows), 3);
    assert_eq!(revise(&["b".parse().unwrap()], &[]), 2);
    assert_eq!(paths(), ["a", "c"]);
    let events = *store.last_event().borrow();
    assert_eq!(revise(&[], &[]), 2);
    assert_eq!(*store.last_event().borrow(), events, "nothing happened");
    // A decision while it runs moves no state, even if it is the last one for now.
    let decide = |row: &FileRow| {
        let decision = rejection(&[&row.path().to_string()]);
        store
            .with(|db| db.decide(&task, &decision, &[rejected(row)], 4))
            .unwrap()
    };
    assert_eq!(decide(&rows[0]), 1);
    assert_eq!(decide(&rows[2]), 0);
    assert_eq!(state(), TaskState::Running);
    assert_eq!(revise(&[], &rows[1..2]), 1);
    // Of no use after all: what was decided stays on record.
    store.with(|db| db.withdraw(&task, 5)).unwrap();
    assert_eq!(paths(), ["a", "c"]);
    revise(&[], &rows[1..2]);
    let failure = Failure::new(FailureKind::Interrupted, "", "");
    let cut_off = Finish::with(Outcome::Failed(failure), Report::default());
    assert_eq!(store.with(|db| db.finish(&task, &cut_off, 6)).unwrap(), 1);
    assert_eq!(state(), TaskState::Ready);
    assert_eq!(revise(&["b".parse().unwrap()], &[]), 1, "too late");
    assert_eq!(decide(&rows[1]), 0);
    assert_eq!(state(), TaskState::Ended);
}

#[test]
fn an_intent_is_found_again_and_can_be_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(dir.path()).unwrap();
    let task = submit(&store);
    let row = created("a");
    finish(&store, &task, vec![row.clone()]);
    let decision = rejection(&["a"]);
    store.with(|db| db.intend(&task, &decision, 4)).unwrap();
    drop(store);
    let (store, _) = Store::open(dir.path()).unwrap();
    let unsettled = store.with(|db| db.unsettled()).unwrap();
    assert_eq!(
        (
            unsettled.len(),
            &unsettled[0].decision,
            &unsettled[0].undoing
        ),
        (1, &decision, &None)
    );
    assert_eq!(
        store.with(|db| db.last_decision(&task, None)).unwrap(),
        None
    );
    store.with(|db| db.forget_intent(&decision.token)).unwrap();
    assert!(store.with(|db| db.unsettled()).unwrap().is_empty());

    store
        .with(|db| db.decide(&task, &decision, &[rejected(&row)], 5))
        .unwrap();
    store
        .with(|db| db.intend_undo(&decision.token, &[]))
        .unwrap();
    assert_eq!(
        store.with(|db| db.unsettled()).unwrap()[0].undoing,
        Some(Vec::new())
    );
    store.with(|db| db.forget_intent(&decision.token)).unwrap();
    assert_eq!(
        store.with(|db| db.last_decision(&task, None)).unwrap(),
        Some(decision),
        "it is done again"
    );
}

#[test]
fn a_broken_database_is_put_aside_and_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("legwork.db");
    std::fs::write(
        &path,
        b"this is not a database, but it is long enough to be read as the header of one".repeat(40),
    )
    .unwrap();
    let (store, notice) = Store::open(dir.path()).unwrap();
    assert!(notice.unwrap().contains("legwork.db.corrupt-"));
    submit(&store);
    drop(store);
    // A page in the middle.
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(0xaa);
    std::fs::write(&path, bytes).unwrap();
    let (store, notice) = Store::open(dir.path()).unwrap();
    assert!(notice.is_some());
    assert!(store.with(|db| db.tasks(None)).unwrap().is_empty());
    let aside = std::fs::read_dir(dir.path()).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains(".corrupt-")
    });
    assert!(aside.count() >= 2);
}

#[test]
fn a_newer_database_and_one_in_use_are_refused_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(dir.path()).unwrap();
    let task = submit(&store);
    assert!(matches!(Store::open(dir.path()), Err(StoreError::InUse(_))));
    store
        .with(|db| Ok(db.connection.pragma_update(None, "user_version", 99)?))
        .unwrap();
    drop(store);
    let refused = Store::open(dir.path()).unwrap_err();
    assert!(
        matches!(
            refused,
            StoreError::Newer {
                found: 99,
                known: 3,
                ..
            }
        ),
        "{refused}"
    );
    let connection = Connection::open(dir.path().join("legwork.db")).unwrap();
    connection.pragma_update(None, "user_version", 3).unwrap();
    drop(connection);
    let (store, _) = Store::open(dir.path()).unwrap();
    assert_eq!(store.with(|db| db.task(&task)).unwrap().id, task);
}
