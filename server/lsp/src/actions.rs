//! Code actions. They carry commands only: an edit in an action is applied to a stale buffer by some clients, and skipped
//! and reported as done by others. At most six, since the menus have no filter everywhere.

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CodeActionResponse, CodeActionTag, Command,
    Diagnostic, Message,
};
use serde_json::{Value, json};

use crate::{
    asks::{self, AskKind},
    documents::Document,
    name::HunkName,
    preview,
    session::{Session, Shown},
    sheet::{Spot, Stand},
    symbols, tell, walk,
};

/// At most so many.
const MOST: usize = 6;

/// What can be done here.
pub(crate) fn of(session: &Session, params: &CodeActionParams) -> Vec<CodeActionResponse> {
    let state = session.state();
    let Some(document) = state.documents.get(&params.text_document.uri.0) else {
        return Vec::new();
    };
    let shown = document
        .real
        .as_ref()
        .and_then(|real| state.shown.get(real));
    let (first, last) = (params.range.start.line, params.range.end.line);
    let lines = document.text.line_count();
    let spot = shown.and_then(|shown| {
        let spot = shown
            .sheet
            .spots
            .iter()
            .find(|spot| spot.meets(first, last, lines))?;
        Some((shown, spot))
    });
    let copy = document
        .real
        .as_deref()
        .and_then(|real| preview::of(session, real));
    let mut actions = match (spot, copy) {
        (_, Some((task, path))) => {
            let waiting = preview::waiting(&state, &task, &path);
            waiting.first().map(decide).unwrap_or_default()
        }
        (Some((shown, spot)), None) => review(shown, spot),
        (None, None) => delegate(session, document, params),
    };
    actions.retain(|action| wanted(params, action));
    actions.truncate(MOST);
    if session.wants(|profile| profile.machine_tag) {
        for action in actions
            .iter_mut()
            .filter(|action| action.is_preferred == Some(true))
        {
            action.tags = Some(vec![CodeActionTag::LLMGenerated]);
        }
    }
    actions
        .into_iter()
        .map(CodeActionResponse::CodeAction)
        .collect()
}

/// Whether the client asked for this kind.
fn wanted(params: &CodeActionParams, action: &CodeAction) -> bool {
    let name = |kind: &CodeActionKind| {
        serde_json::to_value(kind)
            .ok()
            .and_then(|kind| kind.as_str().map(str::to_owned))
    };
    let (Some(only), Some(kind)) = (&params.context.only, &action.kind) else {
        return true;
    };
    let kind = name(kind).unwrap_or_default();
    only.iter().filter_map(name).any(|wanted| {
        wanted.is_empty() || kind == wanted || kind.starts_with(&format!("{wanted}."))
    })
}

fn action(
    title: String,
    kind: CodeActionKind,
    command: &str,
    argument: Option<Value>,
) -> CodeAction {
    CodeAction {
        title: title.clone(),
        kind: Some(kind),
        command: Some(Command {
            title,
            tooltip: None,
            command: command.to_owned(),
            arguments: argument.map(|argument| vec![argument]),
        }),
        ..CodeAction::default()
    }
}

/// A hunk stands here.
fn review(shown: &Shown, spot: &Spot) -> Vec<CodeAction> {
    let hunk = json!({ "hunk": spot.name.to_string() });
    let fix = || CodeActionKind::QuickFix;
    let mut actions = Vec::new();
    let brief = walk::brief(&spot.lines);
    if spot.stand != Stand::Conflicted {
        let mut accept = action(
            format!("Accept hunk  {brief}").trim_end().to_owned(),
            fix(),
            "legwork.accept",
            Some(hunk.clone()),
        );
        accept.is_preferred = Some(true);
        actions.push(accept);
    }
    actions.push(action(
        "Reject hunk".to_owned(),
        fix(),
        "legwork.reject",
        Some(hunk),
    ));
    let alike = shown
        .sheet
        .spots
        .iter()
        .filter(|other| other.name.task == spot.name.task);
    let open = alike
        .clone()
        .filter(|other| other.stand != Stand::Conflicted)
        .count();
    if open > 1 {
        let file = json!({ "task": spot.name.task.to_string(), "uri": shown.uri });
        actions.push(action(
            format!("Accept all {open} hunks of this file"),
            fix(),
            "legwork.acceptFile",
            Some(file),
        ));
    }
    let at = json!({ "uri": shown.uri, "line": spot.start });
    actions.push(action(
        "Next hunk".to_owned(),
        fix(),
        "legwork.next",
        Some(at),
    ));
    let task = json!({ "task": spot.name.task.to_string() });
    actions.push(action(
        format!("Accept the whole task: {}", tell::cut(&spot.title)),
        fix(),
        "legwork.acceptTask",
        Some(task),
    ));
    actions
}

