//! Each method of the protocol, as one line.

use std::sync::Arc;

use gen_lsp_types::{
    ChangeNotifications, CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProvider,
    CodeActionResponse, CodeLens, CodeLensOptions, CodeLensParams, DidChangeWorkspaceFoldersParams,
    ExecuteCommandOptions, ExecuteCommandParams, Hover, HoverParams, HoverProvider,
    InitializeParams, InitializeResult, InitializedParams, LspAny, MessageType, Save,
    ServerCapabilities, ServerInfo, TextDocumentSync, TextDocumentSyncKind,
    TextDocumentSyncOptions, WorkspaceFoldersServerCapabilities, WorkspaceOptions,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp_server::{
    LanguageServer,
    jsonrpc::{Error, Result},
};

use crate::{
    actions, commands, content, ext,
    failure::Failure,
    follow::follow,
    present::{self, hover, lenses},
    profile::Profile,
    session::Session,
    tell, uri, walk,
};

/// The server.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    pub(crate) session: Arc<Session>,
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let profile = Profile::new(&params);
        folders(&self.session, &params);
        let capabilities = capabilities(&profile);
        if self.session.profile.set(profile).is_err() {
            return Err(Error::invalid_request());
        }
        Ok(InitializeResult {
            capabilities,
            server_info: Some(ServerInfo {
                name: "legwork".to_owned(),
                version: Some(self.session.settings.version.to_owned()),
            }),
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        tokio::spawn(present::present(Arc::clone(&self.session)));
        tokio::spawn(follow(Arc::clone(&self.session)));
        let complaint = self
            .session
            .profile
            .get()
            .and_then(|profile| profile.complaint.clone());
        if let Some(complaint) = complaint {
            tell::say(&self.session, MessageType::Warning, &complaint).await;
        }
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let mut state = self.session.state();
        for folder in params.event.removed {
            if let Some(path) = uri::to_path(&folder.uri.0) {
                state.roots.remove(&path);
            }
        }
        for folder in params.event.added {
            if let Some(path) = uri::to_path(&folder.uri.0) {
                state.roots.add(path);
            }
        }
        drop(state);
        self.session.relist.notify_one();
    }

    async fn code_action(
        &self,
        params: CodeActionParams,
    ) -> Result<Option<Vec<CodeActionResponse>>> {
        Ok(Some(actions::of(&self.session, &params)))
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let state = self.session.state();
        if self.session.wants(|profile| profile.options.ui.native) {
            return Ok(Some(Vec::new()));
        }
        let document = state.documents.get(&params.text_document.uri.0);
        Ok(document.and_then(|document| {
            let shown = state.shown.get(document.real.as_deref()?)?;
            Some(lenses::of(shown, &document.text))
        }))
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let place = params.text_document_position_params;
        let state = self.session.state();
        let document = state.documents.get(&place.text_document.uri.0);
        Ok(document.and_then(|document| {
            let shown = state.shown.get(document.real.as_deref()?)?;
            let (line, lines) = (place.position.line, document.text.line_count());
            let spot = shown
                .sheet
                .spots
                .iter()
                .find(|spot| spot.meets(line, line, lines))?;
            Some(hover::of(spot, &document.text))
        }))
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LspAny>> {
        let arguments = params.arguments.unwrap_or_default();
        Ok(Some(
            commands::run(&self.session, &params.command, arguments).await?,
        ))
    }
}

/// A parameter that names a task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TaskParam {
    task: Option<String>,
}

/// A parameter that names an address.
#[derive(Debug, Deserialize)]
pub(crate) struct UriParam {
    uri: String,
}

impl Backend {
    pub(crate) async fn malformed(&self) -> Result<Value> {
        Err(Error::parse_error())
    }

    pub(crate) async fn tasks(&self, _: Value) -> Result<ext::TasksParams> {
        Ok(ext::tasks(&self.session.state().tasks))
    }

    pub(crate) async fn hunks(&self, params: UriParam) -> Result<ext::HunksParams> {
        let state = self.session.state();
        let document = state.documents.get(&params.uri);
        let shown = document.and_then(|document| state.shown.get(document.real.as_deref()?));
        Ok(shown.map_or_else(
            || ext::HunksParams {
                version: document.map(|document| document.version),
                uri: params.uri.clone(),
                hunks: Vec::new(),
            },
            present::native::params,
        ))
    }

    pub(crate) async fn walk(&self, params: TaskParam) -> Result<Value> {
        let steps = {
            let state = self.session.state();
            let named = |name: String| state.tasks.named(&name);
            walk::steps(&state, params.task.map(named).transpose()?.as_ref())
        };
        let items: Vec<_> = steps
            .iter()
            .map(|step| walk::item(&self.session, step))
            .collect();
        Ok(json!({ "items": items }))
    }

    pub(crate) async fn log(&self, params: TaskParam) -> Result<Value> {
        let name = params
            .task
            .ok_or_else(|| Failure::new("no task is named"))?;
        let task = self.session.state().tasks.named(&name)?;
        Ok(json!({ "text": content::log(&self.session, &task).await? }))
    }

    pub(crate) async fn evidence(&self, params: TaskParam) -> Result<Value> {
        let name = params
            .task
            .ok_or_else(|| Failure::new("no task is named"))?;
        let task = self.session.state().tasks.named(&name)?;
        Ok(content::evidence(&self.session, &task).await?)
    }

    pub(crate) async fn content(&self, params: UriParam) -> Result<Value> {
        Ok(json!({ "text": content::of(&self.session, &params.uri).await? }))
    }
}

/// The folders that the client has open, in whichever way it says so.
fn folders(session: &Session, params: &InitializeParams) {
    let value = serde_json::to_value(params).unwrap_or_default();
    let listed = value["workspaceFolders"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|folder| &folder["uri"]);
    let mut uris: Vec<&str> = listed.filter_map(Value::as_str).collect();
    if uris.is_empty() {
        uris.extend(value["rootUri"].as_str());
    }
    let mut paths: Vec<_> = uris.into_iter().filter_map(uri::to_path).collect();
    if paths.is_empty() {
        paths.extend(value["rootPath"].as_str().map(Into::into));
    }
    let mut state = session.state();
    for path in paths {
        state.roots.add(path);
    }
}

fn capabilities(profile: &Profile) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(profile.encoding.kind()),
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            save: Some(Save::Bool(true)),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProvider::Bool(true)),
        code_action_provider: Some(CodeActionProvider::CodeActionOptions(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QuickFix, CodeActionKind::Refactor]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: (!profile.options.ui.native).then(CodeLensOptions::default),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands::names(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(ChangeNotifications::Bool(true)),
            }),
            ..WorkspaceOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}
