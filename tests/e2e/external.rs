//! Agents of others in real machines: Claude Code, Codex and OpenCode as their makers publish them, and small programs that behave
//! badly, each against a model API that follows a script.

use std::{path::Path, process::Command};

use kit::{
    folder::Folder,
    home::{Home, Ran},
    model::{Answer, Asked, Model},
};
use serde_json::{Value, json};

/// A key that must not be found anywhere afterwards.
const KEY: &str = "sk-canary-5b20e6d4";

/// What a scripted model has an agent do.
const FIX: &str = "sed -i 's/\\$1 - \\$2/$1 + $2/' add.sh && sh test.sh";

fn project() -> Folder {
    Folder::with(&[
        ("add.sh", "add() {\n    echo $(($1 - $2))\n}\n"),
        (
            "test.sh",
            ". ./add.sh\n[ \"$(add 2 3)\" = 5 ] && echo ok || { echo wrong; exit 1; }\n",
        ),
    ])
}

/// A user who has set up this model, and has these recipes.
fn home(model: &Model, provider: &str, more: &str, recipes: &str) -> (Home, Folder) {
    let mut home = Home::new();
    let config = Folder::with(&[
        (
            "config.toml",
            &format!(
                "[model]\nprovider = \"{provider}\"\nurl = \"{}\"\nname = \"fake\"\nkey_env = \"FAKE_KEY\"\n\
                 price = {{ input = 3, output = 15 }}\n{more}",
                model.url()
            ),
        ),
        ("recipes.toml", recipes),
    ]);
    home.environment = vec![
        (
            "LEGWORK_CONFIG".to_owned(),
            config.path().display().to_string(),
        ),
        ("FAKE_KEY".to_owned(), KEY.to_owned()),
    ];
    (home, config)
}

