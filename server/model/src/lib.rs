//! The words of the product. Pure: no input or output, no clock, no async.
//!
//! | word | meaning |
//! | --- | --- |
//! | *workspace* | the user's folder on the host; nothing is written there without an accept |
//! | *snapshot* | a frozen copy of a workspace: a [`Manifest`] and an image the guest reads |
//! | *request* | what a task was asked for in words, and where ([`Request`]) |
//! | *task* | one thing asked for; it runs once in its own sandbox on its own snapshot |
//! | *change set* | what the guest did to its copy, as typed data made by the host ([`ChangeSet`]) |
//! | *hunk* | the smallest part of a change that can be accepted or rejected |
//! | *base* | the bytes of a file as the guest found them |
//! | *live* | the bytes of a file as they are on the user's disk, or in the editor, now |

#![forbid(unsafe_code)]

mod change;
mod config;
mod digest;
mod event;
mod head;
mod id;
mod manifest;
mod network;
mod outcome;
mod path;
mod permissions;
mod request;
mod state;
mod step;
mod task;

pub use change::{Change, ChangeKind, ChangeSet, Refused, Side};
pub use config::{
    AgentConfig, AgentKind, Budget, Config, ConfigError, ModelConfig, NetworkConfig, Price,
    Provider,
};
pub use digest::{Digest, ParseDigestError};
pub use event::{Event, EventBody, Phase, Stream};
pub use head::Head;
pub use id::{ParseTaskIdError, TaskId};
pub use manifest::{Entry, EntryKind, LeftOut, Manifest, Reason};
pub use network::{Connection, ConnectionEnd, Reached};
pub use outcome::{Failure, FailureKind, Outcome};
pub use path::{PathError, TreePath, escape, is_hidden, unescape};
pub use permissions::Permissions;
pub use request::{Finding, Place, Request, RequestError};
pub use state::{TaskState, Transition};
pub use step::{AgentStep, STEP_VERSION, Spent};
pub use task::{Report, Task, TaskSpec, Timings, Verdict, Worker};
