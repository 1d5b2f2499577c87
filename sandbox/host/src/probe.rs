//! What this host can really run. A `/dev/kvm` that opens proves nothing: some hosts emulate guest code instruction by
//! instruction and die of it, so `legwork-vmm probe` runs guest code for a few milliseconds.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use legwork_image::find_library;
use legwork_spec::{Driver, Isolation, Jailed, WallKind};
use serde::{Deserialize, Serialize};
use tokio::{io::AsyncReadExt as _, net::unix::pipe, time::timeout};

use crate::{HostError, Installation, failure::chain, jail};

/// The probe ends by itself after a second; a host that is busy may take longer to start it.
const PATIENCE: Duration = Duration::from_secs(15);

/// Most that it says, in bytes.
const LONGEST: u64 = 16 * 1024;

/// What `/dev/kvm` is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hardware {
    /// It runs guest code on the processor.
    Usable,
    /// There is none.
    Absent,
    /// This user may not open it.
    NoPermission,
    /// It opens, but guest code is emulated or fails.
    Emulated,
    /// It could not be found out.
    Error,
}

/// What the probe says, and what is cached of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Verdict {
    verdict: Hardware,
    detail: String,
}

/// What this host can run.
#[derive(Clone, Debug)]
pub struct HostReport {
    /// What `/dev/kvm` is worth.
    pub hardware: Hardware,
    /// A sentence on that; what it lacks comes first, then a colon and what to do.
    pub detail: String,
    /// libkrunfw, which holds the guest kernel; or why there is none.
    pub library: Result<PathBuf, String>,
    /// `qemu-system-*`, if it is installed.
    pub qemu: Option<PathBuf>,
    /// `mke2fs`, which formats scratch disks.
    pub mke2fs: Option<PathBuf>,
    /// Which walls can be built around a machine's process, tried just now; or why that is not known.
    pub jail: Result<Jailed, String>,
}

/// What a sandbox will run on.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// How.
    pub driver: Driver,
    /// In software: not a hardware boundary.
    pub emulated: bool,
    pub(crate) library: PathBuf,
    pub(crate) qemu: Option<PathBuf>,
}

/// Looks at this host. The costly part is remembered until the next boot.
pub async fn probe(installation: &Installation) -> HostReport {
    let (verdict, jail) = tokio::join!(hardware(installation), walls(installation));
    HostReport {
        hardware: verdict.verdict,
        detail: verdict.detail,
        library: find_library(&installation.cache).map_err(|error| chain(&error)),
        qemu: on_path(&format!("qemu-system-{}", std::env::consts::ARCH)),
        mke2fs: on_path("mke2fs"),
        jail,
    }
}

impl HostReport {
    /// Chooses what a sandbox runs on.
    ///
    /// # Errors
    ///
    /// [`HostError::Unable`] says what this host lacks and how to get it.
    pub fn choose(
        &self,
        isolation: Isolation,
        driver: Option<Driver>,
    ) -> Result<Chosen, HostError> {
        let unable = |message: String, hint: &str| HostError::Unable {
            message,
            hint: hint.into(),
        };
        let setup = "run `cargo xtask setup`, or see `legwork doctor`";
        let library = self
            .library
            .clone()
            .map_err(|message| unable(message, setup))?;
        let lack = match &self.jail {
            Ok(jailed) => jailed.lack(),
            Err(reason) => Some(format!("trying its walls failed, since {reason}")),
        };
        jail::judge(isolation, lack)?;
        let usable = self.hardware == Hardware::Usable;
        if !usable && (isolation == Isolation::Hardware || driver == Some(Driver::Krun)) {
            let asked = if driver == Some(Driver::Krun) {
                "libkrun needs"
            } else {
                "the task asks for"
            };
            return Err(unable(
                format!("{asked} hardware virtualization, and {}", self.detail),
                "mend that, or allow emulation",
            ));
        }
        let driver = driver.unwrap_or(if usable { Driver::Krun } else { Driver::Qemu });
        if driver == Driver::Qemu && self.qemu.is_none() {
            let message = if usable {
                "QEMU is not installed".to_owned()
            } else {
                format!(
                    "{}, and QEMU, which would emulate a machine, is not installed",
                    self.lack()
                )
            };
            return Err(unable(message, setup));
        }
        Ok(Chosen {
            driver,
            emulated: !usable,
            library,
            qemu: self.qemu.clone(),
        })
    }

