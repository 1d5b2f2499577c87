//! apt: installs packages where this user may, and fetches single packages without installing
//! them, which needs no rights at all. apt verifies what it downloads; nothing here turns that off.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use super::sources;
use super::system::System;
use crate::places;
use crate::step;

const NO_MIRROR: &str = "this distribution has no guest kernel package, and apt's sources name no mirror of Debian to \
    take it from; add one, or unpack Debian's package libkrunfw5 yourself and name its library in LEGWORK_LIBKRUNFW";

const NO_AUTHORITY: &str = "this user is not root, and sudo is absent or wants a password";

/// How many lines of a failed program's output are shown.
const TAIL_LINES: usize = 40;

/// How this user becomes root.
#[derive(Debug, Clone, Copy)]
enum Authority {
    Root,
    Sudo,
}

impl Authority {
    fn of_this_user() -> Option<Self> {
        if rustix::process::geteuid().is_root() {
            return Some(Self::Root);
        }
        let sudo = Command::new("sudo")
            .args(["-n", "true"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        sudo.is_ok_and(|status| status.success())
            .then_some(Self::Sudo)
    }

    fn apt_get(self) -> Command {
        let mut command = match self {
            Self::Root => Command::new("env"),
            Self::Sudo => {
                let mut sudo = Command::new("sudo");
                sudo.args(["-n", "env"]);
                sudo
            }
        };
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        command.args(["-q", "-y", "-o", "DPkg::Lock::Timeout=120"]);
        command
    }
}

/// Installs packages, as root or through sudo where it asks no password.
///
/// # Errors
/// When this user may not install, or apt fails.
pub(super) fn install(packages: &[&str]) -> Result<()> {
    let Some(authority) = Authority::of_this_user() else {
        bail!("{NO_AUTHORITY}");
    };
    let mut fresh = false;
    if !have_candidates(packages) {
        update(authority)?;
        fresh = true;
    }
    let names = packages.join(" ");
    say(&format!("apt-get install {names}"));
    let install = || {
        quiet(
            authority
                .apt_get()
                .args(["install", "--no-install-recommends"])
                .args(packages),
        )
    };
    match install() {
        // Lists that are weeks old name files the mirror no longer has.
        Err(_) if !fresh => {
            update(authority)?;
            say(&format!("apt-get install {names}"));
            install()
        }
        outcome => outcome,
    }
}

/// A source of a third party that cannot be reached must not stop us: whether the update was good
/// enough is decided by the installation after it.
fn update(authority: Authority) -> Result<()> {
    say("apt-get update");
    let output = output(authority.apt_get().arg("update"))?;
    if !output.status.success() {
        say("apt-get update had errors; going on with what it got");
        let text = String::from_utf8_lossy(&output.stderr);
        for line in text.lines().filter(|line| line.starts_with("E:")) {
            say(line);
        }
    }
    Ok(())
}

/// Has apt read its sources, for what is fetched later.
///
/// # Errors
/// When this user may not, or apt cannot be started.
pub(super) fn refresh() -> Result<()> {
    let Some(authority) = Authority::of_this_user() else {
        bail!("{NO_AUTHORITY}");
    };
    update(authority)
}

/// Whether apt has ever read its sources; images of containers often come without.
pub(super) fn has_lists() -> bool {
    fs::read_dir("/var/lib/apt/lists").is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
    })
}

/// Whether apt's lists, as they are, hold installable versions of all of them. One question for
/// all: where apt keeps no cache, each costs seconds.
fn have_candidates(packages: &[&str]) -> bool {
    Command::new("apt-cache")
        .arg("policy")
        .args(packages)
        .env("LC_ALL", "C")
        .output()
        .is_ok_and(|output| candidates(&String::from_utf8_lossy(&output.stdout)) == packages.len())
}

fn candidates(policy: &str) -> usize {
    policy
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Candidate:"))
        .filter(|version| version.trim() != "(none)")
        .count()
}

/// Fetches a package and unpacks it into `into`, installing nothing: from the distribution where
/// it has the package, else from Debian sid.
///
/// # Errors
/// When no source has it; names the last source's failure.
pub(super) fn unpack(package: &str, into: &Path) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    // apt downloads as a user of its own, who must be able to enter.
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755))?;
    if have_candidates(&[package]) {
        say(&format!("fetching {package} from this distribution"));
        let file = download(package, scratch.path(), &[])?;
        return extract(&file, into);
    }
    let keyring = keyring()?;
    let mut failure = None;
    for mirror in mirrors() {
        say(&format!(
            "fetching {package} from Debian sid at {mirror}; nothing of sid is installed"
        ));
        match from_sid(package, &mirror, &keyring, scratch.path()) {
            Ok(file) => return extract(&file, into),
            Err(error) => {
                say(&format!("{mirror} did not give it"));
                failure = Some(error);
            }
        }
    }
    Err(failure.context(NO_MIRROR)?)
}

/// The machine's own mirrors of Debian.
pub(super) fn mirrors() -> Vec<String> {
    match System::detect() {
        System::Apt { codename } => {
            sources::debian_mirrors(&sources::read(Path::new("/etc/apt")), &codename)
        }
        _ => Vec::new(),
    }
}

