//! The user's own edits beside a task's, in Helix: unsaved text, text that moves on, undo, and saving through a formatter.

use std::fs;

use kit::helix::Helix;
use kit::screen::eventually;

use crate::stage::{RELEASES, Stage, lines, row};

/// Puts other text into the line of the cursor.
fn change(helix: &Helix, line: u32, text: &str) {
    helix.go(line);
    helix.screen.keys(&["A", "C-u"]);
    helix.screen.text(text);
    helix.screen.keys(&["Escape"]);
}

/// The user saves, and this is what the file is then.
fn saved(stage: &Stage, helix: &Helix, text: &str) {
    helix.command(":w");
    stage.await_file("a.md", text);
}

/// B34. What is not saved is what the task starts from, and stays unsaved.
#[test]
fn unsaved_text_is_the_base() {
    for release in RELEASES {
        let _row = row(release, "B34");
        let stage = Stage::new(release, &[("a.md", "v1\nend\n")]);
        let helix = stage.helix("", &["a.md"]);
        change(&helix, 1, "v2");
        helix.screen.keys(&["o"]);
        helix.screen.text("new function");
        helix.screen.keys(&["Escape", "Space", "l", "n"]);
        helix.screen.wait("Say what to do");
        helix.screen.keys(&["g", "e", "A"]);
        helix.screen.text("run sed -i s/function/call/ a.md");
        helix.command(":w");
        let task = stage.asked("run sed -i s/function/call/ a.md");
        let id = task["id"].as_str().unwrap();
        // The agent's own note is another file.
        stage.await_pending(id, 2);
        helix.command(":buffer-close!");
        helix.go(2);
        let seen = helix.screen.wait("+new call");
        assert!(seen.contains("v2"), "{seen}");
        helix.act("Accept hunk", 0);
        stage.await_pending(id, 1);
        helix.screen.wait_gone("new function");
        assert_eq!(stage.folder.read("a.md"), "v1\nend\n");
        saved(&stage, &helix, "v2\nnew call\nend\n");
    }
}

/// B35. The user types while the task runs.
#[test]
fn text_changes_while_the_task_runs() {
    for release in RELEASES {
        let stage = Stage::new(release, &[("a.md", &lines(1, 40))]);
        let gate = stage.home.state().join("gate");
        let id = stage.home.delegate(
            &stage.path(),
            &format!(
                "until test -e {}; do sleep 0.05; done; sed -i 's/^line \\(5\\|15\\|25\\|35\\)$/new \\1/' a.md",
                gate.display()
            ),
        );
        stage.await_task("it runs", |task| {
            task["id"] == *id && task["state"] == "running"
        });
        let helix = stage.helix("", &["a.md"]);
        // From the bottom, so that numbers hold: delete 34-36, make 25 what it will be, change 15, put 30 lines on top.
        helix.go(34);
        helix.screen.keys(&["x", "x", "x", "d"]);
        change(&helix, 25, "new 25");
        change(&helix, 15, "mine 15");
        helix.go(1);
        helix.screen.keys(&["O"]);
        helix.screen.keys(&["Enter"; 29]);
        helix.screen.keys(&["Escape"]);
        let own = "\n".repeat(30)
            + &(lines(1, 14) + "mine 15\n" + &lines(16, 24) + "new 25\n")
            + &(lines(26, 33) + &lines(37, 40));
        fs::write(&gate, "").unwrap();
        stage.await_task("it is ready", |task| {
            task["id"] == *id && task["state"] == "ready"
        });

        let step = row(
            release,
            "B35 (b): a changed line is a conflict, told with both texts",
        );
        helix.go(45);
        let seen = helix.screen.wait("conflict: these lines were changed");
        assert!(
            seen.contains("mine 15") && seen.contains("+new 15"),
            "{seen}"
        );
        drop(step);
        let step = row(release, "B35 (c): what is there already is not offered");
        helix.screen.keys(&["Space", "d"]);
        helix.screen.wait("hunk 3/3");
        helix.screen.keys(&["Escape"]);
        drop(step);
        let step = row(
            release,
            "B35 (d): a deleted place is a conflict, and none of it is taken",
        );
        helix.go(64);
        helix.screen.wait("+new 35");
        helix.screen.keys(&["Space", "a"]);
        helix.screen.wait("Reject hunk");
        let seen = helix.screen.read();
        assert!(!seen.contains("Accept hunk"), "{seen}");
        helix.screen.keys(&["Escape"]);
        drop(step);
        let step = row(release, "B35 (a): the hunk follows its line");
        helix.go(35);
        helix.screen.wait("+new 5");
        helix.act("Accept hunk", 0);
        saved(&stage, &helix, &own.replace("\nline 5\n", "\nnew 5\n"));
        stage.await_pending(&id, 2);
        drop(step);
    }
}

