//! One way through with a real virtual machine for each editor: a command runs in it, and what it changed is accepted.

use kit::room::Release;

use crate::stage::Stage;

#[test]
fn from_a_virtual_machine_into_both_editors() {
    let stage = Stage::with_machines(Release::Sid, &[("a.txt", "one\n"), ("b.md", "two\n")]);
    let nvim = stage.plugin("", &["a.txt"]);
    let helix = stage.helix("", &["b.md"]);
    nvim.screen.keys(&["Escape"]);
    nvim.screen.wait("one");
    let id = stage.task("echo 1 > a.txt; echo 2 > b.md");

    nvim.wait_lua("#require('legwork').hunks() == 1");
    nvim.screen.text("\\ly");
    nvim.wait_buffer("it is accepted", |text| text == "1");
    stage.await_pending(&id, 1);
    nvim.screen.text(":w");
    nvim.screen.keys(&["Enter"]);
    stage.await_file("a.txt", "1\n");

    helix.screen.wait("●");
    helix.screen.keys(&["Space", "a"]);
    helix.screen.wait("Accept hunk");
    helix.screen.keys(&["Enter"]);
    stage.await_pending(&id, 0);
    helix.command(":w");
    stage.await_file("b.md", "2\n");
}
