//! `legwork delegate`: puts a task in the background; and what `run` shares with it, the making of a task.

use std::path::PathBuf;

use legwork_model::{Config, Request, TaskSpec, Worker};
use legwork_spec::{Limits, Root};
use legwork_wire::{Places, Submit};

use crate::{
    args::{Allowed, DelegateArgs, TaskArgs},
    asked,
    failure::Failure,
    network, output,
    printable::{command, printable},
    start,
    workspace::Place,
};

/// Does it. Where an editor pipes a selection here, what is written to standard output could stand in its place: then
/// only standard error is told.
pub(crate) async fn delegate(places: &Places, args: DelegateArgs) -> Result<(), Failure> {
    let piped = args.task.stdin;
    let spec = spec(places, args.task)?;
    let title = spec.title();
    let client = start::connect(places).await?;
    let submitted = client
        .submit(&Submit {
            spec,
            buffers: vec![],
        })
        .await?;
    network::tell(&client, &submitted.task).await?;
    if args.json {
        output::json(&submitted)?;
    } else if piped {
        let id = submitted.task.short();
        output::note(&format!("task {id} works on it: {}", printable(&title)));
    } else {
        output::line(submitted.task.as_str())?;
    }
    Ok(())
}

/// The task that was typed.
pub(crate) fn spec(places: &Places, mut args: TaskArgs) -> Result<TaskSpec, Failure> {
    let place = Place::find(args.workspace.as_deref())?;
    let request = asked::request(&mut args, &place)?;
    let said = request
        .as_ref()
        .is_some_and(|request| !request.text.is_empty());
    let agent = args.agent;
    let chosen = || {
        let mut config = configured(places)?;
        config.agent.kind = agent.or(config.agent.kind);
        Ok(config)
    };
    let worker = worker(&request, args.command, chosen, places)?;
    let usual = Limits::default();
    let limits = Limits {
        vcpus: args.cpus.unwrap_or(usual.vcpus),
        memory: args.memory.unwrap_or(usual.memory),
        disk: args.disk.unwrap_or(usual.disk),
        wall: args.timeout.unwrap_or(usual.wall),
        output: usual.output,
    };
    limits
        .validate()
        .map_err(|error| Failure::usage(error.to_string(), ""))?;
    let include = args.include.iter().map(|path| {
        let shown = || printable(&path.display().to_string()).into_owned();
        let inside = place.locate(path).ok_or_else(|| {
            Failure::usage(
                format!(
                    "--include {} is not in the workspace {}",
                    shown(),
                    place.workspace.display()
                ),
                "only what is in the workspace can come along",
            )
        })?;
        inside.into_os_string().into_string().map_err(|_| {
            Failure::usage(
                format!("--include {} is not UTF-8", shown()),
                "include the folder that it is in",
            )
        })
    });
    Ok(TaskSpec {
        include: include.collect::<Result<_, _>>()?,
        workspace: place.workspace,
        // A command is typed where the user stands; the agent's own is for the workspace.
        directory: if said {
            PathBuf::new()
        } else {
            place.directory
        },
        worker,
        limits,
        isolation: args.isolation,
        driver: args.driver,
        root: args.image.map_or(Ok(Root::Host), image)?,
        environment: args.env,
        allow: Allowed::all(args.allow),
        request,
        checks: (!args.check.is_empty()).then_some(args.check),
        reproduce: args.reproduce,
    })
}

/// Where the image is, also for a daemon that stands elsewhere.
fn image(path: PathBuf) -> Result<Root, Failure> {
    path.canonicalize().map(Root::Oci).map_err(|error| {
        Failure::usage(
            format!("--image {} cannot be read: {error}", path.display()),
            "name an archive or folder with an OCI image layout",
        )
    })
}

/// What the user set, with a word on each name in it that means nothing.
fn configured(places: &Places) -> Result<Config, Failure> {
    let (config, warnings) = places.read_config()?;
    for warning in warnings {
        let file = places.config_file();
        output::note(&printable(&format!("{}: {warning}", file.display())));
    }
    Ok(config)
}

/// Who does it: the command that was typed, or the agent for what was said.
fn worker(
    request: &Option<Request>,
    argv: Vec<String>,
    configured: impl FnOnce() -> Result<Config, Failure>,
    places: &Places,
) -> Result<Worker, Failure> {
    let said = request.as_ref().map_or("", |request| request.text.trim());
    match (said.is_empty(), argv.is_empty()) {
        (true, true) => Err(Failure::usage(
            "nothing is asked for",
            "say it in words, or write a command after two dashes: `legwork run -- make test`",
        )),
        (true, false) => Ok(Worker::Command { argv }),
        (false, true) => configured()?.worker().ok_or_else(|| {
            let words: Vec<String> = said.split_whitespace().map(str::to_owned).collect();
            Failure::usage(
                "a prompt needs an agent, and none is set",
                format!(
                    "{}; to run these words as a command write `legwork run -- {}`",
                    places.agent_hint(),
                    command(&words)
                ),
            )
        }),
        (false, false) => Err(Failure::usage(
            "there are words before the two dashes and a command after them",
            "give a prompt or a command, not both",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn said(text: &str) -> Option<Request> {
        Some(Request {
            text: text.to_owned(),
            ..Request::default()
        })
    }

    #[test]
    fn words_go_to_the_agent_that_is_set_and_a_command_runs_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places {
            state: dir.path().into(),
            runtime: dir.path().into(),
            cache: dir.path().into(),
            config: dir.path().into(),
        };
        let worker = |request: Option<Request>, command: &str| {
            worker(&request, words(command), || configured(&places), &places)
        };
        let argv = |request, command| match worker(request, command)? {
            Worker::Command { argv } => Ok::<_, Failure>(argv),
            Worker::Builtin | Worker::External { .. } => panic!("no model is set"),
        };
        let failure = argv(said("make all"), "").unwrap_err();
        assert_eq!(failure.kind.code(), 2);
        assert!(failure.message.contains("agent"));
        for part in ["`legwork run -- make all`", "config.toml", "[agent]"] {
            assert!(failure.hint.contains(part), "{}", failure.hint);
        }
        std::fs::write(
            places.config_file(),
            "x = 1\n[agent]\ncommand = [\"sh\", \"a b\"]\n",
        )
        .unwrap();
        assert_eq!(argv(said("make all"), "").unwrap(), ["sh", "a b"]);
        assert_eq!(argv(None, "make all").unwrap(), ["make", "all"]);
        assert_eq!(argv(said(""), "make all").unwrap(), ["make", "all"]);
        assert_eq!(argv(None, "").unwrap_err().kind.code(), 2);
        assert_eq!(argv(said("a"), "b").unwrap_err().kind.code(), 2);
        std::fs::write(places.config_file(), "[agent]\ncommand = 1\n").unwrap();
        let failure = argv(said("a"), "").unwrap_err();
        assert_eq!(failure.kind.code(), 2);
        assert!(
            failure.message.contains("agent.command"),
            "{}",
            failure.message
        );
        assert!(argv(None, "true").is_ok(), "nobody asked for it");
    }
}
