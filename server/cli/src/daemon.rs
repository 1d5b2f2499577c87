//! `legwork daemon`: start, stop and look at the process in the background.

use std::time::Duration;

use legwork_daemon::{InstanceError, RunError, Settings};
use legwork_wire::{Client, ErrorKind, Places, Status, Stop, WireError};
use rustix::process::{Pid, test_kill_process};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{args::DaemonCommand, failure::Failure, moment, output, start, verdict};

/// How long a daemon may take to end after it said it would.
const STOP_DEADLINE: Duration = Duration::from_secs(30);

/// Is the daemon. Returns when it ends.
pub(crate) fn foreground(detached: bool) -> Result<(), Failure> {
    if detached {
        // Fails only for the leader of a process group, which has what it needs already.
        let _session = rustix::process::setsid();
    }
    let settings =
        Settings::from_environment().map_err(|error| Failure::host(error.to_string(), ""))?;
    match legwork_daemon::run(settings) {
        Ok(()) => Ok(()),
        // Whoever started this one wanted a daemon, and there is one.
        Err(RunError::Instance(InstanceError::AlreadyRunning { .. })) if detached => Ok(()),
        Err(error @ RunError::Instance(InstanceError::AlreadyRunning { .. })) => {
            Err(Failure::task(error.to_string(), ""))
        }
        Err(error) => Err(Failure::host(error.to_string(), "")),
    }
}

/// The commands that speak to it.
pub(crate) async fn daemon(places: &Places, command: DaemonCommand) -> Result<(), Failure> {
    match command {
        DaemonCommand::Start { .. } => start_it(places).await,
        DaemonCommand::Stop { force } => stop(places, force).await,
        DaemonCommand::Status { json } => status(places, json).await,
    }
}

async fn start_it(places: &Places) -> Result<(), Failure> {
    let was_there = find(places).await?.is_some();
    let status = start::connect(places).await?.status().await?;
    let word = if was_there { "already runs" } else { "runs" };
    output::note(&format!("the daemon {word} as process {}", status.pid));
    Ok(())
}

async fn stop(places: &Places, force: bool) -> Result<(), Failure> {
    let Some(client) = find(places).await? else {
        output::note("the daemon does not run");
        return Ok(());
    };
    let status = client.status().await?;
    client
        .stop(Stop { force })
        .await
        .map_err(|error| match error {
            WireError::Refused(body)
                if body.kind == ErrorKind::Conflict && body.hint.is_empty() =>
            {
                Failure::task(
                    body.message,
                    "wait for them, or end it all the same with `legwork daemon stop --force`",
                )
            }
            other => other.into(),
        })?;
    let pid = i32::try_from(status.pid).ok().and_then(Pid::from_raw);
    let deadline = Instant::now() + STOP_DEADLINE;
    while start::reach(places).await.is_ok()
        || pid.is_some_and(|pid| test_kill_process(pid).is_ok())
    {
        if Instant::now() >= deadline {
            return Err(Failure::host(
                format!(
                    "the daemon said that it ends, but process {} is still there",
                    status.pid
                ),
                "wait a little; if it stays, end that process",
            ));
        }
        sleep(Duration::from_millis(20)).await;
    }
    output::note("the daemon ended");
    Ok(())
}

async fn status(places: &Places, json: bool) -> Result<(), Failure> {
    let Some(client) = find(places).await? else {
        if json {
            output::json(&json!({ "running": false }))?;
        } else {
            output::line("the daemon does not run; it starts by itself when it is needed")?;
        }
        return Ok(());
    };
    let status = client.status().await?;
    if json {
        output::json(&json!({ "running": true, "status": status }))?;
    } else {
        output::print(&told(&status, moment::now()))?;
    }
    Ok(())
}

/// The daemon, if it runs.
async fn find(places: &Places) -> Result<Option<Client>, Failure> {
    match start::reach(places).await {
        Ok(client) => Ok(Some(client)),
        Err(error) if start::is_absent(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn told(status: &Status, now: i64) -> String {
    format!(
        "legwork {} runs as process {} for {}\n{} running, {} queued, {} ready; {} at once at the most\nstate in {}\n",
        status.version,
        status.pid,
        moment::age(status.started, now),
        verdict::count(status.running.into(), "task"),
        status.queued,
        status.ready,
        status.concurrency,
        status.state.display(),
    )
}
