//! The same through the language server, with the files open and changed by the user since the task began, and no machine: a
//! buffer has the user's line and what the task did, to the byte. Groups A and C.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use kit::{
    lsp::{Client, Setup},
    plain,
};
use serde_json::{Value, json};

use crate::{
    case::{Case, Done},
    oracle::Entry,
};

/// What the user types above everything else.
const MINE: &str = "mine\n";

/// Signs that an editor takes off a text and puts back; nothing is typed above them.
const MARK: &str = "\u{feff}";

#[derive(Debug)]
struct Desk {
    /// Goes before its daemon does.
    client: Client,
    case: Case,
    done: Done,
    /// Open files: path, URI, text as it is on disk.
    open: Vec<(String, String, String)>,
}

impl Desk {
    fn with(id: &'static str) -> Self {
        let mut case = Case::new(id);
        case.home = plain::home();
        let client = Client::with(&case.home, &Setup::full(&case.path()));
        let command = json!({ "command": ["sh", "-c", case.script] });
        let mut open = Vec::new();
        for (path, Entry { mode, bytes, .. }) in &case.base.0 {
            let is_file = mode & 0o170_000 == 0o100_000;
            let (Ok(path), Ok(text)) = (str::from_utf8(path), str::from_utf8(bytes)) else {
                continue;
            };
            if is_file && !text.contains('\0') {
                let uri = client.open(&case.path().join(path));
                open.push((path.to_owned(), uri, text.to_owned()));
            }
        }
        let answer = client.command("legwork.delegate", command).expect("a task");
        let done = case.wait(answer["task"].as_str().expect("an id"), || {});
        for (_, uri, text) in &open {
            if !text.starts_with(MARK) {
                client.splice(uri, 0..0, MINE);
            }
        }
        Self {
            case,
            client,
            done,
            open,
        }
    }

    /// What an open file holds with the user's line in it.
    fn mine(text: &str) -> String {
        if text.starts_with(MARK) {
            text.to_owned()
        } else {
            format!("{MINE}{text}")
        }
    }

    /// The number of hunks that the review has at a path.
    fn hunks(&self, path: &str) -> usize {
        if self.done.paths().contains(&path) {
            self.done.hunks(path)
        } else {
            0
        }
    }

    /// Decides every hunk of every open file, one by one, and then what is not open.
    fn decide(&self, verb: &str) {
        for (path, uri, _) in &self.open {
            for left in (1..=self.hunks(path)).rev() {
                let hunks = self.client.hunks(uri, left);
                let name = json!({ "hunk": hunks[0]["hunk"] });
                let answer = self.client.command(verb, name);
                assert!(answer.is_ok(), "{path}: {answer:?}");
            }
            self.client.hunks(uri, 0);
        }
        for (path, uri) in self.rest() {
            let answer = self
                .client
                .command(verb, json!({ "task": self.done.id, "uri": uri }));
            assert!(answer.is_ok(), "{path}: {answer:?}");
        }
    }

    /// Changed files that are not open.
    fn rest(&self) -> Vec<(String, String)> {
        let is_open = |path: &str| self.open.iter().any(|(open, _, _)| open == path);
        let paths = self.done.paths().into_iter().filter(|path| !is_open(path));
        paths
            .map(|path| {
                let full: PathBuf = self.case.path().join(path);
                (path.to_owned(), kit::lsp::uri(&full))
            })
            .collect()
    }

    /// Waits until nothing of the task waits.
    fn until_over(&self) {
        let begun = Instant::now();
        loop {
            let shown: Value = self.case.legwork(&["show", &self.done.id, "--json"]).json();
            if shown["detail"]["task"]["pending"] == 0 {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn round(id: &'static str) {
    let desk = Desk::with(id);
    desk.decide("legwork.accept");
    desk.until_over();
    let mut wanted = desk.case.direct.clone();
    for (path, uri, text) in &desk.open {
        let result = String::from_utf8(desk.case.direct.bytes(path).to_vec()).expect("text");
        assert_eq!(desk.client.text(uri), Desk::mine(&result), "{id}: {path}");
        // It is not saved: that is for the user to do.
        let entry = wanted.0.get_mut(path.as_bytes()).expect("it is there");
        entry.bytes = text.clone().into_bytes();
        entry.size = entry.bytes.len() as u64;
    }
    desk.case.now().must_be(&wanted, "accepted");

    let desk = Desk::with(id);
    desk.decide("legwork.reject");
    desk.until_over();
    for (path, uri, text) in &desk.open {
        assert_eq!(desk.client.text(uri), Desk::mine(text), "{id}: {path}");
    }
    desk.case.now().must_be(&desk.case.base, "rejected");
}

macro_rules! rounds {
    ($($name:ident = $id:literal;)*) => {
        $(
            #[test]
            fn $name() {
                round($id);
            }
        )*
    };
}

rounds! {
    b01_crlf = "B01";
    b02_mixed_line_endings = "B02";
    b03_a_lone_carriage_return = "B03";
    b04_a_byte_order_mark = "B04";
    b05_a_stray_byte = "B05";
    b06_two_encodings = "B06";
    b07_utf_16 = "B07";
    b08_no_newline_at_the_end = "B08";
    b09_after_an_unterminated_line = "B09";
    b10_blank_lines_at_the_end = "B10";
    b12_signs_of_snippets = "B12";
    b13_entities_and_tags = "B13";
    b14_content_like_a_patch = "B14";
    b15_tabs_and_blanks = "B15";
    b31_three_hunks = "B31";
    b36_two_hunks = "B36";
    b40_deleted_and_made_anew = "B40";
    b44_the_same_text_several_times = "B44";
    b48_cut_short = "B48";
    b49_a_new_file = "B49";
}
