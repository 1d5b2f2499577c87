//! The user's own edits beside a task's: unsaved text, text that moves on, undo, and saving through a formatter.

use std::fs;

use kit::nvim::Nvim;
use kit::room::Release;

use crate::stage::{RELEASES, Stage, lines, row};

/// Presses keys in the notation of mappings, all in the same moment.
fn at_once(nvim: &Nvim, keys: &str) {
    nvim.call("nvim_input", vec![keys.into()]);
}

fn hunks(nvim: &Nvim, count: usize) {
    nvim.wait_lua(&format!("#require('legwork').hunks() == {count}"));
}

/// B20. Either a hunk lands on its own line, or it still waits: 200 times in one Neovim, and a few times more where nothing
/// was typed since the file was opened, when Neovim does not look at versions.
#[test]
fn an_accept_and_a_key_in_the_same_moment() {
    for (release, before, count) in [
        (RELEASES[0], "", 6),
        (RELEASES[0], "Ax<BS><Esc>", 6),
        (RELEASES[1], "", 200),
        (RELEASES[1], "Ax<BS><Esc>", 6),
    ] {
        let _row = row(release, &format!("B20 after {before:?}"));
        let stage = Stage::new(release, &[("a.txt", &lines(1, 4 * count))]);
        let id = stage.task("sed -i '2~4s/^line/new/' a.txt");
        let nvim = stage.plugin("", &["a.txt"]);
        hunks(&nvim, count.try_into().unwrap());
        at_once(&nvim, before);
        for hunk in 0..count {
            let number = 4 * hunk + 2;
            // The key comes after the accept, or before it.
            let keys = if hunk % 2 == 0 {
                "\\lyO<Esc>"
            } else {
                "O<Esc>j\\ly"
            };
            at_once(&nvim, &format!("/^line {number}$<CR>{keys}"));
            let lands = format!("vim.fn.search('^new {number}$', 'nw') > 0");
            nvim.lua(&format!("vim.wait(3000, function() return {lands} end, 5)"));
        }
        let left = |text: &str| {
            (0..count)
                .filter(|hunk| text.contains(&format!("\nline {}\n", 4 * hunk + 2)))
                .count()
        };
        // What was typed last is there, and nothing is on its way any more.
        nvim.wait_lua(&format!("vim.fn.line('$') >= {}", 5 * count));
        stage.await_task("what waits is what is old", |task| {
            task["id"] == *id && task["pending"] == left(&nvim.buffer())
        });
        let text = nvim.buffer();
        let own: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        for (index, line) in own.iter().enumerate() {
            let number = index + 1;
            let old = *line == format!("line {number}");
            let new = number % 4 == 2 && *line == format!("new {number}");
            assert!(old || new, "line {number} is {line:?}");
        }
        assert_eq!(own.len(), (4 * count) as usize);
        assert_eq!(text.lines().count(), (5 * count) as usize, "{text}");
        assert!(left(&text) * 2 < count as usize, "most wait: {text}");
    }
}

/// B34. What is not saved is what the task starts from, and stays unsaved.
#[test]
fn unsaved_text_is_the_base() {
    for release in RELEASES {
        let _row = row(release, "B34");
        let stage = Stage::new(release, &[("a.txt", "v1\nend\n")]);
        let nvim = stage.plugin("", &["a.txt"]);
        nvim.screen.wait("v1");
        at_once(&nvim, "ggccv2<CR>new function<Esc>");
        nvim.screen
            .text(":Legwork delegate run sed -i 's/function/call/' a.txt");
        nvim.screen.keys(&["Enter"]);
        let task = stage.asked("run sed -i 's/function/call/' a.txt");
        let id = task["id"].as_str().unwrap();
        nvim.screen.wait("new call");
        assert_eq!(nvim.buffer(), "v2\nnew function\nend");
        at_once(&nvim, "2G\\ly");
        nvim.wait_buffer("it is accepted", |text| text == "v2\nnew call\nend");
        // The agent's own note is another file.
        stage.await_pending(id, 1);
        assert_eq!(stage.folder.read("a.txt"), "v1\nend\n");
    }
}

