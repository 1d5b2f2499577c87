//! Two editors at once.

use kit::lsp::Client;
use serde_json::json;

use crate::stage::{Stage, accept, delegate, reject, until_task};

/// B50.
#[test]
fn two_editors_review_one_task_at_once() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n")]);
    let clients = [stage.client(), stage.client()];
    let uris = clients
        .each_ref()
        .map(|client| client.open(&stage.path("f.txt")));
    let one_unsaved = "unsaved\na\nb\nc\n";
    clients[1].set_text(&uris[1], one_unsaved);
    let mut outcomes = Vec::new();
    for _ in 0..10 {
        let texts = [clients[0].text(&uris[0]), clients[1].text(&uris[1])];
        let task = delegate(&clients[0], "sed -i 's/^b$/B/' f.txt");
        let hunks = [0, 1].map(|index| {
            until_task(&clients[index], &task, |item| item["pending"] == 1);
            clients[index].until_of("legwork/hunks", &uris[index], |params| {
                let all = params["hunks"].as_array()?;
                all.iter()
                    .find(|hunk| hunk["task"] == task.as_str())
                    .cloned()
            })
        });
        let asked = [
            clients[0].begin("legwork.accept", json!({ "hunk": hunks[0]["hunk"] })),
            clients[1].begin("legwork.reject", json!({ "hunk": hunks[1]["hunk"] })),
        ];
        let answers = [0, 1].map(|index| clients[index].answer(asked[index]));
        let won = answers.iter().filter(|answer| answer.is_ok()).count();
        assert_eq!(won, 1, "{answers:?}");
        for (client, uri) in clients.iter().zip(&uris) {
            until_task(client, &task, |item| item["pending"] == 0);
            client.hunks(uri, 0);
        }
        // The text is applied once, where it was accepted.
        let wanted = if answers[0].is_ok() {
            texts[0].replace("\nb\n", "\nB\n")
        } else {
            texts[0].clone()
        };
        assert_eq!(clients[0].text(&uris[0]), wanted);
        assert_eq!(clients[1].text(&uris[1]), texts[1]);
        outcomes.push(answers[0].is_ok());
        clients[0].set_text(&uris[0], "a\nb\nc\n");
        clients[0]
            .command("legwork.undo", json!({ "task": task }))
            .ok();
        clients[0]
            .command("legwork.rejectTask", json!({ "task": task }))
            .ok();
    }
    assert_eq!(outcomes.len(), 10);
}

/// B50: both accept.
#[test]
fn the_same_hunk_is_accepted_once() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n"), ("closed.txt", "x\n")]);
    let clients = [stage.client(), stage.client()];
    let uris = clients
        .each_ref()
        .map(|client| client.open(&stage.path("f.txt")));
    delegate(&clients[0], "sed -i 's/^b$/B/' f.txt; echo y >> closed.txt");
    let hunks = [0, 1].map(|index| clients[index].hunks(&uris[index], 1).remove(0));
    let asked = [0, 1].map(|index| {
        clients[index].begin("legwork.accept", json!({ "hunk": hunks[index]["hunk"] }))
    });
    let answers = [0, 1].map(|index| clients[index].answer(asked[index]));
    assert_eq!(
        answers.iter().filter(|answer| answer.is_ok()).count(),
        1,
        "{answers:?}"
    );
    let texts = [0, 1].map(|index| clients[index].text(&uris[index]));
    let landed = texts.iter().filter(|text| *text == "a\nB\nc\n").count();
    assert_eq!(landed, 1, "{texts:?}");
    // A file that none has open is written once.
    let walk = clients[0]
        .request("legwork/walk", json!({}))
        .expect("a walk");
    let hunk = &walk["items"][0];
    let both =
        [0, 1].map(|index| clients[index].begin("legwork.accept", json!({ "hunk": hunk["hunk"] })));
    let answers = [0, 1].map(|index| clients[index].answer(both[index]));
    assert!(answers.iter().any(Result::is_ok), "{answers:?}");
    assert_eq!(stage.folder.read("closed.txt"), "x\ny\n");
}

/// What one editor decides the other sees.
#[test]
fn editors_show_one_anothers_decisions() {
    let stage = Stage::with(&[("f.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")]);
    let clients: [Client; 2] = [stage.client(), stage.client()];
    let uris = clients
        .each_ref()
        .map(|client| client.open(&stage.path("f.txt")));
    delegate(&clients[0], "sed -i -e 's/2/two/' -e 's/8/eight/' f.txt");
    let hunks = clients[0].hunks(&uris[0], 2);
    clients[1].hunks(&uris[1], 2);
    accept(&clients[0], &hunks[0]).expect("accepted");
    let left = clients[1].hunks(&uris[1], 1).remove(0);
    assert_eq!(left["hunk"], hunks[1]["hunk"]);
    reject(&clients[1], &left).expect("rejected");
    clients[0].hunks(&uris[0], 0);
    // The command line sees the same.
    let tasks = stage
        .home
        .legwork(&stage.folder.path(), ["tasks", "--json"])
        .json();
    assert_eq!(tasks[0]["pending"], 0);
}
