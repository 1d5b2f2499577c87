//! `workspace/executeCommand`.

mod about;
mod arguments;
mod decide;
mod delegate;
mod say;
mod scratch_file;
mod tasks;

use std::sync::Arc;

use gen_lsp_types::MessageType;
use legwork_model::TaskId;
use serde_json::Value;

use crate::{documents::Document, failure::Failure, session::Session, tell, walk::Way};
use arguments::Arguments;

/// What can be run. The list is fixed at `initialize`: there are clients that know no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Delegate,
    New,
    Tasks,
    Walk(Way),
    Accept,
    Reject,
    AcceptFile,
    RejectFile,
    AcceptTask,
    RejectTask,
    Undo,
    Cancel,
    Retry,
    Say,
    Doctor,
}

impl Command {
    /// Whether it begins at the review cursor or moves it.
    fn is_review(self) -> bool {
        !matches!(
            self,
            Self::Delegate
                | Self::New
                | Self::Tasks
                | Self::Cancel
                | Self::Retry
                | Self::Say
                | Self::Doctor
        )
    }
}

/// Names; two of some.
const ALL: [(&str, Command); 20] = [
    ("legwork.delegate", Command::Delegate),
    ("legwork.new", Command::New),
    ("legwork.tasks", Command::Tasks),
    ("legwork.showTasks", Command::Tasks),
    ("legwork.review", Command::Walk(Way::First)),
    ("legwork.next", Command::Walk(Way::Next)),
    ("legwork.nextHunk", Command::Walk(Way::Next)),
    ("legwork.prev", Command::Walk(Way::Previous)),
    ("legwork.prevHunk", Command::Walk(Way::Previous)),
    ("legwork.accept", Command::Accept),
    ("legwork.reject", Command::Reject),
    ("legwork.acceptFile", Command::AcceptFile),
    ("legwork.rejectFile", Command::RejectFile),
    ("legwork.acceptTask", Command::AcceptTask),
    ("legwork.rejectTask", Command::RejectTask),
    ("legwork.undo", Command::Undo),
    ("legwork.cancel", Command::Cancel),
    ("legwork.retry", Command::Retry),
    ("legwork.say", Command::Say),
    ("legwork.doctor", Command::Doctor),
];

/// The names of all commands.
pub(crate) fn names() -> Vec<String> {
    ALL.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Does it. A failure is an answer, and for clients that show none a message too.
pub(crate) async fn run(
    session: &Arc<Session>,
    name: &str,
    arguments: Vec<Value>,
) -> Result<Value, Failure> {
    let done = perform(session, name, arguments).await;
    if let Err(failure) = &done
        && !session.wants(|profile| profile.options.ui.native)
    {
        tell::say(session, MessageType::Error, &failure.to_string()).await;
    }
    done
}

async fn perform(
    session: &Arc<Session>,
    name: &str,
    arguments: Vec<Value>,
) -> Result<Value, Failure> {
    let (_, command) = ALL
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| {
            Failure::new(format!(
                "`{name}` is no command of this version; it knows {}",
                names().join(", ")
            ))
        })?;
    let arguments = Arguments::parse(arguments)?;
    let _in_order = if command.is_review() {
        Some(session.reviewing.lock().await)
    } else {
        None
    };
    match command {
        Command::Delegate => delegate::delegate(session, arguments).await,
        Command::New => scratch_file::new(session, arguments).await,
        Command::Tasks => tasks::list(session).await,
        Command::Walk(way) => decide::walk(session, *way, &arguments).await,
        Command::Accept => decide::accept(session, &arguments, about::Width::Hunk).await,
        Command::AcceptFile => decide::accept(session, &arguments, about::Width::File).await,
        Command::AcceptTask => decide::accept(session, &arguments, about::Width::Task).await,
        Command::Reject => decide::reject(session, &arguments, about::Width::Hunk).await,
        Command::RejectFile => decide::reject(session, &arguments, about::Width::File).await,
        Command::RejectTask => decide::reject(session, &arguments, about::Width::Task).await,
        Command::Undo => decide::undo(session, &arguments).await,
        Command::Cancel => tasks::cancel(session, &arguments).await,
        Command::Retry => tasks::retry(session, &arguments).await,
        Command::Say => say::say(session, &arguments).await,
        Command::Doctor => tasks::doctor(session).await,
    }
}

/// The scratch file was saved with this in it.
pub(crate) async fn scratch_saved(session: &Arc<Session>, document: &Document, sentence: String) {
    if let Err(failure) = scratch_file::saved(session, document, sentence).await {
        tell::say(session, MessageType::Error, &failure.to_string()).await;
    }
}

/// The user stopped the task at its progress bar.
pub(crate) async fn cancel_by_progress(session: &Session, task: TaskId) {
    if let Err(failure) = tasks::cancel_task(session, &task).await {
        tell::say(session, MessageType::Error, &failure.to_string()).await;
    }
}
