//! One test for each way through the extension.

use kit::model::{Answer, Model};
use serde_json::{Value, json};

use crate::stage::Stage;

/// Twelve lines, no two alike, and no end of line at the end.
const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve";

#[test]
fn a_command_from_a_virtual_machine_is_reviewed() {
    let stage = Stage::with_machines(&[("a.txt", BEFORE), ("b.txt", "b\n")]);
    let script =
        "sed -i 's/^one$/1/; s/^four$/4/; s/^seven$/7/; s/^ten$/10/' a.txt; echo B > b.txt";
    stage.drive("review", &json!({ "script": script }));
    // One was accepted and one rejected; what was taken back waits, and so does the file nobody looked at.
    let after = BEFORE.replacen("one", "1", 1);
    assert_eq!(stage.folder.read("a.txt"), after);
    assert_eq!(stage.folder.read("b.txt"), "b\n");
    stage.await_pending(3);
    assert_eq!(stage.tasks().len(), 1);
}

/// Obeys words that begin with `run`.
const AGENT: &str = r#"case $LEGWORK_PROMPT in 'run '*) eval "${LEGWORK_PROMPT#run }";; esac"#;

#[test]
fn the_walkthrough_ends_with_an_accepted_hunk() {
    let stage = Stage::new(&[("a.txt", "one\ntwo\nthree\n")], AGENT);
    stage.drive("sample", &json!({}));
    assert_eq!(stage.folder.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_server_that_is_amiss_is_told() {
    let mut stage = Stage::new(&[("a.txt", "one\n")], AGENT);
    let place = tempfile::tempdir().expect("a temporary directory");
    let program = place.path().join("legwork");
    stage.named.clone_from(&program);
    stage.drive("amiss", &json!({ "program": program }));
}

#[test]
fn places_where_a_task_cannot_start() {
    let mut stage = Stage::new(&[("a.txt", "one\n")], AGENT);
    stage.asks_for_trust = true;
    stage.task("echo 1 > a.txt");
    stage.drive("places", &json!({}));
}

#[test]
fn what_a_task_writes_is_text() {
    let many: String = (0..4000).map(|line| format!("line {line}\n")).collect();
    let stage = Stage::new(&[("a.txt", "one\n"), ("many.txt", &many)], AGENT);
    stage.task("sed -i '1~4s/^/new /' many.txt");
    let lines = [
        "[run](command:workbench.action.closeWindow)",
        "![x](http://127.0.0.1/x.png) <img src=x onerror=alert(1)>",
        "```",
        "<a href=\"command:workbench.action.closeWindow\">x</a>",
        "# heading $(rocket) https://example.org",
    ];
    let hidden = "printf 'a\\033[31mb\\342\\200\\256c\\n' >> a.txt";
    let quoted: Vec<String> = lines.iter().map(|line| format!("'{line}'")).collect();
    let title = "**x** [y](command:z)";
    let script = format!(
        "# {title}\nprintf '%s\\n' {} > a.txt; {hidden}",
        quoted.join(" ")
    );
    stage.task(&script);
    let text: Vec<String> = lines
        .iter()
        .map(|line| format!("+{line}"))
        .chain(["+a\\x1b[31mb\\u{202e}c".to_owned()])
        .collect();
    stage.drive(
        "hostile",
        &json!({ "text": text, "title": title, "last": 3997 }),
    );
}

#[test]
fn what_is_said_reaches_the_agent_and_evidence_is_shown() {
    let call =
        |tool: &str, arguments: Value| Answer::anthropic("", &[(tool, &arguments.to_string())]);
    let model = Model::replaying(vec![
        call("bash", json!({ "command": "sed -i 's/^one$/1/' a.txt" })),
        call("ask", json!({ "question": "Is a digit right?" })),
        call("bash", json!({ "command": "sed -i 's/^1$/uno/' a.txt" })),
        call("ask", json!({ "question": "Is that all?" })),
        call("finish", json!({ "summary": "done" })),
    ]);
    let check = "printf 'a\\033[31mb [x](command:y)\\n'; grep -q uno a.txt";
    let files = [
        ("a.txt", "one\ntwo\n"),
        ("b.txt", "b\n"),
        ("check.sh", check),
    ];
    let stage = Stage::with_model(&files, &model);
    stage.task("echo B > b.txt");
    stage.drive("answer", &json!({}));
    assert_eq!(stage.folder.read("a.txt"), "uno\ntwo\n");
    let heard = model.asked()[2].body.to_string();
    let words = "About hunk 1 of `a.txt`:\\n> -one\\n> +1\\n\\nas a word, please";
    assert!(heard.contains(words), "{heard}");
    let heard = model.asked()[4].body.to_string();
    assert!(heard.contains("yes, it is"), "{heard}");
}