/// B35. The user types while the task runs.
#[test]
fn text_changes_while_the_task_runs() {
    for release in RELEASES {
        let stage = Stage::new(release, &[("a.txt", &lines(1, 40))]);
        let gate = stage.home.state().join("gate");
        let id = stage.home.delegate(
            &stage.path(),
            &format!(
                "until test -e {}; do sleep 0.05; done; sed -i 's/^line \\(5\\|15\\|25\\|35\\)$/new \\1/' a.txt",
                gate.display()
            ),
        );
        stage.await_task("it runs", |task| {
            task["id"] == *id && task["state"] == "running"
        });
        let nvim = stage.plugin("", &["a.txt"]);
        nvim.screen.wait("line 5");
        // From the bottom, so that numbers hold: delete 34-36, make 25 what it will be, change 15, put 30 lines on top.
        at_once(
            &nvim,
            "34Gd2j25Gccnew 25<Esc>15Gccmine 15<Esc>ggO<Esc>29O<Esc>",
        );
        nvim.wait_lua("vim.fn.line('$') == 67");
        let own = nvim.buffer();
        fs::write(&gate, "").unwrap();
        stage.await_task("it is ready", |task| {
            task["id"] == *id && task["state"] == "ready"
        });
        let state = |text: &str| {
            format!(
                "#vim.tbl_filter(function(hunk) return hunk.state == 'conflicted' and hunk.added[1] == '{text}' end, \
                 require('legwork').hunks()) == 1"
            )
        };
        let step = row(release, "B35 (b): a changed line is a conflict");
        nvim.wait_lua(&state("new 15"));
        drop(step);
        let step = row(release, "B35 (d): a deleted place is a conflict");
        nvim.wait_lua(&state("new 35"));
        drop(step);
        let step = row(release, "B35 (c): what is there already is not offered");
        hunks(&nvim, 3);
        drop(step);
        let step = row(release, "B35 (a): the hunk follows its line");
        assert_eq!(nvim.buffer(), own);
        at_once(&nvim, "/^line 5$<CR>\\ly");
        nvim.wait_buffer("it is accepted", |text| {
            text == own.replace("\nline 5\n", "\nnew 5\n")
        });
        hunks(&nvim, 2);
        drop(step);
    }
}

/// B36. A formatter moves white space when the user saves.
#[test]
fn a_formatter_runs_when_the_user_saves() {
    const FORMATTER: &str = "vim.api.nvim_create_autocmd('BufWritePre', { callback = function() \
                             vim.cmd([[silent! %s/^\\s*/    /]]) end })";
    for release in RELEASES {
        let _row = row(release, "B36");
        let stage = Stage::new(release, &[("a.txt", &lines(1, 20))]);
        let id = stage.task("sed -i 's/^line \\(5\\|15\\)$/new \\1/' a.txt");
        let nvim = stage.plugin(FORMATTER, &["a.txt"]);
        hunks(&nvim, 2);
        at_once(&nvim, "5G\\ly");
        nvim.wait_buffer("it is accepted", |text| text.contains("\nnew 5\n"));
        stage.await_pending(&id, 1);
        at_once(&nvim, ":w<CR>");
        let formatted: String = lines(1, 20)
            .replace("line 5\n", "new 5\n")
            .lines()
            .map(|line| format!("    {line}\n"))
            .collect();
        stage.await_file("a.txt", &formatted);
        hunks(&nvim, 1);
        stage.await_pending(&id, 1);
        at_once(&nvim, "15G\\ly");
        nvim.wait_lua("#require('legwork').hunks() == 0 or require('legwork').hunks()[1].state == 'conflicted'");
        at_once(&nvim, ":w<CR>");
        nvim.wait_lua("not vim.bo.modified");
        let text = stage.folder.read("a.txt");
        let old = formatted;
        let new = old.replace("    line 15\n", "    new 15\n");
        assert!(text == old || text == new, "{text}");
        let waits = u64::from(text == old);
        stage.await_pending(&id, waits);
    }
}

