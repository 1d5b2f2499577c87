//! Words for an agent that works: the real binary, a real virtual machine, and a model API that follows a script.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use kit::{
    folder::Folder,
    home::Home,
    model::{Answer, Model},
};
use serde_json::{Value, json};

/// How long the model thinks where the user is to say something meanwhile.
const THINKS: Duration = Duration::from_secs(15);

/// A user who has set up this model.
fn home(model: &Model) -> (Home, Folder) {
    let mut home = Home::new();
    let url = model.url();
    let text = format!("[model]\nprovider = \"anthropic\"\nurl = \"{url}\"\nname = \"fake\"\n");
    let config = Folder::with(&[("config.toml", &text)]);
    let dir = config.path().display().to_string();
    home.environment = vec![("LEGWORK_CONFIG".to_owned(), dir)];
    (home, config)
}

fn finish() -> Answer {
    Answer::anthropic("", &[("finish", "{\"summary\": \"done\"}")])
}

fn bash(script: &str) -> Answer {
    let arguments = json!({ "command": script }).to_string();
    Answer::anthropic("", &[("bash", &arguments)])
}

fn thinking(answer: Answer) -> Answer {
    answer.after(THINKS)
}

/// Waits until the model was asked so often.
fn until_asked(model: &Model, count: usize) {
    let begun = Instant::now();
    while model.asked().len() < count {
        assert!(
            begun.elapsed() < Duration::from_mins(2),
            "the model was not asked {count} times"
        );
        sleep(Duration::from_millis(50));
    }
}

/// The last thing that the user said in a request.
fn last_words(body: &Value) -> String {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let blocks = last["content"].as_array().unwrap().iter();
    let texts = blocks.filter_map(|block| block["text"].as_str());
    texts.collect()
}

#[test]
fn what_is_said_is_heard_at_the_next_turn_and_before_the_end() {
    let model = Model::replaying(vec![
        thinking(bash("echo one > one.txt")),
        thinking(finish()),
        bash("echo two > two.txt"),
        finish(),
    ]);
    let (home, _config) = home(&model);
    let folder = Folder::with(&[("a.txt", "a\n")]);
    let here = folder.path();
    let id = home
        .legwork(&here, ["delegate", "write one file"])
        .expect(0);
    let id = id.text().trim().to_owned();
    until_asked(&model, 1);
    let said = home
        .legwork(&here, ["say", &id, "--json", "not", "in capitals"])
        .expect(0)
        .json();
    assert_eq!(said["hearing"], "next-turn", "{said}");
    until_asked(&model, 2);
    let heard = last_words(&model.asked()[1].body);
    assert_eq!(heard, "The user says:\nnot in capitals");
    home.legwork(&here, ["say", &id, "a second one too"])
        .expect(0);
    let shown = home.wait_for(&here, &id, &["ready"]);
    assert_eq!(shown["task"]["pending"], 2, "{shown}");
    let asked = model.asked();
    assert_eq!(asked.len(), 4, "it did not end before it had heard all");
    assert_eq!(
        last_words(&asked[2].body),
        "The user says:\na second one too"
    );
    // What was said before is not touched, so that an API can keep it.
    for pair in asked.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|asked| {
            let messages = asked.body["messages"].as_array().unwrap();
            messages[0].clone()
        });
        assert_eq!(before["content"][0]["text"], after["content"][0]["text"]);
    }
    let log = home.legwork(&here, ["logs", &id]).expect(0).text();
    assert!(log.contains("(the model hears: a second one too)"), "{log}");
    home.legwork(&here, ["accept", &id]).expect(0);
    assert_eq!(
        (folder.read("one.txt"), folder.read("two.txt")),
        ("one\n".to_owned(), "two\n".to_owned())
    );
}

#[test]
fn a_command_hears_nothing_and_says_what_to_do() {
    let home = Home::new();
    let folder = Folder::with(&[("a.txt", "a\n")]);
    let id = home.delegate(&folder.path(), "echo b > a.txt");
    let said = home
        .legwork(&folder.path(), ["say", &id, "faster"])
        .expect(1);
    assert!(
        said.stderr.contains("hears nothing") && said.stderr.contains("legwork retry"),
        "{}",
        said.stderr
    );
    let said = home.legwork(&folder.path(), ["say", &id, " "]).expect(2);
    assert!(said.stderr.contains("nothing is said"), "{}", said.stderr);
}
