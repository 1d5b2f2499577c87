//! `legwork say`: words for the agent of a task, while it works or when it is over.

use legwork_wire::{Hearing, Places, Say};

use crate::{args::SayArgs, failure::Failure, output, start};

/// Does it, and tells when it is heard.
pub(crate) async fn say(places: &Places, args: SayArgs) -> Result<(), Failure> {
    let say = Say {
        text: args.words.join(" "),
    };
    let client = start::connect(places).await?;
    let said = client.say(args.task.as_str(), &say).await?;
    if args.json {
        output::json(&said)?;
    } else {
        let when = match said.hearing {
            Hearing::AtStart => "hears it when it begins",
            Hearing::NextTurn => "hears it at its next turn",
            Hearing::Answer => "hears it now",
            Hearing::Resumed => "hears it in a new machine, where it goes on",
        };
        output::note(&format!("the agent of task {} {when}", said.task.short()));
    }
    Ok(())
}