/// Debian's keys; Debian has them, its derivatives have a package of them.
pub(super) fn keyring() -> Result<PathBuf> {
    let find = || {
        ["gpg", "pgp"]
            .iter()
            .map(|end| {
                Path::new("/usr/share/keyrings").join(format!("debian-archive-keyring.{end}"))
            })
            .find(|file| file.is_file())
    };
    if let Some(file) = find() {
        return Ok(file);
    }
    install(&["debian-archive-keyring"])
        .context("the keys that sign Debian are needed: package debian-archive-keyring")?;
    find().context("package debian-archive-keyring holds no keyring where one is expected")
}

/// Has apt put the package's file where we can unpack it, from Debian sid at that mirror.
fn from_sid(package: &str, mirror: &str, keyring: &Path, scratch: &Path) -> Result<PathBuf> {
    let area = tempfile::tempdir_in(scratch)?.keep();
    let options = apart("sid", mirror, keyring, &area)?;
    quiet(apt_with(&options).arg("update"))?;
    download(package, &area, &options)
}

/// The options that give apt a second, throw-away set of sources, lists and cache in `area`: that
/// suite at that mirror and nothing else.
pub(super) fn apart(suite: &str, mirror: &str, keyring: &Path, area: &Path) -> Result<Vec<String>> {
    fs::set_permissions(area, fs::Permissions::from_mode(0o755))?;
    for dir in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(area.join(dir))?;
    }
    let list = area.join("apart.list");
    fs::write(
        &list,
        format!(
            "deb [arch={} signed-by={}] {mirror} {suite} main\n",
            debian_architecture(),
            keyring.display()
        ),
    )?;
    let path = |name: &str, value: &Path| format!("{name}={}", value.display());
    Ok(vec![
        path("Dir::Etc::sourcelist", &list),
        "Dir::Etc::sourceparts=/dev/null".to_owned(),
        path("Dir::State::lists", &area.join("lists")),
        path("Dir::Cache", &area.join("cache")),
        "Acquire::Languages=none".to_owned(),
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
        "Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled=false".to_owned(),
        "Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled=false".to_owned(),
        "Acquire::Retries=2".to_owned(),
        "Acquire::http::Timeout=30".to_owned(),
        // With it a source that cannot be read or verified fails the update.
        "APT::Update::Error-Mode=any".to_owned(),
    ])
}

fn debian_architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "amd64"
    }
}

pub(super) fn apt_with(options: &[String]) -> Command {
    let mut command = Command::new("apt-get");
    command.arg("-q").env("LC_ALL", "C");
    for option in options {
        command.args(["-o", option]);
    }
    command
}

/// Has apt put the package's file into a directory of its own under `area`.
fn download(package: &str, area: &Path, options: &[String]) -> Result<PathBuf> {
    let dir = tempfile::tempdir_in(area)?.keep();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777))?;
    quiet(
        apt_with(options)
            .args(["download", package])
            .current_dir(&dir),
    )?;
    fs::read_dir(&dir)?
        .flatten()
        .map(|entry| entry.path())
        .find(|file| file.extension().is_some_and(|end| end == "deb"))
        .with_context(|| format!("apt-get download {package} left no file"))
}

pub(super) fn extract(file: &Path, into: &Path) -> Result<()> {
    fs::create_dir_all(into)?;
    quiet(Command::new("dpkg").arg("-x").arg(file).arg(into))
}

pub(super) fn say(line: &str) {
    println!("setup: {line}");
    std::io::stdout().flush().ok();
}

fn output(command: &mut Command) -> Result<Output> {
    let shown = step::shown(command);
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("failed to start `{shown}`"))
}

/// Runs a program whose output matters only when it fails.
pub(super) fn quiet(command: &mut Command) -> Result<()> {
    let output = output(command)?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
    bail!(
        "`{}` ended with {}\n{tail}",
        step::shown(command),
        output.status
    )
}

/// The directories in which a Debian package's libraries may stand, below where it was unpacked.
pub(super) fn library_dirs(root: &Path) -> Vec<PathBuf> {
    let base = root.join("usr/lib");
    let mut dirs = vec![base.clone()];
    if let Ok(entries) = fs::read_dir(&base) {
        dirs.extend(entries.flatten().map(|entry| entry.path()));
    }
    dirs
}

/// Whether this system has apt at all.
pub(super) fn is_here() -> bool {
    places::program("apt-get").is_some() && places::program("dpkg").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_a_version() {
        let one = "cpio:\n  Installed: (none)\n  Candidate: 2.13+dfsg-7.1\n";
        let none = "virtual:\n  Installed: (none)\n  Candidate: (none)\n";
        assert_eq!(candidates(one), 1);
        assert_eq!(candidates(&format!("{one}{none}{one}")), 2);
        assert_eq!(candidates(""), 0);
    }

    #[test]
    fn a_failed_program_shows_its_last_lines() {
        let error = quiet(Command::new("sh").args(["-c", "seq 1 50; echo why >&2; exit 2"]));
        let text = error.unwrap_err().to_string();
        assert!(text.ends_with("why"), "{text}");
        assert!(
            text.contains("\n12\n") && !text.contains("\n11\n"),
            "{text}"
        );
    }
}
