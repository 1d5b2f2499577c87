//! `legwork logs`: what a task's command wrote, or its agent did, on standard output whatever stream it was on.

use legwork_model::{Event, EventBody};
use legwork_wire::{Client, Places};

use crate::{
    args::LogsArgs, failure::Failure, follow::Follow, output, printable::printable_lines, start,
};

/// Does it.
pub(crate) async fn logs(places: &Places, args: LogsArgs) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    if !args.follow {
        return print(&client, args.task.as_str(), args.json).await;
    }
    // A prefix that is unique now may not be so later.
    let task = client.task(args.task.as_str()).await?.task.id;
    let mut follow = Follow::new(places, client, task.as_str());
    while let Some(event) = follow.next().await? {
        tell(&event, args.json)?;
    }
    Ok(())
}

/// Prints the output so far.
pub(crate) async fn print(client: &Client, id: &str, json: bool) -> Result<(), Failure> {
    for event in client.log(id).await? {
        tell(&event, json)?;
    }
    Ok(())
}

fn tell(event: &Event, json: bool) -> Result<(), Failure> {
    let text = match &event.body {
        EventBody::Output { text, .. } => text.clone(),
        EventBody::Agent { step, .. } => step.lines(),
        EventBody::Asked { question } => format!("asks the user: {}\n", question.trim_end()),
        _ => return Ok(()),
    };
    if json {
        output::json_line(event)?;
    } else if output::is_terminal() {
        output::print(&printable_lines(&text))?;
    } else {
        output::print(&text)?;
    }
    Ok(())
}
