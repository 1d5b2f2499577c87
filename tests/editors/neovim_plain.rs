//! Neovim with nothing but its own language client: every step of a task from its keys, in both releases.

use kit::nvim::Nvim;
use kit::room::Release;

use crate::stage::{RELEASES, Stage, lines, place, row};

/// Opens the menu of code actions on the line under the cursor and takes the entry with these words.
fn act(nvim: &Nvim, words: &str) {
    nvim.screen.text("gra");
    let seen = nvim.screen.wait(words);
    let line = seen
        .lines()
        .find(|line| line.contains(words))
        .expect("it was just seen");
    let number = line
        .trim()
        .split(':')
        .next()
        .expect("entries are numbered")
        .to_owned();
    nvim.screen.keys(&[&number, "Enter"]);
}

#[test]
fn delegating_watching_and_cancelling() {
    for release in RELEASES {
        let text = "fn main() {\n    // @legwork make this return a Result\n}\n";
        let stage = Stage::new(release, &[("a.rs", text)]);
        let nvim = stage.nvim("", &["a.rs"]);
        nvim.screen.wait("fn main");
        nvim.wait_lua("#vim.lsp.get_clients({ name = 'legwork' }) == 1");

        let step = row(release, "delegate: code action on an @legwork comment");
        nvim.screen.keys(&["2", "G"]);
        act(&nvim, "Delegate: make this return a Result");
        let task = stage.asked("make this return a Result");
        assert_eq!(place(&task).0, "a.rs");
        let id = task["id"].clone();
        stage.await_task("it is ready", |task| {
            task["id"] == id && task["state"] == "ready"
        });
        drop(step);

        let step = row(release, "progress: vim.lsp.status()");
        let gate = stage.home.state().join("gate");
        let words = format!("wait for {}", gate.display());
        nvim.lua("_G.seen = ''; _G.look = vim.uv.new_timer(); _G.look:start(0, 50, vim.schedule_wrap(function() _G.seen = _G.seen .. vim.lsp.status() end))");
        nvim.lua(&format!(
            "vim.lsp.get_clients({{ name = 'legwork' }})[1].request('workspace/executeCommand', \
             {{ command = 'legwork.delegate', arguments = {{ {{ text = '{words}' }} }} }})"
        ));
        let waiting = stage.asked(&words);
        nvim.wait_lua("_G.seen:find('Legwork: wait for', 1, true) ~= nil");
        drop(step);

        let step = row(release, "cancel: window/workDoneProgress/cancel");
        nvim.lua(
            "local client = vim.lsp.get_clients({ name = 'legwork' })[1] \
             client.notify('window/workDoneProgress/cancel', { token = next(client.progress.pending) })",
        );
        stage.await_task("it is cancelled", |task| {
            task["id"] == waiting["id"] && task["outcome"]["type"] == "cancelled"
        });
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
        let nvim = stage.nvim("", &["a.txt"]);

        let step = row(release, "open review: vim.diagnostic.setqflist()");
        nvim.wait_lua("#vim.diagnostic.get(0) == 2");
        nvim.screen.text(":lua vim.diagnostic.setqflist()");
        nvim.screen.keys(&["Enter"]);
        nvim.screen.wait("hunk 1/2");
        nvim.screen.text(":cclose");
        nvim.screen.keys(&["Enter"]);
        drop(step);

        let step = row(release, "walk: ]d and [d");
        nvim.screen.keys(&["g", "g"]);
        for (keys, line) in [("]d", 3), ("]d", 20), ("[d", 3)] {
            nvim.screen.text(keys);
            nvim.wait_lua(&format!("vim.fn.line('.') == {line}"));
        }
        drop(step);

        let step = row(release, "accept a hunk: gra");
        act(&nvim, "Accept hunk");
        nvim.wait_buffer("line 3 is new", |text| text.contains("\nthree\n"));
        stage.await_pending(&id, 3);
        assert_eq!(stage.folder.read("a.txt"), lines(1, 30), "nothing is saved");
        drop(step);

        let step = row(release, "undo: u brings text and hunk back");
        nvim.screen.keys(&["u"]);
        nvim.wait_buffer("line 3 is old", |text| text.contains("\nline 3\n"));
        stage.await_pending(&id, 4);
        nvim.wait_lua("#vim.diagnostic.get(0) == 2");
        drop(step);

        let step = row(release, "reject a hunk: gra");
        nvim.screen.keys(&["2", "0", "G"]);
        act(&nvim, "Reject hunk");
        stage.await_pending(&id, 3);
        nvim.wait_lua("#vim.diagnostic.get(0) == 1");
        assert_eq!(nvim.buffer() + "\n", lines(1, 30));
        drop(step);

        let step = row(release, "accept a file: gra");
        nvim.screen.text(":e b.txt");
        nvim.screen.keys(&["Enter"]);
        nvim.wait_lua("#vim.diagnostic.get(0) == 2");
        nvim.screen.keys(&["2", "G"]);
        act(&nvim, "Accept all 2 hunks of this file");
        nvim.wait_buffer("both are new", |text| {
            text == "line 1\ntwo\nline 3\nfour\nline 5"
        });
        stage.await_pending(&id, 1);
        nvim.screen.keys(&["u"]);
        nvim.wait_buffer("one undo takes both back", |text| {
            text.to_owned() + "\n" == lines(1, 5)
        });
        stage.await_pending(&id, 3);
        drop(step);

        if release == Release::Sid {
            let step = row(release, "accept a hunk: grx on a lens");
            nvim.lua("vim.lsp.codelens.enable(true)");
            nvim.screen.wait("Accept");
            nvim.screen.keys(&["2", "G"]);
            nvim.screen.text("grx");
            let seen = nvim.screen.wait("1: Accept");
            assert!(seen.contains("2: Reject"), "{seen}");
            nvim.screen.keys(&["1", "Enter"]);
            nvim.wait_buffer("line 2 is new", |text| text.contains("\ntwo\n"));
            stage.await_pending(&id, 2);
            nvim.screen.keys(&["u"]);
            stage.await_pending(&id, 3);
            drop(step);
        }

        let step = row(release, "accept all: gra");
        nvim.wait_lua("#vim.diagnostic.get(0) == 2");
        nvim.screen.keys(&["2", "G"]);
        act(&nvim, "Accept the whole task");
        stage.await_pending(&id, 0);
        nvim.screen.text(":wa");
        nvim.screen.keys(&["Enter"]);
        stage.await_file("a.txt", &lines(1, 30).replace("line 3\n", "three\n"));
        stage.await_file("b.txt", "line 1\ntwo\nline 3\nfour\nline 5\n");
        drop(step);

        let step = row(release, "read legwork: text: an empty buffer");
        nvim.screen.text(&format!(":e legwork:/{id}/diff"));
        nvim.screen.keys(&["Enter"]);
        nvim.wait_lua("vim.api.nvim_buf_get_name(0):find('legwork:', 1, true) ~= nil");
        assert_eq!(nvim.buffer(), "");
        drop(step);
    }
}

