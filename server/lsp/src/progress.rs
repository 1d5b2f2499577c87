//! A progress bar for something that takes this server a while.

use std::sync::atomic::{AtomicU32, Ordering};

use gen_lsp_types::{
    ProgressNotification, ProgressParams, ProgressToken, WorkDoneProgressBegin,
    WorkDoneProgressEnd, WorkDoneProgressReport,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::session::Session;

/// It ends when [`Progress::end`] is called; a client without progress bars has none.
#[derive(Debug)]
pub(crate) struct Progress {
    token: Option<ProgressToken>,
}

static NUMBER: AtomicU32 = AtomicU32::new(1);

impl Progress {
    /// Begins one, if it is worth one.
    pub(crate) async fn begin(session: &Session, title: &str, worth: bool) -> Self {
        if !worth || !session.wants(|profile| profile.progress) {
            return Self { token: None };
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Some clients show it in place of the title.
        let token = ProgressToken::String(format!("{title} ({number})"));
        let created = session.client.create_work_done_progress(token.clone());
        let created = tokio::time::timeout(std::time::Duration::from_secs(2), created).await;
        if !matches!(created, Ok(Ok(()))) {
            return Self { token: None };
        }
        let begin = WorkDoneProgressBegin {
            title: title.to_owned(),
            cancellable: Some(true),
            message: None,
            percentage: Some(0),
        };
        send(session, token.clone(), "begin", &begin).await;
        Self { token: Some(token) }
    }

    /// Tells how far it is.
    pub(crate) async fn report(&self, session: &Session, done: usize, total: usize) {
        let Some(token) = &self.token else { return };
        let report = WorkDoneProgressReport {
            message: Some(format!("{done} of {total}")),
            percentage: u32::try_from(done * 100 / total.max(1)).ok(),
            ..WorkDoneProgressReport::default()
        };
        send(session, token.clone(), "report", &report).await;
        // Whoever wants to stop it is heard.
        tokio::task::yield_now().await;
    }

    /// Whether the user stopped it.
    pub(crate) fn is_cancelled(&self, session: &Session) -> bool {
        self.token
            .as_ref()
            .is_some_and(|token| session.state().stopped.contains(token))
    }

    /// Ends it.
    pub(crate) async fn end(self, session: &Session) {
        if let Some(token) = self.token {
            session.state().stopped.retain(|stopped| *stopped != token);
            send(session, token, "end", &WorkDoneProgressEnd::default()).await;
        }
    }
}

/// One notification of a progress bar.
pub(crate) async fn send(
    session: &Session,
    token: ProgressToken,
    kind: &str,
    value: &impl Serialize,
) {
    let Ok(Value::Object(mut value)) = serde_json::to_value(value) else {
        return;
    };
    value.insert("kind".to_owned(), json!(kind));
    let params = ProgressParams {
        token,
        value: Value::Object(value),
    };
    session
        .client
        .send_notification::<ProgressNotification>(params)
        .await;
}
