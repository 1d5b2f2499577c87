//! An accept and a key in the same moment: the hunk lands on the right text, or nothing happens and it waits.

use std::time::{Duration, Instant};

use kit::lsp::{Applies, Client};
use serde_json::json;

use crate::stage::{Stage, accept, delegate, refused, until_task};

/// B20, for a client that says what it does with a stale edit, and for one that says of any that it was made.
#[test]
fn an_accept_and_a_key_in_the_same_moment() {
    for (name, applies, races) in [
        ("editor", Applies::Honestly, 200),
        ("Neovim", Applies::Boldly, 60),
    ] {
        let old: String = (1..=4 * races)
            .map(|line| format!("line {line}\n"))
            .collect();
        let stage = Stage::with(&[("a.txt", &old)]);
        let mut setup = stage.setup();
        name.clone_into(&mut setup.name);
        let client = Client::with(&stage.home, &setup);
        client.applies(applies);
        let uri = client.open(&stage.path("a.txt"));
        let task = delegate(&client, "sed -i '2~4s/^line/new/' a.txt");
        let hunks = client.hunks(&uri, races);
        let mut waits = Vec::new();
        for (index, hunk) in hunks.iter().enumerate() {
            let number = 4 * index + 2;
            let enter = || {
                let text = client.text(&uri);
                let at = text.find(&format!("{number}\n")).expect("old or new");
                let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
                client.splice(&uri, line..line, "\n");
            };
            let argument = json!({ "hunk": hunk["hunk"] });
            let id = match index % 3 {
                0 => {
                    enter();
                    client.begin("legwork.accept", argument)
                }
                1 => {
                    let id = client.begin("legwork.accept", argument);
                    enter();
                    id
                }
                _ => {
                    let id = client.begin("legwork.accept", argument);
                    let edits = client.requests("workspace/applyEdit").len();
                    while client.requests("workspace/applyEdit").len() == edits {
                        std::thread::yield_now();
                    }
                    enter();
                    id
                }
            };
            if client.answer(id).is_err() {
                waits.push(number);
            }
        }
        let text = client.text(&uri);
        let own: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let wanted: Vec<String> = (1..=4 * races)
            .map(|line| match line % 4 == 2 && !waits.contains(&line) {
                true => format!("new {line}"),
                false => format!("line {line}"),
            })
            .collect();
        assert_eq!(own, wanted, "{name}: {waits:?} wait");
        assert_eq!(text.lines().count(), own.len() + races);
        assert!(waits.len() < races / 2, "{name}: {waits:?} wait");
        until_task(&client, &task, |item| item["pending"] == waits.len());
    }
}

/// A refusal is believed: it is told, or the edit is made anew for the text that was the reason, before an edit that is
/// said to be made would be given up.
#[test]
fn a_refused_accept_does_not_wait_for_a_text_that_will_not_come() {
    let stage = Stage::with(&[("a.txt", "a\nb\nc\n")]);
    let mut setup = stage.setup();
    "Neovim".clone_into(&mut setup.name);
    let clients = [stage.client(), Client::with(&stage.home, &setup)];
    let timed = |client: &Client, applies: Applies, lands: bool| -> Duration {
        let uri = kit::lsp::uri(&stage.path("a.txt"));
        let hunk = client.hunks(&uri, 1).remove(0);
        client.applies(applies);
        let begun = Instant::now();
        let answer = accept(client, &hunk);
        let took = begun.elapsed();
        client.applies(Applies::Honestly);
        if lands {
            answer.expect("accepted");
            client.command("legwork.undo", json!(null)).expect("undone");
        } else {
            refused(answer);
        }
        took
    };
    for client in &clients {
        client.open(&stage.path("a.txt"));
    }
    delegate(&clients[0], "sed -i 's/b/B/' a.txt");
    // A busy machine may make one of them slow; the text is waited for in each or in none.
    let quickest = |client: &Client, applies: Applies, lands: bool| {
        let times = (0..3).map(|_| timed(client, applies, lands));
        times.min().expect("three times")
    };
    let given_up = timed(&clients[0], Applies::Never, false);
    for (client, applies, lands) in [
        (&clients[0], Applies::Refusing, false),
        (&clients[0], Applies::Failing, false),
        (&clients[0], Applies::AfterTyping, true),
        (&clients[1], Applies::AfterTyping, true),
        (&clients[1], Applies::BoldlyAfterTyping, true),
    ] {
        let took = quickest(client, applies, lands);
        assert!(
            took < given_up * 3 / 4,
            "{applies:?}: {took:?} of {given_up:?}"
        );
    }
}
