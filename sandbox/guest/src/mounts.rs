//! From disks to a file system that programs can work in.
//!
//! | disk | holds | mounted at first on | becomes |
//! | --- | --- | --- | --- |
//! | `vda` | this program | `/` | hidden |
//! | `vdb` | root file system, read-only | `/lower` | lower layer of the new `/` |
//! | `vdc` | workspace, read-only | `/ws` | lower layer of the workspace's own directory |
//! | `vdd` | scratch, this machine's own | `/scratch` | upper layers of both |
//! | `vde` | programs, read-only, if there are any | its own directory | itself |
//!
//! What a program does to the workspace is then exactly what stands in the workspace's upper layer.

use std::{
    ffi::OsStr,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::Path,
};

use anyhow::Context as _;
use rustix::{
    fs::{CWD, Mode, OFlags},
    mount::{MountFlags, MountPropagationFlags, mount, mount_change, mount_move},
};

/// What is held open after the old root is hidden.
#[derive(Debug)]
pub(crate) struct Layers {
    /// The workspace's upper layer.
    pub(crate) workspace: OwnedFd,
    /// The workspace as programs see it.
    pub(crate) merged: OwnedFd,
    /// The scratch disk.
    pub(crate) scratch: OwnedFd,
}

/// Makes the new root and moves into it.
pub(crate) fn enter(workspace: &[u8], tools: Option<&[u8]>) -> anyhow::Result<Layers> {
    let workspace = Path::new(OsStr::from_bytes(workspace));
    let below = workspace
        .strip_prefix("/")
        .context("the workspace's directory is not absolute")?;
    image(c"/dev/vdb", c"/lower")?;
    image(c"/dev/vdc", c"/ws")?;
    mount(
        c"/dev/vdd",
        c"/scratch",
        c"ext4",
        MountFlags::NOATIME | MountFlags::NODEV,
        c"noinit_itable",
    )
    .context("cannot mount the scratch disk")?;
    for dir in [
        "root",
        "root/upper",
        "root/work",
        "ws",
        "ws/upper",
        "ws/work",
    ] {
        std::fs::create_dir(Path::new("/scratch").join(dir))
            .with_context(|| format!("cannot make {dir}"))?;
    }
    copy_mode("/ws", "/scratch/ws/upper")?;
    overlay("/lower", "/scratch/root", Path::new("/newroot"))
        .context("cannot stack the root file system")?;
    // Before these: the disks are in `/dev`.
    if let Some(tools) = tools {
        let below = Path::new(OsStr::from_bytes(tools))
            .strip_prefix("/")
            .context("the programs' directory is not absolute")?;
        let place = Path::new("/newroot").join(below);
        std::fs::create_dir_all(&place).context("cannot make the programs' directory")?;
        let place = std::ffi::CString::new(place.as_os_str().as_bytes())?;
        image(c"/dev/vde", &place)?;
    }
    for dir in ["/proc", "/sys", "/dev", "/run"] {
        // An image need not have them.
        std::fs::create_dir_all(format!("/newroot{dir}"))
            .with_context(|| format!("cannot make {dir}"))?;
        mount_move(dir, format!("/newroot{dir}")).with_context(|| format!("cannot move {dir}"))?;
    }
    // After these: the workspace may stand below one of them, as removable disks do below /run.
    let place = Path::new("/newroot").join(below);
    std::fs::create_dir_all(&place)
        .with_context(|| format!("cannot make {}", workspace.display()))?;
    overlay("/ws", "/scratch/ws", &place).context("cannot stack the workspace")?;
    let layers = Layers {
        workspace: open("/scratch/ws/upper")?,
        merged: open(&place)?,
        scratch: open("/scratch")?,
    };
    std::env::set_current_dir("/newroot").context("cannot enter the new root")?;
    mount_change("/", MountPropagationFlags::PRIVATE).context("cannot make the root private")?;
    mount_move(".", "/").context("cannot move the new root")?;
    rustix::process::chroot(".").context("cannot change the root")?;
    std::env::set_current_dir("/").context("cannot enter the root")?;
    Ok(layers)
}

fn image(device: &std::ffi::CStr, target: &std::ffi::CStr) -> anyhow::Result<()> {
    mount(
        device,
        target,
        c"erofs",
        MountFlags::RDONLY | MountFlags::NODEV,
        None,
    )
    .with_context(|| format!("cannot mount {device:?}"))
}

/// `redirect_dir=off`: a renamed directory is copied, so that the upper layer needs no interpretation beyond whiteouts
/// and opaque directories. `volatile`: nothing here outlives the machine, so nothing need be synced.
fn overlay(lower: &str, layers: &str, target: &Path) -> anyhow::Result<()> {
    let options = format!(
        "lowerdir={lower},upperdir={layers}/upper,workdir={layers}/work,redirect_dir=off,metacopy=off,index=off,volatile"
    );
    let options = std::ffi::CString::new(options)?;
    mount(
        c"overlay",
        target,
        c"overlay",
        MountFlags::NODEV,
        options.as_c_str(),
    )?;
    Ok(())
}

/// The upper layer's root shows as the workspace's own directory, so it takes its mode and its time.
fn copy_mode(from: &str, to: &str) -> anyhow::Result<()> {
    let stat = rustix::fs::stat(from)?;
    rustix::fs::chmod(to, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    let time = rustix::fs::Timespec {
        tv_sec: stat.st_mtime,
        tv_nsec: stat
            .st_mtime_nsec
            .try_into()
            .context("a time stamp is out of range")?,
    };
    let times = rustix::fs::Timestamps {
        last_access: time,
        last_modification: time,
    };
    rustix::fs::utimensat(CWD, to, &times, rustix::fs::AtFlags::empty())?;
    Ok(())
}

fn open(dir: impl AsRef<Path>) -> anyhow::Result<OwnedFd> {
    let dir = dir.as_ref();
    rustix::fs::open(
        dir,
        OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY,
        Mode::empty(),
    )
    .with_context(|| format!("cannot open {}", dir.display()))
}