/// B37. One undo takes back the accepted hunk alone.
#[test]
fn one_undo_is_one_hunk() {
    for release in RELEASES {
        let _row = row(release, "B37");
        let stage = Stage::new(release, &[("a.txt", &lines(1, 20))]);
        let id = stage.task("sed -i 's/^line \\(5\\|15\\)$/new \\1/' a.txt");
        let nvim = stage.plugin("", &["a.txt"]);
        hunks(&nvim, 2);
        at_once(&nvim, "ggccmine<Esc>");
        nvim.wait_buffer("mine", |text| text.starts_with("mine\n"));
        at_once(&nvim, "5G\\ly");
        stage.await_pending(&id, 1);
        at_once(&nvim, "15G\\ly");
        stage.await_pending(&id, 0);
        let both = nvim.buffer();
        at_once(&nvim, "u");
        stage.await_pending(&id, 1);
        assert_eq!(nvim.buffer(), both.replace("new 15", "line 15"));
        at_once(&nvim, "u");
        stage.await_pending(&id, 2);
        assert_eq!(
            nvim.buffer() + "\n",
            lines(1, 20).replacen("line 1\n", "mine\n", 1)
        );
        hunks(&nvim, 2);
    }
}

/// B37. What was accepted stays so when Neovim is started again, and can be taken back then, in the buffer, and later by the
/// command line. What the user wrote meanwhile stays.
#[test]
fn undo_in_another_session() {
    for release in RELEASES {
        let stage = Stage::new(release, &[("a.txt", &lines(1, 20))]);
        let id = stage.task("sed -i 's/^line \\(5\\|15\\)$/new \\1/' a.txt");
        let nvim = stage.plugin("", &["a.txt"]);
        hunks(&nvim, 2);
        for (line, left) in [("5", 1), ("15", 0)] {
            at_once(&nvim, &format!("{line}G\\ly"));
            stage.await_pending(&id, left);
        }
        at_once(&nvim, "Gcclater<Esc>:w<CR>");
        let both = lines(1, 20)
            .replace("line 5\n", "new 5\n")
            .replace("line 15\n", "new 15\n")
            .replace("line 20\n", "later\n");
        stage.await_file("a.txt", &both);
        drop(nvim);

        let step = row(release, "B37: what was accepted is accepted");
        let nvim = stage.plugin("", &["a.txt"]);
        nvim.wait_lua("#require('legwork').tasks() == 1");
        hunks(&nvim, 0);
        stage.await_pending(&id, 0);
        drop(step);

        let step = row(release, "B37: :Legwork undo, in the buffer");
        at_once(&nvim, "ggccmine<Esc>:Legwork undo<CR>");
        let one = both
            .replacen("line 1\n", "mine\n", 1)
            .replace("new 15\n", "line 15\n");
        nvim.wait_buffer("one hunk is taken back", |text| {
            text.to_owned() + "\n" == one
        });
        hunks(&nvim, 1);
        stage.await_pending(&id, 1);
        assert_eq!(stage.folder.read("a.txt"), both);
        at_once(&nvim, ":w<CR>");
        stage.await_file("a.txt", &one);
        drop(nvim);
        drop(step);

        let step = row(release, "B37: legwork undo, with no editor");
        stage.home.legwork(&stage.path(), ["undo", &id]).expect(0);
        assert_eq!(
            stage.folder.read("a.txt"),
            one.replace("new 5\n", "line 5\n")
        );
        stage.await_pending(&id, 2);
        drop(step);
    }
}

/// B38. Undo and redo accept nothing.
#[test]
fn undo_and_redo_accept_nothing() {
    for release in RELEASES {
        let _row = row(release, "B38");
        let stage = Stage::new(release, &[("a.txt", &lines(1, 20))]);
        let id = stage.task("sed -i 's/^line 5$/new 5/' a.txt");
        let nvim = stage.plugin("", &["a.txt"]);
        nvim.screen.wait("new 5");
        at_once(&nvim, "5Gddu<C-r>u4GOmine<Esc>u<C-r>u");
        nvim.wait_lua("vim.fn.mode() == 'n'");
        nvim.wait_buffer("all is undone", |text| {
            text.to_owned() + "\n" == lines(1, 20)
        });
        nvim.screen.wait("new 5");
        stage.await_pending(&id, 1);
        assert_eq!(nvim.buffer() + "\n", lines(1, 20));
    }
}

