//! The end of the work: it is refused while the checks of the task fail, but not for ever.

use super::{Over, Rounds};
use crate::workbench::Workbench;

/// How often the end of the work is refused while its checks fail.
const REFUSALS: u32 = 3;

impl<W: Workbench> Rounds<'_, W> {
    /// Why it may not finish yet. After some times it may, and the card of the task says how its checks stand.
    pub(super) async fn unmet(&mut self) -> Result<Option<String>, Over> {
        if self.refusals >= REFUSALS {
            return Ok(None);
        }
        let Some(why) = self.bench.unmet(self.meter.time()).await? else {
            return Ok(None);
        };
        self.refusals += 1;
        let what_next = if self.refusals < REFUSALS {
            "Mend it and call `finish` again."
        } else {
            "Mend it and call `finish` again; it is not refused once more, so say what still fails."
        };
        Ok(Some(format!("not finished: {why}\n{what_next}")))
    }
}
