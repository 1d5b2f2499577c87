//! Each way in which a program can end is told apart, and the declared limits hold.

use std::time::{Duration, Instant};

use kit::machine::{WORKSPACE, small, start};
use legwork_host::{ExitStatus, Program};
use legwork_spec::ByteSize;

#[tokio::test(flavor = "multi_thread")]
async fn ends_are_told_apart() {
    let machine = start(small()).await.unwrap();
    let ran = machine
        .sh("echo out; echo err >&2; pwd; echo \"$GREETING\"; exit 3")
        .await;
    assert_eq!(ran.exit.status, ExitStatus::Exited(3));
    assert_eq!(ran.text(), format!("out\n{WORKSPACE}\nhello there\n"));
    assert_eq!(ran.stderr, b"err\n");

    // Nobody types: what reads its input sees the end of it.
    let ran = machine.sh("cat; read answer || echo 'no answer'").await;
    assert_eq!(ran.text(), "no answer\n");

    let ran = machine.sh("kill -SEGV $$").await;
    assert_eq!(ran.exit.status, ExitStatus::Signaled(11));

    for (argv, reason) in [
        (vec!["no-such-program"], "there is no program"),
        (vec!["/etc/passwd"], "may not be executed"),
        (vec!["./broken"], "interpreter"),
    ] {
        machine
            .sh("printf '#!/no/such/interpreter\\n' > broken; chmod +x broken")
            .await;
        match machine
            .exec(Program::new(argv.clone()))
            .await
            .unwrap()
            .exit
            .status
        {
            ExitStatus::NotStarted(text) => assert!(text.contains(reason), "{text}"),
            other => panic!("{argv:?} ended with {other:?}"),
        }
    }
    let mut elsewhere = Program::new(["true"]);
    elsewhere.directory = Some("/no/such/folder".into());
    let ran = machine.exec(elsewhere).await.unwrap();
    assert!(
        matches!(ran.exit.status, ExitStatus::NotStarted(text) if text.contains("/no/such/folder"))
    );
    machine.sandbox.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_leaves_behind_ends_with_it() {
    let machine = start(small()).await.unwrap();
    let begun = Instant::now();
    let ran = machine
        .sh("sleep 1000 & setsid sleep 1000 & (sleep 1000 &) ; echo started")
        .await;
    assert_eq!(ran.exit.status, ExitStatus::Exited(0));
    assert!(begun.elapsed() < Duration::from_secs(30));
    let left = machine.sh("cat /proc/[0-9]*/comm | grep -c sleep").await;
    assert_eq!(left.text(), "0\n");
    // Programs at the same time, each with its own end.
    let runs = (0..6).map(|number| {
        let script = format!("echo {number}; exit {number}");
        let machine = &machine;
        async move { machine.sh(&script).await }
    });
    for (number, ran) in futures::future::join_all(runs)
        .await
        .into_iter()
        .enumerate()
    {
        assert_eq!(
            ran.exit.status,
            ExitStatus::Exited(i32::try_from(number).unwrap())
        );
        assert_eq!(ran.text(), format!("{number}\n"));
    }
    machine.sandbox.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time_memory_disk_and_output_are_limited() {
    let machine = start(small()).await.unwrap();
    // As declared, seen from inside.
    let shape = machine
        .sh("nproc; awk '/MemTotal/ {print ($2 < 400000)}' /proc/meminfo")
        .await;
    assert_eq!(shape.text(), "1\n1\n");

    let mut endless = Program::new([
        "sh",
        "-c",
        "echo begun; trap '' TERM INT; while :; do sleep 1; done",
    ]);
    endless.timeout = Some(Duration::from_secs(4));
    let begun = Instant::now();
    let ran = machine.exec(endless).await.unwrap();
    assert_eq!(ran.exit.status, ExitStatus::TimedOut);
    assert_eq!(ran.text(), "begun\n");
    assert!(
        begun.elapsed() < Duration::from_secs(19),
        "{:?}",
        begun.elapsed()
    );

    let ran = machine
        .sh("perl -e '$x = \"x\" x (64 << 20) for 1..2; push @a, \"y\" x (16 << 20) while 1'")
        .await;
    assert_eq!(ran.exit.status, ExitStatus::OutOfMemory);
    assert!(ran.exit.peak_memory > 128 << 20);

    let ran = machine
        .sh("head -c 400000000 /dev/zero > big; r=$?; exit $r")
        .await;
    assert_ne!(ran.exit.status, ExitStatus::Exited(0));
    assert!(ran.exit.disk_full);
    let used = machine
        .dir
        .path()
        .join("vm/scratch.ext4")
        .metadata()
        .unwrap();
    assert_eq!(
        used.len(),
        ByteSize::mib(256).as_bytes(),
        "the disk is as large as declared"
    );
    let ran = machine.sh("rm big; echo room").await;
    assert_eq!((ran.text().as_str(), ran.exit.disk_full), ("room\n", false));

    let ran = machine
        .sh("head -c 5000000 /dev/zero; echo never kept >&2")
        .await;
    assert_eq!(ran.exit.status, ExitStatus::Exited(0));
    assert_eq!(ran.stdout.len() + ran.stderr.len(), 1 << 20);
    assert_eq!(ran.exit.dropped, 5_000_000 + 11 - (1 << 20));
    machine.sandbox.stop().await;
}
