//! From the spec to a running sandbox on a snapshot of the workspace.

use std::{
    os::unix::fs::DirBuilderExt as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use legwork_host::{Created, HostError, Installation, Progress, Running, Sandbox};
use legwork_model::{Failure, FailureKind, Head, LeftOut, Manifest, Phase, Reason, Task, TaskSpec};
use legwork_spec::{ByteSize, EgressPolicy, SandboxSpec, ToolsDisk, WorkspaceDisk};
use legwork_workspace::{CaptureOptions, Snapshot, Workspace, capture};

use super::{
    Break, External, Findings, Job, asked, calls::Several, ending, millis, network::Network,
    whole_millis,
};
use crate::gateway::ModelCalls;

/// What the command runs in and on.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) sandbox: Sandbox<Running>,
    /// `None` where nothing is allowed.
    pub(super) network: Option<Network>,
}

impl Job {
    pub(super) async fn prepare(
        &self,
        task: &Task,
        external: Option<&External>,
        findings: &mut Findings,
    ) -> Result<Prepared, Break> {
        let started = Instant::now();
        let (snapshot, head) = match self.earlier_snapshot().await? {
            Some(snapshot) => {
                let detail = "going on with what was captured before";
                self.tell(Phase::Capture, detail).await;
                let head = task.report.as_ref().and_then(|report| report.head.clone());
                (snapshot, head)
            }
            None => {
                let detail = format!("capturing {}", task.spec.workspace.display());
                self.tell(Phase::Capture, detail).await;
                self.capture(task).await?
            }
        };
        findings.report.head = head;
        findings.report.timings.capture = millis(started);
        findings.report.files = u64::try_from(snapshot.manifest.files()).unwrap_or(u64::MAX);
        findings.report.bytes = snapshot.bytes;
        findings.notices.extend(left_out(&snapshot.manifest));
        let policy = EgressPolicy::new(task.spec.allow.clone());
        let network = self.network(&policy).await?;
        let spec = declared(&task.spec, &snapshot)?;
        let spec = match external.and_then(|external| external.image.clone()) {
            Some(image) => spec.with_tools(ToolsDisk { image }),
            None => spec,
        };
        let created = self.create(spec).await?;
        self.tell(Phase::Boot, "starting the virtual machine").await;
        let mut answers = Several::default();
        if let Some(external) = external {
            answers.add(Arc::new(ModelCalls(Arc::clone(&external.gateway))));
        }
        if let Some(network) = &network {
            answers.add(network.answer());
        }
        let started = self.unless_stopped(answers.start(created)).await?;
        let sandbox = started.map_err(|error| ending::failure(&error))?;
        findings.report.driver = Some(sandbox.driver());
        findings.report.emulated = sandbox.emulated();
        findings.report.walls = sandbox.walls().to_vec();
        let timings = sandbox.timings();
        findings.report.timings.image = whole_millis(timings.image);
        findings.report.timings.boot = whole_millis(timings.boot);
        findings.report.timings.jail = whole_millis(timings.jail);
        findings.report.timings.mount = whole_millis(timings.mount);
        if sandbox.emulated() {
            findings.notices.push(
                "emulated: the virtual machine ran in software, which is slower and no hardware boundary".to_owned(),
            );
        }
        for wall in sandbox.walls().iter().filter(|wall| !wall.stands) {
            findings.notices.push(format!(
                "not jailed: the virtual machine's process ran without its wall around {wall}"
            ));
        }
        Ok(Prepared {
            snapshot: Arc::new(snapshot),
            sandbox,
            network,
        })
    }

    /// A fresh machine on the snapshot of a task, of which nothing is told.
    pub(super) async fn machine(
        &self,
        task: &Task,
        snapshot: &Snapshot,
    ) -> Result<Sandbox<Running>, Break> {
        let created = self.create(declared(&task.spec, snapshot)?).await?;
        let started = self.unless_stopped(created.start()).await?;
        Ok(started.map_err(|error| ending::failure(&error))?)
    }

    /// It is not dropped when the task is to stop, since its thread would go on: it is waited for.
    async fn capture(&self, task: &Task) -> Result<(Snapshot, Option<Head>), Break> {
        let (room, id, dir, spec) = (
            Arc::clone(&self.room),
            self.id.clone(),
            self.dir(),
            task.spec.clone(),
        );
        let captured = tokio::task::spawn_blocking(move || {
            let failed =
                |message: String, hint: &str| Failure::new(FailureKind::Capture, message, hint);
            let workspace =
                Workspace::open(&spec.workspace).map_err(|error| failed(error.to_string(), ""))?;
            make_private(&dir).map_err(|error| {
                failed(
                    format!("cannot make {}: {error}", dir.display()),
                    "check the state directory and its free space",
                )
            })?;
            room.store
                .with(|db| db.set_identity(&id, workspace.identity()))?;
            let head = workspace.head();
            let buffers = room.store.with(|db| db.buffers(&id))?;
            let options = CaptureOptions {
                include: spec.include,
                buffers: buffers
                    .into_iter()
                    .map(|(path, text)| (path, text.into_bytes()))
                    .collect(),
                ..CaptureOptions::default()
            };
            let snapshot = capture(
                &workspace,
                &dir.join("base.erofs"),
                &options,
                &mut |_, _| {},
            )
            .map_err(|error| failed(error.to_string(), ""))?;
            snapshot
                .save(&dir.join("manifest.json"))
                .map_err(|error| failed(error.to_string(), ""))?;
            Ok::<_, Failure>((snapshot, head))
        })
        .await;
        let captured =
            captured.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        // Perhaps it is to stop since.
        self.unless_stopped(async {}).await?;
        Ok(captured)
    }

