//! The loop: ask the model, do what it asks for, tell it what came of that, until it is done or something is used up. What
//! was said is only added to, so that an API can keep it.

mod room;

use std::{
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use legwork_model::{AgentStep, Budget, Failure, FailureKind, ModelConfig, Outcome, Spent};

use crate::{
    brief::Brief,
    client::ModelClient,
    dialogue::{Arguments, Entry, Part, Prompt, Reply, Stop, ToolCall, ToolChoice, ToolResult},
    failure::ModelError,
    hands::{Done, Hands},
    meter::{Mark, Meter},
    retry::{Gate, Retry},
    stuck::{Circle, Watch},
    tools::{Job, one_line},
    workbench::{BenchError, Workbench},
};

/// Answers without a call in a row after which it is ended.
const TALK: u32 = 3;

/// Empty answers in a row after which it is ended.
const EMPTY: u32 = 2;

/// Answers in a row that were cut because they were too long.
const CUT: u32 = 3;

/// How often room is made for one request.
const SQUEEZES: u32 = 4;

/// The longest text of a step, in bytes.
const LONGEST_SAID: usize = 16 << 10;

/// How long the last words may take, and how many tokens they may have.
const CLOSING: (Duration, u32) = (Duration::from_mins(1), 1_024);

/// An agent that can be set to work.
#[derive(Debug)]
pub struct Agent<'a> {
    /// Whom it asks.
    pub client: &'a ModelClient,
    /// Pauses that all tasks keep.
    pub gate: &'a Gate,
    /// What the model can do and costs.
    pub model: &'a ModelConfig,
    /// What it may use.
    pub budget: Budget,
    /// How long it may take.
    pub wall: Duration,
}

/// How the work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Done, or why not. What was changed by then is there in both cases.
    pub outcome: Outcome,
    /// What it used up.
    pub spent: Spent,
}

/// Why there is no next round.
enum Over {
    Done,
    Failed(Failure),
    Budget(Mark),
}

impl From<BenchError> for Over {
    fn from(BenchError(failure): BenchError) -> Self {
        Self::Failed(failure)
    }
}

impl Agent<'_> {
    /// Works until it is done. Dropping the future ends it where it is.
    pub async fn work<W: Workbench>(&self, brief: &Brief, bench: &W) -> Ended {
        let mut rounds = Rounds {
            agent: self,
            bench,
            hands: Hands::new(bench, Path::new(&brief.workspace)),
            meter: Meter::new(self.budget, self.model.price, self.wall, self.client.name()),
            watch: Watch::default(),
            prompt: Prompt {
                system: brief.system(),
                entries: vec![Entry::User(brief.first())],
                choice: ToolChoice::Free,
                max_output: self.model.max_output,
            },
            calls: 0,
            talk: 0,
            empty: 0,
            cut: 0,
        };
        let over = loop {
            if let Err(over) = rounds.one().await {
                break over;
            }
        };
        let outcome = match over {
            Over::Done => Outcome::Done,
            Over::Failed(failure) => Outcome::Failed(failure),
            Over::Budget(mark) => {
                rounds.close(&mark).await;
                Outcome::Failed(Failure::new(
                    FailureKind::Budget,
                    format!("the budget of {} is used up", mark.limit),
                    "review what it has changed so far, or raise `[budget]` in config.toml and run it again with `legwork retry`",
                ))
            }
        };
        Ended {
            outcome,
            spent: rounds.meter.spent().clone(),
        }
    }
}

struct Rounds<'a, W> {
    agent: &'a Agent<'a>,
    bench: &'a W,
    hands: Hands<'a, W>,
    meter: Meter,
    watch: Watch,
    prompt: Prompt,
    /// Names that were given to calls.
    calls: u64,
    talk: u32,
    empty: u32,
    cut: u32,
}

