//! The built-in agent: the real binary, a real virtual machine, and a model API that follows a script.

use std::{fs, path::Path, process::Command};

use kit::{
    folder::Folder,
    home::Home,
    model::{Answer, Model, Piece, begun, event},
};
use serde_json::{Value, json};

/// A key that must not be found anywhere afterwards.
const KEY: &str = "sk-canary-3f9a1c77";

fn project() -> Folder {
    Folder::with(&[
        ("add.sh", "add() {\n    echo $(($1 - $2))\n}\n"),
        (
            "test.sh",
            ". ./add.sh\n[ \"$(add 2 3)\" = 5 ] && echo ok || { echo wrong; exit 1; }\n",
        ),
        ("AGENTS.md", "Indent by four blanks.\n"),
    ])
}

/// A user who has set up this model.
fn home(model: &Model, more: &str) -> (Home, Folder) {
    let mut home = Home::new();
    let config = Folder::with(&[(
        "config.toml",
        &format!(
            "[model]\nprovider = \"anthropic\"\nurl = \"{}\"\nname = \"fake\"\nkey_env = \"FAKE_KEY\"\n\
             price = {{ input = 3, output = 15 }}\n{more}",
            model.url()
        ),
    )]);
    let dir = config.path().display().to_string();
    home.environment = vec![
        ("LEGWORK_CONFIG".to_owned(), dir),
        ("FAKE_KEY".to_owned(), format!("{KEY}\n")),
    ];
    (home, config)
}

fn fix() -> (&'static str, String) {
    let edits = json!({ "path": "add.sh", "edits": [{ "old": "$1 - $2", "new": "$1 + $2" }] });
    ("edit", edits.to_string())
}

