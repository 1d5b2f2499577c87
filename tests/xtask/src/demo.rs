//! `cargo xtask demo`: a small project, a task in it, its changes, an accept. All of it through the
//! real program and a real virtual machine; only the state is apart, so that a demo leaves no task
//! among the user's own.

use std::fs;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Error, Result, bail};
use serde_json::Value;

use crate::places;
use crate::product::{self, Product};
use crate::setup;
use crate::step::{self, Stop, step};

/// What the demo does otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Accept without asking.
    #[arg(long)]
    yes: bool,
}

/// The project, which speaks British.
const FILES: [(&str, &str); 3] = [
    (
        "README.md",
        "# palette\n\nPrints a colour by its name.\n\n    sh palette.sh red\n",
    ),
    (
        "palette.sh",
        "# Prints the colour that is named first.\n. ./colours.txt\n\n\
         name=$1\neval \"colour=\\$$name\"\n\necho \"${colour:-no such colour}\"\n",
    ),
    (
        "colours.txt",
        "# One colour a line.\nred=ff0000\ngreen=00ff00\n",
    ),
];

/// What is typed into the shell of the virtual machine: files change, one gets another name, and
/// the result is tried.
const WORK: &str =
    "mv colours.txt colors.txt && sed -i s/colour/color/g *.md *.sh *.txt && sh palette.sh red";

pub(crate) fn main(args: &Args) -> Result<()> {
    step("setup", || {
        setup::ensure(setup::Purpose::Run, setup::Mode::Install)
    })?;
    let mut built = None;
    step("build", || {
        built = Some(product::build(&product::Args { release: false })?);
        Ok(())
    })?;
    let product = built.context("the build step ran")?;
    let stage = Stage::set(&product)?;
    stage.play(args.yes)?;
    println!("\nThe demo's project and state are removed. Next, in a project of your own:");
    println!("  export PATH=\"{}:$PATH\"", product.dir.display());
    println!("  legwork doctor                      # what tasks run on here");
    println!("  legwork run -- COMMAND ARG...       # a task in the foreground; then accept ID");
    println!("  legwork review ID                   # hunk by hunk");
    Ok(())
}

/// A directory with the project and a daemon of its own.
struct Stage {
    /// Removes everything when the demo ends, however it ends.
    dir: tempfile::TempDir,
    legwork: PathBuf,
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Nobody else talks to this daemon: whatever it still does is ours to end.
        self.legwork(&["daemon", "stop", "--force"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .ok();
    }
}

impl Stage {
    fn set(product: &Product) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("legwork-demo-").tempdir()?;
        let stage = Self {
            dir,
            legwork: product.legwork(),
        };
        let project = stage.project();
        fs::create_dir(&project)?;
        for (name, text) in FILES {
            fs::write(project.join(name), text)?;
        }
        if has_git() {
            commit_all(&project)?;
        }
        Ok(stage)
    }

    fn play(&self, yes: bool) -> Result<()> {
        println!("\n== demo: a small project in {}", self.project().display());
        for (name, _) in FILES {
            println!("  {name}");
        }

        println!("\n$ legwork run -- sh -c '{WORK}'");
        let answer = self.run_task()?;
        let task = answer["task"]
            .as_str()
            .context("`legwork run --json` names no task")?;
        print!("{}", answer["diff"].as_str().unwrap_or_default());

        self.untouched()?;
        println!("\nThis is what the task did to its copy. Your files are as they were.");

        if !(yes || confirmed()?) {
            self.show(&["reject", task])?;
            self.untouched()?;
            println!("Your files are as they were.");
            return Ok(());
        }
        self.show(&["accept", task])?;
        self.changed()
    }

