//! `legwork delegate`: puts a task in the background; and what `run` shares with it, the making of a task.

use legwork_model::{TaskSpec, Worker};
use legwork_spec::Limits;
use legwork_wire::{Places, Submit};

use crate::{
    args::{DelegateArgs, TaskArgs},
    failure::Failure,
    output,
    printable::{command, printable},
    start,
    workspace::Place,
};

/// Does it.
pub(crate) async fn delegate(places: &Places, args: DelegateArgs) -> Result<(), Failure> {
    let spec = spec(args.task)?;
    let client = start::connect(places).await?;
    let submitted = client
        .submit(&Submit {
            spec,
            buffers: vec![],
        })
        .await?;
    if args.json {
        output::json(&submitted)?;
    } else {
        output::line(submitted.task.as_str())?;
    }
    Ok(())
}

/// The task that was typed.
pub(crate) fn spec(args: TaskArgs) -> Result<TaskSpec, Failure> {
    let argv = argv(args.prompt, args.command)?;
    let place = Place::find(args.workspace.as_deref())?;
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
        directory: place.directory,
        worker: Worker::Command { argv },
        limits,
        isolation: args.isolation,
        driver: args.driver,
        environment: args.env,
        request: None,
    })
}

fn argv(prompt: Vec<String>, argv: Vec<String>) -> Result<Vec<String>, Failure> {
    match (prompt.as_slice(), argv.as_slice()) {
        ([], []) => Err(Failure::usage(
            "no command is given",
            "write it after two dashes: `legwork run -- make test`",
        )),
        ([], _) => Ok(argv),
        (words, []) => Err(Failure::usage(
            "a prompt needs an agent, and this version has none yet",
            format!(
                "to run these words as a command write `legwork run -- {}`",
                command(words)
            ),
        )),
        _ => Err(Failure::usage(
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

    #[test]
    fn a_prompt_is_refused_with_the_way_to_run_a_command() {
        let failure = argv(words("make all"), vec![]).unwrap_err();
        assert_eq!(failure.kind.code(), 2);
        assert!(failure.message.contains("agent"));
        assert!(
            failure.hint.contains("`legwork run -- make all`"),
            "{}",
            failure.hint
        );
        assert_eq!(argv(vec![], vec![]).unwrap_err().kind.code(), 2);
        assert_eq!(argv(words("a"), words("b")).unwrap_err().kind.code(), 2);
        assert_eq!(argv(vec![], words("make all")).unwrap(), ["make", "all"]);
    }
}
