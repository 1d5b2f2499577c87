//! The rooms themselves: both releases' editors start, take keys and write files, and leave nothing mounted.

use std::fs;
use std::path::Path;

use kit::folder::Folder;
use kit::helix::Helix;
use kit::nvim::Nvim;
use kit::room::{Release, Room};
use kit::screen::{Screen, eventually};

fn saved(folder: &Folder, path: &str, text: &str) {
    // Some editors put a new file into the place of the old one.
    let read = || fs::read_to_string(folder.path().join(path)).unwrap_or_default();
    eventually(
        || format!("{path} is {text:?}; it is {:?}", read()),
        || (read() == text).then_some(()),
    );
}

#[test]
fn neovim_edits_and_saves_in_both_rooms() {
    for (release, version) in [(Release::Trixie, "0.10"), (Release::Sid, "0.12")] {
        let folder = Folder::with(&[("a.txt", "one\n")]);
        let nvim = Nvim::open(&Room::of(release), &folder.path(), "", &["a.txt"]);
        nvim.screen.wait("one");
        assert_eq!(
            nvim.lua_text("local v = vim.version() return v.major .. '.' .. v.minor"),
            version
        );
        nvim.screen.keys(&["o"]);
        nvim.screen.text("two ü");
        nvim.screen.keys(&["Escape"]);
        assert_eq!(nvim.buffer(), "one\ntwo ü");
        nvim.screen.keys(&[":", "w", "Enter"]);
        saved(&folder, "a.txt", "one\ntwo ü\n");
        let id = nvim.lua("return vim.fn.getpid()");
        drop(nvim);
        let process = format!("/proc/{id}");
        eventually(
            || format!("{process} is gone"),
            || (!Path::new(&process).exists()).then_some(()),
        );
    }
}

#[test]
fn helix_edits_and_saves_in_both_rooms() {
    for release in [Release::Trixie, Release::Sid] {
        let folder = Folder::with(&[("a.txt", "one\n")]);
        let helix = Helix::open(
            &Room::of(release),
            &folder.path(),
            Helix::home("", ""),
            &["a.txt"],
        );
        helix.screen.wait("one");
        helix.screen.keys(&["o"]);
        helix.screen.text("two ü");
        helix.command(":w");
        saved(&folder, "a.txt", "one\ntwo ü\n");
    }
}

#[test]
fn a_room_shows_what_it_is_told_and_leaves_nothing_mounted() {
    let (folder, hidden) = (
        Folder::with(&[("here", "")]),
        Folder::with(&[("there", "")]),
    );
    let (shown, unseen) = (folder.path(), hidden.path());
    let script = format!(
        "ls {} {} 2>&1; pwd; cat /proc/self/comm; echo \"$HOME.\"; sleep 60",
        shown.display(),
        unseen.display()
    );
    let room = Room::of(Release::Trixie);
    let screen = Screen::open(&room.command(&shown, ["sh", "-c", &script]));
    let seen = screen.wait("cat\n.\n");
    assert!(
        seen.contains("here\n") && !seen.contains("there\n"),
        "{seen}"
    );
    assert!(
        seen.contains(&format!("\n{}\ncat\n", shown.display())),
        "{seen}"
    );
    let mounts = || fs::read_to_string("/proc/self/mountinfo").expect("Linux");
    let during = mounts();
    assert!(!during.contains("/editors/trixie/"), "{during}");
    drop(screen);
    assert_eq!(mounts(), during);
    assert_eq!(fs::read_dir(product_room()).expect("a room").count(), 0);
}

/// The directory of the room over which its root is built.
fn product_room() -> std::path::PathBuf {
    kit::product::cache().join("editors/trixie/tmp")
}
