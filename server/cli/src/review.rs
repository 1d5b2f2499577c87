//! `legwork review`: hunk by hunk in the terminal. Each answer is carried out at once, bound to what was shown.

mod draw;
mod keys;
#[cfg(test)]
pub(crate) mod tests;
mod walk;

use legwork_wire::{Client, Decided, Places, WireError};

use crate::{accept, args::TaskPrefix, diff, failure::Failure, output, start, verdict};

use keys::Keys;
use walk::{Step, Walk};

/// Does it.
pub(crate) async fn review(places: &Places, task: &TaskPrefix) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    let task = client.task(task.as_str()).await?.task;
    let id = task.id;
    let mut walk = Walk::new(client.review(id.as_str()).await?);
    let mut keys = Keys::of_stdin();
    let coloured = output::is_coloured();
    let (mut accepted, mut rejected) = (0, 0);
    let mut shown = true;
    while let Some(spot) = walk.current() {
        if shown {
            output::print(&draw::spot(&spot, coloured))?;
        }
        output::print(&diff::paint(&draw::prompt(&spot), diff::BOLD, coloured))?;
        let key = keys
            .next()
            .map_err(|error| Failure::usage(format!("cannot read an answer: {error}"), ""))?;
        // Neither a raw terminal nor a pipe shows it.
        output::print(&key.map_or_else(|| "\n".to_owned(), |key| format!("{}\n", key.letter())))?;
        shown = true;
        match key.map_or(Step::End, |key| walk.press(key)) {
            Step::End => break,
            Step::Next => {}
            Step::Help => {
                output::print(draw::HELP)?;
                shown = false;
            }
            Step::Nothing(why) => {
                output::line(why)?;
                shown = false;
            }
            Step::Accept(decide) => {
                let decided = client.accept(id.as_str(), &decide).await;
                accepted += tell("accepted", &id, decided)?;
                renew(&client, id.as_str(), &mut walk).await?;
            }
            Step::Reject(decide) => {
                let decided = client.reject(id.as_str(), &decide).await;
                rejected += tell("rejected", &id, decided)?;
                renew(&client, id.as_str(), &mut walk).await?;
            }
        }
    }
    output::note(&format!(
        "{} accepted, {rejected} rejected, {} pending",
        verdict::count(u64::from(accepted), "hunk"),
        walk.waiting()
    ));
    Ok(())
}

/// Says what a decision did, or why it did nothing. What the daemon refuses leaves the hunk where it is.
fn tell(
    what: &str,
    id: &legwork_model::TaskId,
    decided: Result<Decided, WireError>,
) -> Result<u32, Failure> {
    match decided {
        Ok(decided) => {
            accept::tell(what, id, &decided);
            Ok(decided.hunks)
        }
        Err(error @ WireError::Refused(_)) => {
            let failure = Failure::from(error);
            let _code = failure.report();
            Ok(0)
        }
        Err(error) => Err(error.into()),
    }
}

async fn renew(client: &Client, id: &str, walk: &mut Walk) -> Result<(), Failure> {
    walk.renew(client.review(id).await?);
    Ok(())
}
