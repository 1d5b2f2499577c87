//! The command: started, listened to, ended.

use std::time::{Duration, Instant};

use legwork_host::{Exit, HostError, Output, Program, Running, Sandbox};
use legwork_model::{EventBody, Outcome, Phase, Stream, Task};
use tokio::sync::mpsc;

use super::{Break, Findings, Job, ending, millis};
use crate::output::Printer;

/// Output is stored in pieces of about this many bytes.
const PIECE: usize = 16 << 10;

/// How long output waits for more of it before it is stored.
const PATIENCE: Duration = Duration::from_millis(100);

impl Job {
    pub(super) async fn run(
        &self,
        task: &Task,
        argv: &[String],
        sandbox: &Sandbox<Running>,
        findings: &mut Findings,
    ) -> Result<Outcome, Break> {
        self.tell(Phase::Command, argv.join(" ")).await;
        let limit = task.spec.limits.output.as_bytes();
        let program = Program {
            argv: argv.to_vec(),
            environment: Vec::new(),
            stdin: Vec::new(),
            directory: Some(task.spec.workspace.join(&task.spec.directory)),
            timeout: None,
        };
        let (sender, receiver) = mpsc::channel(64);
        let started = Instant::now();
        let both =
            async { futures::join!(sandbox.exec(program, sender), self.listen(receiver, limit)) };
        let (exit, dropped): (Result<Exit, HostError>, u64) = self.unless_stopped(both).await?;
        findings.report.timings.command = millis(started);
        let exit = exit.map_err(|error| ending::failure(&error))?;
        findings.report.peak_memory = exit.peak_memory;
        findings.report.cpu_ms = u64::try_from(exit.cpu.as_millis()).unwrap_or(u64::MAX);
        findings.report.output_dropped = exit.dropped.saturating_add(dropped);
        if findings.report.output_dropped > 0 {
            findings.notices.push(format!(
                "{} bytes of output beyond the limit of {} were dropped",
                findings.report.output_dropped, task.spec.limits.output
            ));
        }
        Ok(ending::outcome(&exit, argv, &task.spec))
    }

    /// Stores output as it comes, in pieces of a sensible size. Gives the number of bytes that were dropped.
    pub(super) async fn listen(&self, mut output: mpsc::Receiver<Output>, limit: u64) -> u64 {
        let mut printer = Printer::new(limit);
        let mut pieces: Vec<(Stream, String)> = Vec::new();
        let mut since = None;
        loop {
            let waiting: usize = pieces.iter().map(|(_, text)| text.len()).sum();
            let until = since.map(|since: Instant| since + PATIENCE);
            let next = match until {
                None => output.recv().await,
                Some(_) if waiting >= PIECE => {
                    self.store(&mut pieces, &mut since).await;
                    continue;
                }
                Some(until) => match tokio::time::timeout_at(until.into(), output.recv()).await {
                    Ok(next) => next,
                    Err(_) => {
                        self.store(&mut pieces, &mut since).await;
                        continue;
                    }
                },
            };
            let Some(Output { source, bytes }) = next else {
                break;
            };
            let stream = ending::stream(source);
            let text = printer.print(stream, &bytes);
            add(&mut pieces, stream, text);
            if !pieces.is_empty() {
                since.get_or_insert_with(Instant::now);
            }
        }
        for (stream, text) in printer.end() {
            add(&mut pieces, stream, text);
        }
        self.store(&mut pieces, &mut since).await;
        printer.dropped()
    }

    async fn store(&self, pieces: &mut Vec<(Stream, String)>, since: &mut Option<Instant>) {
        *since = None;
        if !pieces.is_empty() {
            let bodies = pieces
                .drain(..)
                .map(|(stream, text)| EventBody::Output { stream, text });
            self.append(bodies.collect()).await;
        }
    }
}

fn add(pieces: &mut Vec<(Stream, String)>, stream: Stream, text: String) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some((last, all)) if *last == stream => all.push_str(&text),
        _ => pieces.push((stream, text)),
    }
}
