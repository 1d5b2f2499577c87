//! An emulated AMD machine with real KVM in it, for what needs virtualization on a host that has none.
//!
//! QEMU emulates a processor with SVM; Debian's kernel drives it, so `/dev/kvm` in there is the real thing, slow as it is.
//! The machine's root is the host's own root, read-only, under a tmpfs layer: every program of the host runs there, every
//! path is the same, and nothing it writes comes back. What a script wants to tell, it prints.
//!
//! Nothing here skips: what is missing is an error that says what to install.

mod kernel;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use kernel::Kernel;

const INIT: &str = include_str!("nested/init.sh");
const EXIT: &str = "legwork-nested-exit ";
/// Memory for the machine, of which its layer over the host's root may take three quarters.
const MEMORY_MIB: u32 = 3072;

/// A machine that can be started any number of times, each time fresh.
#[derive(Debug)]
pub struct Nested {
    kernel: Kernel,
    busybox: PathBuf,
    cache: PathBuf,
}

/// What a script left behind.
#[derive(Debug)]
pub struct Output {
    /// The script's exit code.
    pub code: i32,
    /// Its standard output and standard error, as they came.
    pub text: String,
    /// What the machine's kernel said.
    pub console: String,
    /// From the start of QEMU to its end.
    pub elapsed: Duration,
}

impl Nested {
    /// Makes ready what all machines share, in `cache` (created if need be; about 75 MB).
    ///
    /// # Errors
    /// When a program is missing, or the kernel is not in `cache` and cannot be fetched with apt.
    pub fn prepare(cache: &Path) -> Result<Self> {
        fs::create_dir_all(cache)
            .with_context(|| format!("cannot make the cache {}", cache.display()))?;
        program("qemu-system-x86_64", "qemu-system-x86")?;
        program("cpio", "cpio")?;
        let busybox = program("busybox", "busybox-static")?;
        let dynamic = fs::read(&busybox)?
            .windows(9)
            .any(|window| window == b"/ld-linux");
        ensure!(
            !dynamic,
            "{} is not static; apt-get install busybox-static",
            busybox.display()
        );
        Ok(Self {
            kernel: Kernel::obtain(cache)?,
            busybox,
            cache: cache.to_owned(),
        })
    }

    /// Starts a machine, runs `script` with `/bin/sh` in it, and gives what it printed; copies that to standard error as
    /// it comes.
    ///
    /// # Errors
    /// When the machine does not start, does not end within `limit`, or ends without the script's exit code. A script
    /// that fails is not an error here.
    pub fn run(&self, script: &str, limit: Duration) -> Result<Output> {
        let work = tempfile::Builder::new()
            .prefix("run-")
            .tempdir_in(&self.cache)?;
        let work = work.path();
        fs::write(work.join("script"), script)?;
        self.initramfs(work)?;

        let started = Instant::now();
        let mut machine = Machine(self.qemu(work)?);
        let text = machine.output(started + limit);
        let text = text.with_context(|| last_words(work))?;
        machine.0.wait()?;
        let console = read(&work.join("console"));
        let code = console
            .lines()
            .find_map(|line| line.trim().strip_prefix(EXIT)?.parse().ok());
        let code = code
            .context("the emulated machine ended without an exit code")
            .with_context(|| last_words(work))?;
        Ok(Output {
            code,
            text,
            console,
            elapsed: started.elapsed(),
        })
    }

