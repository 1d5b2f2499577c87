//! The built-in agent on a task: its model before the machine is made, its tools in the machine, its steps in the store. The key
//! stays in the client of the model, on this side.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use legwork_agent::{Agent, BenchError, Brief, End, Ended, Errand, Lookup, Transcript, Workbench};
use legwork_host::{Exit, ExitStatus, Output, Program, Running, Sandbox, Source};
use legwork_model::{
    AgentStep, EntryKind, EventBody, Outcome, Phase, STEP_VERSION, Stream, Task, TaskSpec,
};
use legwork_workspace::Snapshot;
use tokio::sync::mpsc;

use super::{Break, Findings, Job, check, ending, guides::guides, index::Indexed, millis};
use crate::{
    clock,
    model::{self, Configured},
    output::Printer,
};

/// Files of the workspace that the model is told of at the start.
const MOST_FILES: usize = 200;

impl Job {
    /// What can be known to be wrong before a machine is made.
    pub(super) async fn ready(&self) -> Result<Configured, Break> {
        let places = self.room.places.clone();
        let read = tokio::task::spawn_blocking(move || model::configured(&places)).await;
        let ready = read.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        let client = &ready.client;
        self.tell(
            Phase::Capture,
            format!("asking {} for {}", client.address(), client.name()),
        )
        .await;
        self.unless_stopped(client.check())
            .await?
            .map_err(|error| error.failure())?;
        Ok(ready)
    }

    /// Lets the agent work to its end.
    pub(super) async fn work(
        &self,
        task: &Task,
        ready: &Configured,
        sandbox: &Sandbox<Running>,
        snapshot: &Arc<Snapshot>,
        findings: &mut Findings,
    ) -> Result<Option<Outcome>, Break> {
        let started = Instant::now();
        let indexed = self.unless_stopped(self.index(task, snapshot)).await?;
        findings.report.timings.map = millis(started);
        self.tell(
            Phase::Command,
            format!("the agent works with {}", ready.client.name()),
        )
        .await;
        let brief = brief(task, snapshot, sandbox.emulated(), indexed.as_ref());
        let bench = Bench {
            job: self,
            sandbox,
            indexed,
            spec: &task.spec,
            used: Mutex::default(),
        };
        let agent = Agent {
            client: &ready.client,
            gate: &self.room.gate,
            model: &ready.model,
            budget: ready.budget,
            wall: task.spec.limits.wall,
        };
        let earlier = self.earlier_words().await?;
        let started = Instant::now();
        let ended = self
            .unless_stopped(agent.work(&brief, earlier, &bench))
            .await;
        findings.report.timings.command = millis(started);
        let used = bench
            .used
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone();
        findings.report.peak_memory = used.peak_memory;
        findings.report.cpu_ms = u64::try_from(used.cpu.as_millis()).unwrap_or(u64::MAX);
        let Ended { outcome, spent } = ended?;
        let before = task.report.as_ref().and_then(|report| report.agent.clone());
        findings.report.agent = Some(before.unwrap_or_default().and(spent));
        Ok(outcome)
    }

    /// As far as the review has got: it follows what the guest changes by a fraction of a second.
    pub(super) async fn changed_lines(&self) -> u64 {
        let id = self.id.clone();
        let files = self.room.store.call(move |db| db.files(&id)).await;
        let hunks = files.iter().flatten().flat_map(|file| file.review.hunks());
        hunks
            .map(|hunk| u64::from(hunk.before.len) + u64::from(hunk.after.len))
            .sum()
    }
}

pub(super) fn brief(
    task: &Task,
    snapshot: &Snapshot,
    is_slow: bool,
    indexed: Option<&Indexed>,
) -> Brief {
    let manifest = &snapshot.manifest;
    let files = manifest
        .entries
        .iter()
        .filter(|entry| matches!(entry.kind, EntryKind::File { .. }));
    let request = task.spec.request.clone().unwrap_or_default();
    Brief {
        workspace: task.spec.workspace.display().to_string(),
        map: indexed.map_or_else(String::new, |indexed| indexed.map.clone()),
        files: files
            .take(MOST_FILES)
            .map(|entry| entry.path.to_string())
            .collect(),
        count: manifest.files(),
        guides: guides(snapshot, request.place.as_ref().map(|place| &place.path)),
        request,
        is_slow,
        network: task.spec.allow.iter().map(ToString::to_string).collect(),
    }
}

/// What programs used up.
#[derive(Clone, Debug, Default)]
struct Used {
    peak_memory: u64,
    cpu: Duration,
}

/// The sandbox, as the agent's tools see it.
struct Bench<'a> {
    job: &'a Job,
    sandbox: &'a Sandbox<Running>,
    indexed: Option<Indexed>,
    spec: &'a TaskSpec,
    used: Mutex<Used>,
}

