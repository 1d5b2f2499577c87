//! What a new daemon finds of the last one, and what it makes of it, before it takes any request.

use legwork_model::{Outcome, Report, Task, TaskState};

use crate::{
    clock, evidence,
    job::{self, Room},
    retention,
    review::Reviewer,
    settings::Settings,
    store::{Finish, StoreError},
};

/// Brings everything to an end that an earlier daemon was cut off in. Gives the tasks that wait for their turn, oldest
/// first. It blocks.
pub(crate) fn recover(
    settings: &Settings,
    room: &Room,
    reviewer: &Reviewer,
) -> Result<Vec<Task>, StoreError> {
    if let Err(error) = reviewer.recover() {
        // The journal is kept. Nothing can be accepted there until it is settled, all else works.
        tracing::error!(%error, "an interrupted accept could not be settled");
    }
    let active = [
        TaskState::Preparing,
        TaskState::Running,
        TaskState::Collecting,
    ];
    for task in room.store.with(|db| db.tasks_in(&active))? {
        tracing::warn!(task = %task.id, "was cut off");
        let finish = Finish::with(Outcome::Failed(job::interrupted()), Report::default());
        room.store
            .with(|db| db.finish(&task.id, &finish, clock::now()))?;
    }
    for task in room.store.with(|db| db.with_unheard())? {
        room.store.with(|db| db.wake(&task, clock::now()))?;
    }
    for task in room.store.with(|db| db.checking())? {
        room.store
            .with(|db| evidence::give_up(db, &task, job::CUT_OFF, clock::now()))?;
    }
    remove_sandboxes(&room.state);
    match retention::sweep(&room.store, &room.state, &room.blobs, settings.retention) {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "old tasks were forgotten"),
        Err(error) => tracing::warn!(%error, "old tasks could not be forgotten"),
    }
    room.store.with(|db| db.tasks_in(&[TaskState::Queued]))
}

/// The virtual machines themselves ended with the daemon that started them.
fn remove_sandboxes(state: &std::path::Path) {
    let Ok(tasks) = std::fs::read_dir(state.join("tasks")) else {
        return;
    };
    for task in tasks.flatten() {
        if let Err(error) = job::remove_dir(&task.path().join("vm")) {
            tracing::warn!(dir = %task.path().display(), %error, "a dead sandbox could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use legwork_model::{FailureKind, TaskId, TaskSpec, Transition, Worker};
    use legwork_wire::Places;
    use legwork_workspace::BlobStore;

    use super::*;
    use crate::store::{NewTask, Store};

    #[test]
    fn what_ran_is_interrupted_what_waited_still_waits_and_sandboxes_are_gone() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name| dir.path().join(name);
        let settings = Settings::new(Places {
            state: dir.path().into(),
            runtime: at("run"),
            cache: at("cache"),
            config: at("cache"),
        });
        let (store, _) = Store::open(dir.path()).unwrap();
        let blobs = BlobStore::open(at("blobs")).unwrap();
        let submit = || {
            let spec = TaskSpec::new(
                at("project"),
                Worker::Command {
                    argv: vec!["true".to_owned()],
                },
            );
            let task = NewTask {
                id: TaskId::random(),
                spec,
                buffers: Vec::new(),
            };
            store.with(|db| db.submit(&task, 1)).unwrap();
            task.id
        };
        let (first, running, second) = (submit(), submit(), submit());
        store
            .with(|db| db.transition(&running, Transition::Start, 2))
            .unwrap();
        store
            .with(|db| db.transition(&running, Transition::Boot, 2))
            .unwrap();
        let vm = job::dir_of(dir.path(), &running).join("vm");
        std::fs::create_dir_all(vm.join("deep")).unwrap();
        let reviewer = Reviewer::new(store.clone(), dir.path(), blobs.clone());
        let reviewer = Arc::new(reviewer);
        let room = Arc::new(Room {
            store: store.clone(),
            state: dir.path().into(),
            blobs,
            reviewer: Arc::clone(&reviewer),
            cache: at("cache"),
            places: settings.places.clone(),
            gate: Default::default(),
        });
        let waiting = recover(&settings, &room, &reviewer).unwrap();
        assert_eq!(
            waiting.iter().map(|task| &task.id).collect::<Vec<_>>(),
            [&first, &second]
        );
        let task = store.with(|db| db.task(&running)).unwrap();
        assert_eq!(task.state, TaskState::Ended);
        assert!(
            matches!(task.outcome, Some(Outcome::Failed(failure)) if failure.kind == FailureKind::Interrupted)
        );
        assert!(!vm.exists());
    }
}
