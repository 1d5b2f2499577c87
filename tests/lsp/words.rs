//! Tasks given in words at the command line, as an editor that pipes a selection gives them.

use std::{
    io::Write as _,
    process::{Output, Stdio},
};

use kit::{folder::Folder, home::Home, plain};

const AGENT: &str = "printf '%s|' \"$LEGWORK_PROMPT\" \"$LEGWORK_FILE\" \"$LEGWORK_LINES\" > said; \
    printf '%s' \"$LEGWORK_REQUEST\" > request";

fn folder() -> Folder {
    Folder::with(&[
        (".legwork/here", ""),
        ("agent.sh", AGENT),
        ("src/a.txt", "one\ntwo\nthree\n"),
    ])
}

/// Runs `legwork` in `src` with a text on its standard input.
fn piped(home: &Home, folder: &Folder, arguments: &[&str], text: &str) -> Output {
    let mut running = home
        .command(&folder.path().join("src"), arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("legwork starts");
    let mut stdin = running.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    running.wait_with_output().expect("it ends")
}

#[test]
fn the_agent_is_told_what_was_said_and_where() {
    let (home, folder) = (plain::home(), folder());
    let top = folder.path();
    let refused = home.legwork(&top, ["delegate", "fix", "it"]).expect(2);
    assert!(
        refused.stderr.contains("config.toml") && refused.stderr.contains("[agent]"),
        "{refused:?}"
    );
    plain::set_agent(&home, &["sh", "agent.sh"]);
    let arguments = [
        "delegate", "--stdin", "--file", "a.txt", "--lines", "2-3", "shorten", "it",
    ];
    let output = piped(&home, &folder, &arguments, "two\nthree\n");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(
        output.stdout.is_empty(),
        "an editor would put it into the text"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
    let id = told.split_whitespace().nth(2).unwrap();
    home.wait_for(&top, id, &["ready"]);
    let shown = home.legwork(&top, ["show", id]).expect(0).text();
    assert!(
        shown.contains(
            "prompt     shorten it\nat         src/a.txt, lines 2 to 3\ncommand    sh agent.sh\n"
        ),
        "{shown}"
    );
    let listed = home.legwork(&top, ["tasks"]).expect(0).text();
    assert!(listed.contains("shorten it"), "{listed}");
    home.legwork(&top, ["accept", id]).expect(0);
    // The agent starts at the top of the workspace.
    assert_eq!(folder.read("said"), "shorten it|src/a.txt|2-3|");
    let request: serde_json::Value = serde_json::from_str(&folder.read("request")).unwrap();
    assert_eq!(request["place"]["text"], "two\nthree\n");
    assert_eq!(request["place"]["path"], "src/a.txt");
}