impl Bench<'_> {
    fn count(&self, exit: &Exit) {
        let mut used = self
            .used
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        used.peak_memory = used.peak_memory.max(exit.peak_memory);
        used.cpu += exit.cpu;
    }
}

impl Workbench for Bench<'_> {
    async fn run(
        &self,
        errand: Errand,
        output: &mut (dyn FnMut(bool, &[u8]) + Send),
    ) -> Result<End, BenchError> {
        let program = Program {
            argv: errand.argv,
            environment: Vec::new(),
            stdin: errand.stdin,
            directory: None,
            timeout: Some(errand.timeout),
        };
        let (sender, mut receiver) = mpsc::channel::<Output>(64);
        let heard = async {
            while let Some(piece) = receiver.recv().await {
                output(piece.source == Source::Stderr, &piece.bytes);
            }
        };
        let (exit, ()) = futures::join!(self.sandbox.exec(program, sender), heard);
        let exit = exit.map_err(|error| BenchError(ending::failure(&error)))?;
        self.count(&exit);
        if exit.disk_full {
            output(true, b"\n[the scratch disk is full]\n");
        }
        Ok(match exit.status {
            ExitStatus::Exited(code) => End::Exited(code),
            ExitStatus::Signaled(signal) => End::Signaled(signal),
            ExitStatus::NotStarted(why) => End::NotStarted(why),
            ExitStatus::TimedOut => End::TimedOut,
            ExitStatus::OutOfMemory => End::OutOfMemory,
        })
    }

    async fn look_up(&self, lookup: Lookup) -> Option<Result<String, String>> {
        self.job.look_up(self.indexed.as_ref()?, lookup).await
    }

    /// In the agent's own machine, as it is. What counts is seen in a fresh one afterwards.
    async fn unmet(&self, left: Duration) -> Result<Option<String>, BenchError> {
        let begun = Instant::now();
        for command in self
            .spec
            .reproduce
            .iter()
            .chain(self.spec.checks.iter().flatten())
        {
            let left = left
                .saturating_sub(begun.elapsed())
                .max(Duration::from_secs(1));
            let run = check::one(self.sandbox, self.spec, command, Some(left)).await;
            if !run.passed() {
                let tail = run.tail.trim_end();
                let how = run.end.words();
                return Ok(Some(format!(
                    "the check `{command}` does not pass ({how}):\n{tail}"
                )));
            }
        }
        Ok(None)
    }

    async fn changed_lines(&self) -> u64 {
        self.job.changed_lines().await
    }

    async fn hear(&self) -> Vec<String> {
        let id = self.job.id.clone();
        let heard = self
            .job
            .room
            .store
            .call(move |db| db.hear(&id, clock::now()));
        heard.await.unwrap_or_else(|error| {
            tracing::warn!(task = %self.job.id, %error, "what the user said cannot be read");
            Vec::new()
        })
    }

    async fn ask(&self, question: &str) -> Result<bool, BenchError> {
        self.job.ask(question).await.map_err(BenchError)
    }

    async fn keep(&self, transcript: Transcript) {
        self.job.keep_words(transcript).await;
    }

    async fn tell(&self, step: AgentStep) {
        self.job
            .append(vec![EventBody::Agent {
                version: STEP_VERSION,
                step: printable(step),
            }])
            .await;
    }
}

/// What a model or a program wrote, without what would command a terminal.
pub(super) fn clean(text: String) -> String {
    let mut printer = Printer::new(u64::MAX);
    let mut clean = printer.print(Stream::Stdout, text.as_bytes());
    clean.extend(printer.end().into_iter().map(|(_, rest)| rest));
    clean
}

pub(super) fn printable(step: AgentStep) -> AgentStep {
    match step {
        AgentStep::Said { text } => AgentStep::Said { text: clean(text) },
        AgentStep::Call { call, tool, about } => AgentStep::Call {
            call: clean(call),
            tool: clean(tool),
            about: clean(about),
        },
        AgentStep::Result {
            call,
            ok,
            text,
            millis,
        } => AgentStep::Result {
            call: clean(call),
            ok,
            text: clean(text),
            millis,
        },
        AgentStep::Heard { text } => AgentStep::Heard { text: clean(text) },
        AgentStep::Told { text } => AgentStep::Told { text: clean(text) },
        AgentStep::Waiting { until, why } => AgentStep::Waiting {
            until,
            why: clean(why),
        },
        AgentStep::Finished { summary } => AgentStep::Finished {
            summary: clean(summary),
        },
        AgentStep::Turn { .. } | AgentStep::Nearly { .. } => step,
    }
}
