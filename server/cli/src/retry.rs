//! `legwork retry`.

use legwork_wire::{Places, Submit};

use crate::{
    args::{Allowed, TaskPrefix},
    failure::Failure,
    network, output, start,
};

/// Does it, and prints the new task's id.
pub(crate) async fn retry(
    places: &Places,
    task: &TaskPrefix,
    allow: Vec<Allowed>,
    json: bool,
) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    let submitted = if allow.is_empty() {
        client.retry(task.as_str()).await?
    } else {
        let old = client.task(task.as_str()).await?.task;
        if !old.state.is_over() {
            return Err(Failure::task(
                format!("task {} is not over yet", old.id.short()),
                "wait for its end, or cancel it first with `legwork cancel`",
            ));
        }
        let mut spec = old.spec;
        spec.allow.extend(Allowed::all(allow));
        client
            .submit(&Submit {
                spec,
                buffers: vec![],
            })
            .await?
    };
    network::tell(&client, &submitted.task).await?;
    if json {
        output::json(&submitted)?;
    } else {
        output::line(submitted.task.as_str())?;
    }
    Ok(())
}
