//! A sandbox, phase by phase.

use std::{
    fs,
    io::Write as _,
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _, net::UnixStream},
    },
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use legwork_image::{Progress, RootImage};
use legwork_link::{Configure, Configured, Dialer, Open, Stats, Substream, frame, hello, mux};
use legwork_spec::{BootConfig, Driver, Jailed, SandboxSpec, TOOLS, Wall};
use serde::de::DeserializeOwned;
use tokio::{io::AsyncWriteExt as _, time::timeout};

use crate::{
    Answer, Chosen, HostError, HostReport, Installation, calls::Calls, jail, parts::make,
    process::Process,
};

/// How long a guest may take to greet. A machine that ends is noticed at once; this is for one that hangs, and generous
/// since emulated machines on a busy host are slow.
const BOOT: Duration = Duration::from_mins(2);
/// How long a guest may take to answer a small question.
const ANSWER: Duration = Duration::from_secs(60);
/// How long the last words of a machine that ended may be on their way.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// A sandbox in one of its phases.
#[derive(Debug)]
pub struct Sandbox<Phase> {
    spec: SandboxSpec,
    phase: Phase,
}

/// Everything that the machine needs is on disk; nothing runs.
#[derive(Debug)]
pub struct Created {
    chosen: Chosen,
    installation: Installation,
    dir: PathBuf,
    config: BootConfig,
    root: RootImage,
    image: Duration,
}

/// The machine runs and its agent answers.
#[derive(Debug)]
pub struct Running {
    chosen: Chosen,
    dialer: Dialer,
    process: Process,
    dir: PathBuf,
    timings: Timings,
    kernel: String,
    jailed: Jailed,
    root: RootImage,
}

/// Where the time of a start went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Making sure of kernel, root file system and scratch disk.
    pub image: Duration,
    /// From the start of the process to the agent's first word.
    pub boot: Duration,
    /// Of that, building the jail around the machine's process.
    pub jail: Duration,
    /// Mounting in the guest.
    pub mount: Duration,
}

impl Sandbox<Created> {
    /// Chooses a driver and makes every image. `dir` becomes the machine's own directory and is removed with it.
    /// `progress` is called while the root file system image is built, which happens once on a machine.
    ///
    /// # Errors
    ///
    /// [`HostError`] when this host cannot run it as asked, or an image cannot be made. Nothing is left behind.
    pub async fn create(
        spec: SandboxSpec,
        installation: &Installation,
        host: &HostReport,
        dir: PathBuf,
        progress: impl Fn(Progress) + Send + 'static,
    ) -> Result<Self, HostError> {
        let start = Instant::now();
        let chosen = host.choose(spec.isolation(), spec.driver())?;
        let installation = installation.clone();
        let made = tokio::task::spawn_blocking(move || {
            let made = make(&spec, &chosen, &installation, &dir, progress);
            if made.is_err() {
                remove(&dir);
            }
            let (config, root) = made?;
            Ok::<_, HostError>((
                spec,
                Created {
                    chosen,
                    installation,
                    dir,
                    config,
                    root,
                    image: start.elapsed(),
                },
            ))
        });
        let (spec, phase) = made
            .await
            .map_err(|error| HostError::Image(error.to_string()))??;
        Ok(Self { spec, phase })
    }

    /// Boots the machine. It is ready when its agent has greeted and mounted everything. Whatever the guest calls for is
    /// refused.
    ///
    /// # Errors
    ///
    /// [`HostError::Boot`] with the machine's last words. Nothing is left running.
    pub async fn start(self) -> Result<Sandbox<Running>, HostError> {
        self.boot(None).await
    }

