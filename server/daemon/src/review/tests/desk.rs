//! A workspace with a task under review, for the tests of decisions.

use std::{
    fs,
    path::{Path, PathBuf},
};

use legwork_model::{
    Change, ChangeKind, Outcome, Report, Side, TaskId, TaskSpec, TaskState, Transition, TreePath,
    Worker,
};
use legwork_wire::{Decide, Decided, ErrorKind, HunkState, Pick, Review, Undo};
use legwork_workspace::{BlobStore, Workspace};

use crate::{
    review::{ReviewError, Reviewer, propose},
    store::{Finish, NewTask, Store},
};

pub(super) const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
pub(super) const AGENT: &str = "1\nTWO\n3\n4\n5\n6\n7\nEIGHT\n9\n";

/// A workspace, and a task that changed `a.txt` in two places, made `dir/new.txt` and deleted `old.txt`; `Makefile` is
/// sensitive.
pub(super) struct Desk {
    _dir: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) state: PathBuf,
    pub(super) reviewer: Reviewer,
    pub(super) task: TaskId,
}

pub(super) fn path(text: &str) -> TreePath {
    text.parse().unwrap()
}

pub(super) fn file(blobs: &BlobStore, text: &str) -> Option<Side> {
    let blob = blobs.put(text.as_bytes()).unwrap();
    Some(Side::File {
        digest: blob.digest,
        size: blob.size,
        permissions: legwork_model::Permissions::PLAIN,
    })
}

pub(super) fn change(
    at: &str,
    kind: ChangeKind,
    before: Option<Side>,
    after: Option<Side>,
    sensitive: bool,
) -> Change {
    let sensitive = sensitive.then(|| "runs on build".to_owned());
    Change {
        path: path(at),
        kind,
        before,
        after,
        binary: false,
        sensitive,
    }
}

impl Desk {
    pub(super) fn new() -> Self {
        let desk = Self::running();
        let (blobs, task) = (&desk.reviewer.blobs, &desk.task);
        let rename = ChangeKind::Rename {
            from: path("from.txt"),
        };
        let changes = [
            change(
                "Makefile",
                ChangeKind::Modify,
                file(blobs, "all:\n"),
                file(blobs, "all: evil\n"),
                true,
            ),
            change(
                "a.txt",
                ChangeKind::Modify,
                file(blobs, BASE),
                file(blobs, AGENT),
                false,
            ),
            change(
                "dir/new.txt",
                ChangeKind::Create,
                None,
                file(blobs, "new\n"),
                false,
            ),
            change(
                "old.txt",
                ChangeKind::Delete,
                file(blobs, "old\n"),
                None,
                false,
            ),
            change(
                "to.txt",
                rename,
                file(blobs, "moved\n"),
                file(blobs, "moved\n"),
                false,
            ),
        ];
        let files = changes.map(|change| propose(blobs, change).unwrap());
        let store = &desk.reviewer.store;
        store.with(|db| db.revise(task, &[], &files, 3)).unwrap();
        desk.finish();
        desk
    }

    /// The workspace with a task that runs and has changed nothing yet.
    pub(super) fn running() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        let state = dir.path().join("state");
        fs::create_dir(&root).unwrap();
        fs::create_dir(&state).unwrap();
        for (name, text) in [
            ("a.txt", BASE),
            ("old.txt", "old\n"),
            ("Makefile", "all:\n"),
            ("from.txt", "moved\n"),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        let (store, _) = Store::open(&state).unwrap();
        let blobs = BlobStore::open(state.join("blobs")).unwrap();
        let task = TaskId::random();
        let spec = TaskSpec::new(
            root.clone(),
            Worker::Command {
                argv: vec!["true".to_owned()],
            },
        );
        let new = NewTask {
            id: task.clone(),
            spec,
            buffers: Vec::new(),
        };
        let identity = Workspace::open(&root).unwrap().identity();
        store
            .with(|db| {
                db.submit(&new, 1)?;
                db.transition(&task, Transition::Start, 2)?;
                db.transition(&task, Transition::Boot, 2)?;
                db.set_identity(&task, identity)
            })
            .unwrap();
        let reviewer = Reviewer::new(store, &state, blobs);
        Self {
            _dir: dir,
            root,
            state,
            reviewer,
            task,
        }
    }

    /// The task ends well.
    pub(super) fn finish(&self) {
        let finish = Finish::with(Outcome::Done, Report::default());
        let store = &self.reviewer.store;
        store
            .with(|db| {
                db.transition(&self.task, Transition::End, 3)?;
                db.finish(&self.task, &finish, 3)
            })
            .unwrap();
    }

    /// What stands in the workspace: every file and its text.
    pub(super) fn tree(&self) -> Vec<(String, String)> {
        fn walk(dir: &Path, root: &Path, found: &mut Vec<(String, String)>) {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let name = entry
                    .path()
                    .strip_prefix(root)
                    .unwrap()
                    .display()
                    .to_string();
                if entry.path().is_dir() {
                    walk(&entry.path(), root, found);
                } else {
                    found.push((name, fs::read_to_string(entry.path()).unwrap()));
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.root, &self.root, &mut found);
        found.sort();
        found
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    pub(super) fn accept(&self, picks: &[(&str, Option<u32>)]) -> Result<Decided, ReviewError> {
        self.reviewer.accept(self.task.as_str(), &decide(picks))
    }

    pub(super) fn reject(&self, picks: &[(&str, Option<u32>)]) -> Result<Decided, ReviewError> {
        self.reviewer.reject(self.task.as_str(), &decide(picks))
    }

    pub(super) fn undo(&self) -> Result<Decided, ReviewError> {
        self.reviewer.undo(self.task.as_str(), &Undo::default())
    }

    pub(super) fn show(&self) -> Review {
        self.reviewer.show(self.task.as_str()).unwrap()
    }

    pub(super) fn states(&self, at: &str) -> Vec<HunkState> {
        let review = self.show();
        let file = review
            .files
            .iter()
            .find(|file| file.path == path(at))
            .unwrap();
        file.hunks.iter().map(|hunk| hunk.state).collect()
    }

    pub(super) fn state(&self) -> TaskState {
        self.reviewer
            .store
            .with(|db| db.task(&self.task))
            .unwrap()
            .state
    }
}

pub(super) fn decide(picks: &[(&str, Option<u32>)]) -> Decide {
    let picks = picks
        .iter()
        .map(|(at, hunk)| Pick {
            path: path(at),
            hunk: *hunk,
        })
        .collect();
    Decide {
        picks,
        ..Decide::default()
    }
}

pub(super) fn kind<T: std::fmt::Debug>(result: Result<T, ReviewError>) -> ErrorKind {
    result.unwrap_err().kind()
}
