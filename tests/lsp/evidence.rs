//! What the checks of a task say, asked for by an editor.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::{Stage, delegate, refused, until_task};

#[test]
fn an_editor_names_checks_and_asks_for_the_card() {
    let stage = Stage::with(&[("f.txt", "a\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let asked = json!({
        "command": ["sed", "-i", "s/a/b/", "f.txt"],
        "check": ["echo '```'; cat f.txt; exit 3"],
        "reproduce": "grep b f.txt",
    });
    let started = client.command("legwork.delegate", asked).expect("started");
    let task = started["task"].clone();
    client.hunks(&uri, 1);
    let begun = Instant::now();
    let evidence = loop {
        let evidence = client
            .request("legwork/evidence", json!({ "task": task }))
            .expect("evidence");
        if evidence["card"]["progress"]["type"] == "done" {
            break evidence;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{evidence}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let [bug, check] = &evidence["card"]["checks"].as_array().unwrap()[..] else {
        panic!("{evidence}");
    };
    let code = |run: &Value| run["end"]["code"].as_i64();
    assert_eq!(
        (code(&bug["before"]), code(&bug["after"])),
        (Some(1), Some(0))
    );
    assert_eq!(
        (&check["before"]["tail"], &check["after"]["tail"]),
        (&json!("```\na\n"), &json!("```\nb\n"))
    );
    let text = evidence["text"].as_str().unwrap();
    assert!(
        text.starts_with("````text\nchecks fail: 1 of 2") && text.ends_with("| b\n````"),
        "{text}"
    );

    // The list follows by an event, a moment after the card.
    until_task(&client, task.as_str().unwrap(), |item| {
        item["checks"] == "failing"
    });

    let task = delegate(&client, "echo c > c.txt");
    let none = client.request("legwork/evidence", json!({ "task": task }));
    assert_eq!(
        none.expect("an answer"),
        json!({ "card": null, "text": null })
    );
    let sentence = refused(client.command(
        "legwork.delegate",
        json!({ "command": ["true"], "check": [" "] }),
    ));
    assert!(sentence.contains("command line"), "{sentence}");
}