    /// As [`start`](Self::start), with someone who takes the guest's calls.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn start_answering(
        self,
        answer: Arc<dyn Answer>,
    ) -> Result<Sandbox<Running>, HostError> {
        self.boot(Some(answer)).await
    }

    async fn boot(self, answer: Option<Arc<dyn Answer>>) -> Result<Sandbox<Running>, HostError> {
        let Created {
            chosen,
            installation,
            dir,
            config,
            root,
            image,
        } = self.phase;
        let started = boot(&self.spec, &installation, &dir, &config, answer).await;
        match started {
            Ok(Booted {
                process,
                dialer,
                boot,
                jailed,
                configured,
            }) => {
                let timings = Timings {
                    image,
                    boot,
                    jail: Duration::from_micros(jailed.micros),
                    mount: Duration::from_micros(configured.micros),
                };
                let kernel = configured.kernel;
                let phase = Running {
                    chosen,
                    dialer,
                    process,
                    dir,
                    timings,
                    kernel,
                    jailed,
                    root,
                };
                Ok(Sandbox {
                    spec: self.spec,
                    phase,
                })
            }
            Err(error) => {
                remove(&dir);
                Err(error)
            }
        }
    }
}

impl Sandbox<Running> {
    /// What it was declared as.
    pub fn spec(&self) -> &SandboxSpec {
        &self.spec
    }

    /// The driver that runs it.
    pub fn driver(&self) -> Driver {
        self.phase.chosen.driver
    }

    /// Whether the guest is emulated in software: not a hardware boundary.
    pub fn emulated(&self) -> bool {
        self.phase.chosen.emulated
    }

    /// Where the time of its start went.
    pub fn timings(&self) -> Timings {
        self.phase.timings
    }

    /// The image of its root file system. Another image has another name.
    pub fn root(&self) -> &std::path::Path {
        &self.phase.root.path
    }

    /// Release of the guest's kernel, as the guest tells it.
    pub fn kernel(&self) -> &str {
        &self.phase.kernel
    }

    /// The walls around the machine's process, as it told before there was a guest.
    pub fn walls(&self) -> &[Wall] {
        &self.phase.jailed.walls
    }

    /// How the guest fares, as it tells.
    ///
    /// # Errors
    ///
    /// [`HostError`] when the machine has ended or does not answer.
    pub async fn stats(&self) -> Result<Stats, HostError> {
        self.alive(ask(&self.phase.dialer, &Open::Stats)).await
    }

    /// Sets the guest's clock to the host's, after the host slept.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::stats`].
    pub async fn set_clock(&self) -> Result<(), HostError> {
        let answer = self
            .alive(ask::<Result<(), String>>(
                &self.phase.dialer,
                &Open::SetClock(now()),
            ))
            .await?;
        answer.map_err(HostError::Protocol)
    }

    /// Ends the machine. Nothing in it is kept, so it is killed; its files go once it is gone.
    pub async fn stop(self) {
        self.phase.process.kill().await;
        remove(&self.phase.dir);
    }

    /// Opens a substream for one request.
    pub(crate) async fn open(&self, request: &Open) -> Result<Substream, HostError> {
        let mut substream = self.phase.dialer.open().await?;
        frame::write(&mut substream, request).await?;
        Ok(substream)
    }

    /// Whatever is asked of the guest fails when the machine ends, and says how it ended.
    pub(crate) async fn alive<T>(
        &self,
        answer: impl Future<Output = Result<T, HostError>>,
    ) -> Result<T, HostError> {
        let process = &self.phase.process;
        tokio::select! {
            biased;
            answer = answer => match answer {
                // A broken link is mostly the machine's end, which is worth more than "broken pipe".
                Err(HostError::Protocol(_) | HostError::Io { .. }) if died_soon(process).await => Err(died(process).await),
                other => other,
            },
            error = died(process) => Err(error),
        }
    }
}

async fn died(process: &Process) -> HostError {
    let how = process.ended().await;
    HostError::Died {
        how,
        console: process.last_words(),
    }
}

async fn died_soon(process: &Process) -> bool {
    timeout(Duration::from_millis(200), process.ended())
        .await
        .is_ok()
}

/// A machine whose agent answers.
struct Booted {
    process: Process,
    dialer: Dialer,
    boot: Duration,
    jailed: Jailed,
    configured: Configured,
}

