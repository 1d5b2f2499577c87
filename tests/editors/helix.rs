//! Helix as `legwork setup helix` sets it up: every step of a task from its keys, in both releases.

use kit::room::Release;

use crate::stage::{RELEASES, Stage, lines, place, row};

#[test]
fn delegating_watching_and_cancelling() {
    for release in RELEASES {
        let stage = Stage::new(
            release,
            &[
                ("a.rs", "fn main() {\n}\n"),
                ("note.md", "# Note\n\nrename it to x\n"),
            ],
        );
        let helix = stage.helix("", &["a.rs"]);
        helix.screen.wait("fn main");

        let step = row(
            release,
            "delegate (a): an @legwork comment, space a, Enter; no save",
        );
        helix.screen.keys(&["o"]);
        helix.screen.text("// @legwork make this return a Result");
        helix.screen.keys(&["Escape"]);
        helix.act("Delegate: make this return a Result", 0);
        let task = stage.asked("make this return a Result");
        assert_eq!(place(&task), ("a.rs".to_owned(), 2, 2));
        assert_eq!(stage.folder.read("a.rs"), "fn main() {\n}\n");
        helix.command(":reload");
        drop(step);

        let step = row(release, "delegate (b): space l n, a sentence, :w");
        helix.screen.keys(&["Space", "l", "n"]);
        helix.screen.wait("Say what to do");
        helix.screen.keys(&["g", "e", "A"]);
        helix.screen.text("explain it all");
        helix.command(":w");
        stage.asked("explain it all");
        // It is queued, runs and is ready in less than a second, and the last word stays.
        helix.screen.wait("explain it all: 1 hunk to review");
        helix.command(":buffer-close!");
        drop(step);

        let step = row(release, "delegate (c): space l s and a sentence");
        helix.screen.keys(&["Space", "l", "s"]);
        helix.screen.wait(":sh ");
        helix.screen.text("say it in the shell");
        helix.screen.keys(&["Enter"]);
        stage.asked("say it in the shell");
        helix.screen.keys(&["Escape"]);
        drop(step);

        let step = row(
            release,
            "delegate (d): space l t, the selection on standard input",
        );
        helix.command(":open a.rs");
        helix.go(1);
        helix.screen.keys(&["x", "Space", "l", "t"]);
        helix.screen.wait(":pipe-to ");
        helix.screen.text("rename what is selected");
        helix.screen.keys(&["Enter"]);
        let task = stage.asked("rename what is selected");
        assert_eq!(
            task["spec"]["request"]["selection"], "fn main() {\n",
            "{task}"
        );
        helix.screen.keys(&["Escape"]);
        drop(step);

        if release == Release::Sid {
            let step = row(release, "delegate (e): space l d, a sentence, a quote");
            helix.screen.keys(&["x", "Space", "l", "d"]);
            helix.screen.wait("selection_line_end}} \"");
            helix.screen.text("do it with lines\"");
            helix.screen.keys(&["Enter"]);
            let task = stage.asked("do it with lines");
            assert_eq!(place(&task).0, "a.rs");
            drop(step);
        }

        let step = row(release, "delegate: the selection as instructions");
        helix.command(":open note.md");
        helix.screen.wait("rename it to x");
        helix.go(3);
        helix.screen.keys(&["x"]);
        helix.screen.keys(&["Space", "a"]);
        helix.screen.wait("use the selection as instructions");
        helix.screen.keys(&["Enter"]);
        stage.asked("rename it to x");
        drop(step);

        let step = row(release, "progress: text in the status line");
        let gate = stage.home.state().join("gate");
        let words = format!("wait for {}", gate.display());
        helix.screen.keys(&["Escape", "Space", "l", "s"]);
        helix.screen.wait(":sh ");
        helix.screen.text(&words);
        helix.screen.keys(&["Enter"]);
        let waiting = stage.asked(&words);
        // 25.01 shows the token where 25.07 shows the title.
        helix.screen.wait_until("say what it is that runs", |seen| {
            let line = seen.lines().find(|line| line.contains("running"));
            line.is_some_and(|line| line.contains("Legwork") && line.contains(": wait for /"))
        });
        drop(step);

        let step = row(release, "cancel: space l c");
        helix.screen.keys(&["Escape", "Space", "l", "c"]);
        stage.await_task("it is cancelled", |task| {
            task["id"] == waiting["id"] && task["outcome"]["type"] == "cancelled"
        });
        drop(step);
    }
}

