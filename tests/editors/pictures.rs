//! What a review looks like, as text for the documents. `LEGWORK_PICTURES=1 cargo test -p legwork-tests --test editors
//! pictures` takes the pictures anew; without that they are compared with what the editors show now.

use std::fs;
use std::path::PathBuf;

use kit::room::Release;

use crate::stage::{Stage, checkout};

const BEFORE: &str = "use std::fs;\n\n/// The names in a list, one a line.\nfn names(path: &str) -> Vec<String> {\n    \
                      let text = fs::read_to_string(path).unwrap();\n    text.lines().map(str::to_owned).collect()\n}\n\n\
                      fn main() {\n    for name in names(\"names.txt\") {\n        println!(\"Hello {name}\");\n    }\n}\n";

/// What the agent makes of it.
const AGENT: &str = "sed -i 's/-> Vec<String> {/-> io::Result<Vec<String>> {/; s/(path).unwrap();/(path)?;/; \
                     s/    text.lines().map(str::to_owned).collect()/    Ok(text.lines().map(str::to_owned).collect())/; \
                     s/^use std::fs;/use std::{fs, io};/' main.rs";

const WORDS: &str = "return an error instead of panicking";

fn stage() -> Stage {
    let stage = Stage::new(Release::Sid, &[("main.rs", BEFORE)]);
    kit::plain::set_agent(&stage.home, &["sh", "-c", AGENT]);
    let folder = stage.path();
    stage.home.legwork(&folder, ["delegate", WORDS]).expect(0);
    stage.await_task("it is ready", |task| task["state"] == "ready");
    stage
}

/// Takes a picture, or compares with the one that was taken.
fn compare(name: &str, screen: &str) {
    let file: PathBuf = checkout().join("server/docs/screens").join(name);
    if std::env::var_os("LEGWORK_PICTURES").is_some() {
        fs::create_dir_all(file.parent().expect("a folder of the checkout")).expect("a folder");
        fs::write(&file, screen).expect("a file");
    }
    let taken = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        screen,
        taken,
        "{} shows something else; take it anew with LEGWORK_PICTURES=1",
        file.display()
    );
}

#[test]
fn a_review_in_neovim() {
    let stage = stage();
    let nvim = stage.plugin("vim.o.number = true", &["main.rs"]);
    nvim.wait_lua("#require('legwork').hunks() == 2");
    nvim.screen.text("4G");
    // Messages come and go.
    nvim.screen.text(":echo");
    nvim.screen.keys(&["Enter"]);
    let seen = nvim.screen.wait_until("show the hunks", |seen| {
        seen.contains("legwork 2/2") && !seen.contains("echo")
    });
    compare("neovim.txt", &seen);
}

#[test]
fn a_review_in_helix() {
    let stage = stage();
    let helix = stage.helix("", &["main.rs"]);
    helix.screen.wait("●");
    helix.command(":4");
    helix.screen.wait("+fn names");
    helix.screen.keys(&["Space", "a"]);
    let seen = helix.screen.wait("Accept hunk");
    compare("helix.txt", &seen);
}