    /// One line: what tasks run on here.
    pub fn verdict(&self) -> String {
        match self.choose(Isolation::EmulatedOk, None) {
            Ok(chosen) if chosen.emulated => format!(
                "tasks run in a virtual machine that QEMU emulates in software: about 15 times slower, and no hardware \
                 boundary ({})",
                self.lack()
            ),
            Ok(_) => "tasks run in microVMs of libkrun on this machine's own virtualization".into(),
            Err(error) if self.choose(Isolation::UnjailedOk, None).is_ok() => {
                format!("tasks run here only with `--isolation unjailed-ok`: {error}")
            }
            Err(error) => format!("tasks cannot run here: {error}"),
        }
    }

    /// Whether tasks can run without special leave.
    pub fn able(&self) -> bool {
        self.mke2fs.is_some() && self.choose(Isolation::EmulatedOk, None).is_ok()
    }

    /// Each thing that was looked at: its name, whether it is well, and a sentence.
    pub fn checks(&self) -> Vec<(String, bool, String)> {
        let program = |name: &str, path: &Option<PathBuf>, package: &str| match path {
            Some(path) => (name.to_owned(), true, path.display().to_string()),
            None => (name.to_owned(), false, format!("not installed: {package}")),
        };
        let library = match &self.library {
            Ok(path) => (true, path.display().to_string()),
            Err(reason) => (false, reason.clone()),
        };
        let mut checks = vec![
            (
                "hardware virtualization".into(),
                self.hardware == Hardware::Usable,
                self.detail.clone(),
            ),
            ("guest kernel".into(), library.0, library.1),
            program(
                "QEMU",
                &self.qemu,
                "`cargo xtask setup` installs it; only needed without hardware virtualization",
            ),
            program("mke2fs", &self.mke2fs, "install the package e2fsprogs"),
        ];
        let walls = WallKind::ALL.map(|kind| {
            let found = match &self.jail {
                Ok(jailed) => jailed.walls.iter().find(|wall| wall.kind == kind),
                Err(_) => None,
            };
            let (stands, detail) = match (found, &self.jail) {
                (Some(wall), _) => (wall.stands, wall.detail.clone()),
                (None, Err(reason)) => (false, reason.clone()),
                (None, Ok(_)) => (false, "nothing is known of this wall".to_owned()),
            };
            (format!("jail: {}", kind.word()), stands, detail)
        });
        checks.extend(walls);
        checks
    }

    /// Why there is no hardware virtualization, without the advice that follows it.
    fn lack(&self) -> &str {
        self.detail.split(':').next().unwrap_or(&self.detail)
    }
}

async fn hardware(installation: &Installation) -> Verdict {
    let cache = Cache::new(installation);
    if let Some(verdict) = cache.read() {
        return verdict;
    }
    let verdict = ask(installation).await.unwrap_or_else(|detail| Verdict {
        verdict: Hardware::Error,
        detail,
    });
    cache.write(&verdict);
    verdict
}

async fn ask(installation: &Installation) -> Result<Verdict, String> {
    let said = said(installation, "probe").await?;
    serde_json::from_slice(&said).map_err(|_| "the probe gave no verdict".into())
}

/// Not cached: what a container or a policy allows may be another for the next daemon, and trying it takes milliseconds.
async fn walls(installation: &Installation) -> Result<Jailed, String> {
    let said = said(installation, "walls").await?;
    serde_json::from_slice(&said).map_err(|_| "legwork-vmm does not tell of its walls".into())
}

/// What `legwork-vmm` prints for this word.
async fn said(installation: &Installation, word: &str) -> Result<Vec<u8>, String> {
    let mut child = std::process::Command::new(&installation.vmm)
        .arg(word)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("legwork-vmm cannot be started: {error}"))?;
    let stdout = child.stdout.take().ok_or("the probe has no output")?;
    let mut said = Vec::new();
    let read = async {
        let pipe = pipe::Receiver::from_owned_fd(stdout.into())?;
        pipe.take(LONGEST).read_to_end(&mut said).await
    };
    let answered = timeout(PATIENCE, read).await;
    // It has said all it has to say, or never will.
    let _ended = child.kill();
    let _status = tokio::task::spawn_blocking(move || child.wait()).await;
    match answered {
        Ok(Ok(_)) => Ok(said),
        Ok(Err(error)) => Err(format!("the probe cannot be read: {error}")),
        Err(_) => Err("the probe did not end".into()),
    }
}

/// The verdict of this boot, for this very program.
struct Cache {
    file: PathBuf,
    key: String,
}

#[derive(Serialize, Deserialize)]
struct Cached {
    key: String,
    verdict: Verdict,
}