#[test]
fn reviewing() {
    for release in RELEASES {
        let stage = Stage::new(release, &[("a.md", &lines(1, 30)), ("b.md", &lines(1, 5))]);
        let id = stage.task(
            "sed -i 's/^line 3$/three/; s/^line 20$/twenty/' a.md; sed -i 's/^line 2$/two/; s/^line 4$/four/' b.md",
        );
        let helix = stage.helix("", &["a.md"]);

        let step = row(release, "open review: space d, a list with a preview");
        helix.screen.wait("line 20");
        helix.screen.wait("●");
        helix.screen.keys(&["Space", "d"]);
        helix.screen.wait("hunk 1/2");
        helix.screen.keys(&["Escape"]);
        helix.screen.keys(&["Space", "D"]);
        helix.screen.wait("hunk 2/2");
        helix.screen.keys(&["Escape"]);
        drop(step);

        let step = row(release, "walk: ]d and [d select the hunk");
        helix.screen.keys(&["g", "g", "]", "d"]);
        helix.screen.wait("3:7");
        helix.screen.keys(&["]", "d"]);
        helix.screen.wait("20:8");
        // The first goes to the beginning of the hunk that the cursor is at the end of.
        helix.screen.keys(&["[", "d", "[", "d"]);
        helix.screen.wait(" 3:1");
        drop(step);

        let step = row(release, "see the diff: at the cursor's line");
        let seen = helix.screen.wait("+three");
        assert!(seen.contains("-line 3"), "{seen}");
        drop(step);

        let step = row(release, "see the diff: space k");
        helix.screen.keys(&["Space", "k"]);
        helix.screen.wait("Legwork");
        helix.screen.keys(&["Escape"]);
        drop(step);

        let step = row(release, "walk: space l j and space l k, across files");
        helix.go(1);
        helix.screen.wait(" 1:1");
        helix.screen.keys(&["Space", "l", "j"]);
        helix.screen.wait(" 3:1");
        helix.screen.keys(&["Space", "l", "j"]);
        helix.screen.wait("20:1");
        helix.screen.keys(&["Space", "l", "j"]);
        helix.screen.wait("b.md");
        helix.screen.keys(&["Space", "l", "k"]);
        helix.screen.wait("a.md");
        helix.screen.wait("20:1");
        helix.screen.keys(&["Space", "l", "k"]);
        helix.screen.wait(" 3:1");
        drop(step);

        let step = row(release, "accept a hunk: space a, Enter; nothing is saved");
        helix.go(3);
        helix.act("Accept hunk", 0);
        stage.await_pending(&id, 3);
        assert_eq!(stage.folder.read("a.md"), lines(1, 30));
        drop(step);

        let step = row(release, "undo: u brings text and hunk back");
        helix.screen.keys(&["Escape", "u"]);
        helix.screen.wait("line 3\n");
        stage.await_pending(&id, 4);
        drop(step);

        let step = row(release, "reject a hunk: space a, Down, Enter");
        helix.go(20);
        helix.screen.wait("twenty");
        helix.act("Reject hunk", 1);
        stage.await_pending(&id, 3);
        helix.screen.wait_gone("●  20");
        drop(step);

        let step = row(release, "accept a hunk: space l y at the review cursor");
        helix.go(1);
        helix.screen.keys(&["Space", "l", "r"]);
        helix.screen.wait(" 3:1");
        helix.screen.keys(&["Space", "l", "y"]);
        stage.await_pending(&id, 2);
        // It goes on to the next hunk by itself.
        helix.screen.wait_until("go on to b.md", |seen| {
            seen.contains("NOR   b.md") && seen.contains(" 2:1")
        });
        drop(step);

        let step = row(release, "reject a hunk: space l x at the review cursor");
        helix.screen.keys(&["Space", "l", "x"]);
        stage.await_pending(&id, 1);
        drop(step);

        let step = row(release, "undo a reject: space l u");
        helix.screen.keys(&["Space", "l", "u"]);
        stage.await_pending(&id, 2);
        drop(step);

        let step = row(release, "accept a file: space l f");
        helix.screen.keys(&["Space", "l", "r"]);
        helix.screen.keys(&["Space", "l", "f"]);
        stage.await_task("fewer wait", |task| {
            task["id"] == *id && task["pending"].as_u64() < Some(2)
        });
        drop(step);

        let step = row(release, "accept all: space l A");
        helix.screen.keys(&["Space", "l", "A"]);
        stage.await_pending(&id, 0);
        helix.command(":wa");
        stage.await_task("all is decided", |task| {
            task["id"] == *id && task["state"] == "ended"
        });
        drop(step);
    }
}
