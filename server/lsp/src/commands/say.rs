//! Says something to the agent of a task, about a hunk of it or about all.

use gen_lsp_types::MessageType;
use legwork_wire::{Hearing, LineKind, Review, Say};
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::{failure::Failure, name::HunkName, session::Session, tell};

/// The most lines of a hunk that are told along; the agent has the rest.
const MOST_LINES: usize = 60;

/// Says it. A hunk that is named puts its place and its text before the words.
pub(super) async fn say(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let words = arguments.text.as_deref().unwrap_or_default().trim();
    if words.is_empty() {
        return Err(Failure::new(
            "nothing is said: pass the words as `text`, with a `task` or a `hunk`",
        ));
    }
    let hunk = arguments.hunk()?;
    let task = match &hunk {
        Some(hunk) => hunk.task.clone(),
        None => arguments.task(session)?.ok_or_else(|| {
            Failure::new("it is not said to whom: pass a `task` or a `hunk` with the text")
        })?,
    };
    let client = session.daemon.client().await?;
    let text = match &hunk {
        Some(name) => {
            let review = client.review(task.as_str()).await?;
            format!("{}\n\n{words}", quoted(&review, name)?)
        }
        None => words.to_owned(),
    };
    let said = client.say(task.as_str(), &Say { text }).await?;
    let when = match said.hearing {
        Hearing::AtStart => "the agent hears it when it begins",
        Hearing::NextTurn => "the agent hears it at its next turn",
        Hearing::Answer => "the agent hears it now",
        Hearing::Resumed => "the agent hears it in a new machine, where it goes on",
    };
    tell::say(session, MessageType::Info, when).await;
    Ok(json!({ "task": said.task }))
}

/// The place and the lines of a hunk, as a quote.
fn quoted(review: &Review, name: &HunkName) -> Result<String, Failure> {
    let mut files = review.files.iter();
    let file = files.find(|file| file.path == name.path);
    let hunk = file.and_then(|file| file.hunks.iter().find(|hunk| hunk.id == name.number));
    let hunk = hunk.ok_or_else(|| {
        Failure::new("the hunk is gone: say it about the task, or go to the next hunk")
    })?;
    let lines = hunk.lines.iter().filter_map(|line| match line.kind {
        LineKind::Context => None,
        LineKind::Removed => Some(format!("> -{}", line.text)),
        LineKind::Added => Some(format!("> +{}", line.text)),
    });
    Ok(quote(name, &lines.collect::<Vec<_>>()))
}

fn quote(name: &HunkName, lines: &[String]) -> String {
    let mut all = vec![format!("About hunk {} of `{}`:", name.number, name.path)];
    all.extend(lines.iter().take(MOST_LINES).cloned());
    if lines.len() > MOST_LINES {
        all.push(format!("> ({} more lines)", lines.len() - MOST_LINES));
    }
    all.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_is_quoted_with_its_place_and_not_at_any_length() {
        let name: HunkName = "bcdfghjkmnpq:2:src/a.rs".parse().unwrap();
        let lines = |text: &str, count| vec![text.to_owned(); count];
        assert_eq!(
            quote(&name, &lines("> +new", 1)),
            "About hunk 2 of `src/a.rs`:\n> +new"
        );
        let text = quote(&name, &lines("> -x", 100));
        assert_eq!(text.lines().count(), MOST_LINES + 2);
        assert!(text.ends_with("> (40 more lines)"), "{text}");
    }
}
