//! `legwork check`, and what others tell of the card that it makes.

use std::time::Duration;

use legwork_wire::{Card, CheckAgain, CheckProgress, Client, Places};

use crate::{args::TaskPrefix, failure::Failure, output, start};

/// How often a card is looked at while it is not done.
const PAUSE: Duration = Duration::from_millis(200);

/// Checks a task once more and waits for it.
pub(crate) async fn check(
    places: &Places,
    task: &TaskPrefix,
    accepted: bool,
    json: bool,
) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    client.check(task.as_str(), CheckAgain { accepted }).await?;
    let card = wait(&client, task.as_str()).await?;
    if json {
        output::json(&card)?;
    } else {
        output::print(&told(card.as_ref()))?;
    }
    Ok(())
}

/// The card of a task once it is done; `None` if there is none.
pub(crate) async fn wait(client: &Client, task: &str) -> Result<Option<Card>, Failure> {
    let mut told = None;
    loop {
        let card = client.evidence(task).await?;
        match card {
            Some(card) if card.progress == CheckProgress::Checking => {
                let runs = card
                    .checks
                    .iter()
                    .flat_map(|check| [&check.after, &check.before]);
                let done = runs.flatten().count();
                if told != Some(done) {
                    told = Some(done);
                    let all = 2 * card.checks.len();
                    output::note(&format!("checking: {done} of {all} runs"));
                }
            }
            card => return Ok(card),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A card in lines, as the guest's words may be printed.
pub(crate) fn told(card: Option<&Card>) -> String {
    card.map_or_else(
        || "it has no checks\n".to_owned(),
        |card| {
            card.lines()
                .iter()
                .map(|line| format!("{line}\n"))
                .collect()
        },
    )
}
