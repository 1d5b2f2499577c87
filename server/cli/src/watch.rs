//! `legwork watch`: a line for each thing that happens to any task, until it is stopped.

use legwork_model::{AgentStep, ConnectionEnd, Event, EventBody, Task};
use legwork_wire::Places;

use crate::{
    failure::Failure,
    moment, output,
    printable::{cut, printable},
    start, tasks, verdict,
};

/// Does it.
pub(crate) async fn watch(places: &Places, json: bool) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    // The stream first: what happens between the two is told twice, not never.
    let mut events = client.events(None).await?;
    let mut known = client.tasks(None).await?;
    if !json {
        for task in known
            .iter()
            .rev()
            .filter(|task| !task.state.is_over() || task.pending > 0)
        {
            line(moment::now(), task, &verdict::state(task))?;
        }
    }
    while let Some(event) = events.next().await {
        let event = event?;
        if json {
            output::json_line(&event)?;
            continue;
        }
        if let Some(what) = told(&event) {
            let index = match known.iter().position(|task| task.id == event.task) {
                Some(index) => index,
                None => {
                    known.push(client.task(event.task.as_str()).await?.task);
                    known.len() - 1
                }
            };
            line(event.at, &known[index], &what)?;
        }
    }
    Err(Failure::host(
        "the daemon ended",
        "`legwork watch` starts it again",
    ))
}

/// An event in words; `None` for what is too much for a list.
fn told(event: &Event) -> Option<String> {
    match &event.body {
        EventBody::State { state } if state.is_over() => None,
        EventBody::State { state } => Some(format!("{state:?}").to_lowercase()),
        EventBody::Outcome { outcome, pending } => Some(format!(
            "{} ({} pending)",
            verdict::outcome(outcome),
            verdict::count(u64::from(*pending), "hunk")
        )),
        EventBody::Review { pending } | EventBody::Changes { pending } => Some(format!(
            "{} pending",
            verdict::count(u64::from(*pending), "hunk")
        )),
        EventBody::Evidence { summary, .. } => Some(printable(summary).into_owned()),
        EventBody::Notice { text } => Some(printable(text).into_owned()),
        EventBody::Asked { question } => Some(format!("asks: {}", printable(question))),
        EventBody::Message { text } => Some(format!("you say: {}", printable(text))),
        EventBody::Agent {
            step: AgentStep::Waiting { why, .. },
            ..
        } => Some(format!("waiting: {}", printable(why))),
        EventBody::Network { connection } => match connection.end {
            ConnectionEnd::Denied { .. } => Some(printable(&connection.line()).into_owned()),
            ConnectionEnd::Passed { .. } => None,
        },
        EventBody::Agent { .. } | EventBody::Phase { .. } | EventBody::Output { .. } => None,
    }
}

fn line(at: i64, task: &Task, what: &str) -> Result<(), Failure> {
    let line = format!(
        "{}  {}  {what}  {}",
        moment::clock(at),
        task.id.short(),
        tasks::title(task)
    );
    output::line(&cut(&line, output::columns()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use legwork_model::{Outcome, Phase, TaskId, TaskState};

    use super::*;

    #[test]
    fn ends_are_told_once_and_output_not_at_all() {
        let say = |body| {
            told(&Event {
                seq: 1,
                task: TaskId::random(),
                at: 0,
                body,
            })
        };
        assert_eq!(
            say(EventBody::State {
                state: TaskState::Running
            })
            .as_deref(),
            Some("running")
        );
        assert_eq!(
            say(EventBody::State {
                state: TaskState::Ready
            }),
            None
        );
        let end = EventBody::Outcome {
            outcome: Outcome::Done,
            pending: 2,
        };
        assert_eq!(say(end).as_deref(), Some("done (2 hunks pending)"));
        assert_eq!(
            say(EventBody::Phase {
                phase: Phase::Boot,
                detail: String::new()
            }),
            None
        );
    }
}