/// Neovim starts a server for what lies outside of the folder of the one that runs; where that is the copy of a new file,
/// it is about the task.
#[test]
fn a_new_file_is_decided_in_its_copy() {
    const ENABLE: &str = "vim.lsp.config('legwork', { cmd = { 'legwork', 'lsp' }, root_markers = { '.git' } })\n\
                          vim.lsp.enable('legwork')";
    let _row = row(Release::Sid, "vim.lsp.enable, and a new file");
    let stage = Stage::new(Release::Sid, &[("a.txt", "a\n"), (".git/HEAD", "")]);
    let id = stage.task("echo new > new.txt");
    let nvim = Nvim::open(&stage.room(), &stage.path(), ENABLE, &["a.txt"]);
    nvim.wait_lua("#vim.lsp.get_clients({ bufnr = 0, name = 'legwork' }) == 1");
    nvim.lua("vim.lsp.get_clients({ name = 'legwork' })[1]:exec_cmd({ title = '', command = 'legwork.review' })");
    nvim.wait_lua("vim.fn.expand('%:t') == 'new.txt'");
    nvim.wait_lua("#vim.lsp.get_clients({ bufnr = 0, name = 'legwork' }) == 1");
    assert_eq!(nvim.buffer(), "new");
    assert_eq!(
        nvim.lua("return #vim.lsp.get_clients({ name = 'legwork' })"),
        2.into()
    );
    // It takes a moment until a server that was just started knows of the task.
    nvim.wait_lua(
        "(function() local a = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', \
         vim.tbl_extend('force', vim.lsp.util.make_range_params(0, 'utf-8'), { context = { diagnostics = {} } }), 1000) \
         local _, first = next(a or {}) return first ~= nil and first.result ~= nil and #first.result == 2 end)()",
    );
    act(&nvim, "Accept the new file");
    stage.await_pending(&id, 0);
    stage.await_file("new.txt", "new\n");
}
