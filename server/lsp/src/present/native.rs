//! Hunks for plug-ins that draw them themselves.

use legwork_review::LineKind;

use crate::{
    ext::{Hunk, HunksParams},
    session::Shown,
    sheet::Stand,
};

/// All hunks of a file.
pub(crate) fn params(shown: &Shown) -> HunksParams {
    let spots = &shown.sheet.spots;
    let hunks = spots.iter().enumerate().map(|(index, spot)| {
        let alike = |other: &&crate::sheet::Spot| other.name.task == spot.name.task;
        Hunk {
            hunk: spot.name.to_string(),
            task: spot.name.task.to_string(),
            title: spot.title.clone(),
            number: spots[..=index].iter().filter(alike).count(),
            of: spots.iter().filter(alike).count(),
            state: match spot.stand {
                Stand::Pending | Stand::Already => "pending".into(),
                Stand::Conflicted => "conflicted".into(),
            },
            start: spot.start,
            end: spot.end,
            removed: spot.side(LineKind::Removed),
            added: spot.side(LineKind::Added),
            whole: spot.whole.map(Into::into),
            summary: spot.summary.clone(),
            sensitive: spot.sensitive.clone(),
            running: spot.running,
        }
    });
    HunksParams {
        uri: shown.uri.clone(),
        version: shown.version,
        hunks: hunks.collect(),
    }
}