/// B36. A formatter moves white space when the user saves.
#[test]
fn a_formatter_runs_when_the_user_saves() {
    const FORMATTER: &str = r#"[[language]]
name = "markdown"
auto-format = true
formatter = { command = "sh", args = ["-c", 'while read -r line; do echo "    $line"; done'] }
"#;
    for release in RELEASES {
        let _row = row(release, "B36");
        let stage = Stage::new(release, &[("a.md", &lines(1, 20))]);
        let id = stage.task("sed -i 's/^line \\(5\\|15\\)$/new \\1/' a.md");
        let home = Helix::home("", FORMATTER);
        let helix = stage.helix_of(&stage.room(), home, "", &["a.md"]);
        helix.go(5);
        helix.screen.wait("+new 5");
        helix.act("Accept hunk", 0);
        stage.await_pending(&id, 1);
        let formatted: String = lines(1, 20)
            .replace("line 5\n", "new 5\n")
            .lines()
            .map(|line| format!("    {line}\n"))
            .collect();
        saved(&stage, &helix, &formatted);
        // The formatter's lines are nobody's hunks: one waits, and it is the task's.
        helix.screen.keys(&["Space", "d"]);
        let seen = helix.screen.wait("hunk 1/1");
        assert!(!seen.contains("hunk 2"), "{seen}");
        helix.screen.keys(&["Escape"]);
        helix.go(15);
        helix.screen.wait("+new 15");
        helix.screen.keys(&["Space", "l", "r", "Space", "l", "y"]);
        let decided = stage.await_task("it is accepted or in conflict", |task| {
            task["id"] == *id && (task["pending"] == 0 || helix.screen.read().contains("conflict"))
        });
        let new = formatted.replace("    line 15\n", "    new 15\n");
        let waits = decided["pending"] == 1;
        saved(&stage, &helix, if waits { &formatted } else { &new });
    }
}

/// B37. One undo takes back the accepted hunk alone; what was accepted stays so when Helix is started again, and can be
/// taken back then.
#[test]
fn one_undo_is_one_hunk() {
    for release in RELEASES {
        let stage = Stage::new(release, &[("a.md", &lines(1, 20))]);
        let id = stage.task("sed -i 's/^line \\(5\\|15\\)$/new \\1/' a.md");
        let helix = stage.helix("", &["a.md"]);
        let own = lines(1, 20).replacen("line 1\n", "mine\n", 1);
        let accept = |line: u32, left: u64| {
            helix.go(line);
            helix.screen.wait(&format!("+new {line}"));
            helix.act("Accept hunk", 0);
            stage.await_pending(&id, left);
        };

        let step = row(release, "B37: one undo is one hunk");
        helix.screen.wait("●");
        change(&helix, 1, "mine");
        accept(5, 1);
        accept(15, 0);
        helix.screen.keys(&["Escape", "u"]);
        stage.await_pending(&id, 1);
        saved(&stage, &helix, &own.replace("line 5\n", "new 5\n"));
        helix.screen.keys(&["u"]);
        stage.await_pending(&id, 2);
        saved(&stage, &helix, &own);
        drop(step);

        let step = row(release, "B37: started again, and taken back then");
        accept(5, 1);
        accept(15, 0);
        change(&helix, 20, "later");
        let both = own
            .replace("line 5\n", "new 5\n")
            .replace("line 15\n", "new 15\n")
            .replace("line 20\n", "later\n");
        saved(&stage, &helix, &both);
        helix.command(":q");
        drop(helix);
        let helix = stage.helix("", &["a.md"]);
        eventually(
            || format!("legwork is there; the screen is:\n{}", helix.screen.read()),
            || {
                helix.screen.keys(&["Space", "l", "l"]);
                helix.screen.read().contains("legwork: ").then_some(())
            },
        );
        let seen = helix.screen.read();
        assert!(!seen.contains('●'), "{seen}");
        helix.screen.keys(&["Space", "l", "u"]);
        stage.await_pending(&id, 1);
        helix.screen.wait("15  line 15");
        helix.go(15);
        helix.screen.wait("+new 15");
        saved(&stage, &helix, &both.replace("new 15\n", "line 15\n"));
        drop(step);
    }
}

/// B38. Undo and redo accept nothing.
#[test]
fn undo_and_redo_accept_nothing() {
    for release in RELEASES {
        let _row = row(release, "B38");
        let stage = Stage::new(release, &[("a.md", &lines(1, 20))]);
        let id = stage.task("sed -i 's/^line 5$/new 5/' a.md");
        let helix = stage.helix("", &["a.md"]);
        helix.go(5);
        helix.screen.wait("+new 5");
        helix.screen.keys(&["x", "d", "u", "U", "u"]);
        helix.go(4);
        helix.screen.keys(&["O"]);
        helix.screen.text("mine");
        helix.screen.keys(&["Escape", "u", "U", "u"]);
        helix.go(5);
        helix.screen.wait("+new 5");
        stage.await_pending(&id, 1);
        // Something is to be saved at all.
        helix.screen.keys(&["g", "e", "o"]);
        helix.screen.text("end");
        helix.screen.keys(&["Escape"]);
        saved(
            &stage,
            &helix,
            &lines(1, 20).replace("line 20\n", "line 20\nend\n"),
        );
        stage.await_pending(&id, 1);
    }
}
