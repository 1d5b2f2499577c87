//! The loop: ask the model, do what it asks for, tell it what came of that, until it is done or something is used up. What
//! was said is only added to, so that an API can keep it.

mod calls;
mod condense;
mod gate;
mod room;

use std::{
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use legwork_model::{AgentStep, Budget, Failure, FailureKind, ModelConfig, Outcome, Spent};

use crate::{
    brief::Brief,
    client::ModelClient,
    dialogue::{Entry, Prompt, Reply, Stop, ToolChoice},
    failure::ModelError,
    hands::Hands,
    meter::{Mark, Meter},
    retry::{Gate, Retry},
    stuck::{Circle, Watch},
    transcript::Transcript,
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

/// What stands before the words of the user.
const SAYS: &str = "The user says:";

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

/// Where the work goes on from.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// What was said; `None` if that was not kept.
    pub transcript: Option<Transcript>,
    /// What the model is to know of what happened since.
    pub since: String,
}

/// How the work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Done, or why not. What was changed by then is there in both cases. `None` where it waits for an answer: it goes on by
    /// what was kept.
    pub outcome: Option<Outcome>,
    /// What it used up.
    pub spent: Spent,
}

/// Why there is no next round.
enum Over {
    Done,
    /// The user was asked and does not answer for now.
    Parked,
    Failed(Failure),
    Budget(Mark),
}

impl From<BenchError> for Over {
    fn from(BenchError(failure): BenchError) -> Self {
        Self::Failed(failure)
    }
}

impl Agent<'_> {
    /// Works until it is done; on from what was said `earlier`, if anything was. Dropping the future ends it where it is.
    pub async fn work<W: Workbench>(
        &self,
        brief: &Brief,
        earlier: Option<Earlier>,
        bench: &W,
    ) -> Ended {
        let entries = match earlier {
            None => vec![Entry::User(brief.first())],
            Some(Earlier { transcript, since }) => {
                let mut entries = transcript.map_or_else(
                    || vec![Entry::User(brief.first())],
                    |transcript| transcript.entries(self.client.name()),
                );
                entries.push(Entry::User(since));
                entries
            }
        };
        let mut rounds = Rounds {
            agent: self,
            bench,
            hands: Hands::new(bench, Path::new(&brief.workspace)),
            meter: Meter::new(self.budget, self.model.price, self.wall, self.client.name()),
            watch: Watch::default(),
            prompt: Prompt {
                system: brief.system(),
                entries,
                choice: ToolChoice::Free,
                max_output: self.model.max_output,
            },
            calls: 0,
            talk: 0,
            empty: 0,
            cut: 0,
            refusals: 0,
            is_condensed: false,
        };
        let over = loop {
            if let Err(over) = rounds.one().await {
                break over;
            }
        };
        let outcome = match over {
            Over::Done => Some(Outcome::Done),
            Over::Parked => None,
            Over::Failed(failure) => Some(Outcome::Failed(failure)),
            Over::Budget(mark) => {
                rounds.close(&mark).await;
                Some(Outcome::Failed(Failure::new(
                    FailureKind::Budget,
                    format!("the budget of {} is used up", mark.limit),
                    "review what it has changed so far, or raise `[budget]` in config.toml and run it again with `legwork retry`",
                )))
            }
        };
        rounds.keep().await;
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
    /// How often it was not let finish.
    refusals: u32,
    /// Whether there was a summary.
    is_condensed: bool,
}

impl<W: Workbench> Rounds<'_, W> {
    async fn one(&mut self) -> Result<(), Over> {
        self.listen().await;
        self.keep().await;
        self.condense().await?;
        self.meter.lines(self.bench.changed_lines().await);
        for mark in self.meter.nearly() {
            let limit = mark.limit.clone();
            self.bench.tell(AgentStep::Nearly { limit }).await;
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
        let made = self.do_all(&calls).await?;
        self.prompt.entries.push(Entry::Results(made.results));
        // What was said while it finished is still to be looked at.
        if made.is_finished && !self.listen().await {
            return Err(Over::Done);
        }
        if let Some(question) = made.question {
            self.put(&question).await?;
        }
        match made.circle {
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

    /// Puts a question to the user and waits; the answer is heard like anything that they say.
    async fn put(&mut self, question: &str) -> Result<(), Over> {
        self.keep().await;
        let asked = Instant::now();
        let is_answered = self.bench.ask(question).await?;
        self.meter.rest(asked.elapsed());
        if is_answered {
            Ok(())
        } else {
            Err(Over::Parked)
        }
    }

    async fn keep(&self) {
        let transcript = Transcript::new(self.agent.client.name(), &self.prompt.entries);
        self.bench.keep(transcript).await;
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
                .push(Entry::User(format!("{SAYS}\n{text}")));
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
