//! The model gateway as the guest calls for it: one port of its loopback, and what is answered there.

use std::sync::Arc;

use legwork_agent::Gateway;
use legwork_host::{Answer, Answering, Call, Forward, Substream};

/// The port of the guest's 127.0.0.1. It lies above those that a system hands out by itself.
const PORT: u16 = 61_417;

/// Answers calls for the model, and no others.
#[derive(Debug)]
pub(crate) struct ModelCalls(pub(crate) Arc<Gateway>);

/// Where an agent in the guest finds the gateway.
pub(crate) fn base_url() -> String {
    format!("http://127.0.0.1:{PORT}")
}

impl Answer for ModelCalls {
    fn forwards(&self) -> Vec<Forward> {
        vec![Forward {
            port: PORT,
            call: Call::Model,
        }]
    }

    fn answer(&self, call: Call, substream: Substream) -> Answering {
        match call {
            Call::Model => Box::pin(Arc::clone(&self.0).serve(substream)),
            // It is nobody's of this kind: dropping the substream resets it.
            Call::Proxy => Box::pin(async {}),
        }
    }
}
