//! `/etc` of the image: made here, and a few public files of the host. Never a secret.
//!
//! Links are kept as links and never followed, so nothing outside the named paths gets in.

use std::{
    fs,
    os::unix::{ffi::OsStrExt, ffi::OsStringExt},
    path::Path,
};

use legwork_erofs::{BLOCK_SIZE, Meta};

use super::listing::{Entry, Item, Listing, link_meta, root_owned};

/// Copied where the host has them, directories with all that is in them. Parents come first.
const COPIED: [&str; 21] = [
    "etc/os-release",
    "etc/lsb-release",
    "etc/debian_version",
    "etc/redhat-release",
    "etc/fedora-release",
    "etc/arch-release",
    "etc/alpine-release",
    "etc/ld.so.conf",
    "etc/ld.so.conf.d",
    "etc/ld.so.cache",
    "etc/alternatives",
    "etc/ssl/certs",
    "etc/ssl/cert.pem",
    "etc/pki/tls/certs",
    "etc/pki/tls/cert.pem",
    "etc/pki/ca-trust/extracted",
    "etc/localtime",
    "etc/timezone",
    "etc/mime.types",
    "etc/protocols",
    "etc/services",
];
/// A larger file is not configuration.
const LARGEST: u64 = 16 << 20;
/// How deep the copied directories go at the most.
const DEEPEST: u32 = 16;

pub(super) fn list(listing: &mut Listing, root: &Path) {
    listing.push("etc", Meta::dir(), Item::Dir);
    let shell = if root.join("bin/bash").exists() {
        "/bin/bash"
    } else {
        "/bin/sh"
    };
    let made = [
        (
            "etc/passwd",
            format!(
                "root:x:0:0:root:/root:{shell}\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
            ),
        ),
        (
            "etc/group",
            "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n".to_owned(),
        ),
        (
            "etc/hosts",
            "127.0.0.1 localhost legwork\n::1 localhost\n".to_owned(),
        ),
        ("etc/hostname", "legwork\n".to_owned()),
        (
            "etc/nsswitch.conf",
            "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n\
             protocols: files\nservices: files\n"
                .to_owned(),
        ),
        ("etc/resolv.conf", String::new()),
        (
            "etc/shells",
            format!(
                "/bin/sh\n{}",
                if shell == "/bin/sh" {
                    ""
                } else {
                    "/bin/bash\n"
                }
            ),
        ),
        (
            "etc/profile",
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nexport PATH\n"
                .to_owned(),
        ),
    ];
    for (path, text) in made {
        listing.push(path, Meta::file(), Item::Bytes(text.into_bytes()));
    }
    listing.push(
        "etc/mtab",
        link_meta(),
        Item::Symlink(b"/proc/self/mounts".to_vec()),
    );
    for path in COPIED {
        copy(listing, root, path.as_bytes().to_vec(), 0);
    }
    // Debian's Java does not start without its security settings, and they are here.
    for name in names(&root.join("etc")) {
        if name.starts_with(b"java-") {
            copy(listing, root, [b"etc/", &name[..]].concat(), 0);
        }
    }
}

fn copy(listing: &mut Listing, root: &Path, path: Vec<u8>, depth: u32) {
    let host = root.join(std::ffi::OsStr::from_bytes(&path));
    let Ok(found) = host.symlink_metadata() else {
        return;
    };
    let meta = root_owned(&found);
    let kind = found.file_type();
    if is_secret_name(&path) {
        listing.skipped.secret += 1;
    } else if kind.is_symlink() {
        match fs::read_link(&host) {
            Ok(target) => {
                let item = Item::Symlink(target.into_os_string().into_vec());
                listing.entries.push(Entry { path, meta, item });
            }
            Err(_) => listing.skipped.unreadable += 1,
        }
    } else if kind.is_dir() && depth < DEEPEST {
        listing.entries.push(Entry {
            path: path.clone(),
            meta,
            item: Item::Dir,
        });
        for name in names(&host) {
            copy(listing, root, [&path[..], b"/", &name].concat(), depth + 1);
        }
    } else if kind.is_file() && found.len() <= LARGEST {
        match fs::read(&host) {
            Ok(bytes) if holds_key(&bytes) => listing.skipped.secret += 1,
            Ok(bytes) => {
                let size = bytes.len() as u64;
                listing.bytes += size;
                listing.stored += size.next_multiple_of(BLOCK_SIZE);
                listing.entries.push(Entry {
                    path,
                    meta,
                    item: Item::Bytes(bytes),
                });
            }
            Err(_) => listing.skipped.unreadable += 1,
        }
    } else {
        listing.skipped.special += 1;
    }
}

/// Names in a directory, sorted; none if it cannot be read.
fn names(dir: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_vec()).collect();
    names.sort();
    names
}

fn is_secret_name(path: &[u8]) -> bool {
    let name = path
        .rsplit(|&byte| byte == b'/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let holds = |word: &[u8]| name.windows(word.len()).any(|part| part == word);
    name == b"private" || name.ends_with(b".key") || holds(b"password")
}

fn holds_key(bytes: &[u8]) -> bool {
    const MARK: &[u8] = b"PRIVATE KEY-----";
    bytes.windows(MARK.len()).any(|part| part == MARK)
}