impl<W: Workbench> Rounds<'_, W> {
    async fn one(&mut self) -> Result<(), Over> {
        self.listen().await;
        self.meter.lines(self.bench.changed_lines().await);
        for mark in self.meter.nearly() {
            let text = format!(
                "Four fifths of the budget of {} are used up. Bring the work to an end: what cannot be done with the rest is left.",
                mark.limit
            );
            self.say(text).await;
        }
        let reply = self.ask().await?;
        let text = reply.text();
        if !text.trim().is_empty() {
            let text = text[..text.floor_char_boundary(LONGEST_SAID)].to_owned();
            self.bench.tell(AgentStep::Said { text }).await;
        }
        if reply.stop == Stop::Refusal {
            return Err(Over::Failed(Failure::new(
                FailureKind::Model,
                "the model, or a filter before it, refused to go on",
                "say it in other words, or use another model",
            )));
        }
        let stop = reply.stop;
        let calls = self.remember(reply);
        if calls.is_empty() {
            return self.without_calls(stop, text.trim().is_empty()).await;
        }
        (self.talk, self.empty) = (0, 0);
        self.cut = if stop == Stop::Length {
            self.cut + 1
        } else {
            0
        };
        let (results, circle, is_finished) = self.do_all(&calls).await?;
        self.prompt.entries.push(Entry::Results(results));
        // What was said while it finished is still to be looked at.
        if is_finished && !self.listen().await {
            return Err(Over::Done);
        }
        match circle {
            None => {}
            Some(Circle::Nudge(what)) => {
                self.say(format!("You go round in circles: {what}. Look at it in another way, or call `finish` and say what is in the way."))
                    .await;
            }
            Some(Circle::Stop(what)) => {
                return Err(stuck(format!("the agent went round in circles: {what}")));
            }
        }
        self.too_long(stop).await
    }

    /// Takes an answer into the dialogue; gives its calls. Each has a name of its own by then, and none is half.
    fn remember(&mut self, reply: Reply) -> Vec<ToolCall> {
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

    async fn without_calls(&mut self, stop: Stop, is_empty: bool) -> Result<(), Over> {
        if stop == Stop::Length {
            self.cut += 1;
            return self.too_long(stop).await;
        }
        if is_empty {
            self.empty += 1;
            if self.empty >= EMPTY {
                return Err(Over::Failed(Failure::new(
                    FailureKind::Model,
                    "the model returned nothing, twice",
                    "run it again with `legwork retry`, or use another model",
                )));
            }
            self.say("Your answer was empty. Go on with the task, or call `finish`.".to_owned())
                .await;
            return Ok(());
        }
        self.talk += 1;
        if self.talk >= TALK {
            return Err(stuck(format!(
                "the model only talked {TALK} times in a row, and neither used a tool nor finished"
            )));
        }
        self.say("No tool was called, so nothing was done. Call a tool to go on, or `finish` if the task is done.".to_owned())
            .await;
        Ok(())
    }

    async fn too_long(&mut self, stop: Stop) -> Result<(), Over> {
        if stop != Stop::Length {
            return Ok(());
        }
        if self.cut >= CUT {
            return Err(Over::Failed(Failure::new(
                FailureKind::Model,
                format!(
                    "{CUT} answers of the model in a row were longer than {} tokens",
                    self.prompt.max_output
                ),
                "raise `model.max_output` in config.toml",
            )));
        }
        let text = format!(
            "Your answer was cut after {} tokens, and a call that was not complete was not made. Go on in smaller pieces.",
            self.prompt.max_output
        );
        self.say(text).await;
        Ok(())
    }

    /// Does what was asked for, in order, each on what the one before left.
    async fn do_all(
        &mut self,
        calls: &[ToolCall],
    ) -> Result<(Vec<ToolResult>, Option<Circle>, bool), Over> {
        let mut results: Vec<ToolResult> = Vec::new();
        let (mut circle, mut summary) = (None, None);
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
            let done = match &job {
                _ if summary.is_some() => {
                    refused("not done, because `finish` was called before it")
                }
                Err(why) => refused(why),
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
            circle = self.watch.take(&signature, &done.text, done.ok).or(circle);
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
        Ok((results, circle, is_finished))
    }

    /// Asks until there is an answer or no hope.
    async fn ask(&mut self) -> Result<Reply, Over> {
        let (mut retry, mut squeezes) = (Retry::default(), 0);
        room::mask_early(&mut self.prompt.entries, self.agent.model.context);
        loop {
            self.wait_at_gate().await?;
            if let Some(mark) = self.meter.over(room::tokens(&self.prompt)) {
                return Err(Over::Budget(mark));
            }
            let asked = self.agent.client.ask(&self.prompt);
            let Ok(attempt) = tokio::time::timeout(self.meter.time(), asked).await else {
                self.meter.request(Default::default(), false);
                return Err(self.meter.over(0).map_or_else(out_of_time, Over::Budget));
            };
            self.meter.request(attempt.usage, attempt.reply.is_ok());
            let error = match attempt.reply {
                Ok(reply) => {
                    let step = AgentStep::Turn {
                        spent: self.meter.spent().clone(),
                        first_byte: u64::try_from(attempt.first_byte.as_millis())
                            .unwrap_or(u64::MAX),
                    };
                    self.bench.tell(step).await;
                    return Ok(reply);
                }
                Err(error) => error,
            };
            tracing::info!(%error, "a request to the model API failed");
            if let ModelError::TooLong(_) = error {
                squeezes += 1;
                if squeezes > SQUEEZES || !room::squeeze(&mut self.prompt.entries, &mut squeezes) {
                    return Err(Over::Failed(error.failure()));
                }
                continue;
            }
            let Some(pause) = retry
                .pause(&error)
                .filter(|pause| *pause < self.meter.time())
            else {
                return Err(Over::Failed(error.failure()));
            };
            if matches!(
                error,
                ModelError::RateLimited { .. } | ModelError::Overloaded { .. }
            ) {
                self.agent
                    .gate
                    .close(self.agent.client.address(), Instant::now() + pause);
            }
            self.pause(pause, error.to_string()).await;
        }
    }

    /// Another task may have been told to wait.
    async fn wait_at_gate(&self) -> Result<(), Over> {
        while let Some(pause) = self.agent.gate.wait(self.agent.client.address()) {
            if pause >= self.meter.time() {
                return Err(out_of_time());
            }
            // They do not all come back in the same moment.
            let pause = pause + pause.mul_f64(fastrand::f64() / 4.0);
            self.pause(
                pause,
                "the model API limits how much is asked of it".to_owned(),
            )
            .await;
        }
        Ok(())
    }

    async fn pause(&self, pause: Duration, why: String) {
        let until = SystemTime::now() + pause;
        let until = until
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let until = i64::try_from(until.as_millis()).unwrap_or(i64::MAX);
        self.bench.tell(AgentStep::Waiting { until, why }).await;
        tokio::time::sleep(pause).await;
    }

    /// Tells the model what the user said since; gives whether that was anything.
    async fn listen(&mut self) -> bool {
        let texts = self.bench.hear().await;
        let any = !texts.is_empty();
        for text in texts {
            self.bench
                .tell(AgentStep::Heard { text: text.clone() })
                .await;
            self.prompt
                .entries
                .push(Entry::User(format!("The user says:\n{text}")));
        }
        any
    }

    /// Tells the model something.
    async fn say(&mut self, text: String) {
        self.bench
            .tell(AgentStep::Told { text: text.clone() })
            .await;
        self.prompt.entries.push(Entry::User(text));
    }

    /// One last answer, in words, where a budget is used up.
    async fn close(&mut self, mark: &Mark) {
        if self.meter.spent().steps == 0 {
            return;
        }
        let text = format!(
            "The budget of {} is used up, so no tool can be used any more. Say in a few sentences what is done and what is left.",
            mark.limit
        );
        self.say(text).await;
        self.prompt.choice = ToolChoice::None;
        self.prompt.max_output = CLOSING.1;
        let asked = tokio::time::timeout(CLOSING.0, self.agent.client.ask(&self.prompt)).await;
        let Ok(attempt) = asked else { return };
        self.meter.request(attempt.usage, attempt.reply.is_ok());
        if let Ok(reply) = attempt.reply {
            let summary = reply.text();
            let summary = summary[..summary.floor_char_boundary(LONGEST_SAID)].to_owned();
            self.bench.tell(AgentStep::Said { text: summary }).await;
        }
    }
}

fn refused(why: &str) -> Done {
    Done {
        ok: false,
        text: why.to_owned(),
    }
}

fn stuck(message: String) -> Over {
    Over::Failed(Failure::new(
        FailureKind::Stuck,
        message,
        "review what it has changed so far, and ask in other words",
    ))
}

fn out_of_time() -> Over {
    Over::Failed(Failure::new(
        FailureKind::TimedOut,
        "the time was up while the model API was waited for",
        "give it more time with `--timeout`",
    ))
}
