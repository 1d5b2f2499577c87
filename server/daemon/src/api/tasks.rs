//! Requests about tasks.

use std::path::{Path, PathBuf};

use axum::{Json, extract::State};
use legwork_model::{Event, Manifest, Request, Task, TaskId, TaskSpec, Worker};
use legwork_wire::{Submit, Submitted, TaskDetail};
use serde::Deserialize;

use super::{
    Api, Refusal,
    request::{Asked, Named, Sent},
};
use crate::{
    clock, job,
    store::NewTask,
    supervisor::{Cancelled, Message},
};

/// Checks of one task.
const MOST_CHECKS: usize = 16;

/// The longest command line of a check, in bytes.
const LONGEST_CHECK: usize = 8 << 10;
/// The most entries of a task's list of what it may reach.
const MOST_ALLOWED: usize = 256;

#[derive(Debug, Deserialize)]
pub(super) struct Which {
    workspace: Option<PathBuf>,
}

pub(super) async fn list(
    State(api): State<Api>,
    Asked(query): Asked<Which>,
) -> Result<Json<Vec<Task>>, Refusal> {
    Ok(Json(
        api.store
            .call(move |db| db.tasks(query.workspace.as_deref()))
            .await?,
    ))
}

pub(super) async fn submit(
    State(api): State<Api>,
    Sent(mut submit): Sent<Submit>,
) -> Result<Json<Submitted>, Refusal> {
    check(&submit.spec)?;
    always_allowed(&api, &mut submit.spec).await?;
    let mut spec = submit.spec;
    if spec.checks.is_none() {
        spec.checks = Some(usual_checks(&api).await?);
    }
    queue(
        &api,
        NewTask {
            id: TaskId::random(),
            spec,
            buffers: submit.buffers,
        },
    )
    .await
}

