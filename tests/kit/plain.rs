//! The real product without a virtual machine: the real `legwork` with the tests' machine (`fakes/machine`) in the place
//! of `legwork-vmm`. **No sandbox**: commands run on this host, on a copy of the workspace. For tests of what lies above
//! the sandbox, which are then quick; the sandbox has its own tests, with real machines.
//!
//! Nothing large is needed: where the product wants a guest kernel, a guest agent, an image of this host's toolchains and
//! programs that make disks and emulate, it finds small files that stand for them.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use legwork_image::Host;

use crate::home::Home;

/// A new user whose tasks run on this host, on a copy of the workspace.
///
/// # Panics
///
/// When `legwork` or the tests' machine is not built, or not by root.
pub fn home() -> Home {
    assert!(
        rustix::process::geteuid().is_root(),
        "the tests' machine mounts the copy of the workspace where the workspace is: run the tests as root"
    );
    let mut home = Home::with_programs(bin_dir());
    let cache = home.cache();
    let tools = cache.join("tools");
    let library = cache.join("library");
    make(&cache, &tools, &library).expect("the cache can be written");
    // The system's directories come after, so that `sh` is found.
    let path = std::env::var("PATH").unwrap_or_default();
    for (name, value) in [
        ("PATH", format!("{}:{path}", tools.display())),
        ("LEGWORK_LIBKRUNFW", library.display().to_string()),
        ("LEGWORK_CONFIG", cache.join("config").display().to_string()),
    ] {
        home.environment.push((name.to_owned(), value));
    }
    home
}

/// Names the command that does tasks given in words, as a user would in `config.toml`.
///
/// # Panics
///
/// When it cannot be written.
pub fn set_agent(home: &Home, command: &[&str]) {
    let dir = home.cache().join("config");
    fs::create_dir_all(&dir).expect("a directory");
    let list = serde_json::to_string(command).expect("words");
    fs::write(
        dir.join("config.toml"),
        format!("[agent]\ncommand = {list}\n"),
    )
    .expect("a file");
}

/// The directory with `legwork`, and with the tests' machine as `legwork-vmm`.
///
/// # Panics
///
/// When they are not built.
pub fn bin_dir() -> PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let here = std::env::current_exe().expect("this test is a file");
        // target/debug/deps/test-0123 → target/debug
        let built = here.ancestors().nth(2).expect("cargo's directories");
        let product = std::env::var_os("LEGWORK_BIN_DIR").map_or(built.to_owned(), PathBuf::from);
        let dir = built.join("plain");
        for (from, name) in [
            (product.join("legwork"), "legwork"),
            (built.join("legwork-tests-machine"), "legwork-vmm"),
        ] {
            assert!(
                from.is_file(),
                "{} is not built: run `cargo xtask build`, or the tests through `cargo xtask test`",
                from.display()
            );
            place(&from, &dir.join(name)).expect("a directory that can be written");
        }
        let agent = dir.join("guest/legwork-guest");
        write(&agent, &static_program()).expect("a directory that can be written");
        dir
    })
    .clone()
}

/// A hard link, since a program finds its companions beside where it really is; or a copy, on another disk.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    let identity = |path: &Path| {
        fs::metadata(path)
            .ok()
            .map(|found| (found.dev(), found.ino()))
    };
    if identity(from) == identity(to) {
        return Ok(());
    }
    let dir = to.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir)?;
    // Other tests may do the same now, so it comes into its place at once.
    let room = tempfile::tempdir_in(dir)?;
    let new = room.path().join("new");
    if fs::hard_link(from, &new).is_err() {
        fs::copy(from, &new)?;
    }
    fs::rename(new, to)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let dir = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    io::Write::write_all(&mut file, bytes)?;
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o755))?;
    file.persist(path)?;
    Ok(())
}

/// The headers of a program and nothing more: stands for the guest agent, which is not started here.
fn static_program() -> Vec<u8> {
    const LOAD: u32 = 1;
    let machine: u16 = if cfg!(target_arch = "aarch64") {
        183
    } else {
        62
    };
    let mut bytes = vec![0; 4096];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, b"\x7fELF\x02\x01\x01");
    put(16, &2_u16.to_le_bytes());
    put(18, &machine.to_le_bytes());
    // One program header of 56 bytes, right behind this one of 64.
    put(32, &64_u64.to_le_bytes());
    put(54, &56_u16.to_le_bytes());
    put(56, &1_u16.to_le_bytes());
    put(64, &LOAD.to_le_bytes());
    bytes
}

fn make(cache: &Path, tools: &Path, library: &Path) -> io::Result<()> {
    write(library, b"no kernel: the tests' machine needs none\n")?;
    // It is started for every task, and nothing is ever on that disk.
    write(&tools.join("mke2fs"), b"#!/bin/sh\nexit 0\n")?;
    let emulator = format!("qemu-system-{}", std::env::consts::ARCH);
    write(&tools.join(emulator), b"#!/bin/sh\nexit 1\n")?;
    root_image(cache)
}

/// Puts a tiny image where the one of this host's toolchains would be, so that the product finds it there.
fn root_image(cache: &Path) -> io::Result<()> {
    let host = cache.join("host");
    fs::create_dir_all(host.join("usr"))?;
    let tiny = Host::at(&host)
        .root_image(&cache.join("tiny"), &mut |_| {})
        .map_err(io::Error::other)?;
    let place = place_of_root_image(cache)?;
    fs::create_dir_all(place.parent().unwrap_or(cache))?;
    fs::copy(
        tiny.path.with_extension("json"),
        place.with_extension("json"),
    )?;
    fs::copy(&tiny.path, &place)?;
    // It is known where the product looks, or five gigabytes would be built for every test.
    Host::here()
        .root_image(cache, &mut |_| panic!("{} is not taken", place.display()))
        .map_err(io::Error::other)?;
    Ok(())
}

/// The name depends on the state of this host, in a way that is the product's own affair. It says the name when it cannot
/// read the file, as under a directory that is none.
fn place_of_root_image(cache: &Path) -> io::Result<PathBuf> {
    let blocked = cache.join("blocked");
    fs::create_dir_all(&blocked)?;
    fs::write(blocked.join("root"), "")?;
    let error = match Host::here().root_image(&blocked, &mut |_| {}) {
        Ok(image) => panic!("an image in a file: {image:?}"),
        Err(error) => error.to_string(),
    };
    let name = error
        .split(['/', ' ', ':'])
        .find(|word| word.ends_with(".erofs"))
        .unwrap_or_else(|| panic!("no image is named: {error}"));
    Ok(cache.join("root").join(name))
}
