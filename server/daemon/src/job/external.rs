//! An agent of somebody else on a task: it runs in the machine as any program does, and asks its model through the gateway, which
//! counts and holds the key on this side.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use legwork_agent::{Gateway, Recipe, Values};
use legwork_host::{Exit, ExitStatus, HostError, Program, Running, Sandbox};
use legwork_model::{
    AgentStep, EventBody, Failure, FailureKind, Outcome, Phase, STEP_VERSION, Task,
};
use legwork_spec::TOOLS;
use legwork_workspace::Snapshot;
use tokio::sync::{
    Mutex,
    mpsc::{self, UnboundedReceiver},
};

use super::{Break, Findings, Job, agent, ending, millis};
use crate::{gateway, recipes};

/// How long a file of a recipe may take to be written.
const WRITE: Duration = Duration::from_secs(60);

/// The longest argument, in bytes: a program is started by one message.
const LONGEST_PROMPT: usize = 48 << 10;

/// Writes standard input to a file below the home directory.
const PUT: &str = "umask 077 && mkdir -p \"$(dirname \"$HOME/$1\")\" && cat > \"$HOME/$1\"";

/// An agent that is ready to be started.
#[derive(Debug)]
pub(super) struct External {
    recipe: Recipe,
    /// Its disk, if it comes from a package.
    pub(super) image: Option<PathBuf>,
    pub(super) gateway: Arc<Gateway>,
    model: String,
    /// The budget's own time, where it is less than the task's.
    seconds: Option<u64>,
    told: Mutex<UnboundedReceiver<AgentStep>>,
}

impl Job {
    /// What can be known to be wrong before a machine is made.
    pub(super) async fn invite(&self, task: &Task, name: &str) -> Result<External, Break> {
        let (places, own) = (self.room.places.clone(), name.to_owned());
        let found = tokio::task::spawn_blocking(move || {
            let recipe = recipes::find(&places, &own)?;
            let image = recipes::image(&places, &recipe);
            match image {
                Some(image) if !image.exists() => Err(Failure::new(
                    FailureKind::Setup,
                    format!("{} is not installed", recipe.about),
                    format!("run `legwork agent install {own}`"),
                )),
                image => Ok((recipe, image)),
            }
        });
        let found = found.await;
        let (recipe, image) =
            found.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        let ready = self.ready().await?;
        if ready.model.provider != recipe.api {
            return Err(Break::Failed(Failure::new(
                FailureKind::Setup,
                format!(
                    "{} speaks the API of `{}`, and the configured provider is `{}`",
                    recipe.about,
                    recipe.api.name(),
                    ready.model.provider.name()
                ),
                "name an agent that speaks what the provider does (`legwork agent list`), or another provider in config.toml",
            )));
        }
        let wall = task.spec.limits.wall;
        let (tell, told) = mpsc::unbounded_channel();
        Ok(External {
            recipe,
            image,
            model: ready.client.name().to_owned(),
            seconds: ready
                .budget
                .seconds
                .filter(|seconds| Duration::from_secs(*seconds) < wall),
            gateway: Arc::new(Gateway::new(
                ready.client,
                Arc::clone(&self.room.gate),
                &ready.model,
                ready.budget,
                wall,
                tell,
            )),
            told: Mutex::new(told),
        })
    }

