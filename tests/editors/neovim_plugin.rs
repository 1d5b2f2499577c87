//! Neovim with the plug-in: every step of a task from its keys, in both releases. One Neovim goes through several steps,
//! since starting one and a daemon takes longer than the steps.

use kit::nvim::Nvim;

use crate::stage::{RELEASES, Stage, lines, place, row};

fn line_is(nvim: &Nvim, line: u32) {
    nvim.wait_lua(&format!("vim.fn.line('.') == {line}"));
}

fn file_is(nvim: &Nvim, name: &str) {
    nvim.wait_lua(&format!("vim.fn.expand('%:t') == '{name}'"));
}

#[test]
fn delegating_watching_and_cancelling() {
    for release in RELEASES {
        let stage = Stage::new(release, &[("a.txt", &lines(1, 9))]);
        let nvim = stage.plugin("", &["a.txt"]);
        nvim.screen.wait("line 9");

        let step = row(release, "delegate: select, <leader>ld, a sentence, Enter");
        nvim.screen.keys(&["2", "G", "V", "j", "\\", "l", "d"]);
        nvim.screen.wait("Delegate:");
        nvim.screen.text("add a test");
        nvim.screen.keys(&["Enter"]);
        let task = stage.asked("add a test");
        assert_eq!(place(&task), ("a.txt".to_owned(), 2, 3));
        drop(step);

        let step = row(release, "delegate: :'<,'>Legwork and a sentence");
        nvim.screen.keys(&["Escape", "4", "G", "V", ":"]);
        nvim.screen.text("Legwork fix the bug");
        nvim.screen.keys(&["Enter"]);
        let task = stage.asked("fix the bug");
        assert_eq!(place(&task), ("a.txt".to_owned(), 4, 4));
        let id = task["id"].as_str().unwrap().to_owned();
        let ready = stage.await_task("it is ready", |task| {
            task["id"] == id && task["state"] == "ready"
        });
        assert_eq!(ready["pending"], 1, "{ready}");
        drop(step);

        let step = row(release, "progress: the status line's words");
        let gate = stage.home.state().join("gate");
        let words = format!("wait for {}", gate.display());
        nvim.screen.keys(&["Escape"]);
        nvim.screen.text(&format!(":Legwork delegate {words}"));
        nvim.screen.keys(&["Enter"]);
        nvim.wait_lua("require('legwork').status():find('1 running', 1, true) ~= nil");
        drop(step);

        let step = row(release, "cancel: :Legwork cancel");
        let waiting = stage.asked(&words);
        nvim.screen.text(":Legwork cancel");
        nvim.screen.keys(&["Enter"]);
        stage.await_task("it is cancelled", |task| {
            task["id"] == waiting["id"] && task["outcome"]["type"] == "cancelled"
        });
        nvim.wait_lua("require('legwork').status():find('running', 1, true) == nil");
        drop(step);
    }
}

#[test]
fn reviewing() {
    for release in RELEASES {
        let stage = Stage::new(
            release,
            &[("a.txt", &lines(1, 30)), ("b.txt", &lines(1, 5))],
        );
        let id = stage.task(
            "sed -i 's/^line 3$/three/; s/^line 20$/twenty/' a.txt; sed -i 's/^line 2$/two/; s/^line 4$/four/' b.txt",
        );
        let nvim = stage.plugin("", &["a.txt"]);

        let step = row(release, "open review: <leader>lr fills the quickfix list");
        nvim.screen.wait("three");
        nvim.screen.keys(&["\\", "l", "r"]);
        nvim.wait_lua("#vim.fn.getqflist() == 4");
        drop(step);

        let step = row(release, "walk: ]h and [h, across files");
        nvim.screen.keys(&[
            ":", "b", "Space", "a", ".", "t", "x", "t", "Enter", "g", "g",
        ]);
        file_is(&nvim, "a.txt");
        line_is(&nvim, 1);
        for (index, (keys, file, line)) in [
            ("]h", "a.txt", 3),
            ("]h", "a.txt", 20),
            ("]h", "b.txt", 2),
            ("[h", "a.txt", 20),
            ("[h", "a.txt", 3),
        ]
        .into_iter()
        .enumerate()
        {
            let _press = row(release, &format!("press {index}: {keys} to {file}:{line}"));
            // The keys are there where hunks are.
            nvim.wait_lua("#require('legwork').hunks() == 2");
            nvim.screen.text(keys);
            file_is(&nvim, file);
            line_is(&nvim, line);
        }
        drop(step);

        let step = row(release, "accept a hunk: <leader>ly");
        nvim.screen.text("\\ly");
        nvim.wait_buffer("line 3 is new", |text| text.contains("\nthree\n"));
        stage.await_pending(&id, 3);
        assert_eq!(stage.folder.read("a.txt"), lines(1, 30), "nothing is saved");
        drop(step);

        let step = row(release, "undo: u brings text and hunk back");
        nvim.screen.keys(&["u"]);
        nvim.wait_buffer("line 3 is old", |text| text.contains("\nline 3\n"));
        stage.await_pending(&id, 4);
        nvim.screen.wait("three");
        drop(step);

        let step = row(release, "reject a hunk: <leader>lx");
        nvim.screen.keys(&["2", "0", "G"]);
        line_is(&nvim, 20);
        nvim.screen.text("\\lx");
        stage.await_pending(&id, 3);
        nvim.wait_lua("#require('legwork').hunks() == 1");
        assert_eq!(nvim.buffer() + "\n", lines(1, 30));
        drop(step);

        let step = row(release, "accept a file: <leader>lf");
        nvim.screen.text(":e b.txt");
        nvim.screen.keys(&["Enter"]);
        nvim.screen.wait("four");
        nvim.screen.text("\\lf");
        nvim.wait_buffer("both are new", |text| {
            text == "line 1\ntwo\nline 3\nfour\nline 5"
        });
        stage.await_pending(&id, 1);
        nvim.screen.keys(&["u"]);
        nvim.wait_buffer("one undo takes both back", |text| {
            text.to_owned() + "\n" == lines(1, 5)
        });
        stage.await_pending(&id, 3);
        nvim.wait_lua("#require('legwork').hunks() == 2");
        drop(step);

        let step = row(release, "accept all: <leader>lA");
        nvim.screen.text("\\lA");
        nvim.wait_buffer("both are new", |text| {
            text == "line 1\ntwo\nline 3\nfour\nline 5"
        });
        stage.await_pending(&id, 0);
        nvim.screen.text(":wa");
        nvim.screen.keys(&["Enter"]);
        stage.await_file("a.txt", &lines(1, 30).replace("line 3\n", "three\n"));
        stage.await_file("b.txt", "line 1\ntwo\nline 3\nfour\nline 5\n");
        drop(step);

        let step = row(release, "read legwork: text");
        nvim.screen.text(&format!(":e legwork:/{id}/diff"));
        nvim.screen.keys(&["Enter"]);
        nvim.wait_buffer("it shows the diff", |text| {
            text.contains("-line 3") && text.contains("+three")
        });
        drop(step);
    }
}