/// B22. A line added at the end, with and without a final newline.
#[test]
fn a_line_at_the_end_in_neovim() {
    for release in RELEASES {
        for (name, text, script, set, wanted) in [
            ("eol", "a\nb\n", "echo new >> a.txt", "", "a\nb\nnew\n"),
            (
                "noeol, kept",
                "a\nb",
                "printf '\\nnew' >> a.txt",
                "vim.o.fixeol = false",
                "a\nb\nnew",
            ),
            (
                "noeol, fixed by the editor",
                "a\nb",
                "printf '\\nnew' >> a.txt",
                "",
                "a\nb\nnew\n",
            ),
            (
                "noeol, eol by the task",
                "a\nb",
                "printf '\\nnew\\n' >> a.txt",
                "",
                "a\nb\nnew\n",
            ),
        ] {
            let _row = row(release, &format!("B22: {name}"));
            let stage = Stage::new(release, &[("a.txt", text)]);
            let id = stage.task(script);
            let nvim = stage.plugin(set, &["a.txt"]);
            hunks(&nvim, 1);
            at_once(&nvim, "G\\ly");
            nvim.wait_buffer("it is accepted", |text| text == "a\nb\nnew");
            stage.await_pending(&id, 0);
            at_once(&nvim, ":w<CR>");
            stage.await_file("a.txt", wanted);
        }
    }
}

/// B22. The same in Helix, which ends every file that it saves.
#[test]
fn a_line_at_the_end_in_helix() {
    for release in RELEASES {
        for (text, script) in [
            ("a\nb\n", "echo new >> a.md"),
            ("a\nb", "printf '\\nnew' >> a.md"),
            ("a\nb", "printf '\\nnew\\n' >> a.md"),
        ] {
            let _row = row(release, &format!("B22: {text:?}, {script}"));
            let stage = Stage::new(release, &[("a.md", text)]);
            let id = stage.task(script);
            let helix = stage.helix("", &["a.md"]);
            helix.screen.wait("●");
            helix.command(":lsp-workspace-command legwork.review");
            helix.command(":lsp-workspace-command legwork.accept");
            stage.await_pending(&id, 0);
            helix.command(":w");
            stage.await_file("a.md", "a\nb\nnew\n");
        }
    }
}

/// B30. A buffer that may not be changed.
#[test]
fn a_buffer_that_cannot_be_changed() {
    for release in [Release::Trixie, Release::Sid] {
        let stage = Stage::new(release, &[("a.txt", "one\n"), ("b.txt", "two\n")]);
        let id = stage.task("echo 1 > a.txt; echo 2 > b.txt");
        let nvim = stage.plugin("", &["a.txt"]);
        hunks(&nvim, 1);

        let step = row(release, "B30: nomodifiable");
        nvim.lua("vim.bo.modifiable = false");
        at_once(&nvim, "\\ly");
        nvim.wait_lua("#require('legwork.message').all() > 0");
        stage.await_pending(&id, 2);
        hunks(&nvim, 1);
        assert_eq!(nvim.buffer(), "one");
        drop(step);

        let step = row(
            release,
            "B30: other hunks go on, and the buffer can be opened again",
        );
        at_once(&nvim, ":e b.txt<CR>");
        hunks(&nvim, 1);
        at_once(&nvim, "\\ly");
        nvim.wait_buffer("it is accepted", |text| text == "2");
        stage.await_pending(&id, 1);
        at_once(&nvim, ":b a.txt<CR>");
        nvim.lua("vim.bo.modifiable = true; vim.bo.readonly = true");
        at_once(&nvim, "\\ly");
        nvim.wait_buffer("it is accepted", |text| text == "1");
        stage.await_pending(&id, 0);
        assert_eq!(stage.folder.read("a.txt"), "one\n");
        drop(step);
    }
}
