//! Root images of a made-up host.

use std::{
    fs::Permissions,
    os::unix::{fs::PermissionsExt, fs::symlink, net::UnixListener},
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
};

use legwork_erofs::{Entry, Image, Kind};
use tempfile::TempDir;

use super::*;

/// A small host with everything that must come along and much that must not.
fn host() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("usr/bin/tool", "tool");
    write("usr/bin/bash", "bash");
    write("usr/lib/libc.so", &"c".repeat(5_000));
    write("usr/local/bin/own", "own");
    write("usr/share/man/man1/tool.1", "manual");
    write("usr/share/doc/tool/README", "readme");
    write("usr/share/zoneinfo/UTC", "utc");
    write("usr/src/linux/main.c", "source");
    write("lib32/ld.so", "loader");
    write("opt/vendor/tool", "vendor");
    write("root/.ssh/id_rsa", "key");
    write("home/me/.netrc", "password");
    write("etc/shadow", "root:hash");
    write("etc/os-release", "NAME=Test");
    write("etc/ld.so.conf.d/local.conf", "/usr/local/lib");
    write("etc/ssl/private/host.pem", "key");
    write("etc/ssl/certs/ca.pem", "-----BEGIN CERTIFICATE-----");
    write("etc/ssl/certs/both.pem", "-----BEGIN RSA PRIVATE KEY-----");
    write("etc/ssl/certs/host.key", "key");
    write("etc/java-17-openjdk/security/java.security", "java");
    write(
        "etc/java-17-openjdk/management/jmxremote.password",
        "secret",
    );
    write("var/lib/dpkg/status", "Package: tool");
    let path = |path: &str| dir.path().join(path);
    symlink("usr/bin", path("bin")).unwrap();
    symlink("/usr/share/zoneinfo/UTC", path("etc/localtime")).unwrap();
    fs::hard_link(path("usr/bin/tool"), path("usr/bin/tool2")).unwrap();
    fs::set_permissions(path("usr/bin/bash"), Permissions::from_mode(0o6755)).unwrap();
    drop(UnixListener::bind(path("usr/lib/socket")).unwrap());
    dir
}

fn build(host: &Path, cache: &Path) -> RootImage {
    Host::at(host).root_image(cache, &mut |_| {}).unwrap()
}

type Entries = std::collections::BTreeMap<Vec<u8>, Entry>;

fn open(image: &RootImage) -> (Entries, Image<File>) {
    let mut image = Image::open(File::open(&image.path).unwrap()).unwrap();
    (image.read_tree().unwrap(), image)
}