/// Every file below a folder that holds the key.
fn find_key(dir: &Path) -> String {
    let output = Command::new("grep")
        .args(["-rlaF", KEY])
        .arg(dir)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn list() -> Answer {
    Answer::json(200, &json!({ "data": [{ "id": "fake" }] }))
}

/// A model that has the agent use its own tool once and is content with whatever comes of it. What has no such tool gets words:
/// agents ask for titles and the like beside their work.
fn once(speak: fn(&str, &[(&str, &str)]) -> Answer, tool: &'static str, arguments: Value) -> Model {
    Model::answering(list(), move |_, asked: &Asked| {
        let said = asked.body.to_string();
        let has_tool = said.contains(&format!("\"name\":\"{tool}\""));
        let is_done = [
            "\"tool_result\"",
            "\"function_call_output\"",
            "\"role\":\"tool\"",
        ]
        .iter()
        .any(|mark| said.contains(mark));
        Some(if has_tool && !is_done {
            speak("", &[(tool, &arguments.to_string())])
        } else {
            speak("All done.", &[])
        })
    })
}

/// Installs a real agent, lets it mend the project in a machine, accepts its hunk, and looks for the key everywhere.
fn works(agent: &str, provider: &str, line: &str, model: &Model) {
    let (home, _config) = home(model, provider, "", "");
    let folder = project();
    home.legwork(&folder.path(), ["agent", "install", agent])
        .expect(0);
    let before = folder.standing();
    let ran = home.legwork(
        &folder.path(),
        [
            "run",
            "--json",
            "--memory",
            "2G",
            "--timeout",
            "8m",
            "--agent",
            agent,
            "make the test pass",
        ],
    );
    let log = |answer: &Value| {
        let id = answer["task"].as_str().unwrap_or_default().to_owned();
        home.legwork(&folder.path(), ["logs", &id]).text()
    };
    let answer = ran.expect(0).json();
    assert_eq!(answer["outcome"]["type"], "done", "{answer}");
    assert_eq!(answer["pending"], 1, "{answer}: {}", log(&answer));
    assert_eq!(folder.standing(), before, "nothing comes by itself");
    let asked = model.asked();
    assert!(asked.len() >= 2, "{asked:?}");
    for asked in &asked {
        assert_eq!(asked.line, line);
        assert!(asked.head.contains(KEY), "{}", asked.head);
        assert_eq!(asked.body["model"], "fake");
    }
    let spent = &answer["report"]["agent"];
    assert_eq!(spent["steps"].as_u64(), Some(asked.len() as u64), "{spent}");
    assert_eq!(
        spent["input"].as_u64(),
        Some(100 * asked.len() as u64),
        "{spent}"
    );
    assert!(spent["cost"].as_u64() > Some(0), "{spent}");
    let said = asked
        .iter()
        .map(|asked| asked.body.to_string())
        .collect::<String>();
    assert!(
        said.contains("make the test pass") && said.contains("ok"),
        "{said}"
    );
    let id = answer["task"].as_str().unwrap();
    home.legwork(&folder.path(), ["accept", id]).expect(0);
    folder.sh("sh test.sh");
    assert!(log(&answer).contains("All done."), "{}", log(&answer));
    for place in [home.state(), home.runtime(), folder.path()] {
        assert_eq!(find_key(&place), "", "the key is written down");
    }
}

#[test]
fn codex_works_in_a_machine_by_the_responses_api() {
    let model = once(Answer::responses, "exec_command", json!({ "cmd": FIX }));
    works("codex", "openai-responses", "POST /v1/responses", &model);
}

#[test]
fn claude_code_works_in_a_machine_by_the_messages_api() {
    let arguments = json!({ "command": FIX, "description": "mend it" });
    let model = once(Answer::anthropic, "Bash", arguments);
    works("claude-code", "anthropic", "POST /v1/messages", &model);
}

#[test]
fn opencode_works_in_a_machine_by_chat_completions() {
    let arguments = json!({ "command": FIX, "description": "mend it" });
    let model = once(Answer::chat, "bash", arguments);
    works("opencode", "openai", "POST /v1/chat/completions", &model);
}

/// A recipe that runs a shell script.
fn recipe(name: &str, script: &str) -> String {
    let argv = json!(["sh", "-c", script]);
    format!(
        "[{name}]\nabout = \"{name}\"\napi = \"anthropic\"\nargv = {argv}\n\
         environment = {{ BASE = \"{{base_url}}\", PLACEHOLDER = \"legwork\" }}\n\
         files = {{ \".tool/settings.json\" = '{{\"model\": \"{{model}}\"}}' }}\n\n"
    )
}

/// Asks the gateway for a path, with credentials of its own, and prints what comes.
const ASK: &str = r#"ask() { perl -e 'use IO::Socket::INET; my ($port, $path, $body) = @ARGV;
    my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die "no gateway: $!";
    print $s "POST $path HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: guests-own\r\ncontent-length: ", length($body), "\r\n\r\n", $body;
    print while <$s>; print "\n"' "${BASE##*:}" "$1" "$2"; }
"#;

fn run(home: &Home, folder: &Folder, agent: &str, more: &[&str]) -> Ran {
    let mut words = vec!["run", "--json", "--agent", agent];
    words.extend(more);
    words.push("do it");
    home.legwork(&folder.path(), words)
}

#[test]
fn a_guest_reaches_the_model_and_nothing_else_and_never_sees_the_key() {
    let script = format!(
        "{ASK}cat ~/.tool/settings.json; ask /v1/messages '{{\"model\":\"dear\"}}'; ask /v1/files '{{}}'; ask /v1/chat/completions '{{}}'\n\
         env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'\n\
         echo mine > made.txt; echo out > /outside.txt; mkdir -p /home/other; echo out > /home/other/x; echo out > ../beside.txt"
    );
    let model = Model::answering(list(), |_, _| Some(Answer::anthropic("Hello there.", &[])));
    let (home, _config) = home(&model, "anthropic", "", &recipe("prober", &script));
    let folder = project();
    let answer = run(&home, &folder, "prober", &[]).expect(0).json();
    let diff = answer["diff"].as_str().unwrap();
    assert!(diff.contains("+mine") && !diff.contains("+out"), "{diff}");
    assert_eq!(answer["pending"], 1, "{answer}");
    let log = home
        .legwork(&folder.path(), ["logs", answer["task"].as_str().unwrap()])
        .text();
    assert!(log.contains("{\"model\": \"fake\"}"), "{log}");
    assert!(
        log.contains("Hello there.") && log.contains("PLACEHOLDER=legwork"),
        "{log}"
    );
    assert_eq!(log.matches("HTTP/1.1 404").count(), 2, "{log}");
    assert!(!log.contains(KEY), "{log}");
    let asked = model.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].head.contains(KEY) && !asked[0].head.contains("guests-own"));
    assert_eq!(asked[0].body, json!({ "model": "fake" }));
    for place in [home.state(), home.runtime(), folder.path()] {
        assert_eq!(find_key(&place), "", "the key is written down");
    }
}

