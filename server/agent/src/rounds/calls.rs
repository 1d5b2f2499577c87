//! What a model asks for in one answer, taken into the dialogue and done.

use std::time::Instant;

use legwork_model::AgentStep;

use super::{LONGEST_SAID, Over, Rounds};
use crate::{
    dialogue::{Arguments, Entry, Part, Reply, Stop, ToolCall, ToolResult},
    hands::Done,
    stuck::Circle,
    tools::{Job, one_line},
    workbench::Workbench,
};

/// What became of the calls of one answer.
pub(super) struct Made {
    /// One for each call, in order.
    pub(super) results: Vec<ToolResult>,
    pub(super) circle: Option<Circle>,
    pub(super) is_finished: bool,
    /// What the user is to be asked.
    pub(super) question: Option<String>,
}

impl<W: Workbench> Rounds<'_, W> {
    /// Takes an answer into the dialogue; gives its calls. Each has a name of its own by then, and none is half.
    pub(super) fn remember(&mut self, reply: Reply) -> Vec<ToolCall> {
        let (mut parts, mut calls) = (Vec::new(), Vec::<ToolCall>::new());
        for part in reply.parts {
            match part {
                Part::Call(mut call) => {
                    // What was cut cannot be told from what was meant.
                    let is_half = reply.stop == Stop::Length
                        && matches!(call.arguments, Arguments::Unreadable { .. });
                    if is_half {
                        continue;
                    }
                    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                    let fits = (1..=64).contains(&call.id.len()) && call.id.chars().all(is_name);
                    if !fits
                        || self.has_call(&call.id)
                        || calls.iter().any(|other| other.id == call.id)
                    {
                        self.calls += 1;
                        call.id = format!("legwork_{}", self.calls);
                    }
                    calls.push(call.clone());
                    parts.push(Part::Call(call));
                }
                Part::Text(text) if text.trim().is_empty() => {}
                other => parts.push(other),
            }
        }
        // An answer of thoughts alone is not taken by any API.
        if parts.iter().any(|part| !matches!(part, Part::Opaque(_))) {
            self.prompt.entries.push(Entry::Model(parts));
        }
        calls
    }

    fn has_call(&self, id: &str) -> bool {
        self.prompt.entries.iter().any(|entry| match entry {
            Entry::Results(results) => results.iter().any(|result| result.call == id),
            _ => false,
        })
    }

    /// Does what was asked for, in order, each on what the one before left.
    pub(super) async fn do_all(&mut self, calls: &[ToolCall]) -> Result<Made, Over> {
        let mut results: Vec<ToolResult> = Vec::new();
        let (mut circle, mut summary, mut question) = (None, None, None);
        for call in calls {
            let job = Job::of(call);
            let about = job
                .as_ref()
                .map_or_else(|_| one_line("(not understood)"), Job::about);
            let tool: String = call.name.chars().take(64).collect();
            let step = AgentStep::Call {
                call: call.id.clone(),
                tool: tool.clone(),
                about,
            };
            self.bench.tell(step).await;
            let begun = Instant::now();
            let has_failed = results.iter().any(|result| !result.ok);
            let is_end = matches!(job, Ok(Job::Finish { .. }))
                && summary.is_none()
                && question.is_none()
                && !has_failed;
            let unmet = if is_end { self.unmet().await? } else { None };
            let is_refused = unmet.is_some();
            let done = match &job {
                _ if let Some(why) = unmet => refused(&why),
                _ if summary.is_some() => {
                    refused("not done, because `finish` was called before it")
                }
                Err(why) => refused(why),
                Ok(Job::Finish { .. }) if question.is_some() => {
                    refused("not finished, because `ask` was called before it: wait for the answer")
                }
                Ok(Job::Finish { .. }) if has_failed => {
                    refused("not finished, because a call before it failed: look at that first")
                }
                Ok(Job::Finish { summary: words }) => {
                    summary = Some(words.clone());
                    Done {
                        ok: true,
                        text: "finished".to_owned(),
                    }
                }
                Ok(Job::Ask { .. }) if question.is_some() => {
                    refused("not asked: one question at a time")
                }
                Ok(Job::Ask { question: words }) => {
                    question = Some(words[..words.floor_char_boundary(LONGEST_SAID)].to_owned());
                    Done {
                        ok: true,
                        text: "asked; what the user answers comes behind this".to_owned(),
                    }
                }
                Ok(job) => self.hands.work(job, self.meter.time()).await?,
            };
            let step = AgentStep::Result {
                call: call.id.clone(),
                ok: done.ok,
                text: done.text[..done.text.floor_char_boundary(LONGEST_SAID)].to_owned(),
                millis: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            };
            self.bench.tell(step).await;
            let signature = format!("{} {}", call.name, call.arguments.to_object());
            if !is_refused {
                circle = self.watch.take(&signature, &done.text, done.ok).or(circle);
            }
            results.push(ToolResult {
                call: call.id.clone(),
                tool,
                ok: done.ok,
                text: done.text,
            });
        }
        let is_finished = summary.is_some();
        if let Some(summary) = summary {
            let summary = summary[..summary.floor_char_boundary(LONGEST_SAID)].to_owned();
            self.bench.tell(AgentStep::Finished { summary }).await;
        }
        Ok(Made {
            results,
            circle,
            is_finished,
            question,
        })
    }
}

fn refused(why: &str) -> Done {
    Done {
        ok: false,
        text: why.to_owned(),
    }
}
