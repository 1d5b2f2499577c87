//! Hunks that an editor has in hand: it was promised that nobody else decides them while it puts them into its buffers.
//! They are in memory only: after a daemon's end every hunk is what the store says.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use legwork_model::{TaskId, TreePath};
use legwork_wire::CLAIM_SECONDS;

/// All that is in hand.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// By token.
    held: BTreeMap<String, Claim>,
}

#[derive(Debug)]
struct Claim {
    task: TaskId,
    files: BTreeMap<TreePath, BTreeSet<u32>>,
    until: Instant,
}

impl Claims {
    /// Puts hunks into somebody's hand, and gives the name of it.
    pub(super) fn hold(
        &mut self,
        task: &TaskId,
        files: &[(TreePath, Vec<u32>)],
        now: Instant,
    ) -> String {
        let token = TaskId::random().to_string();
        let claim = Claim {
            task: task.clone(),
            files: files
                .iter()
                .map(|(path, hunks)| (path.clone(), hunks.iter().copied().collect()))
                .collect(),
            until: now + Duration::from_secs(CLAIM_SECONDS),
        };
        self.held.insert(token.clone(), claim);
        token
    }

    /// Whether somebody has this hunk in hand.
    pub(super) fn holds(&self, task: &TaskId, path: &TreePath, hunk: u32) -> bool {
        self.held.values().any(|claim| {
            claim.task == *task
                && claim
                    .files
                    .get(path)
                    .is_some_and(|hunks| hunks.contains(&hunk))
        })
    }

    /// Whether somebody has anything of this file in hand.
    pub(super) fn has(&self, task: &TaskId, path: &TreePath) -> bool {
        let mut held = self.held.values();
        held.any(|claim| claim.task == *task && claim.files.contains_key(path))
    }

    /// Lets go of what has this name, if it is of this task.
    pub(super) fn release(&mut self, task: &TaskId, token: &str) {
        if self
            .held
            .get(token)
            .is_some_and(|claim| claim.task == *task)
        {
            self.held.remove(token);
        }
    }

    /// Lets go of what was held for too long.
    pub(super) fn expire(&mut self, now: Instant) {
        self.held.retain(|_, claim| claim.until > now);
    }
}