async fn boot(
    spec: &SandboxSpec,
    installation: &Installation,
    dir: &Path,
    config: &BootConfig,
    answer: Option<Arc<dyn Answer>>,
) -> Result<Booted, HostError> {
    let file = dir.join("boot.json");
    let json = serde_json::to_vec(config).map_err(|error| HostError::Image(error.to_string()))?;
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&file)
        .and_then(|mut file| file.write_all(&json))
        .map_err(HostError::io("write the boot configuration"))?;
    let (ours, theirs) = UnixStream::pair().map_err(HostError::io("make the link"))?;
    let mut command = Command::new(&installation.vmm);
    command.arg("boot").arg(&file).env_clear().current_dir("/");
    let start = Instant::now();
    let process = Process::spawn(command, OwnedFd::from(theirs))
        .await
        .map_err(HostError::io("start legwork-vmm"))?;
    ours.set_nonblocking(true)
        .map_err(HostError::io("use the link"))?;
    let mut link = tokio::net::UnixStream::from_std(ours).map_err(HostError::io("use the link"))?;
    let failed = |reason: String, process: &Process| HostError::Boot {
        reason,
        console: process.last_words(),
    };
    let jailed = tokio::select! {
        // It tells why before it ends.
        biased;
        told = timeout(BOOT, jail::read(&mut link)) => match told {
            Ok(Ok(jailed)) => jailed,
            Ok(Err(error)) => {
                died_soon(&process).await;
                process.kill().await;
                return Err(failed(error.to_string(), &process));
            }
            Err(_) => {
                process.kill().await;
                return Err(failed("it tells nothing of its jail".to_owned(), &process));
            }
        },
        how = process.ended() => {
            tokio::time::sleep(LAST_WORDS).await;
            return Err(failed(format!("its process ended first ({how})"), &process));
        }
    };
    if let Err(error) = jail::judge(spec.isolation(), jailed.lack()) {
        process.kill().await;
        return Err(error);
    }
    tokio::select! {
        how = process.ended() => {
            // Let the last words arrive.
            tokio::time::sleep(LAST_WORDS).await;
            return Err(failed(format!("its process ended first ({how})"), &process));
        }
        greeting = timeout(BOOT, hello::answer(&mut link)) => match greeting {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                process.kill().await;
                return Err(failed(error.to_string(), &process));
            }
            Err(_) => {
                process.kill().await;
                return Err(failed(format!("no greeting came within {} seconds", BOOT.as_secs()), &process));
            }
        }
    }
    let boot = start.elapsed();
    let mut calls = Calls::new(answer);
    let forwards = calls.forwards();
    let (dialer, pump) = mux::client(link, move |substream| calls.take(substream));
    tokio::spawn(async move {
        if let Err(error) = pump.await {
            tracing::info!(%error, "the link ended");
        }
    });
    let mut seed = [0; 32];
    fs::File::open("/dev/urandom")
        .and_then(|mut random| std::io::Read::read_exact(&mut random, &mut seed))
        .map_err(HostError::io("read random bytes"))?;
    let workspace = spec.workspace().mount.as_os_str().as_bytes().to_vec();
    let request = Open::Configure(Configure {
        clock: now(),
        workspace,
        umask: spec.workspace().umask.into(),
        seed,
        tools: spec.tools().map(|_| TOOLS.as_bytes().to_vec()),
        forwards,
    });
    let configured = tokio::select! {
        how = process.ended() => Err(failed(format!("its process ended while it mounted ({how})"), &process)),
        answer = ask::<Result<Configured, String>>(&dialer, &request) => match answer {
            Ok(Ok(configured)) => Ok(configured),
            Ok(Err(reason)) => Err(failed(reason, &process)),
            Err(error) => Err(failed(error.to_string(), &process)),
        }
    }?;
    Ok(Booted {
        process,
        dialer,
        boot,
        jailed,
        configured,
    })
}

/// One question, one answer.
async fn ask<T: DeserializeOwned>(dialer: &Dialer, request: &Open) -> Result<T, HostError> {
    let conversation = async {
        let mut substream = dialer.open().await?;
        frame::write(&mut substream, request).await?;
        substream
            .flush()
            .await
            .map_err(HostError::io("talk to the guest"))?;
        let answer = frame::read(&mut substream).await?;
        answer.ok_or_else(|| HostError::Protocol("it hung up".into()))
    };
    timeout(ANSWER, conversation)
        .await
        .map_err(|_| HostError::Silent)?
}

fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn remove(dir: &Path) {
    if let Err(error) = fs::remove_dir_all(dir)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, dir = %dir.display(), "the machine's directory stays");
    }
}
