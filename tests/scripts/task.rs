//! One recorded task, from its file to the bytes at the end.

use std::{collections::BTreeMap, path::PathBuf};

use kit::{
    archive,
    folder::{Folder, Standing},
    home::Home,
    model::{Answer, Model},
};
use serde_json::Value;

/// What a file of `tasks/` says.
#[derive(Debug, Default)]
struct Script {
    project: String,
    said: String,
    place: Option<(String, String)>,
    steps: usize,
    turns: Vec<Turn>,
    after: Vec<(String, String)>,
    sed: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Default)]
struct Turn {
    words: String,
    calls: Vec<(String, String)>,
    told: Vec<String>,
}

impl Script {
    fn read(name: &str) -> Self {
        let text = archive::read(&format!("scripts/tasks/{name}.txt"));
        let mut script = Self::default();
        for (head, body) in archive::files(&text) {
            let (what, rest) = head.split_once(' ').unwrap_or((head, ""));
            let lines = || body.lines().map(str::to_owned);
            match what {
                "@task" => script.head(body),
                "@turn" => script.turns.push(Turn {
                    words: rest.to_owned(),
                    calls: lines().map(|line| call(&line)).collect(),
                    told: Vec::new(),
                }),
                "@told" => script.turns.last_mut().unwrap().told.extend(lines()),
                "@after" => script.after.push((rest.to_owned(), body.to_owned())),
                "@sed" => script.sed.push((rest.to_owned(), lines().collect())),
                other => panic!("{name}: {other}"),
            }
        }
        script
    }

    fn head(&mut self, body: &str) {
        for line in body.lines() {
            let (key, value) = line.split_once(": ").unwrap();
            match key {
                "project" => self.project = value.to_owned(),
                "say" => self.said = value.to_owned(),
                "at" => {
                    let (file, lines) = value.split_once(' ').unwrap();
                    self.place = Some((file.to_owned(), lines.to_owned()));
                }
                "steps" => self.steps = value.parse().unwrap(),
                other => panic!("{other}"),
            }
        }
    }

    /// What must stand in the folder in the end.
    fn expected(&self, before: &Folder) -> BTreeMap<PathBuf, Standing> {
        let files = archive::read(&format!("scripts/projects/{}.txt", self.project));
        let wanted = Folder::with(&archive::files(&files));
        for (path, text) in &self.after {
            wanted.write(path, text);
        }
        for (program, paths) in &self.sed {
            let program = program.replace('\'', "'\\''");
            wanted.sh(&format!("sed -i '{program}' {}", paths.join(" ")));
        }
        assert_ne!(wanted.standing(), before.standing());
        wanted.standing()
    }
}

fn call(line: &str) -> (String, String) {
    let (tool, arguments) = line.split_once(' ').unwrap();
    let read: Result<Value, _> = serde_json::from_str(arguments);
    assert!(read.is_ok(), "{line}: {read:?}");
    (tool.to_owned(), arguments.to_owned())
}

/// The results of the calls of one turn.
fn results(body: &Value) -> String {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let results = last["content"].as_array().unwrap().iter();
    results
        .map(|block| format!("{}\n", block["content"].as_str().unwrap_or_default()))
        .collect()
}

/// Plays a task and compares what comes of it.
pub(crate) fn play(name: &str) {
    let script = Script::read(name);
    let answers = script.turns.iter().map(|turn| {
        let calls: Vec<(&str, &str)> = turn
            .calls
            .iter()
            .map(|(tool, arguments)| (tool.as_str(), arguments.as_str()))
            .collect();
        Answer::anthropic(&turn.words, &calls)
    });
    let model = Model::replaying(answers.collect());
    let config = Folder::with(&[(
        "config.toml",
        &format!(
            "[model]\nprovider = \"anthropic\"\nurl = \"{}\"\nname = \"fake\"\n[budget]\nsteps = {}\n",
            model.url(),
            script.steps
        ),
    )]);
    let mut home = Home::new();
    home.environment = vec![(
        "LEGWORK_CONFIG".to_owned(),
        config.path().display().to_string(),
    )];
    let files = archive::read(&format!("scripts/projects/{}.txt", script.project));
    let folder = Folder::with(&archive::files(&files));
    let expected = script.expected(&folder);
    let before = folder.standing();

    let mut arguments = vec!["run", "--json"];
    if let Some((file, lines)) = &script.place {
        arguments.extend(["--file", file, "--lines", lines]);
    }
    arguments.push(&script.said);
    let answer = home.legwork(&folder.path(), arguments).expect(0).json();
    assert_eq!(answer["outcome"]["type"], "done", "{name}: {answer}");
    assert_eq!(folder.standing(), before, "{name}: nothing comes by itself");

    let asked = model.asked();
    assert_eq!(asked.len(), script.turns.len(), "{name}");
    assert!(asked.len() <= script.steps, "{name} is within its budget");
    let first = asked[0].body["messages"][0]["content"][0]["text"]
        .as_str()
        .unwrap();
    assert!(first.contains("<map>\n"), "{name}: {first}");
    for (turn, next) in script.turns.iter().zip(&asked[1..]) {
        let results = results(&next.body);
        for told in &turn.told {
            assert!(
                results.contains(told.as_str()),
                "{name}: `{told}` is not in\n{results}"
            );
        }
    }
    let id = answer["task"].as_str().unwrap();
    home.legwork(&folder.path(), ["accept", id, "--include-sensitive"])
        .expect(0);
    let after = folder.standing();
    for (path, standing) in &expected {
        let text = |standing: &Standing| String::from_utf8_lossy(&standing.bytes).into_owned();
        let found = after.get(path).map(text);
        assert_eq!(found, Some(text(standing)), "{name}: {}", path.display());
    }
    assert_eq!(after, expected, "{name}");
}
