//! `legwork retry`.

use legwork_wire::Places;

use crate::{args::TaskPrefix, failure::Failure, output, start};

/// Does it, and prints the new task's id.
pub(crate) async fn retry(places: &Places, task: &TaskPrefix, json: bool) -> Result<(), Failure> {
    let submitted = start::connect(places).await?.retry(task.as_str()).await?;
    if json {
        output::json(&submitted)?;
    } else {
        output::line(submitted.task.as_str())?;
    }
    Ok(())
}