impl Cache {
    fn new(installation: &Installation) -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let modified = fs::metadata(&installation.vmm).and_then(|metadata| metadata.modified());
        let key = format!("{} {modified:?}", boot.trim());
        Self {
            file: installation.cache.join("probe.json"),
            key,
        }
    }

    fn read(&self) -> Option<Verdict> {
        let cached: Cached = serde_json::from_slice(&fs::read(&self.file).ok()?).ok()?;
        (cached.key == self.key).then_some(cached.verdict)
    }

    fn write(&self, verdict: &Verdict) {
        // What the user can change without a reboot is looked at anew each time; it costs nothing.
        if !matches!(verdict.verdict, Hardware::Usable | Hardware::Emulated) {
            return;
        }
        let cached = Cached {
            key: self.key.clone(),
            verdict: verdict.clone(),
        };
        let Ok(json) = serde_json::to_vec(&cached) else {
            return;
        };
        let written = fs::create_dir_all(self.file.parent().unwrap_or(Path::new("/")))
            .and_then(|()| fs::write(&self.file, json));
        if let Err(error) = written {
            tracing::debug!(%error, "the probe's verdict is not kept");
        }
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = [
        "/usr/local/sbin",
        "/usr/sbin",
        "/sbin",
        "/usr/local/bin",
        "/usr/bin",
        "/bin",
    ]
    .map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(usual)
        .map(|dir| dir.join(name))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use legwork_spec::Wall;

    use super::*;

    fn report(hardware: Hardware, qemu: bool) -> HostReport {
        HostReport {
            hardware,
            detail: "there is no /dev/kvm".into(),
            library: Ok("/l".into()),
            qemu: qemu.then(|| "/q".into()),
            mke2fs: Some("/m".into()),
            jail: Ok(whole_jail()),
        }
    }

    fn whole_jail() -> Jailed {
        let walls = WallKind::ALL.map(|kind| Wall {
            kind,
            stands: true,
            detail: "d".into(),
        });
        Jailed {
            walls: walls.to_vec(),
            micros: 0,
        }
    }

    #[test]
    fn a_host_that_cannot_jail_needs_to_be_allowed_and_says_which_wall() {
        let mut host = report(Hardware::Absent, true);
        let mut jailed = whole_jail();
        jailed.walls[2] = Wall {
            kind: WallKind::Files,
            stands: false,
            detail: "no Landlock".into(),
        };
        for jail in [Ok(jailed), Err("it did not start".to_owned())] {
            host.jail = jail;
            let error = host.choose(Isolation::EmulatedOk, None).unwrap_err();
            assert!(error.hint().contains("unjailed-ok"), "{}", error.hint());
            assert!(host.choose(Isolation::UnjailedOk, None).is_ok());
            assert!(!host.able() && host.verdict().contains("only with `--isolation"));
            let checks = host.checks();
            let files = checks.iter().find(|(name, ..)| name == "jail: files");
            assert!(files.is_some_and(|(_, stands, _)| !stands), "{checks:?}");
        }
    }

    #[test]
    fn hardware_is_never_replaced_where_it_was_asked_for() {
        for hardware in [
            Hardware::Absent,
            Hardware::NoPermission,
            Hardware::Emulated,
            Hardware::Error,
        ] {
            let host = report(hardware, true);
            assert!(host.choose(Isolation::Hardware, None).is_err());
            assert!(
                host.choose(Isolation::Hardware, Some(Driver::Qemu))
                    .is_err()
            );
            assert!(
                host.choose(Isolation::EmulatedOk, Some(Driver::Krun))
                    .is_err()
            );
            let chosen = host.choose(Isolation::EmulatedOk, None).unwrap();
            assert!(chosen.emulated && chosen.driver == Driver::Qemu);
        }
        let chosen = report(Hardware::Usable, false)
            .choose(Isolation::Hardware, None)
            .unwrap();
        assert!(!chosen.emulated && chosen.driver == Driver::Krun);
    }

    #[test]
    fn what_is_missing_is_named_with_a_next_step() {
        let error = report(Hardware::Absent, false)
            .choose(Isolation::EmulatedOk, None)
            .unwrap_err();
        assert!(error.to_string().contains("QEMU"), "{error}");
        assert!(error.hint().contains("setup"));
        assert!(!report(Hardware::Absent, false).able());
        let mut host = report(Hardware::Usable, true);
        host.library = Err("there is no libkrunfw".into());
        assert!(host.choose(Isolation::EmulatedOk, None).is_err());
    }
}
