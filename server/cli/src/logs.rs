//! `legwork logs`: what a task's command wrote, or its agent did, on standard output whatever stream it was on; or its
//! connections.

use legwork_model::{Event, EventBody};
use legwork_wire::{Client, Places};

use crate::{
    args::LogsArgs,
    failure::Failure,
    follow::Follow,
    output,
    printable::{printable, printable_lines},
    start,
};

/// Does it.
pub(crate) async fn logs(places: &Places, args: LogsArgs) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    if !args.follow {
        for event in client.log(args.task.as_str()).await? {
            tell(&event, args.network, args.json)?;
        }
        return Ok(());
    }
    // A prefix that is unique now may not be so later.
    let task = client.task(args.task.as_str()).await?.task.id;
    let mut follow = Follow::new(places, client, task.as_str());
    while let Some(event) = follow.next().await? {
        tell(&event, args.network, args.json)?;
    }
    Ok(())
}

/// Prints the output so far.
pub(crate) async fn print(client: &Client, id: &str, json: bool) -> Result<(), Failure> {
    for event in client.log(id).await? {
        tell(&event, false, json)?;
    }
    Ok(())
}

fn tell(event: &Event, network: bool, json: bool) -> Result<(), Failure> {
    let text = match &event.body {
        EventBody::Network { connection } if network => {
            format!("{}\n", printable(&connection.line()))
        }
        EventBody::Output { text, .. } if !network => text.clone(),
        EventBody::Agent { step, .. } if !network => step.lines(),
        EventBody::Asked { question } if !network => {
            format!("asks the user: {}\n", question.trim_end())
        }
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