pub(super) async fn retry(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<Submitted>, Refusal> {
    let old = find(&api, name).await?;
    if !old.state.is_over() {
        return Err(Refusal::conflict(
            format!("task {} is not over yet", old.id),
            "wait for its end, or cancel it first with `legwork cancel`",
        ));
    }
    check(&old.spec)?;
    queue(
        &api,
        NewTask {
            id: TaskId::random(),
            spec: old.spec,
            buffers: Vec::new(),
        },
    )
    .await
}

pub(super) async fn detail(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<TaskDetail>, Refusal> {
    let detail = api.store.call(move |db| {
        let id = db.resolve(&name)?;
        let task = db.task(&id)?;
        let last_event = db.last_event_of(&id)?;
        let (refused, notices) = db.remarks(&id)?;
        Ok(TaskDetail {
            task,
            last_event,
            refused,
            notices,
        })
    });
    Ok(Json(detail.await?))
}

pub(super) async fn manifest(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<Manifest>, Refusal> {
    let task = find(&api, name).await?;
    let path = job::manifest_of(&api.state, &task.id);
    let read = tokio::task::spawn_blocking(move || job::read_manifest(&path)).await;
    match read {
        Ok(Ok(Some(manifest))) => Ok(Json(manifest)),
        Ok(Ok(None)) => Err(Refusal::missing(
            format!("task {} has no snapshot", task.id),
            "it did not come so far, or its files were removed since",
        )),
        Ok(Err(error)) => Err(Refusal::internal(
            format!("the manifest of task {} cannot be read: {error}", task.id),
            "",
        )),
        Err(error) => Err(Refusal::internal(error.to_string(), "")),
    }
}

pub(super) async fn log(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<Vec<Event>>, Refusal> {
    let log = api.store.call(move |db| {
        let id = db.resolve(&name)?;
        db.log(&id)
    });
    Ok(Json(log.await?))
}

pub(super) async fn cancel(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<Task>, Refusal> {
    let task = find(&api, name).await?;
    let id = task.id.clone();
    match api.ask(|reply| Message::Cancel { task: id, reply }).await? {
        Cancelled::Over => {
            let now = api.store.call(move |db| db.task(&task.id)).await?;
            Ok(Json(now))
        }
        Cancelled::TooLate => Err(Refusal::conflict(
            format!("task {} is over already", task.id),
            "its changes, if there are any, can be rejected with `legwork reject`",
        )),
    }
}

pub(super) async fn find(api: &Api, name: String) -> Result<Task, Refusal> {
    let task = api.store.call(move |db| {
        let id = db.resolve(&name)?;
        db.task(&id)
    });
    Ok(task.await?)
}

/// What the user checks every task with.
async fn usual_checks(api: &Api) -> Result<Vec<String>, Refusal> {
    let places = api.places.clone();
    let read = tokio::task::spawn_blocking(move || places.read_config()).await;
    match read {
        Ok(Ok((config, _))) => Ok(config.checks),
        Ok(Err(error)) => Err(Refusal::usage(
            format!("what checks the task is not known: {error}"),
            "mend the file",
        )),
        Err(error) => Err(Refusal::internal(error.to_string(), "")),
    }
}

/// Stores it first: from then on it survives everything, and only then is it said to be queued.
async fn queue(api: &Api, new: NewTask) -> Result<Json<Submitted>, Refusal> {
    let stored = api.store.call(move |db| {
        db.submit(&new, clock::now())?;
        db.task(&new.id)
    });
    let task = stored.await?;
    let id = task.id.clone();
    // A daemon that is ending leaves it to the next one.
    drop(
        api.supervisor
            .send(Message::Queued {
                task: id.clone(),
                memory: task.spec.limits.memory,
            })
            .await,
    );
    Ok(Json(Submitted { task: id }))
}

/// Adds what the user lets every task reach. From then on it is the task's own, whatever becomes of the settings.
async fn always_allowed(api: &Api, spec: &mut TaskSpec) -> Result<(), Refusal> {
    let places = api.places.clone();
    let read = tokio::task::spawn_blocking(move || places.read_config()).await;
    let (config, _) = read
        .map_err(|error| Refusal::internal(error.to_string(), ""))?
        .map_err(|error| Refusal::usage(error.to_string(), "correct it"))?;
    spec.allow.extend(config.network.allow);
    spec.allow.sort_unstable();
    spec.allow.dedup();
    if spec.allow.len() > MOST_ALLOWED {
        return Err(Refusal::usage(
            format!(
                "{} hosts are allowed, and {MOST_ALLOWED} are the most",
                spec.allow.len()
            ),
            "allow fewer, or a domain as in `*.example.com`",
        ));
    }
    Ok(())
}

/// What can be known to be wrong before anything is stored.
fn check(spec: &TaskSpec) -> Result<(), Refusal> {
    spec.limits
        .validate()
        .map_err(|error| Refusal::usage(error.to_string(), "give it another limit"))?;
    let mut checks = spec.checks.iter().flatten().chain(&spec.reproduce);
    if checks
        .any(|line| line.trim().is_empty() || line.contains('\0') || line.len() > LONGEST_CHECK)
        || spec
            .checks
            .as_ref()
            .is_some_and(|checks| checks.len() > MOST_CHECKS)
    {
        return Err(Refusal::usage(
            format!(
                "there are at most {MOST_CHECKS} checks, each a command line of at most {} KiB",
                LONGEST_CHECK >> 10
            ),
            "put what is longer into a script",
        ));
    }
    match &spec.worker {
        Worker::Command { argv } if argv.first().is_none_or(String::is_empty) => {
            return Err(Refusal::usage(
                "no command was given",
                "put it behind `--`: `legwork run -- make fmt`",
            ));
        }
        Worker::Command { argv } if argv.iter().any(|word| word.contains('\0')) => {
            return Err(Refusal::usage(
                "the command holds a NUL byte",
                "leave it out",
            ));
        }
        Worker::Command { .. } => {}
        Worker::Builtin | Worker::External { .. } => {
            let said = spec.request.as_ref().map(|request| request.text.trim());
            if said.is_none_or(str::is_empty) {
                return Err(Refusal::usage(
                    "the agent is asked for nothing",
                    "say in words what is to be done",
                ));
            }
        }
    }
    if let Some(Err(error)) = spec.request.as_ref().map(Request::check) {
        return Err(Refusal::usage(
            error.to_string(),
            "leave out what is in the files: the task sees them",
        ));
    }
    let plain = |path: &Path| {
        path.components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    if !plain(&spec.directory) {
        return Err(Refusal::usage(
            format!(
                "{} is not a directory below the workspace",
                spec.directory.display()
            ),
            "give a relative path without `..`",
        ));
    }
    let root = &spec.workspace;
    if !root.is_absolute() {
        return Err(Refusal::usage(
            format!("{} is not an absolute path", root.display()),
            "give the whole path",
        ));
    }
    let missing = |error: std::io::Error| {
        Refusal::usage(
            format!("{} cannot be used as a workspace: {error}", root.display()),
            "give a directory that you can read",
        )
    };
    if !std::fs::metadata(root).map_err(missing)?.is_dir() {
        return Err(Refusal::usage(
            format!("{} is a file, not a directory", root.display()),
            "give the directory it is in",
        ));
    }
    if std::fs::canonicalize(root).map_err(missing)? != *root {
        return Err(Refusal::usage(
            format!("{} has a symbolic link in it", root.display()),
            "give the real path",
        ));
    }
    Ok(())
}
