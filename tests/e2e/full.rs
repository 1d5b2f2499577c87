//! Disks that are full or read-only: while capturing, while accepting. (Full while running is in `ends`.)

use std::{path::Path, process::Command};

use kit::{
    folder::{Folder, standing},
    home::Home,
};
use tempfile::TempDir;

/// A small file system of its own. These tests run as root, like the rest of a CI machine.
struct Small {
    dir: TempDir,
}

impl Small {
    fn of(mib: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={mib}m,mode=0700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(dir.path())
            .status()
            .unwrap();
        assert!(
            mounted.success(),
            "cannot mount a tmpfs: these tests need root"
        );
        Self { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn remount(&self, how: &str) {
        let options = format!("remount,{how}");
        let done = Command::new("mount")
            .args(["-o", &options])
            .arg(self.dir.path())
            .status()
            .unwrap();
        assert!(done.success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let unmounted = Command::new("umount")
            .arg("-l")
            .arg(self.dir.path())
            .status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}

#[test]
fn a_full_disk_while_capturing_is_named_and_leaves_nothing() {
    let small = Small::of(12);
    let home = Home::with_state(&small.path().join("state"));
    let folder = Folder::with(&[("a.txt", "a\n")]);
    let mut noise = vec![0; 30 << 20];
    for (index, byte) in noise.iter_mut().enumerate() {
        *byte = index.to_le_bytes()[usize::from(index % 3 == 0)];
    }
    folder.write("big.bin", noise);
    let ran = home
        .legwork(&folder.path(), ["run", "--", "true"])
        .expect(1);
    assert!(
        ran.stderr.contains("disk") || ran.stderr.contains("space") || ran.stderr.contains("room"),
        "{}",
        ran.stderr
    );
    let left = standing(&home.state().join("tasks"));
    assert!(
        !left
            .keys()
            .any(|path| path.to_string_lossy().contains("erofs")),
        "{:?}",
        left.keys()
    );
    // There is room again: the same daemon goes on.
    std::fs::remove_file(folder.path().join("big.bin")).unwrap();
    home.legwork(&folder.path(), ["run", "--disk", "64M", "--", "true"])
        .expect(0);
}

#[test]
fn a_full_disk_while_accepting_leaves_every_file_as_it_was() {
    let small = Small::of(8);
    let workspace = small.path().join("project");
    std::fs::create_dir(&workspace).unwrap();
    for index in 0..5 {
        std::fs::write(
            workspace.join(format!("file{index}.txt")),
            format!("{index}\n"),
        )
        .unwrap();
    }
    let home = Home::new();
    let task = home.task(
        &workspace,
        "for f in file*.txt; do head -c 1000000 /dev/zero | tr '\\0' x >> $f; done",
    );
    let id = task["task"].as_str().unwrap();
    std::fs::write(small.path().join("filler"), vec![0; 4 << 20]).unwrap();
    let before = standing(&workspace);
    let ran = home.legwork(&workspace, ["accept", id]);
    assert_ne!(ran.code, 0);
    assert!(
        ran.stderr.contains("disk") || ran.stderr.contains("space") || ran.stderr.contains("room"),
        "{}",
        ran.stderr
    );
    assert_eq!(standing(&workspace), before);
    std::fs::remove_file(small.path().join("filler")).unwrap();
    home.legwork(&workspace, ["accept", id]).expect(0);
    assert!(
        std::fs::metadata(workspace.join("file4.txt"))
            .unwrap()
            .len()
            > 1_000_000
    );
}

#[test]
fn a_read_only_workspace_can_be_worked_on_and_accepted_later() {
    let small = Small::of(8);
    let workspace = small.path().join("project");
    std::fs::create_dir(&workspace).unwrap();
    std::fs::write(workspace.join("a.txt"), "a\n").unwrap();
    small.remount("ro");
    let home = Home::new();
    let task = home.task(&workspace, "echo b >> a.txt; echo new > b.txt");
    let id = task["task"].as_str().unwrap();
    let ran = home.legwork(&workspace, ["accept", id]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("read-only"), "{}", ran.stderr);
    small.remount("rw");
    home.legwork(&workspace, ["accept", id]).expect(0);
    assert_eq!(
        std::fs::read_to_string(workspace.join("a.txt")).unwrap(),
        "a\nb\n"
    );
}
