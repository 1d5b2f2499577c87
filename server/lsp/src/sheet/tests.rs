//! A user who types while they review: whatever the order, their own lines stay, only accepted lines come, and a buffer
//! that was left alone ends as the task's text.

use legwork_review::FileReview;
use proptest::prelude::*;

use super::*;
use crate::text::{self, Encoding, LineEnds, Text};

/// A task, a file of it, and the user's buffer.
struct Scene {
    task: TaskId,
    file: DeskFile,
    base: String,
    agent: String,
    buffer: Text,
    encoding: Encoding,
}

impl Scene {
    fn new(base: &str, agent: &str, encoding: Encoding) -> Self {
        let review = FileReview::propose(
            Some(Version::regular(base.as_bytes())),
            Some(Version::regular(agent.as_bytes())),
        );
        Self {
            task: TaskId::random(),
            file: DeskFile {
                path: "a.txt".parse().unwrap(),
                kind: ChangeKind::Modify,
                sensitive: None,
                summary: None,
                why: String::new(),
                review,
            },
            base: base.to_owned(),
            agent: agent.to_owned(),
            buffer: Text::new(base.to_owned(), LineEnds::Newline),
            encoding,
        }
    }

    fn source(&self) -> Source<'_> {
        Source {
            task: &self.task,
            title: "a task",
            running: false,
            moved: None,
            file: &self.file,
            base: Some(self.base.as_bytes()),
            agent: Some(self.agent.as_bytes()),
        }
    }

    fn sheet(&self) -> Sheet {
        place(&self.source(), Some(self.buffer.as_str().as_bytes())).unwrap()
    }

    fn type_text(&mut self, text: String) {
        self.buffer = Text::new(text, LineEnds::Newline);
    }

    /// Accepts a hunk as the editor would see it: an edit of the buffer. Gives whether it had a place.
    fn accept(&mut self, id: u32) -> bool {
        let opened = self
            .file
            .review
            .open(Some(self.base.as_bytes()), Some(self.agent.as_bytes()))
            .unwrap();
        let live = Version::regular(self.buffer.as_str().as_bytes());
        let Ok(accepted) = opened.accept(Some(live), &[id]) else {
            return false;
        };
        let edits = text::edits(&self.buffer, accepted.splices(), self.encoding).unwrap();
        let now = apply(&self.buffer, &edits, self.encoding);
        assert_eq!(
            now.as_bytes(),
            accepted.result().unwrap().bytes,
            "the edits are the splices"
        );
        let review = accepted.review().clone();
        self.type_text(now);
        self.file.review = review;
        true
    }

    fn reject(&mut self, id: u32) {
        self.file.review = self.file.review.reject(&[id]).unwrap();
    }
}

/// As the specification says: all edits are about the text as it was.
fn apply(text: &Text, edits: &[gen_lsp_types::TextEdit], encoding: Encoding) -> String {
    let mut now = text.as_str().to_owned();
    let mut edits: Vec<_> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.range.start.line, edit.range.start.character));
    for edit in edits.into_iter().rev() {
        let range = text.offset(edit.range.start, encoding)..text.offset(edit.range.end, encoding);
        now.replace_range(range, &edit.new_text);
    }
    now
}

