//! Checks before and after, run by the daemon in machines of their own.

use std::time::{Duration, Instant};

use kit::{
    folder::Folder,
    home::Home,
    model::{Answer, Model},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Two functions, the first of which is wrong, and a small runner that speaks TAP.
fn project() -> Folder {
    Folder::with(&[
        ("add.sh", "add() {\n    echo $(($1 - $2))\n}\n"),
        ("sub.sh", "sub() {\n    echo $(($1 - $2))\n}\n"),
        (
            "tests/run.sh",
            ". ./add.sh\n. ./sub.sh\nbad=0\n\
             assert() { if [ \"$2\" = \"$3\" ]; then echo \"ok 1 - $1\"; else echo \"not ok 1 - $1\"; bad=1; fi; }\n\
             assert adds \"$(add 2 3)\" 5\n\
             assert subtracts \"$(sub 5 3)\" 2\n\
             assert nothing \"\" \"\"\n\
             exit $bad\n",
        ),
    ])
}

const MEND: &str = "sed -i 's/ - / + /' add.sh";

fn differences(check: &Value) -> Vec<(&str, &str)> {
    let all = check["differences"].as_array().unwrap().iter();
    let pair = all.map(|found| {
        let word = |name: &str| found[name].as_str().unwrap();
        (word("kind"), word("test"))
    });
    pair.collect()
}

fn evidence(home: &Home, folder: &Folder, id: &str) -> Value {
    home.legwork(&folder.path(), ["show", id, "--evidence", "--json"])
        .expect(0)
        .json()
}

#[test]
fn each_test_is_told_before_and_after_and_the_base_is_run_once() {
    let (home, folder) = (Home::new(), project());
    let before = folder.standing();
    let options = [
        "--check",
        "sh tests/run.sh",
        "--reproduce",
        ". ./add.sh; test $(add 2 3) = 5",
    ];
    let script = "sed -i 's/ - / + /' add.sh sub.sh && sed -i '/nothing/d' tests/run.sh";
    let answer = home.task_with(&folder.path(), &options, script);
    assert_eq!(answer["outcome"]["type"], "done", "{answer}");
    assert_eq!(folder.standing(), before);
    let card = &answer["evidence"];
    let [bug, check] = &card["checks"].as_array().unwrap()[..] else {
        panic!("{card}");
    };
    assert_eq!(bug["reproduces"], true);
    let code = |run: &Value| run["end"]["code"].as_i64();
    assert_eq!(
        (code(&bug["before"]), code(&bug["after"])),
        (Some(1), Some(0)),
        "{card}"
    );
    assert_eq!(
        (code(&check["before"]), code(&check["after"])),
        (Some(1), Some(1)),
        "{card}"
    );
    assert_eq!(
        differences(check),
        [
            ("pass-to-fail", "subtracts"),
            ("fail-to-pass", "adds"),
            ("removed", "nothing")
        ]
    );
    assert_eq!(check["before"]["cached"], false);
    assert_eq!(card["edited"][0]["path"], "tests/run.sh");
    let removed = card["edited"][0]["removed"].as_array().unwrap();
    assert_eq!(removed, &[json!("assert nothing \"\" \"\"")]);

    let id = answer["task"].as_str().unwrap();
    let said = home
        .legwork(&folder.path(), ["show", id, "--evidence"])
        .expect(0)
        .text();
    for part in [
        "checks fail: 1 of 2 checks as they should be, 1 pass→fail, 1 fail→pass, assertion removed\n",
        "reproduction confirmed: . ./add.sh",
        "pass→fail: subtracts\n",
        "| not ok 1 - subtracts\n",
    ] {
        assert!(said.contains(part), "{part:?} is not in\n{said}");
    }
    let list = home.legwork(&folder.path(), ["tasks"]).expect(0).text();
    assert!(list.contains(", checks fail"), "{list}");

    // Another task on the same files.
    let ran = home.legwork(
        &folder.path(),
        [&["run"][..], &options, &["--", "sh", "-c", MEND]].concat(),
    );
    let told = ran.expect(0).stderr;
    assert!(
        told.contains("checks pass: 2 of 2 checks as they should be, 1 fail→pass\n"),
        "{told}"
    );
    assert!(told.contains("known from before"), "{told}");
}

#[test]
fn a_check_that_hangs_or_floods_is_a_row_and_the_task_is_what_it_was() {
    let (home, folder) = (Home::new(), project());
    let options = [
        "--timeout",
        "12s",
        "--check",
        "echo begun; sleep 600",
        "--check",
        "yes | head -c 20000000; kill -9 $$",
    ];
    let answer = home.task_with(&folder.path(), &options, MEND);
    assert_eq!(
        (&answer["outcome"]["type"], &answer["pending"]),
        (&json!("done"), &json!(1))
    );
    let checks = &answer["evidence"]["checks"];
    for side in ["before", "after"] {
        assert_eq!(checks[0][side]["end"]["type"], "timed-out", "{checks}");
        assert_eq!(checks[0][side]["tail"], "begun\n", "{checks}");
        let end = &checks[1][side]["end"];
        assert!(end["signal"] == 9 || end["type"] == "timed-out", "{checks}");
        assert!(checks[1][side]["tail"].as_str().unwrap().len() <= 4 << 10);
    }
}

#[test]
fn what_was_accepted_can_be_checked_alone() {
    let (home, folder) = (Home::new(), project());
    let script = "sed -i 's/ - / + /' add.sh; mv sub.sh less.sh; sed -i s/sub.sh/less.sh/ tests/run.sh; rm -f gone";
    let answer = home.task_with(&folder.path(), &["--check", "sh tests/run.sh"], script);
    let id = answer["task"].as_str().unwrap();
    assert_eq!(
        answer["evidence"]["checks"][0]["after"]["end"]["code"], 0,
        "{answer}"
    );
    assert_eq!(evidence(&home, &folder, id)["stale"], Value::Null);

    home.legwork(&folder.path(), ["accept", id, "less.sh"])
        .expect(0);
    assert_eq!(
        evidence(&home, &folder, id)["stale"],
        "only a part is accepted"
    );
    let card = home
        .legwork(&folder.path(), ["check", id, "--accepted", "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (&card["part"], &card["stale"]),
        (&json!("accepted"), &Value::Null)
    );
    let check = &card["checks"][0];
    assert_eq!(check["before"]["cached"], true);
    assert_ne!(check["after"]["end"]["code"], 0, "{card}");

    home.legwork(&folder.path(), ["accept", id, "--include-sensitive"])
        .expect(0);
    assert_eq!(
        evidence(&home, &folder, id)["stale"],
        "other hunks are accepted now"
    );
    let card = home
        .legwork(&folder.path(), ["check", id, "--accepted", "--json"])
        .expect(0)
        .json();
    assert_eq!(
        differences(&card["checks"][0]),
        [("fail-to-pass", "adds")],
        "{card}"
    );
    assert_eq!(card["checks"][0]["after"]["end"]["code"], 0, "{card}");
}

#[test]
fn checks_are_cancelled_or_cut_off_and_the_hunks_stay() {
    let (home, folder) = (Home::new(), project());
    let arguments = ["delegate", "--check", "sleep 600", "--", "sh", "-c", MEND];
    let id = home.legwork(&folder.path(), arguments).expect(0).text();
    let id = id.trim();
    home.wait_for(&folder.path(), id, &["ready"]);
    assert_eq!(evidence(&home, &folder, id)["progress"]["type"], "checking");
    home.legwork(&folder.path(), ["check", id]).expect(1);
    home.legwork(&folder.path(), ["cancel", id]).expect(0);
    assert_eq!(
        evidence(&home, &folder, id)["progress"],
        json!({ "type": "stopped", "why": "the checks were cancelled" })
    );

    let mut again = home.command(&folder.path(), ["check", id]).spawn().unwrap();
    let begun = Instant::now();
    while evidence(&home, &folder, id)["progress"]["type"] != "checking" {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(50));
    }
    let daemon = Pid::from_raw(home.daemon().unwrap()).unwrap();
    kill_process(daemon, Signal::KILL).unwrap();
    assert!(!again.wait().unwrap().success());
    assert_eq!(
        evidence(&home, &folder, id)["progress"],
        json!({ "type": "stopped", "why": "the daemon ended while it checked" })
    );
    let detail = home.wait_for(&folder.path(), id, &["ready"]);
    assert_eq!(detail["task"]["outcome"]["type"], "done");
    assert_eq!(detail["task"]["checks"], "unknown");
}

fn home(model: &Model) -> (Home, Folder) {
    let mut home = Home::new();
    let config = Folder::with(&[(
        "config.toml",
        &format!(
            "[model]\nprovider = \"anthropic\"\nurl = \"{}\"\nname = \"fake\"\nkey_env = \"FAKE_KEY\"\n\
             [check]\ncommands = [\"sh tests/run.sh\"]\n",
            model.url()
        ),
    )]);
    let dir = config.path().display().to_string();
    home.environment = vec![
        ("LEGWORK_CONFIG".to_owned(), dir),
        ("FAKE_KEY".to_owned(), "k".to_owned()),
    ];
    (home, config)
}

fn finish() -> Answer {
    Answer::anthropic("", &[("finish", "{\"summary\": \"It is done.\"}")])
}

#[test]
fn the_agent_may_not_finish_while_checks_fail_and_is_told_why() {
    let edit =
        json!({ "path": "add.sh", "edits": [{ "old": "$1 - $2", "new": "$1 + $2" }] }).to_string();
    let model = Model::replaying(vec![
        finish(),
        Answer::anthropic("", &[("read", "{\"path\": \"add.sh\"}")]),
        Answer::anthropic("", &[("edit", &edit)]),
        finish(),
    ]);
    let ((home, _config), folder) = (home(&model), project());
    let ran = home
        .legwork(&folder.path(), ["run", "--json", "mend it"])
        .expect(0)
        .json();
    assert_eq!(
        ran["evidence"]["checks"][0]["after"]["end"]["code"], 0,
        "{ran}"
    );
    let asked = model.asked();
    assert_eq!(asked.len(), 4);
    let told = asked[1].body["messages"].to_string();
    assert!(
        told.contains("not finished: the check `sh tests/run.sh` does not pass (exit code 1)"),
        "{told}"
    );
    assert!(told.contains("not ok 1 - adds"), "{told}");
}

#[test]
fn the_fourth_time_the_agent_may_finish_and_the_card_tells() {
    let edit = json!({ "path": "new", "content": "x\n" }).to_string();
    let model = Model::replaying(vec![
        Answer::anthropic("", &[("edit", &edit)]),
        finish(),
        finish(),
        finish(),
        finish(),
    ]);
    let ((home, _config), folder) = (home(&model), project());
    let ran = home
        .legwork(&folder.path(), ["run", "--json", "mend it"])
        .expect(0)
        .json();
    assert_eq!(model.asked().len(), 5);
    assert_eq!(ran["outcome"]["type"], "done", "{ran}");
    assert_eq!(
        ran["evidence"]["checks"][0]["after"]["end"]["code"], 1,
        "{ran}"
    );
}
