//! What editors and the command line say to the daemon: HTTP with JSON bodies and server-sent events, over a Unix
//! socket that only its owner can open.
//!
//! | method and path | body | answer |
//! | --- | --- | --- |
//! | `GET /v1/status` | | [`Status`] |
//! | `POST /v1/stop` | [`Stop`] | `{}` |
//! | `POST /v1/tasks` | [`Submit`] | [`Submitted`]; durable by then |
//! | `GET /v1/tasks?workspace=PATH` | | `Vec<Task>`, newest first |
//! | `GET /v1/tasks/{id}` | | [`TaskDetail`]; `{id}` may be a unique prefix everywhere |
//! | `GET /v1/tasks/{id}/review` | | [`Review`] |
//! | `GET /v1/tasks/{id}/diff` | | `application/octet-stream`: all that the task changed, decided or not, as a unified diff that `git apply` takes; empty if nothing |
//! | `GET /v1/tasks/{id}/manifest` | | `Manifest` |
//! | `GET /v1/tasks/{id}/events?after=SEQ` | | server-sent events, each one `Event` as JSON; ends when the task is over |
//! | `GET /v1/tasks/{id}/log` | | `Vec<Event>`: the output so far |
//! | `GET /v1/events?after=SEQ` | | server-sent events of all tasks, from now on without `after`; never ends |
//! | `POST /v1/tasks/{id}/accept` | [`Decide`] | [`Decided`] |
//! | `POST /v1/tasks/{id}/reject` | [`Decide`] | [`Decided`] |
//! | `POST /v1/tasks/{id}/undo` | [`Undo`] | [`Decided`]: a decision of the task is taken back |
//! | `GET /v1/tasks/{id}/desk` | | [`Desk`]: what an editor needs to place the hunks in its own buffers |
//! | `GET /v1/tasks/{id}/blobs/{digest}` | | `application/octet-stream`: one version of a file that [`Desk`] names |
//! | `POST /v1/tasks/{id}/claim` | [`Decide`] | [`Claimed`]: for some seconds nobody else can decide these hunks |
//! | `POST /v1/tasks/{id}/settle` | [`Settle`] | [`Decided`]: what became of a claim |
//! | `POST /v1/tasks/{id}/reopen` | [`Reopen`] | [`Decided`]: decided hunks are pending again; no file is touched |
//! | `GET /v1/tasks/{id}/last` | | [`Last`]: what was accepted last, as an undo would take it back |
//! | `POST /v1/tasks/{id}/cancel` | | `Task` |
//! | `POST /v1/tasks/{id}/say` | [`Say`] | [`Said`] |
//! | `POST /v1/tasks/{id}/retry` | | [`Submitted`]: the same spec on a new snapshot |
//! | `GET /v1/tasks/{id}/evidence` | | [`Card`] or `null`: what the checks say before and after |
//! | `POST /v1/tasks/{id}/check` | [`CheckAgain`] | [`Card`] of which nothing is known yet |
//!
//! Every answer that is not a success has an [`ErrorBody`]. Every request carries the header [`GENERATION_HEADER`].

mod api;
mod client;
mod desk;
mod failure;
mod places;
mod review;
mod workspace;

pub use api::{
    CheckAgain, GENERATION, GENERATION_HEADER, Hearing, Host, LONGEST_MESSAGE, Said, Say, Status,
    Stop, Submit, Submitted, TaskDetail,
};
pub use client::{Client, EventStream};
pub use desk::{CLAIM_SECONDS, Claimed, Desk, DeskFile, Landed, Last, Reopen, Settle};
pub use failure::{ErrorBody, ErrorKind, WireError};
pub use legwork_evidence::{Card, Progress as CheckProgress};
pub use places::{ConfigFileError, Places, PlacesError};
pub use review::{
    Decide, Decided, FileReview, Hunk, HunkState, Line, LineKind, Pick, Review, Skipped, Undo,
};
pub use workspace::{home, workspace_of};
