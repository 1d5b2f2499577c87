//! Which buffer a file is: names that must be escaped, workspaces behind links, files that are new.

use std::os::unix::fs::symlink;

use kit::nvim::Nvim;

use crate::stage::{RELEASES, Stage, row};

/// Names that clients and servers escape in different ways.
const NAMES: [&str; 9] = [
    "[slug].md",
    "c#/x.md",
    "100%.md",
    "%23.md",
    "a b.md",
    "q?.md",
    "a+b.md",
    "ü.md",
    "~tmp.md",
];

fn buffers(nvim: &Nvim) -> String {
    nvim.lua_text(
        "local names = vim.tbl_map(function(buf) return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':.') end, \
         vim.tbl_filter(function(buf) return vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= '' end, \
         vim.api.nvim_list_bufs())) table.sort(names) return table.concat(names, '|')",
    )
}

fn input(nvim: &Nvim, keys: &str) {
    nvim.call("nvim_input", vec![keys.into()]);
}

/// B23 in Neovim.
#[test]
fn neovim_finds_files_whose_names_are_escaped() {
    let files: Vec<(&str, &str)> = NAMES.iter().map(|name| (*name, "old\n")).collect();
    for release in RELEASES {
        let _row = row(release, "B23: Neovim");
        let stage = Stage::new(release, &files);
        let id = stage.task("for f in *.md c#/x.md; do echo new > \"$f\"; done");
        let nvim = stage.plugin("", &[]);
        for name in NAMES {
            nvim.lua(&format!("vim.cmd.edit(vim.fn.fnameescape([==[{name}]==]))"));
            nvim.wait_lua("#require('legwork').hunks() == 1");
        }
        let before = buffers(&nvim);
        assert_eq!(before.split('|').count(), NAMES.len(), "{before}");
        input(&nvim, "\\lA");
        stage.await_pending(&id, 0);
        assert_eq!(buffers(&nvim), before);
        for name in NAMES {
            assert_eq!(stage.folder.read(name), "old\n", "{name} is not saved");
        }
        input(&nvim, ":wa<CR>");
        for name in NAMES {
            stage.await_file(name, "new\n");
        }
    }
}

/// B23 in Helix.
#[test]
fn helix_finds_files_whose_names_are_escaped() {
    let files: Vec<(&str, &str)> = NAMES.iter().map(|name| (*name, "old\n")).collect();
    for release in RELEASES {
        let _row = row(release, "B23: Helix");
        let stage = Stage::new(release, &files);
        let id = stage.task("for f in *.md c#/x.md; do echo new > \"$f\"; done");
        let helix = stage.helix("", &NAMES);
        helix.screen.wait("●");
        helix.command(":lsp-workspace-command legwork.acceptTask");
        stage.await_pending(&id, 0);
        for name in NAMES {
            assert_eq!(stage.folder.read(name), "old\n", "{name} is not saved");
        }
        helix.command(":wa");
        for name in NAMES {
            stage.await_file(name, "new\n");
        }
    }
}

/// B24. The workspace is opened through a link.
#[test]
fn a_workspace_behind_a_link() {
    for release in RELEASES {
        let _row = row(release, "B24");
        let stage = Stage::new(release, &[("ws/f.txt", "one\ntwo\n")]);
        let (real, link) = (stage.path().join("ws"), stage.path().join("link"));
        symlink(&real, &link).unwrap();
        let nvim = stage.plugin(&format!("vim.cmd.cd([[{}]])", link.display()), &[]);
        nvim.lua(&format!("vim.cmd.edit([[{}/f.txt]])", link.display()));
        input(&nvim, "Gomine<Esc>");
        nvim.wait_buffer("mine", |text| text.ends_with("mine"));
        input(&nvim, ":Legwork delegate run sed -i s/two/2/ f.txt<CR>");
        let task = stage.asked("run sed -i s/two/2/ f.txt");
        assert_eq!(task["spec"]["workspace"], real.display().to_string());
        nvim.wait_lua("#require('legwork').hunks() == 1");
        assert_eq!(nvim.buffer(), "one\ntwo\nmine");
        input(&nvim, "2G\\ly");
        nvim.wait_buffer("it is accepted", |text| text == "one\n2\nmine");
        // By itself Neovim follows links for the whole name, and not for the name as it was given.
        let name = nvim.lua_text("return vim.fn.bufname()");
        assert_eq!(name, link.join("f.txt").display().to_string());
        assert_eq!(buffers(&nvim).split('|').count(), 1, "{}", buffers(&nvim));
        assert_eq!(stage.folder.read("ws/f.txt"), "one\ntwo\n");
    }
}

/// B28. The task makes a file whose name a buffer has already.
#[test]
fn a_new_file_that_is_open_already() {
    for release in RELEASES {
        let _row = row(release, "B28");
        let stage = Stage::new(release, &[("a.txt", "a\n")]);
        let nvim = stage.plugin("", &["out.txt"]);
        input(&nvim, "imine<Esc>");
        nvim.wait_buffer("mine", |text| text == "mine");
        let id = stage.task("echo theirs > out.txt");
        nvim.wait_lua("#require('legwork').hunks() == 1");
        input(&nvim, "\\ly");
        nvim.wait_lua("#require('legwork.message').all() > 0");
        let text = nvim.buffer();
        assert!(text.contains("mine"), "{text}");
        assert!(!stage.path().join("out.txt").exists(), "it was written");
        stage.await_pending(&id, 1);
    }
}

/// B49. A new file is no hunk of the file that is open.
#[test]
fn a_new_file_beside_the_one_that_is_open() {
    for release in RELEASES {
        let _row = row(release, "B49");
        let stage = Stage::new(release, &[("main.go", "package main\n")]);
        let id = stage.task("echo 'package main // test' > main_test.go");
        let nvim = stage.plugin("", &["main.go"]);
        nvim.wait_lua("require('legwork').status():find('1 ready', 1, true) ~= nil");
        assert_eq!(nvim.lua("return #require('legwork').hunks()"), 0.into());
        assert!(!nvim.screen.read().contains("// test"));
        input(&nvim, ":Legwork review<CR>");
        nvim.wait_lua("vim.fn.expand('%:t') == 'main_test.go'");
        input(&nvim, ":b main.go<CR>:Legwork accept-task<CR>");
        stage.await_pending(&id, 0);
        stage.await_file("main_test.go", "package main // test\n");
        input(&nvim, ":e main_test.go<CR>");
        nvim.wait_buffer("the new file", |text| text == "package main // test");
        input(&nvim, ":b main.go<CR>");
        assert_eq!(nvim.buffer(), "package main");
    }
}
