//! What the guest tells while programs change things is what its last listing will tell, as it comes.

use std::{collections::BTreeMap, time::Duration};

use kit::machine::{Machine, small, start};
use legwork_host::{Collected, ExitStatus, FoundKind};
use tokio::{
    sync::mpsc::{self, Receiver},
    time::timeout,
};

type Upper = BTreeMap<String, (FoundKind, Vec<u8>)>;

/// Takes batches until the upper layer is as wanted.
async fn until(
    frames: &mut Receiver<Collected>,
    upper: &mut Upper,
    wanted: impl Fn(&Upper) -> bool,
) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let mut last = String::new();
    let taken = async {
        while let Some(frame) = frames.recv().await {
            match frame {
                Collected::Found(found) => {
                    last = text(found.path);
                    upper.insert(last.clone(), (found.kind, Vec::new()));
                }
                Collected::Data(bytes) => upper.get_mut(&last).unwrap().1.extend(bytes),
                Collected::EndOfFile => {}
                Collected::Gone(path) => drop(upper.remove(&text(path)).unwrap()),
                Collected::BatchEnd if wanted(upper) => return,
                Collected::BatchEnd => {}
                other => panic!("{other:?}"),
            }
        }
        panic!("the watch ended");
    };
    let waited = timeout(Duration::from_secs(30), taken).await;
    assert!(waited.is_ok(), "it did not come: {upper:?}");
}

async fn run(machine: &Machine, script: &str) {
    assert_eq!(machine.sh(script).await.exit.status, ExitStatus::Exited(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_told_as_they_come_and_go() {
    let machine = start(small()).await.unwrap();
    let (sender, mut frames) = mpsc::channel(16);
    let (skips, skipped) = mpsc::channel(16);
    let told = async {
        let mut upper = Upper::new();
        let upper = &mut upper;
        run(
            &machine,
            "echo one > new; rm gone.txt; rm -r folder; mkdir folder; mkdir out; echo 1 > out/1",
        )
        .await;
        until(&mut frames, upper, |upper| upper.contains_key("out/1")).await;
        assert_eq!(upper["gone.txt"].0, FoundKind::Whiteout);
        assert!(matches!(
            upper["folder"].0,
            FoundKind::Dir { opaque: true, .. }
        ));
        assert_eq!(upper["new"].1, b"one\n");
        skips.send(b"out".to_vec()).await.unwrap();
        // While a program runs, and not when it ends; long files are not told.
        let busy = async {
            let script = "echo two >> new; head -c 2000000 /dev/zero > long; \
                until [ -e /tmp/seen ]; do sleep 0.1; done";
            run(&machine, script).await;
        };
        let seen = async {
            until(&mut frames, upper, |upper| upper["new"].1 == b"one\ntwo\n").await;
            run(&machine, "touch /tmp/seen").await;
        };
        tokio::join!(busy, seen);
        run(
            &machine,
            "echo 2 > out/2; rm new; echo back > gone.txt; rm -r folder; : > long",
        )
        .await;
        // A batch may have been looked at while the program was half way.
        until(&mut frames, upper, |upper| {
            let kind = |path: &str| upper.get(path).map(|(kind, _)| kind);
            upper["gone.txt"].1 == b"back\n"
                && kind("folder") == Some(&FoundKind::Whiteout)
                && kind("long").is_some()
                && kind("new").is_none()
        })
        .await;
        assert!(!upper.contains_key("out/2"), "{upper:?}");
    };
    tokio::select! {
        ended = machine.sandbox.watch(sender, skipped) => panic!("{ended:?}"),
        () = told => {}
    }
    // It ends with whoever wanted it, and leaves everything else alone.
    run(&machine, "true").await;
    machine.sandbox.stop().await;
}