#[test]
fn a_package_of_the_python_index_is_on_a_disk_of_the_machine_and_cannot_be_written() {
    let program = "import os, iniconfig, urllib.request as web\n\
        ask = web.Request(os.environ['BASE'] + '/v1/messages', b'{}', {'x-api-key': 'guests-own'})\n\
        print(iniconfig.__file__, web.urlopen(ask).read().decode())\n\
        try: open(iniconfig.__file__, 'a')\n\
        except OSError as error: print(error.strerror)";
    let argv = json!(["/usr/bin/python3", "-c", program]);
    let recipe = format!(
        "[snake]\nabout = \"Snake\"\napi = \"anthropic\"\nargv = {argv}\n\
         pypi = {{ package = \"iniconfig\", version = \"2.1.0\" }}\n\
         environment = {{ PYTHONPATH = \"{{agent}}\", BASE = \"{{base_url}}\" }}\n"
    );
    let model = Model::answering(list(), |_, _| Some(Answer::anthropic("Hello there.", &[])));
    let (home, _config) = home(&model, "anthropic", "", &recipe);
    let folder = project();
    home.legwork(&folder.path(), ["agent", "install", "snake"])
        .expect(0);
    let answer = run(&home, &folder, "snake", &[]).expect(0).json();
    let id = answer["task"].as_str().unwrap();
    let log = home.legwork(&folder.path(), ["logs", id]).text();
    for part in [
        "/opt/legwork/agent/iniconfig/",
        "Hello there.",
        "Read-only file system",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert_eq!(model.asked().len(), 1);
}

#[test]
fn an_agent_that_misbehaves_ends_as_what_it_did() {
    let recipes = [
        recipe("hang", "sleep 1000"),
        recipe("early", "true"),
        recipe(
            "flood",
            "yes | head -c 12000000; echo kept > kept.txt; exit 3",
        ),
        recipe(
            "spender",
            &format!("{ASK}for i in 1 2 3 4; do ask /v1/messages '{{}}'; echo $i > $i.txt; done"),
        ),
    ];
    let model = Model::answering(list(), |_, _| Some(Answer::anthropic("Yes.", &[])));
    let (home, _config) = home(
        &model,
        "anthropic",
        "[budget]\nsteps = 2\n",
        &recipes.concat(),
    );
    let folder = project();
    let hung = run(&home, &folder, "hang", &["--timeout", "3s"])
        .expect(1)
        .json();
    assert_eq!(hung["outcome"]["kind"]["type"], "timed-out", "{hung}");
    let early = run(&home, &folder, "early", &[]).expect(1);
    assert_eq!(early.json()["outcome"]["kind"]["type"], "stuck");
    let flood = run(&home, &folder, "flood", &[]).expect(1).json();
    assert_eq!(flood["outcome"]["kind"]["type"], "exit", "{flood}");
    assert_eq!(flood["pending"], 1, "what it did is kept");
    assert!(
        flood["report"]["output_dropped"].as_u64() > Some(0),
        "{}",
        flood["report"]
    );
    let spent = run(&home, &folder, "spender", &[]).expect(1).json();
    assert_eq!(spent["outcome"]["kind"]["type"], "budget", "{spent}");
    assert_eq!(spent["pending"], 4, "what it did is kept");
    assert_eq!(
        model.asked().len(),
        2,
        "a budget is looked at before each request"
    );
    let id = spent["task"].as_str().unwrap();
    let log = home.legwork(&folder.path(), ["logs", id]).text();
    assert!(log.contains("The budget of 2 steps is used up"), "{log}");
}

#[test]
fn what_does_not_fit_is_told_before_a_machine_is_made() {
    let model = Model::answering(list(), |_, _| Some(Answer::anthropic("Yes.", &[])));
    let absent = "[absent]\nabout = \"Absent\"\napi = \"anthropic\"\nargv = [\"{agent}/x\"]\n\
                  npm = { package = \"legwork-absent\", version = \"1.0.0\" }\n";
    let other = recipe("other", "true").replace("anthropic", "openai");
    let (home, config) = home(&model, "anthropic", "", &format!("{absent}{other}"));
    let folder = project();
    let told = |agent: &str, part: &str| {
        let ran = home.legwork(&folder.path(), ["run", "--agent", agent, "do it"]);
        let ran = ran.expect(1);
        assert!(
            ran.stderr.contains(part) && ran.stderr.contains("hint: "),
            "{part}: {}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("boot:"), "{}", ran.stderr);
    };
    told("absent", "`legwork agent install absent`");
    told("nobody", "there is no agent `nobody`");
    told(
        "other",
        "speaks the API of `openai`, and the configured provider is `anthropic`",
    );
    config.write("recipes.toml", "[x]\n");
    told("codex", "recipes.toml cannot be used");
    config.write("recipes.toml", "");
    let known = home
        .legwork(&folder.path(), ["agent", "list", "--json"])
        .expect(0);
    let known = known.json();
    let names: Vec<&str> = known
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| agent["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"codex") && names.contains(&"claude-code"),
        "{names:?}"
    );
    home.legwork(&folder.path(), ["run", "--agent", "A b", "do it"])
        .expect(2);
    assert!(model.asked().is_empty());
}
