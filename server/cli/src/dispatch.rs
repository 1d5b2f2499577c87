//! From a parsed command to the module that does it. Only `daemon start --foreground` runs outside of the small
//! runtime made here, because the daemon brings its own.

use legwork_wire::Places;

use crate::{
    accept, agent, args::Command, args::DaemonCommand, cancel, check, daemon, delegate, doctor,
    failure::Failure, logs, lsp, model, retry, review, run, say, setup, show, tasks, watch,
};

/// Does what a command asks for.
pub(crate) fn dispatch(command: Command) -> Result<(), Failure> {
    let places = Places::from_environment()?;
    if let Command::Daemon {
        command:
            DaemonCommand::Start {
                foreground: true,
                detached,
            },
    } = command
    {
        return daemon::foreground(detached);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::host(
                format!("cannot start: {error}"),
                "look at the limits of this process",
            )
        })?;
    let done = runtime.block_on(perform(&places, command));
    // A read of standard input that is still going on holds nobody up.
    runtime.shutdown_background();
    done
}

async fn perform(places: &Places, command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(places, args).await,
        Command::Delegate(args) => delegate::delegate(places, args).await,
        Command::Tasks(args) => tasks::tasks(places, args).await,
        Command::Show(args) => show::show(places, args).await,
        Command::Logs(args) => logs::logs(places, args).await,
        Command::Watch { json } => watch::watch(places, json).await,
        Command::Review { task } => review::review(places, &task).await,
        Command::Accept(args) => accept::accept(places, args).await,
        Command::Reject(args) => accept::reject(places, args).await,
        Command::Say(args) => say::say(places, args).await,
        Command::Undo { task, json } => accept::undo(places, &task, json).await,
        Command::Cancel { task, json } => cancel::cancel(places, &task, json).await,
        Command::Check {
            task,
            accepted,
            json,
        } => check::check(places, &task, accepted, json).await,
        Command::Retry { task, allow, json } => retry::retry(places, &task, allow, json).await,
        Command::Model { command } => model::model(places, command).await,
        Command::Agent { command } => agent::agent(places, command),
        Command::Doctor { json } => doctor::doctor(places, json).await,
        Command::Setup { editor } => setup::setup(editor),
        Command::Lsp { stdio: _ } => lsp::lsp(places).await,
        Command::Daemon { command } => daemon::daemon(places, command).await,
    }
}
