//! Steps with a name and a time, and how a failed one ends the program. What the steps do is
//! written where they are called.

use std::io::Write;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Error, Result};

/// The exit code of a machine that lacks something we may not install.
pub(crate) const CANNOT_RUN_HERE: u8 = 3;

/// A failure with an exit code of its own.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) code: u8,
    pub(crate) message: String,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stop {}

/// The exit code an error asks for; 1 when it asks for none.
pub(crate) fn exit_code(error: &Error) -> ExitCode {
    error
        .downcast_ref::<Stop>()
        .map_or(ExitCode::FAILURE, |stop| ExitCode::from(stop.code))
}

/// Says the step's name, does it, says how long it took.
///
/// # Errors
/// The work's own.
pub(crate) fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n== {name}");
    // A child that writes to the same pipe must come after our line.
    std::io::stdout().flush().ok();
    let start = Instant::now();
    let outcome = work();
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(()) => {
            println!("== {name}: ok, {seconds:.1} s");
            Ok(())
        }
        Err(error) => {
            println!("== {name}: FAILED, {seconds:.1} s");
            let code = error.downcast_ref::<Stop>().map_or(1, |stop| stop.code);
            Err(Error::new(Stop {
                code,
                message: format!("step `{name}` failed: {error:#}"),
            }))
        }
    }
}

/// Runs a command with our own standard streams.
///
/// # Errors
/// When it cannot be started or does not succeed; its exit code becomes ours.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command
        .status()
        .with_context(|| format!("failed to start `{shown}`"))?;
    if status.success() {
        return Ok(());
    }
    let code = status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1);
    Err(Error::new(Stop {
        code,
        message: format!("`{shown}` ended with {status}"),
    }))
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| {
            let word = word.to_string_lossy();
            if word.contains(char::is_whitespace) {
                format!("'{word}'")
            } else {
                word.into_owned()
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_passes_its_code_on() {
        let error = run(Command::new("sh").args(["-c", "exit 7"])).unwrap_err();
        assert_eq!(error.downcast_ref::<Stop>().unwrap().code, 7);
        assert_eq!(
            error.to_string(),
            "`sh -c 'exit 7'` ended with exit status: 7"
        );
    }

    #[test]
    fn a_failed_step_is_named_and_keeps_the_code() {
        let error = step("first", || run(Command::new("sh").args(["-c", "exit 9"]))).unwrap_err();
        assert_eq!(error.downcast_ref::<Stop>().unwrap().code, 9);
        assert!(error.to_string().starts_with("step `first` failed"));
    }

    #[test]
    fn a_command_killed_by_a_signal_fails() {
        let error = run(Command::new("sh").args(["-c", "kill -9 $$"])).unwrap_err();
        assert_eq!(error.downcast_ref::<Stop>().unwrap().code, 1);
    }
}