    /// The task as the program tells it: progress on our stderr, the rest as JSON.
    fn run_task(&self) -> Result<Value> {
        let mut command = self.legwork(&["run", "--json", "--", "sh", "-c", WORK]);
        let output = command
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("failed to start {}", self.legwork.display()))?;
        if !output.status.success() {
            return Err(Error::new(Stop {
                code: output
                    .status
                    .code()
                    .and_then(|code| u8::try_from(code).ok())
                    .unwrap_or(1),
                message: format!(
                    "the task ended with {}; `legwork doctor` says what this machine can run",
                    output.status
                ),
            }));
        }
        serde_json::from_slice(&output.stdout).context("`legwork run --json` printed no JSON")
    }

    fn show(&self, arguments: &[&str]) -> Result<()> {
        println!("\n$ legwork {}", arguments.join(" "));
        std::io::stdout().flush()?;
        step::run(&mut self.legwork(arguments))
    }

    /// The promise of the product, looked at from outside.
    fn untouched(&self) -> Result<()> {
        for (name, text) in FILES {
            if fs::read(self.project().join(name)).ok().as_deref() != Some(text.as_bytes()) {
                bail!("{name} changed without an accept; please report this");
            }
        }
        Ok(())
    }

    /// Looks at the project after the accept, as the user would.
    fn changed(&self) -> Result<()> {
        let project = self.project();
        if has_git() {
            println!("\n$ git status --short && git diff --stat");
            step::run(git(&project).args(["status", "--short"]))?;
            step::run(git(&project).args(["--no-pager", "diff", "--stat"]))?;
        }
        println!("\n$ cat palette.sh");
        let text = fs::read_to_string(project.join("palette.sh"))?;
        print!("{text}");
        if text.contains("colour") || !project.join("colors.txt").exists() {
            bail!("the accept did not reach the files; please report this");
        }
        Ok(())
    }

    fn legwork(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.legwork);
        command
            .args(arguments)
            .current_dir(self.project())
            .env("LEGWORK_STATE", self.dir.path().join("state"))
            .env("LEGWORK_RUNTIME", self.dir.path().join("run"))
            .stdin(Stdio::null());
        command
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("palette")
    }
}

fn has_git() -> bool {
    places::program("git").is_some()
}

/// Asks on the terminal; without one there is nobody to ask.
fn confirmed() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        println!("\nNo terminal to ask on: accepting.");
        return Ok(true);
    }
    print!("\nAccept? [Y/n] ");
    std::io::stdout().flush()?;
    let mut line = String::new();
    // The end of the input is no yes.
    let read = std::io::stdin().lock().read_line(&mut line)?;
    Ok(read > 0 && is_yes(&line))
}

fn is_yes(answer: &str) -> bool {
    ["", "y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

fn git(project: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(project);
    command
}

fn commit_all(project: &Path) -> Result<()> {
    step::run(git(project).args(["init", "-q"]))?;
    step::run(git(project).args(["add", "."]))?;
    step::run(git(project).args([
        "-c",
        "user.name=Demo",
        "-c",
        "user.email=demo@localhost",
        "-c",
        "commit.gpgsign=false",
        "commit",
        "-q",
        "--no-verify",
        "-m",
        "The first strokes",
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        assert!(is_yes("\n") && is_yes("Y\n") && is_yes(" yes \n"));
        assert!(!is_yes("n\n") && !is_yes("what?\n"));
    }

    #[test]
    fn the_work_works_where_there_is_a_shell() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in FILES {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let output = Command::new("sh")
            .args(["-c", WORK])
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ff0000\n");
        assert!(dir.path().join("colors.txt").exists());
        assert!(
            !fs::read_to_string(dir.path().join("palette.sh"))
                .unwrap()
                .contains("colour")
        );
    }

    /// A program in place of `legwork`: `run` does `on_run`, `accept` does the work in place.
    fn stage(on_run: &str) -> (tempfile::TempDir, Stage) {
        let dir = tempfile::tempdir().unwrap();
        let script = format!(
            "#!/bin/sh\ncase $1 in\nrun) {on_run};;\naccept) [ $2 = bcd ] && {WORK};;\nesac\n"
        );
        let draft = dir.path().join("draft");
        fs::write(&draft, script).unwrap();
        // Another process writes the program: a child that another test starts meanwhile could
        // keep ours open for writing, and then it would not run ("text file busy").
        let mut install = Command::new("install");
        install.args(["-m", "755"]).arg(&draft);
        step::run(install.arg(dir.path().join("legwork"))).unwrap();
        let stage = Stage::set(&Product {
            dir: dir.path().to_owned(),
        });
        (dir, stage.unwrap())
    }

    #[test]
    fn the_play_ends_with_the_accepted_files() {
        let (_dir, stage) = stage(r#"printf '%s' '{"task":"bcd","diff":"-a\n+b\n"}'"#);
        stage.play(true).unwrap();
        assert!(stage.project().join("colors.txt").exists());
    }

    #[test]
    fn a_change_before_the_accept_is_noticed() {
        let (_dir, stage) = stage(r#"echo x >> README.md; echo '{"task":"bcd"}'"#);
        let error = stage.play(true).unwrap_err().to_string();
        assert!(
            error.starts_with("README.md changed without an accept"),
            "{error}"
        );
    }

    #[test]
    fn a_failed_task_ends_the_play_with_its_code() {
        let (_dir, stage) = stage("exit 3");
        let error = stage.play(true).unwrap_err();
        assert_eq!(error.downcast_ref::<Stop>().unwrap().code, 3);
    }

    #[test]
    fn an_accept_that_does_nothing_is_noticed() {
        let (_dir, stage) = stage(r#"echo '{"task":"other"}'"#);
        assert!(stage.play(true).is_err());
    }
}