#[derive(Clone, Debug)]
enum Step {
    Insert(prop::sample::Index),
    Delete(prop::sample::Index),
    Accept(prop::sample::Index),
    Reject(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = any::<prop::sample::Index>;
    prop::collection::vec(
        prop_oneof![
            2 => index().prop_map(Step::Insert),
            1 => index().prop_map(Step::Delete),
            3 => index().prop_map(Step::Accept),
            1 => index().prop_map(Step::Reject),
        ],
        0..24,
    )
}

/// A base, and what the task makes of it: each line kept, changed, deleted, or followed by a new one.
fn texts() -> impl Strategy<Value = (String, String)> {
    (
        prop::collection::vec((0_u8..4, 0_u8..10), 1..30),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(lines, crlf, ended)| {
            let end = if crlf { "\r\n" } else { "\n" };
            let (mut base, mut agent) = (Vec::new(), Vec::new());
            for (number, (word, change)) in lines.iter().enumerate() {
                // Some lines are alike.
                let line = format!("line {word}");
                base.push(line.clone());
                match change {
                    0 => agent.push(format!("agent {number} 𝄞")),
                    1 => {}
                    2 => agent.extend([line, format!("agent {number} ü")]),
                    _ => agent.push(line),
                }
            }
            let join = |lines: &[String]| {
                let text = lines.join(end);
                if ended && !text.is_empty() {
                    text + end
                } else {
                    text
                }
            };
            (join(&base), join(&agent))
        })
}

fn pending(scene: &Scene, index: prop::sample::Index) -> Option<u32> {
    let pending = scene.file.review.pending();
    (!pending.is_empty()).then(|| *index.get(&pending))
}

fn lines(text: &str) -> Vec<&str> {
    text.split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect()
}

proptest! {
    #[test]
    fn a_user_who_types_while_they_review((base, agent) in texts(), steps in steps(), encoding in prop::sample::select(vec![Encoding::Utf8, Encoding::Utf16, Encoding::Utf32])) {
        let mut scene = Scene::new(&base, &agent, encoding);
        let mut own = Vec::new();
        let mut typed = 0;
        let mut accepted_any = false;
        for step in steps {
            match step {
                Step::Insert(index) => {
                    let text = scene.buffer.as_str().to_owned();
                    let mut all: Vec<&str> = text.split_inclusive('\n').collect();
                    let line = format!("user {typed}\n");
                    typed += 1;
                    all.insert(index.index(all.len() + 1).min(all.len().saturating_sub(1)), &line);
                    scene.type_text(all.concat());
                    own.push(line.trim_end().to_owned());
                }
                Step::Delete(index) => {
                    let text = scene.buffer.as_str().to_owned();
                    let mut all: Vec<&str> = text.split_inclusive('\n').collect();
                    if !all.is_empty() {
                        let gone = all.remove(index.index(all.len())).trim_end().to_owned();
                        scene.type_text(all.concat());
                        own.retain(|line| *line != gone);
                        typed += 1;
                    }
                }
                Step::Accept(index) => {
                    if let Some(id) = pending(&scene, index) {
                        accepted_any |= scene.accept(id);
                    }
                }
                Step::Reject(index) => {
                    if let Some(id) = pending(&scene, index) {
                        scene.reject(id);
                    }
                }
            }
            for line in &own {
                prop_assert!(lines(scene.buffer.as_str()).contains(&line.as_str()), "{line} is the user's");
            }
            if !accepted_any {
                prop_assert!(!scene.buffer.as_str().contains("agent"), "nothing comes without an accept");
            }
        }
        let rest = scene.file.review.pending();
        if typed == 0 {
            for id in &rest {
                prop_assert!(scene.accept(*id), "a buffer that was left alone holds every hunk");
            }
            let wanted = scene.file.review.open(Some(base.as_bytes()), Some(agent.as_bytes())).unwrap().base_effective().unwrap();
            prop_assert_eq!(scene.buffer.as_str().as_bytes(), wanted.bytes);
        }
    }

    #[test]
    fn what_is_taken_out_of_the_buffer_again_is_told_and_formatting_is_not((base, agent) in texts()) {
        let mut scene = Scene::new(&base, &agent, Encoding::Utf16);
        let ids = scene.file.review.pending();
        for id in &ids {
            let before = scene.buffer.as_str().to_owned();
            scene.accept(*id);
            let stood = scene.sheet();
            prop_assert!(stood.standing.iter().any(|name| name.number == *id));
            let after = scene.buffer.as_str().to_owned();
            scene.type_text(before);
            let left = scene.sheet().left(Some(&stood));
            prop_assert!(left.iter().any(|name| name.number == *id), "an undo is seen");
            prop_assert_eq!(left.len(), 1);
            scene.type_text(after.clone());
            // A formatter comes by.
            let formatted: String = after.split_inclusive('\n').map(|line| format!("    {line}")).collect();
            scene.type_text(formatted);
            prop_assert_eq!(scene.sheet().left(Some(&stood)), vec![]);
            scene.type_text(after);
        }
    }
}

#[test]
fn the_mark_at_the_beginning_of_a_file_is_not_in_the_buffer() {
    let mut scene = Scene::new("\u{feff}a\nb\n", "\u{feff}A\nb\nc\n", Encoding::Utf16);
    scene.type_text("a\nb\n".to_owned());
    let sheet = scene.sheet();
    let stands: Vec<_> = sheet
        .spots
        .iter()
        .map(|spot| (spot.stand, spot.start, spot.end))
        .collect();
    assert_eq!(stands, [(Stand::Pending, 0, 1), (Stand::Pending, 2, 2)]);
}

#[test]
fn text_that_arrives_by_itself_counts_once_and_what_another_hand_took_back_does_not() {
    let mut scene = Scene::new("a\nb\n", "a\nB\n", Encoding::Utf16);
    let before = scene.sheet();
    scene.type_text("a\nB\n".to_owned());
    let now = scene.sheet();
    assert_eq!(now.arrived(Some(&before)).len(), 1);
    assert_eq!(now.arrived(Some(&now)), vec![]);
    assert_eq!(
        now.arrived(None).len(),
        1,
        "it was there when the file was opened"
    );
    // Accepted, and undone on disk by somebody else: this buffer has it still.
    let standing = Sheet {
        standing: now.spots.iter().map(|spot| spot.name.clone()).collect(),
        ..Sheet::default()
    };
    assert_eq!(now.arrived(Some(&standing)), vec![]);
}

#[test]
fn lines_between_hunks_belong_to_none_and_an_insertion_at_the_end_is_met_by_the_last_line() {
    let scene = Scene::new("a\nb\nc\n", "a\nB\nc\nd\n", Encoding::Utf16);
    let spots = scene.sheet().spots;
    assert!(spots[0].meets(1, 1, 4) && !spots[0].meets(0, 0, 4) && spots[0].meets(0, 3, 4));
    assert!(spots[1].meets(3, 3, 4));
}
