//! A machine whose QEMU is somebody else.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    os::{fd::OwnedFd, unix::net::UnixStream, unix::process::ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use kit::product;
use legwork_spec::{BOOT_CONFIG_VERSION, BootConfig, BootDisk, Jailed, Machine};
use tempfile::TempDir;

/// The files of a machine, and of what it must not reach.
#[derive(Debug)]
pub(crate) struct Stage {
    dir: TempDir,
    /// Whether it starts without a whole jail.
    pub(crate) unjailed_ok: bool,
    /// What it runs on, if not on this kernel as it is.
    pub(crate) lack: Option<&'static str>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Intrusion {
    /// What was told of the jail, if anything was.
    pub(crate) jailed: Option<Jailed>,
    /// What the intruder printed.
    pub(crate) said: String,
    /// What was said on standard error.
    pub(crate) errors: String,
    /// The exit code, if it was not killed.
    pub(crate) code: Option<i32>,
    /// The signal that killed it.
    pub(crate) signal: Option<i32>,
}

impl Stage {
    pub(crate) fn set() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("root.erofs", "root"),
            ("scratch.ext4", "a scratch disk"),
            ("other/secret", "of another task"),
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self {
            dir,
            unjailed_ok: false,
            lack: None,
        }
    }

    /// A path beside the machine's files.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Lets the intruder try all of this.
    pub(crate) fn intrude(&self, attempts: &[String]) -> Intrusion {
        let kernel = self.path("kernel");
        fs::write(&kernel, attempts.join("\n")).unwrap();
        let disk = |name: &str, read_only| BootDisk {
            path: self.path(name),
            read_only,
        };
        let config = BootConfig {
            version: BOOT_CONFIG_VERSION,
            supervisor: std::process::id(),
            unjailed_ok: self.unjailed_ok,
            machine: Machine::Qemu {
                program: env!("CARGO_BIN_EXE_legwork-tests-intruder").into(),
                kernel,
                hardware: false,
            },
            vcpus: 1,
            memory_mib: 256,
            disks: vec![disk("root.erofs", true), disk("scratch.ext4", false)],
        };
        let file = self.path("boot.json");
        fs::write(&file, serde_json::to_vec(&config).unwrap()).unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut child = self
            .command(&product::bin_dir().join("legwork-vmm"))
            .arg("boot")
            .arg(&file)
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let mut line = String::new();
        BufReader::new(ours).read_line(&mut line).unwrap();
        Intrusion {
            jailed: serde_json::from_str(&line).ok(),
            said,
            errors: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
            signal: output.status.signal(),
        }
    }

    /// A program on the kernel that this stage has.
    pub(crate) fn command(&self, program: &Path) -> Command {
        on(self.lack, program)
    }
}

/// A program, as on a kernel that lacks this.
pub(crate) fn on(lack: Option<&str>, program: &Path) -> Command {
    match lack {
        None => Command::new(program),
        Some(lack) => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_legwork-tests-older-kernel"));
            command.arg(lack).arg(program);
            command
        }
    }
}