fn files_in(cache: &Path) -> Vec<String> {
    let entries = fs::read_dir(cache.join("root")).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_image_holds_the_toolchains_and_no_secret() {
    let (host, cache) = (host(), tempfile::tempdir().unwrap());
    let root = build(host.path(), cache.path());
    let (tree, mut image) = open(&root);
    let mut text = |path: &str| image.read_file(&tree[path.as_bytes()]).unwrap();
    assert_eq!(text("usr/bin/tool"), b"tool");
    assert_eq!(text("usr/lib/libc.so"), "c".repeat(5_000).as_bytes());
    assert_eq!(text("usr/local/bin/own"), b"own");
    assert_eq!(text("lib32/ld.so"), b"loader");
    assert_eq!(text("etc/os-release"), b"NAME=Test");
    assert_eq!(text("etc/ld.so.conf.d/local.conf"), b"/usr/local/lib");
    assert_eq!(text("etc/ssl/certs/ca.pem"), b"-----BEGIN CERTIFICATE-----");
    assert_eq!(text("etc/java-17-openjdk/security/java.security"), b"java");
    assert_eq!(text("etc/resolv.conf"), b"");
    assert!(text("etc/passwd").starts_with(b"root:x:0:0:root:/root:/bin/bash\n"));
    assert_eq!(tree[&b"bin"[..]].kind, Kind::Symlink(b"usr/bin".to_vec()));
    let zone = Kind::Symlink(b"/usr/share/zoneinfo/UTC".to_vec());
    assert_eq!(tree[&b"etc/localtime"[..]].kind, zone);

    let tool = &tree[&b"usr/bin/tool"[..]];
    assert_eq!(
        (tool.links, tool.inode),
        (2, tree[&b"usr/bin/tool2"[..]].inode)
    );
    assert_eq!(tree[&b"usr/bin/bash"[..]].meta.mode, 0o755);
    assert!(
        tree.values()
            .all(|entry| (entry.meta.uid, entry.meta.gid) == (0, 0))
    );
    let modes = [
        ("tmp", 0o1777),
        ("var/tmp", 0o1777),
        ("root", 0o700),
        ("proc", 0o755),
    ];
    for (path, mode) in modes {
        assert_eq!(
            (&tree[path.as_bytes()].kind, tree[path.as_bytes()].meta.mode),
            (&Kind::Dir, mode)
        );
    }
    for absent in [
        "usr/share/man",
        "usr/share/doc",
        "usr/src",
        "usr/lib/socket",
        "opt/vendor",
        "root/.ssh",
        "home/me",
        "etc/shadow",
        "etc/ssl/private",
        "etc/ssl/certs/both.pem",
        "etc/ssl/certs/host.key",
        "etc/java-17-openjdk/management/jmxremote.password",
        "var/lib/dpkg",
        "sbin",
    ] {
        assert!(!tree.contains_key(absent.as_bytes()), "{absent}");
    }
    let RootSummary {
        bytes,
        unreadable,
        special,
        secret,
        ..
    } = root.summary;
    assert_eq!((unreadable, special, secret), (0, 1, 3));
    assert_eq!(bytes, root.path.metadata().unwrap().len());
}

#[test]
fn the_image_is_built_once_and_again_after_a_change() {
    let (host, cache) = (host(), tempfile::tempdir().unwrap());
    let first = build(host.path(), cache.path());
    let mut steps = Vec::new();
    let again = Host::at(host.path()).root_image(cache.path(), &mut |step| steps.push(step));
    assert_eq!((again.unwrap().path, steps.len()), (first.path.clone(), 0));

    // A change while the old image is in use, then one while it is not.
    fs::write(host.path().join("usr/bin/new"), "new").unwrap();
    let second = build(host.path(), cache.path());
    assert_ne!(second.path, first.path);
    assert!(first.path.exists());
    drop((first, second));
    fs::create_dir_all(host.path().join("usr/local/lib/python3/dist-packages/new")).unwrap();
    fs::write(
        cache.path().join("root/.unfinished-abc"),
        "left by a killed process",
    )
    .unwrap();
    let third = build(host.path(), cache.path());
    let name = |extension| {
        let path = third.path.with_extension(extension);
        path.file_name().unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(
        files_in(cache.path()),
        [name("erofs"), name("json"), "lock".to_owned()]
    );
    assert!(open(&third).0.contains_key(&b"usr/bin/new"[..]));
}

#[test]
fn progress_ends_at_its_total() {
    let (host, cache) = (host(), tempfile::tempdir().unwrap());
    fs::write(host.path().join("usr/lib/large"), vec![1; 40 << 20]).unwrap();
    let mut steps = Vec::new();
    Host::at(host.path())
        .root_image(cache.path(), &mut |step| steps.push(step))
        .unwrap();
    assert!(steps.len() >= 3);
    assert!(steps.is_sorted_by_key(|step| step.done));
    let last = steps.last().unwrap();
    assert_eq!(last.done, last.total);
    assert!(last.total >= 40 << 20);
}

#[test]
fn processes_that_come_at_once_build_it_once() {
    let (host, cache) = (host(), tempfile::tempdir().unwrap());
    let (builds, start) = (AtomicUsize::new(0), Barrier::new(4));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                start.wait();
                let mut count = |step: Progress| {
                    if step.done == 0 {
                        builds.fetch_add(1, Ordering::Relaxed);
                    }
                };
                Host::at(host.path())
                    .root_image(cache.path(), &mut count)
                    .unwrap()
            });
        }
    });
    assert_eq!(builds.into_inner(), 1);
}

#[test]
fn a_file_that_is_gone_is_counted_and_the_rest_is_there() {
    let (host, cache) = (host(), tempfile::tempdir().unwrap());
    let gone = host.path().join("usr/bin/tool");
    let mut once = |step: Progress| {
        if step.done == 0 {
            fs::remove_file(&gone).unwrap();
            // What takes its place is neither followed nor waited for.
            symlink("/etc/shadow", &gone).unwrap();
        }
    };
    let image = Host::at(host.path())
        .root_image(cache.path(), &mut once)
        .unwrap();
    // The second name of the same file is gone with it.
    assert_eq!(image.summary.unreadable, 2);
    let (tree, _) = open(&image);
    assert!(!tree.contains_key(&b"usr/bin/tool"[..]));
    assert!(tree.contains_key(&b"usr/bin/bash"[..]));
}

#[test]
fn a_host_without_toolchains_and_a_cache_that_is_a_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = Host::at(dir.path())
        .root_image(dir.path(), &mut |_| {})
        .unwrap_err();
    assert!(matches!(refused, RootError::NoHost { .. }), "{refused}");
    let host = host();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = Host::at(host.path())
        .root_image(&file, &mut |_| {})
        .unwrap_err();
    assert!(matches!(refused, RootError::Artifact(_)), "{refused}");
}

#[test]
fn an_image_that_would_not_fit_is_refused_before_it_is_written() {
    let (host, cache) = (host(), tempfile::tempdir().unwrap());
    let huge = File::create(host.path().join("usr/lib/huge")).unwrap();
    huge.set_len(8 << 40).unwrap();
    let refused = Host::at(host.path())
        .root_image(cache.path(), &mut |_| {})
        .unwrap_err();
    assert!(matches!(refused, RootError::Space { .. }), "{refused}");
    assert!(refused.to_string().contains("8 TiB"), "{refused}");
    assert_eq!(files_in(cache.path()), ["lock"]);
}
