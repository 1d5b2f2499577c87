//! What a task may reach and what it reached, in words.

use legwork_model::{Reached, TaskId, TaskSpec};
use legwork_spec::{ByteSize, Destination};
use legwork_wire::Client;

use crate::{failure::Failure, output, printable::printable, verdict};

/// Tells what a new task may reach, if it may reach anything.
pub(crate) async fn tell(client: &Client, task: &TaskId) -> Result<(), Failure> {
    for line in before(&client.task(task.as_str()).await?.task.spec) {
        output::note(&line);
    }
    Ok(())
}

/// What is said of a task before it starts.
fn before(spec: &TaskSpec) -> Vec<String> {
    let mut lines = Vec::new();
    if !spec.allow.is_empty() {
        lines.push(format!("network: it may reach {}", list(&spec.allow)));
    }
    for entry in &spec.allow {
        lines.extend(
            entry
                .remark()
                .map(|remark| format!("network: {entry}: {remark}")),
        );
    }
    lines
}

/// What a task may reach.
pub(crate) fn allowed(spec: &TaskSpec) -> String {
    match spec.allow.as_slice() {
        [] => "nothing can be reached".to_owned(),
        allow => list(allow),
    }
}

fn list(allow: &[Destination]) -> String {
    let entries: Vec<String> = allow.iter().map(ToString::to_string).collect();
    entries.join(", ")
}

/// What a task did with one host.
pub(crate) fn reached(reached: &Reached) -> String {
    let mut parts = Vec::new();
    if reached.passed > 0 {
        parts.push(format!(
            "{}, {} sent, {} received",
            verdict::count(reached.passed, "connection"),
            ByteSize::bytes(reached.up),
            ByteSize::bytes(reached.down)
        ));
    }
    if reached.denied > 0 {
        let reason = reached.reason.as_deref().unwrap_or_default();
        parts.push(format!("{} refused: {}", reached.denied, printable(reason)));
    }
    format!("{}: {}", printable(&reached.target()), parts.join("; "))
}

#[cfg(test)]
mod tests {
    use legwork_model::Worker;

    use super::*;

    #[test]
    fn what_may_be_reached_is_told_with_what_should_be_known() {
        let mut spec = TaskSpec::new("/w".into(), Worker::Builtin);
        assert!(before(&spec).is_empty());
        assert_eq!(allowed(&spec), "nothing can be reached");
        spec.allow = vec![
            "example.com".parse().unwrap(),
            "github.com".parse().unwrap(),
        ];
        assert_eq!(allowed(&spec), "example.com:443, github.com:443");
        let lines = before(&spec);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].starts_with("network: github.com:443: anybody can keep things there"));
    }

    #[test]
    fn what_was_reached_is_told_in_a_line() {
        let passed = Reached {
            host: "a.test".to_owned(),
            port: 443,
            passed: 1,
            up: 10,
            down: 2048,
            ..Reached::default()
        };
        assert_eq!(
            reached(&passed),
            "a.test:443: 1 connection, 10 B sent, 2 KiB received"
        );
        let denied = Reached {
            denied: 3,
            reason: Some("no".to_owned()),
            ..Reached::default()
        };
        assert_eq!(reached(&denied), "a connection: 3 refused: no");
    }
}