    fn qemu(&self, work: &Path) -> Result<Child> {
        let script = work.join("script");
        let script = script.to_str().filter(|path| {
            // It stands on the kernel's command line.
            path.starts_with('/') && !path.contains(char::is_whitespace)
        });
        let script = script.context("the cache's path must be absolute and without spaces")?;
        let append = format!(
            "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off legwork.script={script}"
        );
        let mut command = Command::new("qemu-system-x86_64");
        command
            .args([
                "-M",
                "q35",
                "-cpu",
                "EPYC,+svm",
                "-accel",
                "tcg,thread=multi",
                "-smp",
                "2",
            ])
            .args([
                "-m",
                &format!("{MEMORY_MIB}M"),
                "-nodefaults",
                "-display",
                "none",
                "-no-reboot",
            ])
            .args([
                "-virtfs",
                "local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap",
            ])
            .arg("-serial")
            .arg(format!("file:{}", work.join("console").display()))
            .args(["-serial", "stdio", "-append", &append])
            .arg("-kernel")
            .arg(&self.kernel.image)
            .arg("-initrd")
            .arg(work.join("initramfs.cpio"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // It warns about every feature of that processor that it does not emulate.
            .stderr(File::create(work.join("qemu"))?);
        command.spawn().context("cannot start qemu-system-x86_64")
    }

    /// Packs PID 1, busybox and the kernel's modules; quick enough to be done for every machine.
    fn initramfs(&self, work: &Path) -> Result<()> {
        let tree = work.join("initramfs");
        fs::create_dir_all(tree.join("bin"))?;
        fs::create_dir_all(tree.join("modules"))?;
        fs::write(tree.join("init"), INIT)?;
        fs::set_permissions(tree.join("init"), fs::Permissions::from_mode(0o755))?;
        fs::copy(&self.busybox, tree.join("bin/busybox"))?;
        for module in fs::read_dir(&self.kernel.modules)? {
            let module = module?;
            fs::copy(module.path(), tree.join("modules").join(module.file_name()))?;
        }
        let names = "init\nbin\nbin/busybox\nmodules\n".to_owned()
            + &names(&tree.join("modules"))?
                .iter()
                .map(|name| format!("modules/{name}\n"))
                .collect::<String>();
        let mut cpio = Command::new("cpio")
            .args(["--create", "--format=newc", "--quiet", "--owner=0:0"])
            .current_dir(&tree)
            .stdin(Stdio::piped())
            .stdout(File::create(work.join("initramfs.cpio"))?)
            .spawn()
            .context("cannot start cpio")?;
        cpio.stdin
            .take()
            .context("cpio has no input")?
            .write_all(names.as_bytes())?;
        ensure!(cpio.wait()?.success(), "cpio cannot pack the initramfs");
        Ok(())
    }
}

/// A running QEMU, which does not outlive this value.
struct Machine(Child);

impl Machine {
    /// All that comes from the second serial line until it ends.
    fn output(&mut self, deadline: Instant) -> Result<String> {
        let mut stdout = self.0.stdout.take().context("QEMU has no output")?;
        let (sender, receiver) = mpsc::channel::<Vec<u8>>();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut bytes = Vec::new();
        loop {
            match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(chunk) => {
                    std::io::stderr().write_all(&chunk).ok();
                    bytes.extend(chunk);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(String::from_utf8_lossy(&bytes).into_owned());
                }
                Err(RecvTimeoutError::Timeout) => bail!(
                    "the emulated machine did not end in time; its script's output ends with:\n{}",
                    tail(&String::from_utf8_lossy(&bytes))
                ),
            }
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Both fail only when it is gone already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Where `name` is, or a sentence with the package that brings it.
fn program(name: &str, package: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
        .with_context(|| format!("the emulated machine needs {name}; apt-get install {package}"))
}

/// Runs a command to its end and gives its standard output.
fn run(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot run {name}"))?;
    ensure!(
        output.status.success(),
        "{name} failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What is to be seen where a machine failed.
fn last_words(work: &Path) -> String {
    format!(
        "the emulated machine failed; its console ends with:\n{}\nand QEMU said:\n{}",
        tail(&read(&work.join("console"))),
        tail(&read(&work.join("qemu")))
    )
}

/// A file that may be missing and may hold anything.
fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

fn names(directory: &Path) -> Result<Vec<String>> {
    fs::read_dir(directory)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

fn tail(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .filter(|(_, letter)| *letter == '\n')
        .nth(25);
    &text[start.map_or(0, |(at, _)| at)..]
}