    /// Lets it work to its end.
    pub(super) async fn host(
        &self,
        task: &Task,
        external: &External,
        sandbox: &Sandbox<Running>,
        snapshot: &Arc<Snapshot>,
        findings: &mut Findings,
    ) -> Result<Outcome, Break> {
        let started = Instant::now();
        let indexed = self.unless_stopped(self.index(task, snapshot)).await?;
        findings.report.timings.map = millis(started);
        let about = &external.recipe.about;
        self.tell(
            Phase::Command,
            format!("{about} works with {}", external.model),
        )
        .await;
        let brief = agent::brief(task, snapshot, sandbox.emulated(), indexed.as_ref());
        let mut prompt = brief.whole();
        prompt.truncate(prompt.floor_char_boundary(LONGEST_PROMPT));
        let order = external.recipe.order(&Values {
            prompt: &prompt,
            model: &external.model,
            base_url: &gateway::base_url(),
            agent: TOOLS,
        });
        for (path, text) in &order.files {
            self.put(sandbox, path, text).await?;
        }
        let limit = task.spec.limits.output.as_bytes();
        let program = Program {
            argv: order.argv.clone(),
            environment: order.environment,
            stdin: Vec::new(),
            directory: Some(task.spec.workspace.join(&task.spec.directory)),
            timeout: Some(external.gateway.time()),
        };
        let (sender, receiver) = mpsc::channel(64);
        let started = Instant::now();
        let both =
            async { futures::join!(sandbox.exec(program, sender), self.listen(receiver, limit)) };
        let mut told = external.told.lock().await;
        let retell = async {
            while let Some(step) = told.recv().await {
                self.retell(external, step).await;
            }
            std::future::pending().await
        };
        let ran = self
            .unless_stopped(async {
                tokio::select! {
                    ran = both => ran,
                    never = retell => never,
                }
            })
            .await;
        findings.report.timings.command = millis(started);
        // What came last may not have been told yet.
        while let Ok(step) = told.try_recv() {
            self.retell(external, step).await;
        }
        findings.report.agent = Some(external.gateway.spent());
        let (exit, dropped): (Result<Exit, HostError>, u64) = ran?;
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
        Ok(external.outcome(&exit, &order.argv, task))
    }

    /// Stores what went through the gateway, and counts the changed lines for its next look at the budget.
    async fn retell(&self, external: &External, step: AgentStep) {
        if matches!(step, AgentStep::Turn { .. }) {
            external.gateway.lines(self.changed_lines().await);
        }
        self.append(vec![EventBody::Agent {
            version: STEP_VERSION,
            step: agent::printable(step),
        }])
        .await;
    }

    async fn put(&self, sandbox: &Sandbox<Running>, path: &str, text: &str) -> Result<(), Break> {
        let program = Program {
            stdin: text.as_bytes().to_vec(),
            directory: Some("/".into()),
            timeout: Some(WRITE),
            ..Program::new(["sh", "-c", PUT, "sh", path])
        };
        let (sender, mut receiver) = mpsc::channel(16);
        let silence = async { while receiver.recv().await.is_some() {} };
        let written = async { futures::join!(sandbox.exec(program, sender), silence).0 };
        let exit = self
            .unless_stopped(written)
            .await?
            .map_err(|error| ending::failure(&error))?;
        if exit.status == ExitStatus::Exited(0) {
            return Ok(());
        }
        Err(Break::Failed(Failure::new(
            FailureKind::Setup,
            format!("the file `{path}` of the recipe cannot be written in the sandbox"),
            "look at the recipe's `files`, and give the task more with `--disk`",
        )))
    }
}

impl External {
    /// Why a model gave no answers says more than the exit code of who asked it.
    fn outcome(&self, exit: &Exit, argv: &[String], task: &Task) -> Outcome {
        if let Some(failure) = self.gateway.failure() {
            return Outcome::Failed(failure);
        }
        if let (ExitStatus::TimedOut, Some(seconds)) = (&exit.status, self.seconds) {
            return Outcome::Failed(Failure::new(
                FailureKind::Budget,
                format!("the budget of {seconds} s is used up"),
                "review what it has changed so far, or raise `[budget]` in config.toml and run it again with `legwork retry`",
            ));
        }
        let outcome = ending::outcome(exit, argv, &task.spec);
        if outcome == Outcome::Done && self.gateway.spent().requests == 0 {
            return Outcome::Failed(Failure::new(
                FailureKind::Stuck,
                format!(
                    "{} ended without asking the model for anything",
                    self.recipe.about
                ),
                "look at what it printed",
            ));
        }
        outcome
    }
}
