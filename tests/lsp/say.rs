//! Words for an agent, and its question, in an editor.

use std::fs;

use kit::model::{Answer, Model};
use serde_json::{Value, json};

use crate::stage::{Stage, delegate, refused, until_state};

/// A user whose agent is asked of this model, with more of the settings.
fn stage(model: &Model, more: &str) -> Stage {
    let stage = Stage::with(&[("f.txt", "old\nrest\n")]);
    let dir = stage.home.cache().join("config");
    fs::create_dir_all(&dir).expect("a directory");
    let url = model.url();
    let text =
        format!("[model]\nprovider = \"anthropic\"\nurl = \"{url}\"\nname = \"fake\"\n{more}");
    fs::write(dir.join("config.toml"), text).expect("a file");
    stage
}

fn call(tool: &str, arguments: &Value) -> Answer {
    Answer::anthropic("", &[(tool, &arguments.to_string())])
}

#[test]
fn a_question_is_pushed_and_answered_on_a_hunk() {
    let model = Model::replaying(vec![
        call("bash", &json!({ "command": "sed -i s/old/new/ f.txt" })),
        call("ask", &json!({ "question": "Is new right?" })),
        call("finish", &json!({ "summary": "done" })),
    ]);
    let stage = stage(&model, "");
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let begun = client.command("legwork.delegate", json!({ "text": "make it new" }));
    let task = begun.expect("a task")["task"].as_str().unwrap().to_owned();
    let pushed = client.message("needs input");
    assert!(pushed.contains("Is new right?"), "{pushed}");
    let item = until_state(&client, &task, &["needs-input"]);
    assert_eq!(item["question"], "Is new right?");
    let hunk = client.hunks(&uri, 1).remove(0);
    let said = client.command(
        "legwork.say",
        json!({ "hunk": hunk["hunk"], "text": "yes, but louder" }),
    );
    assert_eq!(said.expect("said"), json!({ "task": task }));
    let item = until_state(&client, &task, &["ready", "failed"]);
    assert_eq!(
        (&item["state"], &item["question"]),
        (&json!("ready"), &Value::Null)
    );
    let asked = model.asked();
    let last = asked[2].body["messages"].as_array().unwrap().last();
    let blocks = last.unwrap()["content"].as_array().unwrap().iter();
    let words: String = blocks.filter_map(|block| block["text"].as_str()).collect();
    assert_eq!(
        words,
        "The user says:\nAbout hunk 1 of `f.txt`:\n> -old\n> +new\n\nyes, but louder"
    );
}

#[test]
fn that_most_of_a_budget_is_gone_is_pushed() {
    let mut calls: Vec<Answer> = (0..4)
        .map(|number| call("bash", &json!({ "command": format!("echo {number}") })))
        .collect();
    calls.push(call("finish", &json!({ "summary": "done" })));
    let model = Model::replaying(calls);
    let stage = stage(&model, "[budget]\nsteps = 5\n");
    let client = stage.client();
    client.open(&stage.path("f.txt"));
    let begun = client.command("legwork.delegate", json!({ "text": "count" }));
    let task = begun.expect("a task")["task"].as_str().unwrap().to_owned();
    let pushed = client.message("80 % of the budget");
    assert!(pushed.contains("count: 5 steps"), "{pushed}");
    until_state(&client, &task, &["done", "ready"]);
}

#[test]
fn what_cannot_be_said_is_told() {
    let stage = Stage::with(&[("f.txt", "old\n")]);
    let client = stage.client();
    client.open(&stage.path("f.txt"));
    let task = delegate(&client, "echo new > f.txt");
    for (argument, part) in [
        (json!({ "text": "x" }), "to whom"),
        (json!({ "task": task }), "nothing is said"),
        (json!({ "task": task, "text": "x" }), "hears nothing"),
        (
            json!({ "hunk": format!("{task}:9:f.txt"), "text": "x" }),
            "the hunk is gone",
        ),
    ] {
        let sentence = refused(client.command("legwork.say", argument.clone()));
        assert!(sentence.contains(part), "{argument}: {sentence}");
    }
}
