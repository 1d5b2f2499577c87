//! `legwork.delegate`: from where the user stands to a task.

use std::path::{Path, PathBuf};

use gen_lsp_types::{DiagnosticSeverity, MessageType};
use legwork_model::{Finding, Place, Request, TaskSpec, TreePath, Worker};
use legwork_spec::Destination;
use legwork_wire::Submit;
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::{
    actions,
    documents::Document,
    failure::Failure,
    roots,
    session::{Session, State},
    symbols, tell, uri,
};

/// Diagnostics that come along with a request.
const MOST_FINDINGS: usize = 20;

/// Starts a task.
pub(super) async fn delegate(session: &Session, arguments: Arguments) -> Result<Value, Failure> {
    let (worker, words) = worker(session, &arguments)?;
    let real = subject(session, &arguments)?;
    let workspace = {
        let state = session.state();
        match &real {
            Some(real) => state.roots.of(real),
            None => state.roots.iter().next().map(|root| root.real.clone()),
        }
    };
    let workspace = workspace
        .ok_or_else(|| Failure::new("no folder is open: open the folder that the task is about"))?;
    let request = words.map(|text| Request {
        text,
        place: real
            .as_deref()
            .and_then(|real| place(&session.state(), session, &workspace, real, &arguments)),
        diagnostics: findings(&arguments),
        ..Request::default()
    });
    let terms = Terms {
        checks: arguments.check.clone(),
        reproduce: arguments.reproduce.clone(),
        allow: arguments.allowed()?,
    };
    submit(session, workspace, worker, request, terms).await
}

/// What a task may reach, and what its result is checked with; what is not said is what the user's settings say.
#[derive(Debug, Default)]
pub(super) struct Terms {
    checks: Option<Vec<String>>,
    reproduce: Option<String>,
    allow: Vec<Destination>,
}

/// Stores a task with everything that is not saved yet.
pub(super) async fn submit(
    session: &Session,
    workspace: PathBuf,
    worker: Worker,
    request: Option<Request>,
    terms: Terms,
) -> Result<Value, Failure> {
    let (buffers, left_out) = unsaved(session, &workspace).await?;
    let spec = TaskSpec {
        request: request.map(Request::bounded),
        checks: terms.checks,
        reproduce: terms.reproduce,
        allow: terms.allow,
        ..TaskSpec::new(workspace, worker)
    };
    let title = tell::cut(&spec.title());
    let submitted = session
        .daemon
        .client()
        .await?
        .submit(&Submit { spec, buffers })
        .await?;
    let mut line = format!("queued: {title}");
    if !left_out.is_empty() {
        line = format!("{line}; not seen by it: {}", left_out.join(", "));
    }
    tell::say(session, MessageType::Info, &line).await;
    Ok(json!({ "task": submitted.task }))
}

/// Who does it, and the words.
fn worker(session: &Session, arguments: &Arguments) -> Result<(Worker, Option<String>), Failure> {
    let unknown = |what: &str| {
        Err(Failure::new(format!(
            "{what} in this version: leave it out"
        )))
    };
    if arguments.template.is_some() {
        return unknown("there are no templates");
    }
    if arguments
        .agent
        .as_ref()
        .is_some_and(|agent| !agent.is_null())
    {
        return unknown("an agent is set up in config.toml and cannot be named");
    }
    if arguments
        .scope
        .as_ref()
        .is_some_and(|scope| !scope.is_empty())
    {
        return unknown("a task's scope is the workspace and cannot be narrowed");
    }
    let text = arguments
        .text
        .as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty());
    match (text, &arguments.command) {
        (Some(_), Some(_)) => Err(Failure::new(
            "a text and a command are given: pass one of them",
        )),
        (None, Some(argv)) if !argv.is_empty() => {
            Ok((Worker::Command { argv: argv.clone() }, None))
        }
        (None, _) => Err(Failure::new(
            "nothing is asked for: pass `text` or `command`",
        )),
        (Some(text), None) => Ok((agent(session)?, Some(text.to_owned()))),
    }
}

/// Who does what is said in words.
pub(super) fn agent(session: &Session) -> Result<Worker, Failure> {
    let option = session
        .profile
        .get()
        .and_then(|profile| profile.options.agent.clone());
    match option {
        Some(argv) => Ok(Worker::Command { argv }),
        None => (session.settings.agent)()
            .map_err(|hint| Failure::new(format!("words need an agent: {hint}"))),
    }
}

/// The file that it is about, if it is about one.
pub(super) fn subject(
    session: &Session,
    arguments: &Arguments,
) -> Result<Option<PathBuf>, Failure> {
    if let Some(uri) = &arguments.uri {
        let path = uri::to_path(uri).and_then(|path| roots::real(&path));
        return path.map(Some).ok_or_else(|| {
            Failure::new("this buffer has no file yet, so a task cannot see it: save it first")
        });
    }
    let Some(name) = arguments.file.as_deref().filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let state = session.state();
    // As an editor shows it: relative to its own folder, which may be any of ours.
    let found = roots::real(Path::new(name))
        .filter(|_| Path::new(name).is_absolute())
        .or_else(|| {
            let relative = name.strip_prefix("./").unwrap_or(name);
            let open = state
                .documents
                .iter()
                .filter_map(|document| document.real.clone());
            let below = state
                .roots
                .iter()
                .map(|root| root.real.join(relative))
                .filter(|path| path.exists());
            open.filter(|real| real.ends_with(relative))
                .chain(below)
                .next()
        });
    match found {
        Some(path) => Ok(Some(path)),
        None => Err(Failure::new(format!(
            "`{name}` is no file of this workspace"
        ))),
    }
}

