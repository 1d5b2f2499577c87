//! Where the agent's tools work: given by whoever has a machine.

use std::time::Duration;

use legwork_model::{AgentStep, Failure};

use crate::transcript::Transcript;

/// A program to run where the work is done.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// What it reads from its standard input.
    pub stdin: Vec<u8>,
    /// When it is ended.
    pub timeout: Duration,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// It did not start; why.
    NotStarted(String),
    /// Its time was up.
    TimedOut,
    /// The memory was used up.
    OutOfMemory,
}

/// Why there is no end to tell of: the machine is gone, and the task with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchError(pub Failure);

/// A question about names and imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Where a name is defined, and who uses it.
    Name(String),
    /// Which files a file imports, and which import it.
    Imports(String),
    /// By which imports a file comes to another.
    Chain {
        /// The first file.
        from: String,
        /// The last file.
        to: String,
    },
}

/// Where the agent's tools work.
pub trait Workbench: Sync {
    /// Runs a program to its end, at the top of the workspace. What it writes goes to `output`, errors being `true`, as it
    /// comes and however much it is.
    fn run(
        &self,
        errand: Errand,
        output: &mut (dyn FnMut(bool, &[u8]) + Send),
    ) -> impl Future<Output = Result<End, BenchError>> + Send;

    /// Answers from an index of the workspace, in sentences and lists; `Err` says what is wrong with the question, and `None`
    /// that there is no index.
    fn look_up(
        &self,
        lookup: Lookup,
    ) -> impl Future<Output = Option<Result<String, String>>> + Send;

    /// How many lines were added and removed by now.
    fn changed_lines(&self) -> impl Future<Output = u64> + Send;

    /// What the user said since this was last asked, oldest first. Each is given once.
    fn hear(&self) -> impl Future<Output = Vec<String>> + Send;

    /// Puts a question to the user and waits until something was said, which is then heard. `false`: nothing was for so
    /// long that the work ends here, to go on another time.
    fn ask(&self, question: &str) -> impl Future<Output = Result<bool, BenchError>> + Send;

    /// Stores what was said so far.
    fn keep(&self, transcript: Transcript) -> impl Future<Output = ()> + Send;

    /// Why the work is not done yet, as the checks say that it has to pass; `None` if they pass, or there are none. They end
    /// in the time that is `left`.
    fn unmet(
        &self,
        left: Duration,
    ) -> impl Future<Output = Result<Option<String>, BenchError>> + Send {
        let _no_checks = left;
        async { Ok(None) }
    }

    /// Stores what was done. Texts are bounded, but hold whatever a model or a program wrote.
    fn tell(&self, step: AgentStep) -> impl Future<Output = ()> + Send;
}