    /// Makes what the machine needs; the first time on a host that takes a minute, which a cancel does not wait for.
    async fn create(&self, spec: SandboxSpec) -> Result<Sandbox<Created>, Break> {
        let dir = self.dir().join("vm");
        make_private(&dir).map_err(|error| {
            Failure::new(
                FailureKind::Host,
                format!("cannot make {}: {error}", dir.display()),
                "check the state directory and its free space",
            )
        })?;
        let failed = |error: HostError| ending::failure(&error);
        let installation = Installation::locate(self.room.cache.clone()).map_err(failed)?;
        let host = legwork_host::probe(&installation).await;
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        // The listener stays for as long as the work does, unless the task is to stop.
        let progress = move |progress: Progress| tell.send(progress).unwrap_or_default();
        let own = dir.clone();
        let create = tokio::spawn(async move {
            Sandbox::create(spec, &installation, &host, own, progress).await
        });
        let retell = async {
            let mut last = None;
            // The sender goes away with the work. Progress comes thick and fast, and each one told is stored.
            while let Some(Progress { done, total }) = told.recv().await {
                if last.is_none_or(|last: Instant| last.elapsed() >= Duration::from_secs(1)) {
                    last = Some(Instant::now());
                    let (done, total) = (ByteSize::bytes(done), ByteSize::bytes(total));
                    let detail = format!("copying this machine's tools, once: {done} of {total}");
                    self.tell(Phase::Image, detail).await;
                }
            }
        };
        if let Err(stopped) = self.unless_stopped(retell).await {
            // Images for every later task may be in the making; only this machine's own directory has to go.
            tokio::spawn(async move {
                drop(create.await);
                drop(tokio::task::spawn_blocking(move || super::remove_dir(&dir)).await);
            });
            return Err(stopped);
        }
        let created = create
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
            .map_err(failed)?;
        Ok(created)
    }
}

/// The machine of a task, whole.
fn declared(spec: &TaskSpec, snapshot: &Snapshot) -> Result<SandboxSpec, Failure> {
    let disk = WorkspaceDisk {
        image: snapshot.image.clone(),
        mount: spec.workspace.clone(),
        umask: umask(),
    };
    let declared = SandboxSpec::new(
        spec.isolation,
        spec.driver,
        spec.root.clone(),
        disk,
        spec.limits.clone(),
        EgressPolicy::new(spec.allow.clone()),
        environment(spec),
    );
    declared.map_err(|error| {
        Failure::new(
            FailureKind::Host,
            error.to_string(),
            "change it and run the task again",
        )
    })
}

/// What the user set goes before what Legwork says.
fn environment(spec: &TaskSpec) -> Vec<(String, String)> {
    let set = &spec.environment;
    let proxy = match spec.allow.as_slice() {
        [] => Vec::new(),
        _ => legwork_egress::environment(),
    };
    let told = asked::environment(spec)
        .into_iter()
        .chain(proxy)
        .filter(|(name, _)| !set.iter().any(|(given, _)| given == name));
    set.iter().cloned().chain(told).collect()
}

/// What programs of the user do not give to the files they make: the daemon was started by one. Read where the system tells it,
/// since asking by setting it is seen by every thread.
fn umask() -> u16 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let told = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    told.and_then(|octal| u16::from_str_radix(octal.trim(), 8).ok())
        .unwrap_or(0o022)
}

fn make_private(dir: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

/// What the user should know of what the guest did not see. Ignored files and the like are as expected.
fn left_out(manifest: &Manifest) -> Vec<String> {
    let because = |reason: Reason| -> Vec<&LeftOut> {
        manifest
            .left_out
            .iter()
            .filter(|out| out.reason == reason)
            .collect()
    };
    let mut notices = Vec::new();
    for reason in [
        Reason::Secret,
        Reason::Unreadable,
        Reason::TooLarge,
        Reason::Vanished,
    ] {
        let out = because(reason);
        let Some(first) = out.first() else { continue };
        let more = more(out.len());
        notices.push(format!(
            "`{}`{more} stayed outside the sandbox because {}",
            first.path,
            reason.describe()
        ));
    }
    if let Some(first) = manifest.unattributed.first() {
        let more = more(manifest.unattributed.len());
        notices.push(format!(
            "`{first}`{more} came into the sandbox without extended attributes and access list; an accept keeps them"
        ));
    }
    if let Some(first) = manifest.linked.first() {
        let more = more(manifest.linked.len());
        notices.push(format!(
            "`{first}`{more} are hard links of each other: in the sandbox each is a file of its own"
        ));
    }
    notices
}

/// Of several, behind the first.
fn more(count: usize) -> String {
    match count - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}