/// Where the user stands.
pub(super) fn place(
    state: &State,
    session: &Session,
    workspace: &Path,
    real: &Path,
    arguments: &Arguments,
) -> Option<Place> {
    let path = TreePath::from_path(real.strip_prefix(workspace).ok()?).ok()?;
    let Some(document) = state.documents.of_file(real) else {
        let from = arguments.from.unwrap_or(1);
        return Some(Place {
            path,
            lines: (from, arguments.to.unwrap_or(from)),
            text: arguments.selection.clone().unwrap_or_default(),
            language: None,
            symbol: None,
        });
    };
    let text = &document.text;
    let encoding = session.encoding();
    let range = match (arguments.range, arguments.from) {
        (Some(range), _) => text.offset(range.start, encoding)..text.offset(range.end, encoding),
        (None, Some(from)) => {
            let to = arguments.to.unwrap_or(from).max(from);
            text.line_start(from.saturating_sub(1))..text.line_start(to)
        }
        (None, None) => 0..0,
    };
    let range = range.start.min(range.end)..range.end.max(range.start);
    let selected = arguments
        .selection
        .as_deref()
        .or_else(|| text.as_str().get(range.clone()));
    // What ends at the beginning of a line does not reach into it.
    let last = if range.end > range.start {
        range.end - 1
    } else {
        range.end
    };
    let symbol = symbols::enclosing(&document.language, Some(real), text.as_str(), range.clone());
    Some(Place {
        path,
        lines: (text.line_at(range.start) + 1, text.line_at(last) + 1),
        text: bounded(selected.unwrap_or_default()).to_owned(),
        language: Some(document.language.clone()).filter(|language| !language.is_empty()),
        symbol: symbol.map(|symbol| symbol.name),
    })
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(Request::LONGEST_TEXT)]
}

fn findings(arguments: &Arguments) -> Vec<Finding> {
    let diagnostics = arguments.diagnostics.iter().flatten().take(MOST_FINDINGS);
    diagnostics
        .map(|diagnostic| Finding {
            line: diagnostic.range.start.line + 1,
            severity: match diagnostic.severity {
                Some(DiagnosticSeverity::Error) | None => "error",
                Some(DiagnosticSeverity::Warning) => "warning",
                Some(DiagnosticSeverity::Hint) => "hint",
                Some(_) => "information",
            }
            .to_owned(),
            source: diagnostic.source.clone(),
            message: actions::message(diagnostic),
        })
        .collect()
}

type Unsaved = (Vec<(TreePath, String)>, Vec<String>);

/// The buffers of a workspace that are not as on disk; and what cannot be told, as words.
async fn unsaved(session: &Session, workspace: &Path) -> Result<Unsaved, Failure> {
    let documents: Vec<Document> = session.state().documents.iter().cloned().collect();
    let workspace = workspace.to_owned();
    let look = move || {
        let mut buffers = Vec::new();
        let mut left_out = Vec::new();
        for document in documents {
            let Some(real) = &document.real else {
                if !document.text.as_str().trim().is_empty()
                    && !document.uri.starts_with("legwork:")
                {
                    left_out.push(format!(
                        "the buffer {} (it has no file)",
                        tell::cut(&document.uri)
                    ));
                }
                continue;
            };
            let Some(path) = real
                .strip_prefix(&workspace)
                .ok()
                .and_then(|below| TreePath::from_path(below).ok())
            else {
                continue;
            };
            if crate::scratch::is_scratch(real) {
                continue;
            }
            match compare(&document, real) {
                Compared::Same => {}
                Compared::Other(text) => buffers.push((path, text)),
                Compared::Foreign => left_out.push(format!(
                    "unsaved changes of `{path}` (the file is not UTF-8: save it first)"
                )),
            }
        }
        (buffers, left_out)
    };
    tokio::task::spawn_blocking(look)
        .await
        .map_err(|error| Failure::new(format!("the buffers cannot be read: {error}")))
}

/// A buffer beside its file.
enum Compared {
    Same,
    Other(String),
    /// The file is in an encoding that only the editor knows, and the buffer was changed.
    Foreign,
}

fn compare(document: &Document, real: &Path) -> Compared {
    let text = document.text.as_str();
    let disk = match std::fs::read(real) {
        Ok(disk) => disk,
        // It is not there yet; an empty buffer of it says nothing.
        Err(_) if text.is_empty() => return Compared::Same,
        Err(_) => return Compared::Other(text.to_owned()),
    };
    let mark = "\u{feff}";
    let marked = disk.starts_with(mark.as_bytes()) && !text.starts_with(mark);
    match std::str::from_utf8(&disk) {
        Ok(disk) => {
            let disk = if marked { &disk[mark.len()..] } else { disk };
            // Some editors show a file without an end to its last line as if it had one.
            if disk == text || (!disk.ends_with('\n') && text.strip_suffix('\n') == Some(disk)) {
                Compared::Same
            } else if marked {
                Compared::Other(format!("{mark}{text}"))
            } else {
                Compared::Other(text.to_owned())
            }
        }
        Err(_) if document.is_touched() => Compared::Foreign,
        Err(_) => Compared::Same,
    }
}
