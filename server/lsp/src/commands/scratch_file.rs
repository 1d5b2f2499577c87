//! `legwork.new`: a file to say in what is wanted, for editors that can ask for no line of text. When it is saved, what is
//! in it is a task; then it is taken away again.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use gen_lsp_types::{MessageType, Position, Range, ShowDocumentParams, Uri};
use legwork_model::{Place, Request};
use serde_json::{Value, json};

use super::{arguments::Arguments, delegate};
use crate::{documents::Document, failure::Failure, scratch, session::Session, tell, uri};

/// Opens it.
pub(super) async fn new(session: &Arc<Session>, arguments: Arguments) -> Result<Value, Failure> {
    // Better now than after the user has written what they want.
    delegate::agent(session)?;
    let real = delegate::subject(session, &arguments)?;
    let (root, about) = {
        let mut state = session.state();
        let root = match &real {
            Some(real) => state.roots.of(real),
            None => state.roots.iter().next().map(|root| root.real.clone()),
        };
        let root = root.ok_or_else(|| {
            Failure::new("no folder is open: open the folder that the task is about")
        })?;
        let about = real
            .as_deref()
            .and_then(|real| delegate::place(&state, session, &root, real, &arguments));
        state.about = about.clone();
        (root, about)
    };
    let text = scratch::template(about.as_ref().map(describe).as_deref());
    let path = root.join(scratch::PATH);
    let make = {
        let path = path.clone();
        let text = text.clone();
        move || make(&path, &text)
    };
    tokio::task::spawn_blocking(make)
        .await
        .map_err(|error| Failure::new(error.to_string()))?
        .map_err(|error| {
            Failure::new(format!("`{}` cannot be written: {error}", path.display()))
        })?;
    let opened = session.state().roots.as_opened(&path);
    let address = uri::from_path(&opened);
    let mut shown = false;
    if session.wants(|profile| profile.show_document) {
        let line = u32::try_from(text.lines().count()).unwrap_or(0);
        let end = Position { line, character: 0 };
        let params = ShowDocumentParams {
            uri: Uri(address.clone()),
            external: None,
            take_focus: Some(true),
            selection: Some(Range { start: end, end }),
        };
        shown = matches!(session.client.show_document(params).await, Ok(true));
    }
    if !shown {
        tell::say(
            session,
            MessageType::Info,
            &format!(
                "write what is to be done into {} and save it",
                scratch::PATH
            ),
        )
        .await;
    }
    Ok(json!({ "uri": address }))
}

/// It was saved: its text is a task.
pub(super) async fn saved(
    session: &Arc<Session>,
    document: &Document,
    sentence: String,
) -> Result<(), Failure> {
    let Some(path) = document.real.clone() else {
        return Ok(());
    };
    let root = path.parent().and_then(Path::parent).map(PathBuf::from);
    let root = root.ok_or_else(|| Failure::new("the scratch file is in no workspace"))?;
    let worker = delegate::agent(session)?;
    let place: Option<Place> = session.state().about.take();
    let request = Request {
        text: sentence,
        place,
        ..Request::default()
    };
    let terms = delegate::Terms::default();
    delegate::submit(session, root, worker, Some(request), terms).await?;
    // It is ours, not a file of the project. The folder stays if anything else is in it.
    let _kept = std::fs::remove_file(&path)
        .and_then(|()| path.parent().map_or(Ok(()), std::fs::remove_dir));
    Ok(())
}

fn describe(place: &Place) -> String {
    let (from, to) = place.lines;
    let symbol = place
        .symbol
        .as_ref()
        .map_or_else(String::new, |symbol| format!(" ({symbol})"));
    if from == to {
        format!("{}, line {from}{symbol}", place.path)
    } else {
        format!("{}, lines {from}-{to}{symbol}", place.path)
    }
}

/// What the user began to write the last time is kept.
fn make(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::read_to_string(path) {
        Ok(old) if scratch::sentence(&old).is_some() => Ok(()),
        _ => std::fs::write(path, text),
    }
}
