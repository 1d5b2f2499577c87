//! One summary of a dialogue that is nearly as long as its model can read.

use legwork_model::AgentStep;

use super::{LONGEST_SAID, Over, Rounds, SAYS, room};
use crate::{
    dialogue::{Entry, ToolChoice},
    workbench::Workbench,
};

/// Hundredths of the context that may be used before.
const NEARLY: u64 = 85;

/// Entries that are too few to be worth it.
const FEW: usize = 3;

const ASK: &str = "This dialogue is nearly as long as you can read. Write down what you need to go on without it: what was asked, \
                   what you found out and where, what you changed, what is left. No tool can be used for this answer.";

impl<W: Workbench> Rounds<'_, W> {
    /// Where it is too little to leave out old outputs, the model writes down what was done, once, and goes on from that
    /// and from what the user said.
    pub(super) async fn condense(&mut self) -> Result<(), Over> {
        let context = self.agent.model.context;
        room::mask_early(&mut self.prompt.entries, context);
        if self.is_condensed
            || self.prompt.entries.len() < FEW
            || room::tokens(&self.prompt) <= context / 100 * NEARLY
        {
            return Ok(());
        }
        self.is_condensed = true;
        self.say(ASK.to_owned()).await;
        self.prompt.choice = ToolChoice::None;
        let asked = self.ask().await;
        self.prompt.choice = ToolChoice::Free;
        let text = asked?.text();
        if text.trim().is_empty() {
            // It goes on with what there is.
            return Ok(());
        }
        let said = text[..text.floor_char_boundary(LONGEST_SAID)].to_owned();
        self.bench.tell(AgentStep::Said { text: said }).await;
        let mut index = 0;
        self.prompt.entries.retain(|entry| {
            index += 1;
            index == 1 || matches!(entry, Entry::User(text) if text.starts_with(SAYS))
        });
        self.prompt.entries.push(Entry::User(format!(
            "What was done so far, in your own words:\n{text}\n\nGo on from there. Read a file again before you edit it."
        )));
        Ok(())
    }
}
