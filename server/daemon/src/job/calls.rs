//! All that programs in a machine may call the host for, each by whom it is answered.

use std::sync::Arc;

use legwork_host::{
    Answer, Answering, Call, Created, Forward, HostError, Running, Sandbox, Substream,
};

/// Those who answer; nobody is fine.
#[derive(Debug, Default)]
pub(super) struct Several(Vec<Arc<dyn Answer>>);

impl Several {
    pub(super) fn add(&mut self, answer: Arc<dyn Answer>) {
        self.0.push(answer);
    }

    /// Starts a machine that may call them.
    pub(super) async fn start(
        self,
        created: Sandbox<Created>,
    ) -> Result<Sandbox<Running>, HostError> {
        if self.0.is_empty() {
            created.start().await
        } else {
            created.start_answering(Arc::new(self)).await
        }
    }
}

impl Answer for Several {
    fn forwards(&self) -> Vec<Forward> {
        self.0.iter().flat_map(|answer| answer.forwards()).collect()
    }

    fn answer(&self, call: Call, substream: Substream) -> Answering {
        let is_theirs = |answer: &&Arc<dyn Answer>| {
            let mut forwards = answer.forwards().into_iter();
            forwards.any(|forward| forward.call == call)
        };
        match self.0.iter().find(is_theirs) {
            Some(answer) => answer.answer(call, substream),
            // Nobody was named for it: dropping the substream resets it.
            None => Box::pin(async {}),
        }
    }
}
