//! `legwork cancel`.

use legwork_wire::Places;

use crate::{args::TaskPrefix, failure::Failure, output, start, verdict};

/// Does it.
pub(crate) async fn cancel(places: &Places, task: &TaskPrefix, json: bool) -> Result<(), Failure> {
    let task = start::connect(places).await?.cancel(task.as_str()).await?;
    if json {
        output::json(&task)?;
    } else {
        let state = if task.state.is_over() {
            verdict::state(&task)
        } else {
            "is being cancelled".to_owned()
        };
        output::note(&format!("task {} {state}", task.id.short()));
    }
    Ok(())
}
