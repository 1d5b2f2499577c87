//! What is well-formed and what is not.

use super::*;

#[test]
fn the_grammar_has_no_contradictions() {
    use clap::CommandFactory as _;
    Line::command().debug_assert();
}

#[test]
fn run_takes_limits_and_leaves_the_command_alone() {
    let line = "legwork run --cpus 2 --memory 512M --disk 2G --timeout 1h30m --driver krun --isolation hardware \
                --include .env --include x --env A=b=c -C /w --json --accept -- make -j --json";
    let Ok(Command::Run(run)) = parse(line) else {
        panic!()
    };
    let task = run.task;
    assert_eq!(
        (task.cpus, task.memory),
        (Some(2), Some(ByteSize::mib(512)))
    );
    assert_eq!(
        (task.disk, task.timeout),
        (Some(ByteSize::gib(2)), Some(Duration::from_mins(90)))
    );
    assert_eq!(
        (task.driver, task.isolation),
        (Some(Driver::Krun), Isolation::Hardware)
    );
    assert_eq!(task.include, [PathBuf::from(".env"), PathBuf::from("x")]);
    assert_eq!(task.env, [("A".to_owned(), "b=c".to_owned())]);
    assert_eq!(task.workspace, Some(PathBuf::from("/w")));
    assert_eq!(task.command, ["make", "-j", "--json"]);
    assert!(task.prompt.is_empty() && run.json && run.accept);
}

#[test]
fn the_walls_that_are_asked_for_are_named() {
    for (word, wanted) in [
        ("hardware", Isolation::Hardware),
        ("emulated-ok", Isolation::EmulatedOk),
        ("unjailed-ok", Isolation::UnjailedOk),
    ] {
        let Ok(Command::Run(run)) = parse(&format!("legwork run --isolation {word} -- true"))
        else {
            panic!()
        };
        assert_eq!(run.task.isolation, wanted);
    }
}

#[test]
fn words_without_dashes_are_a_prompt() {
    let Ok(Command::Delegate(delegate)) = parse("legwork delegate fix the bug") else {
        panic!()
    };
    assert_eq!(delegate.task.prompt, ["fix", "the", "bug"]);
    assert!(delegate.task.command.is_empty());
    assert_eq!(delegate.task.isolation, Isolation::EmulatedOk);
    let Ok(Command::Delegate(delegate)) =
        parse("legwork delegate --stdin --file a/b.rs --lines 12-20 shorten it")
    else {
        panic!()
    };
    let task = delegate.task;
    assert!(task.stdin);
    assert_eq!(
        (task.file, task.lines),
        (Some(PathBuf::from("a/b.rs")), Some((12, 20)))
    );
    assert_eq!(task.prompt, ["shorten", "it"]);
    assert_eq!(lines("7"), Ok((7, 7)));
}

#[test]
fn what_is_well_formed_is_taken() {
    for line in [
        "legwork tasks --all --here --json",
        "legwork show bcd --diff",
        "legwork logs -f bcdfghjkmnpq",
        "legwork watch --json",
        "legwork review b",
        "legwork accept bcd a/b:3 ../c --include-sensitive",
        "legwork reject bcd -- -odd",
        "legwork undo bcd",
        "legwork cancel bcd --json",
        "legwork retry bcd",
        "legwork doctor --json",
        "legwork daemon start",
        "legwork daemon start --foreground --detached",
        "legwork daemon stop --force",
        "legwork daemon status --json",
        "legwork run --timeout 90s -- true",
    ] {
        assert!(parse(line).is_ok(), "{line}");
    }
}

#[test]
fn what_is_not_well_formed_is_refused() {
    for line in [
        "legwork",
        "legwork fly",
        "legwork run --cpus 0 -- true",
        "legwork run --cpus 65 -- true",
        "legwork run --memory much -- true",
        "legwork run --timeout 5 -- true",
        "legwork run --timeout -5s -- true",
        "legwork run --timeout soon -- true",
        "legwork run --driver xen -- true",
        "legwork run --isolation none -- true",
        "legwork run --env A -- true",
        "legwork run --env =b -- true",
        "legwork delegate --lines 1-2 fix",
        "legwork delegate --file a --lines 0-2 fix",
        "legwork delegate --file a --lines 3-2 fix",
        "legwork delegate --file a --lines x fix",
        "legwork show",
        "legwork show BCD",
        "legwork show ../x",
        "legwork show bcdfghjkmnpqr",
        "legwork show bcd --diff --log",
        "legwork reject bcd --include-sensitive",
        "legwork daemon",
        "legwork daemon start --detached",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}
