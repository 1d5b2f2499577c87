//! Each wall stands, and what a machine needs goes through.

use std::{
    fs,
    net::TcpListener,
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    process::{Child, Command},
};

use super::stage::{Intrusion, Stage};

const SIGSYS: i32 = 31;

/// How one attempt went, as the intruder printed it.
fn outcome<'a>(intrusion: &'a Intrusion, attempt: &str) -> &'a str {
    intrusion
        .said
        .lines()
        .find_map(|line| line.strip_prefix(attempt)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("`{attempt}` was not tried: {intrusion:?}"))
}

/// Tries all of it in one process, and expects every attempt to be refused with the process alive.
fn refused(stage: &Stage, attempts: &[String]) {
    let intrusion = stage.intrude(attempts);
    assert_eq!(intrusion.code, Some(0), "{intrusion:?}");
    assert_eq!(intrusion.errors, "");
    assert_eq!(intrusion.jailed.as_ref().unwrap().lack(), None);
    for attempt in attempts {
        let how = outcome(&intrusion, attempt);
        assert!(how.starts_with("refused"), "{attempt}: {how}");
    }
}

/// A bystander that lives until the test has ended.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn what_a_machine_needs_goes_through() {
    let stage = Stage::set();
    let attempts = [
        format!("read {}", stage.path("root.erofs").display()),
        format!("read {}", stage.path("scratch.ext4").display()),
        format!("write {}", stage.path("scratch.ext4").display()),
        "read /dev/urandom-that-is-not-there".to_owned(),
        "thread".to_owned(),
    ];
    let intrusion = stage.intrude(&attempts);
    assert_eq!(intrusion.code, Some(0), "{intrusion:?}");
    for (index, attempt) in attempts.iter().enumerate() {
        let done = outcome(&intrusion, attempt) == "done";
        assert_eq!(done, index != 3, "{attempt}: {intrusion:?}");
    }
    let disk = fs::read(stage.path("scratch.ext4")).unwrap();
    assert!(disk.starts_with(b"intruder"), "{disk:?}");
}

#[test]
fn files_that_are_not_the_machines_do_not_open() {
    let stage = Stage::set();
    let home = std::env::var("HOME").unwrap();
    // Files that anybody may read: that they do not open is the wall's doing alone.
    fs::set_permissions(
        stage.path("other/secret"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    let mut attempts: Vec<String> = [
        "read /etc/shadow",
        "read /etc/passwd",
        "read /proc/self/environ",
        "read /proc/1/status",
        "list /",
        "list /home",
        "list /proc",
        "list /tmp",
        "list /usr/bin",
        "read /usr/bin/env",
        "write /dev/null",
        "create /tmp/made-by-an-intruder",
        "create /dev/shm/made-by-an-intruder",
    ]
    .map(str::to_owned)
    .to_vec();
    attempts.push(format!("list {home}"));
    for (word, name) in [
        // Of another task, and of this one what it was started with.
        ("read", "other/secret"),
        ("write", "other/secret"),
        ("truncate", "other/secret"),
        ("remove", "other/secret"),
        ("list", "other"),
        ("list", ""),
        ("read", "boot.json"),
        ("create", "new"),
        ("link", "way-out"),
        // Its own images: no more than it needs.
        ("write", "root.erofs"),
        ("truncate", "root.erofs"),
        ("remove", "root.erofs"),
        ("rename", "scratch.ext4"),
        ("remove", "scratch.ext4"),
    ] {
        attempts.push(format!("{word} {}", stage.path(name).display()));
    }
    refused(&stage, &attempts);
    for (name, text) in [
        ("root.erofs", "root"),
        ("scratch.ext4", "a scratch disk"),
        ("other/secret", "of another task"),
    ] {
        assert_eq!(fs::read_to_string(stage.path(name)).unwrap(), text);
    }
    assert!(!stage.path("new").exists() && !stage.path("way-out").is_symlink());
}

#[test]
fn nothing_is_reached_and_nothing_is_started() {
    let stage = Stage::set();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = stage.path("socket");
    let _unix = UnixListener::bind(&socket).unwrap();
    let bystander = Bystander::new();
    let attempts = [
        format!("connect {}", tcp.local_addr().unwrap()),
        format!("unix {}", socket.display()),
        "execute /bin/sh".to_owned(),
        "execute /usr/bin/env".to_owned(),
        format!("signal {}", bystander.pid()),
        format!("signal {}", std::process::id()),
        "powers".to_owned(),
        "grow".to_owned(),
        "memory".to_owned(),
    ];
    refused(&stage, &attempts);
    tcp.set_nonblocking(true).unwrap();
    assert!(tcp.accept().is_err(), "somebody connected");
}

#[test]
fn what_only_an_attacker_does_ends_the_process() {
    let stage = Stage::set();
    let bystander = Bystander::new();
    for attempt in [
        format!("trace {}", bystander.pid()),
        format!("trace {}", std::process::id()),
        format!("peek {}", bystander.pid()),
        "unshare".to_owned(),
        "enter".to_owned(),
        format!("mount {}", stage.path("other").display()),
        "chroot /".to_owned(),
    ] {
        let intrusion = stage.intrude(&[attempt.clone(), "thread".to_owned()]);
        assert_eq!(intrusion.signal, Some(SIGSYS), "{attempt}: {intrusion:?}");
        assert_eq!(intrusion.said, format!("{attempt}: "));
    }
}

#[test]
fn no_program_is_started_beside_it() {
    let stage = Stage::set();
    let intrusion = stage.intrude(&["spawn /bin/true".to_owned()]);
    // Refused as a clone(2) that is no thread, or ended as a fork(2): the library chooses.
    assert!(
        intrusion.signal == Some(SIGSYS)
            || outcome(&intrusion, "spawn /bin/true").starts_with("refused"),
        "{intrusion:?}"
    );
}

#[test]
fn the_walls_hold_for_every_user() {
    // With root's powers they hold too: the other tests may run as root. Here, without any.
    let stage = Stage::set();
    fs::set_permissions(stage.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(kit::product::bin_dir().join("legwork-vmm"))
        .arg("walls");
    if !rustix::process::geteuid().is_root() {
        command = stage.command(&kit::product::bin_dir().join("legwork-vmm"));
        command.arg("walls");
    }
    let output = command.output().unwrap();
    let jailed: legwork_spec::Jailed = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(jailed.lack(), None, "{output:?}");
}
