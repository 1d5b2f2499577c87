//! Files and buffers that are not alike, in Helix: links, files that a task makes, files that cannot be written.

use std::{os::unix::fs::symlink, time::Duration};

use kit::{helix::Helix, screen::eventually};

use crate::stage::{RELEASES, Stage, row};

/// B24. The workspace is opened through a link.
#[test]
fn a_workspace_behind_a_link() {
    for release in RELEASES {
        let _row = row(release, "B24");
        let stage = Stage::new(release, &[("ws/f.md", "one\ntwo\n"), ("ws/.git/HEAD", "")]);
        let (real, link) = (stage.path().join("ws"), stage.path().join("link"));
        symlink(&real, &link).unwrap();
        let helix = stage.helix("", &[]);
        helix.command(&format!(":cd {}", link.display()));
        helix.command(":open f.md");
        helix.screen.wait("two");
        helix.screen.keys(&["g", "e", "o"]);
        helix.screen.text("mine");
        helix.screen.keys(&["Escape", "Space", "l", "n"]);
        helix.screen.wait("Say what to do");
        helix.screen.keys(&["g", "e", "A"]);
        helix.screen.text("run sed -i s/two/2/ f.md");
        helix.command(":w");
        let task = stage.asked("run sed -i s/two/2/ f.md");
        assert_eq!(task["spec"]["workspace"], real.display().to_string());
        let id = task["id"].as_str().unwrap();
        // The agent's own note is another file.
        stage.await_pending(id, 2);
        helix.command(":buffer-close!");
        helix.go(2);
        let seen = helix.screen.wait("+2");
        assert!(seen.contains("mine"), "{seen}");
        helix.act("Accept hunk", 0);
        stage.await_pending(id, 1);
        helix
            .screen
            .wait_until("show the new line", |seen| seen.contains("2  2\n"));
        assert_eq!(stage.folder.read("ws/f.md"), "one\ntwo\n");
        // It is one buffer, named as it was opened.
        helix.screen.keys(&["Space", "b"]);
        let seen = helix.screen.wait("1/1");
        assert!(seen.contains("f.md") && !seen.contains("ws"), "{seen}");
        helix.command(":w");
        stage.await_file("ws/f.md", "one\n2\nmine\n");
        assert!(link.is_symlink());
    }
}

/// B28. The task makes a file whose name a buffer has already.
#[test]
fn a_new_file_that_is_open_already() {
    for release in RELEASES {
        let _row = row(release, "B28");
        let stage = Stage::new(release, &[("a.md", "a\n")]);
        let helix = stage.helix("", &["out.md"]);
        helix.screen.keys(&["i"]);
        helix.screen.text("mine");
        helix.screen.keys(&["Escape"]);
        let id = stage.task("echo theirs > out.md");
        helix.screen.wait("conflict");
        helix.screen.keys(&["Space", "l", "r"]);
        // Helix sends two commands that follow at once in either order: the accept may come before there is anything to accept.
        let seen = eventually(
            || format!("no refusal: {}", helix.screen.read()),
            || {
                helix.screen.keys(&["Space", "l", "y"]);
                std::thread::sleep(Duration::from_millis(500));
                let seen = helix.screen.read();
                seen.contains("`out.md` is open with another text")
                    .then_some(seen)
            },
        );
        assert!(seen.contains("mine"), "{seen}");
        assert!(!stage.path().join("out.md").exists(), "it was written");
        stage.await_pending(&id, 1);
        helix.command(":w");
        stage.await_file("out.md", "mine\n");
        stage.await_pending(&id, 1);
    }
}

/// B30. A file that cannot be written. Helix lets its buffer be changed all the same, and refuses to save it.
#[test]
fn a_file_that_cannot_be_written() {
    for release in RELEASES {
        let stage = Stage::new(release, &[("a.md", "one\n"), ("b.md", "two\n")]);
        let id = stage.task("echo 1 > a.md; echo 2 > b.md");
        let room = stage.room().showing_unwritable(stage.path().join("a.md"));
        let helix = stage.helix_of(&room, Helix::home("", ""), "", &["a.md"]);
        helix.screen.wait("[readonly]");

        let step = row(release, "B30: what is accepted is in the buffer alone");
        helix.screen.wait("+1");
        helix.act("Accept hunk", 0);
        stage.await_pending(&id, 1);
        helix.screen.wait("1  1\n");
        helix.command(":w");
        helix.screen.wait("read only");
        assert_eq!(stage.folder.read("a.md"), "one\n");
        helix.screen.keys(&["Escape", "u"]);
        stage.await_pending(&id, 2);
        helix.screen.wait("+1");
        drop(step);

        let step = row(release, "B30: other hunks go on");
        helix.command(":open b.md");
        helix.screen.wait("+2");
        helix.act("Accept hunk", 0);
        stage.await_pending(&id, 1);
        helix.command(":w");
        stage.await_file("b.md", "2\n");
        drop(step);
    }
}

/// B49. A new file is no hunk of the file that is open.
#[test]
fn a_new_file_beside_the_one_that_is_open() {
    for release in RELEASES {
        let _row = row(release, "B49");
        let stage = Stage::new(release, &[("main.md", "# Main\n")]);
        let helix = stage.helix("", &["main.md"]);
        helix.screen.wait("# Main");
        let id = stage.task("echo '# Test' > main_test.md");
        helix.screen.wait("1 hunk to review");
        helix.screen.keys(&["Space", "d"]);
        helix.screen.wait("0/0");
        helix.screen.keys(&["Escape"]);
        let seen = helix.screen.read();
        assert!(!seen.contains('●') && !seen.contains("# Test"), "{seen}");
        helix.screen.keys(&["Space", "l", "r"]);
        helix.screen.wait("# Test");
        helix.screen.keys(&["Space", "l", "y"]);
        stage.await_pending(&id, 0);
        stage.await_file("main_test.md", "# Test\n");
        assert_eq!(stage.folder.read("main.md"), "# Main\n");
        helix.command(":open main_test.md");
        helix.screen.wait("NOR   main_test.md");
        helix.screen.wait("# Test");
        helix.command(":open main.md");
        let seen = helix.screen.wait("NOR   main.md");
        assert!(!seen.contains("# Test"), "{seen}");
    }
}
