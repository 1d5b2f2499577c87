//! Answers the host's requests as the guest agent does.

use std::{
    cell::RefCell,
    fs,
    os::{fd::AsFd as _, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    rc::Rc,
    time::Instant,
};

use anyhow::Context as _;
use legwork_link::{
    Collected, Configure, Configured, FoundKind, LinkError, MAX_COLLECTED, Open, Stats, Substream,
    frame, hello, mux,
};
use legwork_spec::{BOOT_CONFIG_VERSION, BootConfig, Jailed, Wall, WallKind};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use tokio::{io::AsyncWriteExt as _, net::UnixStream};

use crate::{lay, layer::Base, program, unpack, watch};

/// The workspace, once it is unpacked.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Where it is unpacked.
    pub(crate) base: Base,
    /// Where programs see it.
    pub(crate) mount: PathBuf,
}

struct Guest {
    image: PathBuf,
    tree: PathBuf,
    workspace: RefCell<Option<Rc<Workspace>>>,
}

/// Serves the link on standard input until the host hangs up.
pub(crate) fn boot(file: &Path) -> anyhow::Result<()> {
    let config: BootConfig = serde_json::from_slice(&fs::read(file)?)?;
    anyhow::ensure!(
        config.version == BOOT_CONFIG_VERSION && config.disks.len() >= 4,
        "this is not the boot configuration of four disks or more that is known here"
    );
    // Programs end with this process: the end of their input tells them.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = getppid().map_or(0, |pid| pid.as_raw_nonzero().get().cast_unsigned());
    anyhow::ensure!(parent == config.supervisor, "the supervisor is gone");
    let scratch = &config.disks[3].path;
    let guest = Guest {
        image: config.disks[2].path.clone(),
        // Beside the scratch disk, so that it goes with the machine's other files.
        tree: scratch.with_file_name("tree"),
        workspace: RefCell::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    tokio::task::LocalSet::new().block_on(&runtime, serve(Rc::new(guest)))
}

/// The walls of a whole jail, none of which is there.
pub(crate) fn walls() -> anyhow::Result<String> {
    let walls = WallKind::ALL.map(|kind| Wall {
        kind,
        stands: true,
        detail: "only said to stand: this is no sandbox".to_owned(),
    });
    let jailed = Jailed {
        walls: walls.to_vec(),
        micros: 0,
    };
    Ok(serde_json::to_string(&jailed)?)
}

async fn serve(guest: Rc<Guest>) -> anyhow::Result<()> {
    let stdin = std::io::stdin().as_fd().try_clone_to_owned()?;
    let link = std::os::unix::net::UnixStream::from(stdin);
    link.set_nonblocking(true)?;
    let mut link = UnixStream::from_std(link)?;
    link.write_all(format!("{}\n", walls()?).as_bytes()).await?;
    hello::ring(&mut link).await?;
    hello::expect(&mut link).await?;
    let (_dialer, pump) = mux::server(link, |substream| {
        let guest = Rc::clone(&guest);
        tokio::task::spawn_local(async move { answer(&guest, substream).await });
    });
    pump.await?;
    Ok(())
}

async fn answer(guest: &Guest, mut substream: Substream) -> Result<(), LinkError> {
    let Some(open) = frame::read::<Open>(&mut substream).await? else {
        return Ok(());
    };
    if let Open::Configure(request) = open {
        let start = Instant::now();
        let configured = configure(guest, &request)
            .map(|()| Configured {
                kernel: "none".into(),
                micros: start.elapsed().as_micros().try_into().unwrap_or(u64::MAX),
            })
            .map_err(|error| format!("{error:#}"));
        return reply(&mut substream, &configured).await;
    }
    let workspace = guest.workspace.borrow().clone();
    let Some(workspace) = workspace else {
        return Err(LinkError::Malformed(
            "asked before it was configured".into(),
        ));
    };
    match open {
        Open::Configure(_) => Ok(()),
        Open::Exec(request) => program::exec(&workspace, request, substream).await,
        Open::Collect => collect(&workspace.base, &mut substream).await,
        Open::Watch => watch::watch(&workspace.base, substream).await,
        Open::Stats => {
            let stats = Stats {
                memory: 1 << 30,
                memory_available: 1 << 29,
                disk_free: program::DISK_FREE,
            };
            reply(&mut substream, &stats).await
        }
        Open::Lay => lay::lay(&workspace.base, &mut substream).await,
        Open::SetClock(_) => reply(&mut substream, &Ok::<(), String>(())).await,
    }
}

pub(crate) async fn reply<T: serde::Serialize>(
    substream: &mut Substream,
    message: &T,
) -> Result<(), LinkError> {
    frame::write(substream, message).await?;
    substream.shutdown().await?;
    Ok(())
}

fn configure(guest: &Guest, request: &Configure) -> anyhow::Result<()> {
    anyhow::ensure!(
        guest.workspace.borrow().is_none(),
        "it is configured already"
    );
    unpack::unpack(&guest.image, &guest.tree).context("cannot unpack the workspace")?;
    let workspace = Workspace {
        base: Base::of(&guest.tree)?,
        mount: Path::new(std::ffi::OsStr::from_bytes(&request.workspace)).to_owned(),
    };
    guest.workspace.replace(Some(Rc::new(workspace)));
    Ok(())
}

async fn collect(base: &Base, substream: &mut Substream) -> Result<(), LinkError> {
    let last = match base.upper() {
        Ok(entries) => {
            for entry in entries {
                let told = match entry.found.kind {
                    FoundKind::File { size, .. } => Some(size <= MAX_COLLECTED),
                    _ => None,
                };
                let path = base.place(&entry.found.path);
                frame::write(substream, &Collected::Found(entry.found)).await?;
                match told {
                    Some(true) => data(&fs::read(path)?, substream).await?,
                    Some(false) => data(&[], substream).await?,
                    None => {}
                }
            }
            Collected::Done
        }
        Err(error) => Collected::Failed(error.to_string()),
    };
    reply(substream, &last).await
}

/// Sends a file's data.
pub(crate) async fn data(
    bytes: &[u8],
    output: &mut (impl tokio::io::AsyncWrite + Unpin),
) -> Result<(), LinkError> {
    for piece in bytes.chunks(frame::MAX_DATA) {
        frame::write(output, &Collected::Data(piece.to_vec())).await?;
    }
    frame::write(output, &Collected::EndOfFile).await
}