/// This is a copy of a file that a task would create.
fn decide(name: &HunkName) -> Vec<CodeAction> {
    let hunk = json!({ "hunk": name.to_string() });
    let about = |verb: &str, command| {
        let title = format!("{verb} the new file `{}`", name.path);
        action(title, CodeActionKind::QuickFix, command, Some(hunk.clone()))
    };
    let mut accept = about("Accept", "legwork.accept");
    accept.is_preferred = Some(true);
    vec![accept, about("Reject", "legwork.reject")]
}

/// No hunk stands here: what could be asked for.
fn delegate(session: &Session, document: &Document, params: &CodeActionParams) -> Vec<CodeAction> {
    if document.real.is_none() {
        return Vec::new();
    }
    let rewrite = || CodeActionKind::Custom("refactor.legwork".into());
    let place = json!({ "uri": document.uri, "range": params.range });
    let with = |extra: Value| {
        let mut argument = place.clone();
        if let (Some(argument), Value::Object(extra)) = (argument.as_object_mut(), extra) {
            argument.extend(extra);
        }
        Some(argument)
    };
    let text = document.text.as_str();
    let mut actions = Vec::new();
    if let Some(ask) = asks::at_line(text, params.range.start.line) {
        let kind = match ask.kind {
            AskKind::Mention => "Delegate",
            AskKind::Todo => "Delegate this to do",
        };
        let title = format!("{kind}: {}", tell::cut(&ask.text));
        actions.push(action(
            title,
            rewrite(),
            "legwork.delegate",
            with(json!({ "text": ask.text })),
        ));
    }
    for diagnostic in others(&params.context.diagnostics).take(2) {
        let message = message(diagnostic);
        let title = format!("Delegate the fix of: {}", tell::cut(&message));
        let argument =
            json!({ "text": format!("Fix this: {message}"), "diagnostics": [diagnostic] });
        let mut action = action(
            title,
            CodeActionKind::QuickFix,
            "legwork.delegate",
            with(argument),
        );
        action.diagnostics = Some(vec![diagnostic.clone()]);
        actions.push(action);
    }
    let encoding = session.encoding();
    let range = document.text.offset(params.range.start, encoding)
        ..document.text.offset(params.range.end, encoding);
    let selected = text.get(range.clone()).unwrap_or_default();
    // One character is how some editors draw a cursor.
    if selected.chars().nth(3).is_some() && selected.contains(char::is_whitespace) {
        let title = format!(
            "Delegate: use the selection as instructions: {}",
            tell::cut(selected.trim().lines().next().unwrap_or_default())
        );
        actions.push(action(
            title,
            rewrite(),
            "legwork.delegate",
            with(json!({ "text": selected.trim() })),
        ));
    }
    let about = if selected.chars().nth(1).is_some() {
        "the selection".to_owned()
    } else {
        match symbols::enclosing(&document.language, document.real.as_deref(), text, range) {
            Some(symbol) => format!("the {} {}", symbol.kind, tell::cut(&symbol.name)),
            None => "this file".to_owned(),
        }
    };
    actions.push(action(
        format!("Delegate a task about {about}…"),
        rewrite(),
        "legwork.new",
        with(json!({})),
    ));
    actions
}

/// Diagnostics of other servers.
fn others(diagnostics: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.source.as_deref() != Some("legwork"))
}

pub(crate) fn message(diagnostic: &Diagnostic) -> String {
    match &diagnostic.message {
        Message::String(text) => text.clone(),
        Message::MarkupContent(markup) => markup.value.clone(),
    }
}
