//! Versions of files, fetched from the daemon by digest and kept while they are in use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use legwork_model::{Digest, TaskId};
use legwork_wire::{Client, WireError};

/// Bytes that are kept; what was not used for longest goes first.
const ROOM: usize = 4 << 20;

/// What was fetched.
#[derive(Debug, Default)]
pub(crate) struct Blobs {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_digest: HashMap<Digest, (Arc<Vec<u8>>, u64)>,
    clock: u64,
}

impl Blobs {
    /// The bytes, from here or from the daemon.
    pub(crate) async fn get(
        &self,
        client: &Client,
        task: &TaskId,
        digest: Digest,
    ) -> Result<Arc<Vec<u8>>, WireError> {
        if let Some(bytes) = self.find(digest) {
            return Ok(bytes);
        }
        let bytes = Arc::new(client.blob(task.as_str(), digest).await?);
        self.keep(digest, Arc::clone(&bytes));
        Ok(bytes)
    }

    /// The bytes, if they are here.
    pub(crate) fn find(&self, digest: Digest) -> Option<Arc<Vec<u8>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let now = kept.clock;
        let (bytes, used) = kept.by_digest.get_mut(&digest)?;
        *used = now;
        Some(Arc::clone(bytes))
    }

    fn keep(&self, digest: Digest, bytes: Arc<Vec<u8>>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let now = kept.clock;
        kept.by_digest.insert(digest, (bytes, now));
        let size = |kept: &Kept| {
            kept.by_digest
                .values()
                .map(|(bytes, _)| bytes.len())
                .sum::<usize>()
        };
        while size(&kept) > ROOM && kept.by_digest.len() > 2 {
            let oldest = kept.by_digest.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(digest, _)| *digest) else {
                break;
            };
            kept.by_digest.remove(&oldest);
        }
    }
}
