//! A machine goes on from what an earlier one left.

use kit::machine::{Machine, small, start};
use legwork_host::{ExitStatus, FoundKind, HostError, LayInput};

use crate::upper::listing;

async fn lay(machine: &Machine, frames: Vec<LayInput>) -> Result<(), HostError> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let tell = async move {
        for frame in frames {
            if sender.send(frame).await.is_err() {
                return;
            }
        }
    };
    let (laid, ()) = tokio::join!(machine.sandbox.lay(receiver), tell);
    laid
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_laid_is_seen_by_programs_and_listed_like_any_change() {
    let machine = start(small()).await.unwrap();
    let zeros = vec![0; 64 << 10];
    let frames = vec![
        LayInput::Remove("gone.txt".into()),
        LayInput::Remove("folder/deep.txt".into()),
        LayInput::Dir("empty".into()),
        LayInput::Symlink {
            path: "link".into(),
            target: "kept.txt".into(),
        },
        LayInput::File {
            path: "new/script".into(),
            mode: 0o755,
        },
        LayInput::Data("#!/bin/sh\necho laid\n".into()),
        LayInput::File {
            path: "zeros".into(),
            mode: 0o600,
        },
        LayInput::Data(zeros.clone()),
        LayInput::Data(zeros),
    ];
    lay(&machine, frames).await.unwrap();
    let said = machine
        .sh("new/script; test ! -e gone.txt && test ! -e folder && test -d empty && readlink link && wc -c < zeros")
        .await;
    assert_eq!(said.exit.status, ExitStatus::Exited(0));
    assert_eq!(said.text(), "laid\nkept.txt\n131072\n");
    let found = listing(&machine).await;
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "empty",
            "folder",
            "gone.txt",
            "link",
            "new",
            "new/script",
            "zeros"
        ]
    );
    assert_eq!(found["folder"].0, FoundKind::Whiteout);
    assert_eq!(
        found["zeros"].0,
        FoundKind::File {
            mode: 0o600,
            size: 128 << 10
        }
    );
    machine.sandbox.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_laid_is_said_and_the_machine_lives() {
    let machine = start(small()).await.unwrap();
    let frames = vec![
        LayInput::File {
            path: "folder".into(),
            mode: 0o644,
        },
        LayInput::Data("a folder stands here".into()),
    ];
    let said = lay(&machine, frames).await.unwrap_err().to_string();
    assert!(said.contains("cannot make folder"), "{said}");
    assert_eq!(machine.sh("true").await.exit.status, ExitStatus::Exited(0));
    machine.sandbox.stop().await;
}
