//! What a command does to its machine, and what is left of it. Group G.

use std::time::{Duration, Instant};

use crate::case::Case;

#[test]
fn b93_what_is_left_in_the_background_ends_with_the_command() {
    let case = Case::new("B93");
    let begun = Instant::now();
    let done = case.run();
    assert!(
        begun.elapsed() < Duration::from_mins(2),
        "it waited for a child"
    );
    assert_eq!(case.legwork(&["logs", &done.id]).text(), "done\n");
    case.round(&done, &case.direct);
}

#[test]
fn b94_nothing_waits_for_input() {
    Case::plain("B94");
}

#[test]
fn b95_more_output_than_anybody_reads() {
    let case = Case::with("B95", &[("BIG", "3000000")]);
    let done = case.run();
    let log = case.legwork(&["logs", &done.id]).stdout;
    assert!(log.starts_with(b"0123456789\n"));
    assert!(log.len() < 53_000_000, "all {} bytes were kept", log.len());
    assert!(done.notices().contains("output"), "{}", done.notices());
    case.round(&done, &case.direct);
}

#[test]
fn b95_long_arguments() {
    let case = Case::new("B95");
    let path = case.path();
    let folder = path.to_str().unwrap();
    let long = "#".repeat(120_000);
    let script = format!("echo long >> a.txt\n{long}");
    let id = case.start_script(&script);
    let done = case.wait(&id, || {});
    case.accept(&done).expect(0);
    assert_eq!(case.now().bytes("a.txt"), b"a\nlong\n");
    // More than a frame takes is refused in words.
    let arguments = ["run", "-C", folder, "--", "true", &long, &long, &long];
    let ran = case.legwork(&arguments).expect(1);
    assert!(
        ran.stderr.contains("bytes long"),
        "{}",
        &ran.stderr[ran.stderr.len() - 600..]
    );
}

#[test]
fn b96_a_command_that_does_not_want_to_end() {
    let case = Case::unrun("B96", &[]);
    let id = case.start();
    let begun = Instant::now();
    while case.legwork(&["show", &id, "--json"]).json()["detail"]["task"]["pending"] != 1 {
        assert!(
            begun.elapsed() < Duration::from_mins(2),
            "no change is shown"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    let begun = Instant::now();
    case.legwork(&["cancel", &id]).expect(0);
    let done = case.wait(&id, || {});
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(done.shown["detail"]["task"]["outcome"]["type"], "cancelled");
    assert!(
        !case
            .home
            .state()
            .join("tasks")
            .join(&id)
            .join("vm")
            .exists()
    );
    case.now().must_be(&case.base, "cancelled");
    case.accept(&done).expect(0);
    assert_eq!(case.now().bytes("a.txt"), b"a\nbefore\n");
}

#[test]
fn b98_a_sparse_file_and_a_fork_bomb() {
    let case = Case::new("B98");
    let done = case.run();
    done.refuses(&["sparse.bin"]);
    case.round(&done, &case.direct.clone().without("sparse.bin"));
    // The bomb goes off in the guest, and a cancel gets through.
    let id = case.start_script(&format!("REALLY=1\n{}; sleep 1000", case.script));
    case.home
        .wait_for(&case.path(), &id, &["running", "ready", "ended"]);
    std::thread::sleep(Duration::from_secs(3));
    let begun = Instant::now();
    let _over = case.legwork(&["cancel", &id]);
    case.wait(&id, || {});
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn b102_everything_is_deleted() {
    let case = Case::new("B102");
    let done = case.run();
    assert_eq!(
        done.paths(),
        ["f1.txt", "f2.txt", "f3.txt", "f4.txt", "f5.txt"]
    );
    for path in done.paths() {
        let why = done.file(path)["sensitive"].as_str().unwrap_or_default();
        assert!(why.contains("5 deletions among 6 files"), "{path}: {why}");
    }
    // A bulk accept leaves them for a second look, and what the guest never saw stays in any case.
    let ran = case.legwork(&["accept", &done.id]).expect(4);
    assert!(ran.stderr.contains("f1.txt"), "{ran:?}");
    case.now().must_be(&case.base, "not in a bulk accept");
    case.round(&done, &case.direct.clone().with(&case.base, ".env"));
}