/// Looks for the key in every file below a folder.
fn find_key(dir: &Path) -> String {
    let output = Command::new("grep")
        .args(["-rlaF", KEY])
        .arg(dir)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn result_of(body: &Value) -> String {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let results = last["content"].as_array().unwrap().iter();
    results
        .map(|block| block["content"].as_str().unwrap_or_default())
        .collect()
}

#[test]
fn a_scripted_model_reads_edits_tests_and_finishes_and_its_hunk_is_accepted() {
    let (edit, change) = fix();
    let model = Model::replaying(vec![
        Answer::anthropic(
            "I run the test.",
            &[(
                "bash",
                "{\"command\": \"sh test.sh; env; cat /proc/1/environ\"}",
            )],
        ),
        Answer::anthropic(
            "",
            &[
                ("read", "{\"path\": \"add.sh\"}"),
                ("search", "{\"pattern\": \"add\"}"),
            ],
        )
        .shredded(),
        Answer::anthropic("", &[(edit, &change)]),
        Answer::anthropic("", &[("bash", "{\"command\": \"sh test.sh\"}")]),
        Answer::anthropic(
            "",
            &[("finish", "{\"summary\": \"The sign was wrong. 你好\"}")],
        ),
    ]);
    let (home, _config) = home(&model, "");
    let folder = project();
    let before = folder.standing();
    let ran = home
        .legwork(
            &folder.path(),
            [
                "run",
                "--json",
                "--file",
                "add.sh",
                "--lines",
                "2",
                "make the test pass",
            ],
        )
        .expect(0);
    let answer = ran.json();
    assert_eq!(answer["outcome"]["type"], "done", "{answer}");
    assert_eq!(answer["pending"], 1, "{answer}");
    assert_eq!(folder.standing(), before, "nothing comes by itself");
    let spent = &answer["report"]["agent"];
    assert_eq!(
        (spent["steps"].as_u64(), spent["requests"].as_u64()),
        (Some(5), Some(5)),
        "{spent}"
    );
    assert_eq!(spent["cost"], 5 * (100 * 3 + 20 * 15));

    let asked = model.asked();
    assert_eq!(asked.len(), 5);
    let first = asked[0].body["messages"][0]["content"][0]["text"]
        .as_str()
        .unwrap();
    assert!(
        first.starts_with("make the test pass") && first.contains("add.sh, lines 2 to 2"),
        "{first}"
    );
    assert!(
        asked[0].body["system"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Indent by four blanks.")
    );
    assert!(asked.iter().all(|asked| asked.line == "POST /v1/messages"));
    assert!(asked[0].head.contains(&format!("x-api-key: {KEY}")));
    let environment = result_of(&asked[1].body);
    assert!(
        environment.contains("wrong\n") && environment.contains("PATH="),
        "{environment}"
    );
    assert!(!environment.contains(KEY), "{environment}");
    assert!(result_of(&asked[2].body).contains("2\t    echo $(($1 - $2))"));
    assert!(result_of(&asked[4].body).contains("ok\n[exit code 0]"));

    let id = answer["task"].as_str().unwrap();
    let log = home.legwork(&folder.path(), ["logs", id]).expect(0).text();
    for part in [
        "I run the test.",
        "> bash: sh test.sh",
        "| wrong",
        "> edit: add.sh",
        "finished: The sign was wrong. 你好",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let events = home
        .legwork(&folder.path(), ["logs", "--json", id])
        .expect(0)
        .text();
    let event: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&event["body"]["type"], &event["body"]["version"]),
        (&json!("agent"), &json!(1))
    );
    home.legwork(&folder.path(), ["accept", id, "--include-sensitive"])
        .expect(0);
    folder.sh("sh test.sh");
    for place in [home.state(), home.runtime(), folder.path()] {
        assert_eq!(find_key(&place), "", "the key is written down");
    }
    assert!(!ran.stderr.contains(KEY) && !answer.to_string().contains(KEY));
}

#[test]
fn every_api_can_be_worked_with() {
    type Speak = fn(&str, &[(&str, &str)]) -> Answer;
    for (provider, line, speak) in [
        ("openai", "POST /v1/chat/completions", Answer::chat as Speak),
        ("openai-responses", "POST /v1/responses", Answer::responses),
    ] {
        let (edit, change) = fix();
        let model = Model::replaying(vec![
            speak("I look.", &[("read", "{\"path\": \"add.sh\"}")]).shredded(),
            speak(
                "",
                &[(edit, &change), ("bash", "{\"command\": \"sh test.sh\"}")],
            ),
            speak("", &[("finish", "{\"summary\": \"The sign was wrong.\"}")]),
        ]);
        let (home, config) = home(&model, "");
        let text = config.read("config.toml");
        let text = text.replace("\"anthropic\"", &format!("\"{provider}\""));
        config.write("config.toml", text);
        let folder = project();
        let ran = home
            .legwork(&folder.path(), ["run", "--json", "make the test pass"])
            .expect(0);
        let answer = ran.json();
        assert_eq!(
            (&answer["pending"], &answer["report"]["agent"]["steps"]),
            (&json!(1), &json!(3)),
            "{answer}"
        );
        let asked = model.asked();
        assert!(asked.iter().all(|asked| asked.line == line), "{asked:?}");
        assert!(
            asked[0]
                .head
                .contains(&format!("authorization: bearer {KEY}"))
        );
        let last = asked[2].body.to_string();
        assert!(last.contains("ok\\n[exit code 0]"), "{provider}: {last}");
        home.legwork(&folder.path(), ["accept", answer["task"].as_str().unwrap()])
            .expect(0);
        folder.sh("sh test.sh");
        assert_eq!(find_key(&home.state()), "", "the key is written down");
    }
}

#[test]
fn b117_b118_b122_a_broken_answer_is_never_run_and_the_work_goes_on() {
    let half = |last: Piece| {
        let block = json!({ "type": "tool_use", "id": "t1", "name": "edit", "input": {} });
        let begun_edit = "{\"path\": \"new.txt\", \"content\": \"half";
        Answer::stream(vec![
            begun(),
            event(&json!({ "type": "content_block_start", "index": 0, "content_block": block })),
            event(&json!({
                "type": "content_block_delta", "index": 0,
                "delta": { "type": "input_json_delta", "partial_json": begun_edit },
            })),
            last,
        ])
    };
    let overloaded = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let model = Model::replaying(vec![
        half(event(&overloaded)),
        half(Piece::Bytes(Vec::new())),
        half(Piece::Reset),
        Answer::anthropic("", &[("edit", "{\"path\": a.txt}"), ("write_file", "{}")]),
        Answer::anthropic(
            "",
            &[("edit", "{\"path\": \"new.txt\", \"content\": \"whole\\n\"}")],
        ),
        Answer::anthropic("", &[("finish", "{\"summary\": \"done\"}")]),
    ]);
    let (home, _config) = home(&model, "");
    let folder = project();
    let answer = home
        .legwork(&folder.path(), ["run", "--json", "write it"])
        .expect(0)
        .json();
    assert_eq!(answer["pending"], 1, "{answer}");
    assert!(
        answer["diff"].as_str().unwrap().contains("+whole"),
        "{answer}"
    );
    let asked = model.asked();
    assert_eq!(asked.len(), 6);
    for retried in &asked[1..4] {
        assert_eq!(
            retried.body, asked[0].body,
            "nothing of the broken answer is left"
        );
    }
    let told = result_of(&asked[4].body);
    assert!(
        told.contains("no JSON") && told.contains("no tool `write_file`"),
        "{told}"
    );
}

#[test]
fn b125_what_is_not_set_up_is_told_before_a_machine_is_made() {
    let refusing = Model::new(
        Answer::json(
            401,
            &json!({ "error": { "type": "authentication_error", "message": format!("bad key {KEY}") } }),
        ),
        vec![],
    );
    let (home, config) = home(&refusing, "");
    let folder = project();
    let run = |part: &str| {
        let ran = home.legwork(&folder.path(), ["run", "do it"]).expect(1);
        assert!(
            ran.stderr.contains(part) && ran.stderr.contains("hint: "),
            "{part}: {}",
            ran.stderr
        );
        assert!(!ran.stderr.contains(KEY), "{}", ran.stderr);
    };
    run("does not take the key");
    assert!(refusing.asked().is_empty());
    let text = config.read("config.toml");
    config.write("config.toml", text.replace("FAKE_KEY", "NO_KEY"));
    run("NO_KEY is not set");
    config.write(
        "config.toml",
        text.replace(&refusing.url(), "http://127.0.0.1:1"),
    );
    run("cannot be reached");
    config.write("config.toml", format!("{text}[budget]\nsteps = 0\n"));
    run("`budget.steps` is 0");
    for task in fs::read_dir(home.state().join("tasks"))
        .into_iter()
        .flatten()
        .flatten()
    {
        assert!(
            !task.path().join("base.erofs").exists(),
            "nothing was captured"
        );
    }
    assert_eq!(find_key(&home.state()), "");
}

#[test]
fn a_budget_ends_the_work_with_a_last_word_and_what_was_done_is_kept() {
    let model = Model::replaying(vec![
        Answer::anthropic("", &[("bash", "{\"command\": \"echo one > one.txt\"}")]),
        Answer::anthropic("", &[("bash", "{\"command\": \"echo two > two.txt\"}")]),
        Answer::anthropic("Two files are there.", &[]),
    ]);
    let (home, _config) = home(&model, "[budget]\nsteps = 2\n");
    let folder = project();
    let answer = home
        .legwork(&folder.path(), ["run", "--json", "write many files"])
        .expect(1)
        .json();
    assert_eq!(answer["outcome"]["kind"]["type"], "budget", "{answer}");
    assert_eq!(answer["pending"], 2, "{answer}");
    let asked = model.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[2].body["tool_choice"]["type"], "none");
    let log = home
        .legwork(&folder.path(), ["logs", answer["task"].as_str().unwrap()])
        .text();
    assert!(
        log.contains("Two files are there.") && log.contains("budget of 2 steps"),
        "{log}"
    );
}

#[test]
fn the_model_is_listed_and_tried_without_a_task() {
    let list = json!({ "data": [{ "id": "fake" }, { "id": "other" }] });
    let model = Model::new(
        Answer::json(200, &list),
        vec![
            Answer::anthropic("", &[("finish", "{\"summary\": \"ready\"}")]),
            Answer::anthropic("Ready!", &[]),
        ],
    );
    let (home, config) = home(&model, "");
    let here = config.path();
    let listed = home.legwork(&here, ["model", "list"]).expect(0).text();
    assert!(listed.ends_with("* fake\n  other\n"), "{listed}");
    let tried = home.legwork(&here, ["model", "test", "--json"]).expect(0);
    assert_eq!(tried.json()["uses_tools"], true, "{tried:?}");
    let words = home.legwork(&here, ["model", "test"]).expect(1);
    assert!(words.stderr.contains("does not use the tool"), "{words:?}");
    assert!(!format!("{listed}{tried:?}{words:?}").contains(KEY));
    assert_eq!(model.asked().len(), 2);
    // Where nothing is set, it says what to write.
    config.write("config.toml", "");
    let unset = home.legwork(&here, ["model", "list"]).expect(1);
    assert!(unset.stderr.contains("[model]"), "{unset:?}");
}
