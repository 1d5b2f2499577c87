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
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// How long the model thinks where the user is to say something meanwhile.
const THINKS: Duration = Duration::from_secs(15);

/// A user who has set up this model.
fn home(model: &Model) -> (Home, Folder) {
    home_with(model, "")
}

/// With more settings of it.
fn home_with(model: &Model, more: &str) -> (Home, Folder) {
    let mut home = Home::new();
    let url = model.url();
    let text =
        format!("[model]\nprovider = \"anthropic\"\nurl = \"{url}\"\nname = \"fake\"\n{more}");
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

fn ask(question: &str) -> Answer {
    let arguments = json!({ "question": question }).to_string();
    Answer::anthropic("", &[("ask", &arguments)])
}

fn delegate(home: &Home, folder: &Folder, words: &str) -> String {
    let ran = home
        .legwork(&folder.path(), ["delegate", words])
        .expect(0)
        .text();
    ran.trim().to_owned()
}

/// All words of the user in a request.
fn words(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap().iter();
    let blocks = messages.flat_map(|message| message["content"].as_array().unwrap());
    let texts = blocks.filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_question_parks_the_task_and_another_client_answers() {
    let model = Model::replaying(vec![
        ask("Blue or green?"),
        bash("echo blue > colour.txt"),
        finish(),
    ]);
    let (home, _config) = home(&model);
    let folder = Folder::with(&[("a.txt", "a\n")]);
    let here = folder.path();
    let id = delegate(&home, &folder, "paint it");
    let detail = home.wait_for(&here, &id, &["needs-input", "ended", "ready"]);
    assert_eq!(detail["task"]["question"], "Blue or green?", "{detail}");
    let listed = home.legwork(&here, ["tasks"]).expect(0).text();
    assert!(listed.contains("needs input"), "{listed}");
    let shown = home.legwork(&here, ["show", &id]).expect(0).text();
    assert!(
        shown.contains("Blue or green?") && shown.contains("legwork say"),
        "{shown}"
    );
    let said = home
        .legwork(&here, ["say", &id, "--json", "blue"])
        .expect(0);
    assert_eq!(said.json()["hearing"], "answer");
    let detail = home.wait_for(&here, &id, &["ready", "ended"]);
    assert_eq!(detail["task"]["pending"], 1, "{detail}");
    assert_eq!(detail["task"]["question"], Value::Null);
    let asked = model.asked();
    assert_eq!(last_words(&asked[1].body), "The user says:\nblue");
    home.legwork(&here, ["accept", &id]).expect(0);
    assert_eq!(folder.read("colour.txt"), "blue\n");
}

#[test]
fn a_parked_task_is_cancelled_and_keeps_what_it_did() {
    let model = Model::replaying(vec![bash("echo b > b.txt"), ask("Go on?")]);
    let (home, _config) = home(&model);
    let folder = Folder::with(&[("a.txt", "a\n")]);
    let id = delegate(&home, &folder, "write b");
    home.wait_for(&folder.path(), &id, &["needs-input"]);
    home.legwork(&folder.path(), ["cancel", &id]).expect(0);
    let detail = home.wait_for(&folder.path(), &id, &["ready", "ended"]);
    assert_eq!(
        (
            &detail["task"]["pending"],
            &detail["task"]["outcome"]["type"]
        ),
        (&json!(1), &json!("cancelled")),
        "{detail}"
    );
}

#[test]
fn an_answer_after_the_daemon_died_goes_on_in_a_new_machine() {
    let model = Model::replaying(vec![
        bash("echo one > one.txt"),
        ask("And now?"),
        bash("cat one.txt one.txt > two.txt"),
        finish(),
    ]);
    let (home, _config) = home(&model);
    let folder = Folder::with(&[("a.txt", "a\n")]);
    let here = folder.path();
    let id = delegate(&home, &folder, "write one, then ask");
    let begun = Instant::now();
    loop {
        let detail = home.wait_for(&here, &id, &["needs-input"]);
        if detail["task"]["pending"] == 1 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{detail}");
        sleep(Duration::from_millis(100));
    }
    let daemon = home.daemon().and_then(Pid::from_raw).unwrap();
    kill_process(daemon, Signal::KILL).unwrap();
    // The next command starts another one, which has the question and the result so far.
    let detail = home.wait_for(&here, &id, &["needs-input"]);
    assert_eq!(detail["task"]["question"], "And now?", "{detail}");
    assert_eq!(detail["task"]["pending"], 1, "{detail}");
    home.legwork(&here, ["say", &id, "twice"]).expect(0);
    let detail = home.wait_for(&here, &id, &["ready", "ended"]);
    assert_eq!(detail["task"]["pending"], 2, "{detail}");
    let asked = model.asked();
    assert_eq!(asked.len(), 4);
    let told = words(&asked[2].body);
    for part in [
        "write one, then ask",
        "goes on in a new machine",
        "The user says:\ntwice",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    home.legwork(&here, ["accept", &id]).expect(0);
    assert_eq!(
        (folder.read("one.txt"), folder.read("two.txt")),
        ("one\n".to_owned(), "one\none\n".to_owned())
    );
}

#[test]
fn a_finished_task_goes_on_with_what_was_decided() {
    let model = Model::replaying(vec![
        bash(
            "sed -i -e 's/^line 3$/LINE 3/' -e 's/^line 30$/LINE 30/' poem.txt; echo new > new.txt",
        ),
        finish(),
        bash("cat poem.txt new.txt; sed -i 's/^line 20$/LINE 20/' poem.txt"),
        finish(),
    ]);
    let (home, _config) = home(&model);
    let lines: String = (1..=40).map(|number| format!("line {number}\n")).collect();
    let folder = Folder::with(&[("poem.txt", &lines)]);
    let here = folder.path();
    let id = delegate(&home, &folder, "shout");
    home.wait_for(&here, &id, &["ready"]);
    home.legwork(&here, ["accept", &id, "poem.txt:1"]).expect(0);
    home.legwork(
        &here,
        ["reject", &id, "poem.txt:2", "--reason", "too loud there"],
    )
    .expect(0);
    let said = home.legwork(&here, ["say", &id, "--json", "line 20 too"]);
    assert_eq!(said.expect(0).json()["hearing"], "resumed");
    let detail = home.wait_for(&here, &id, &["ready", "ended"]);
    let asked = model.asked();
    assert_eq!(asked.len(), 4, "{detail}");
    let told = words(&asked[2].body);
    for part in [
        "shout",
        "The user accepted hunk 1 of `poem.txt`",
        "The user rejected hunk 2 of `poem.txt`, because: too loud there",
        "> +LINE 30",
        "The user says:\nline 20 too",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // The new machine had the result so far, also what was rejected: what becomes of it is for the agent.
    let seen = asked[3].body.to_string();
    for part in ["LINE 3\\n", "LINE 30\\n", "new\\n"] {
        assert!(seen.contains(part), "{part}");
    }
    assert_eq!(
        detail["task"]["pending"], 2,
        "line 20 and new.txt: {detail}"
    );
    assert_eq!(detail["task"]["report"]["agent"]["steps"], 4, "{detail}");
    home.legwork(&here, ["accept", &id]).expect(0);
    let wanted = lines
        .replace("line 3\n", "LINE 3\n")
        .replace("line 20\n", "LINE 20\n");
    assert_eq!(
        (folder.read("poem.txt"), folder.read("new.txt")),
        (wanted, "new\n".to_owned())
    );
}

#[test]
fn a_dialogue_that_grows_too_long_is_summed_up_once_and_what_the_user_said_stays() {
    let long = "I think about it. ".repeat(800);
    let model = Model::replaying(vec![
        ask("How many?"),
        Answer::anthropic(&long, &[("bash", "{\"command\": \"echo one > one.txt\"}")]),
        Answer::anthropic("One file is written, two is left.", &[]),
        bash("echo two > two.txt"),
        finish(),
    ]);
    let (home, _config) = home_with(&model, "context = 4000\nmax_output = 500\n");
    let folder = Folder::with(&[("a.txt", "a\n")]);
    let id = delegate(&home, &folder, "write files");
    home.wait_for(&folder.path(), &id, &["needs-input"]);
    home.legwork(&folder.path(), ["say", &id, "two of them"])
        .expect(0);
    let detail = home.wait_for(&folder.path(), &id, &["ready", "ended"]);
    assert_eq!(detail["task"]["pending"], 2, "{detail}");
    let asked = model.asked();
    assert_eq!(asked.len(), 5);
    assert_eq!(asked[2].body["tool_choice"]["type"], "none");
    assert!(asked[2].body.to_string().contains("I think about it."));
    let after = asked[3].body.to_string();
    assert!(!after.contains("I think about it."), "{after}");
    assert_ne!(asked[3].body["tool_choice"]["type"], "none");
    let told = words(&asked[3].body);
    for part in [
        "write files",
        "The user says:\ntwo of them",
        "in your own words:\nOne file is written",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
