//! The user's tree on disk: captured, compared, changed.
//!
//! | step | file | takes → gives |
//! | --- | --- | --- |
//! | find | `root.rs` | a folder → [`Workspace`] |
//! | where | `head.rs` | [`Workspace`] → the commit it is at |
//! | capture | `snapshot.rs` | [`Workspace`] → [`Snapshot`]: a manifest and an image |
//! | compare | `changes.rs` | what a guest reports ([`Reported`]) → `ChangeSet` |
//! | keep | `blobs.rs` | bytes → [`Blob`] in a [`BlobStore`] |
//! | change | `apply.rs` | [`Edit`]s → the user's files; the only code that writes there |
//!
//! Bytes are bytes: nothing here decodes text. Symbolic links are never followed, git is never run and nothing under
//! `.git` is ever written.

#![forbid(unsafe_code)]

mod apply;
mod attributes;
mod beneath;
mod blobs;
mod changes;
mod head;
mod names;
mod root;
mod rules;
mod sensitive;
mod snapshot;

pub use apply::{Applied, Applier, ApplyError, Edit, Recovered, RecoveredAs, recover};
pub use blobs::{Blob, BlobError, BlobStore, BlobWriter};
pub use changes::{Caps, ChangeError, ChangeSetBuilder, Reported, ReportedKind};
pub use root::{Identity, Live, OpenError, Workspace};
pub use snapshot::{CaptureError, CaptureOptions, Snapshot, SnapshotError, capture};
