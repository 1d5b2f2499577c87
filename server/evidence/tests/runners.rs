//! Real output of real runners, and what hostile output does.

use std::collections::BTreeMap;

use legwork_evidence::{
    Card, Check, DifferenceKind, End, MAX_OUTPUT, MAX_TESTS, Part, Reader, Run, Stamp, Status,
    Tests, compare, edited, is_test,
};
use legwork_model::{Digest, Verdict};
use proptest::prelude::*;

fn read(text: &str) -> Tests {
    let mut reader = Reader::default();
    // In pieces, as they come.
    for piece in text.as_bytes().chunks(7) {
        reader.push(false, piece);
    }
    reader.finish().0
}

fn counts(tests: &Tests) -> [usize; 3] {
    [Status::Passed, Status::Failed, Status::Skipped].map(|status| tests.count(status))
}

macro_rules! output {
    ($name:literal) => {
        include_str!(concat!("outputs/", $name))
    };
}

#[test]
fn the_common_runners_are_understood() {
    for (name, text, wanted, partial, failed) in [
        (
            "cargo",
            output!("cargo.txt"),
            [3, 1, 1],
            false,
            "tests::breaks",
        ),
        (
            "cargo -q",
            output!("cargo-q.txt"),
            [0, 1, 0],
            true,
            "tests::breaks",
        ),
        (
            "nextest",
            output!("nextest.txt"),
            [2, 1, 0],
            false,
            "fx tests::breaks",
        ),
        (
            "pytest",
            output!("pytest-default.txt"),
            [0, 2, 0],
            true,
            "tests/test_calc.py::test_breaks",
        ),
        (
            "pytest -v",
            output!("pytest-v.txt"),
            [3, 2, 2],
            false,
            "tests/test_calc.py::TestGroup::test_each[2]",
        ),
        (
            "pytest -rfEp",
            output!("pytest-q.txt"),
            [3, 2, 0],
            true,
            "tests/test_calc.py::test_breaks",
        ),
        (
            "unittest -v",
            output!("unittest-v.txt"),
            [2, 1, 2],
            false,
            "test_plain.Plain.test_breaks",
        ),
        (
            "unittest",
            output!("unittest.txt"),
            [0, 1, 0],
            true,
            "test_plain.Plain.test_breaks",
        ),
        (
            "go",
            output!("go.txt"),
            [0, 2, 0],
            true,
            "example.org/fx.TestBreaks/sub",
        ),
        (
            "go -v",
            output!("go-v.txt"),
            [2, 2, 1],
            false,
            "example.org/fx.TestBreaks",
        ),
        (
            "go -json",
            output!("go-json.txt"),
            [2, 2, 1],
            false,
            "example.org/fx.TestBreaks/sub",
        ),
        (
            "jest",
            output!("jest.txt"),
            [0, 1, 0],
            true,
            "a.test.js > calc > sum > breaks (badly)",
        ),
        (
            "jest --verbose",
            output!("jest-verbose.txt"),
            [3, 1, 1],
            false,
            "a.test.js > calc > sum > breaks (badly)",
        ),
        (
            "vitest",
            output!("vitest.txt"),
            [0, 1, 0],
            true,
            "a.test.js > calc > sum > breaks (badly)",
        ),
        (
            "vitest verbose",
            output!("vitest-verbose.txt"),
            [3, 1, 1],
            false,
            "a.test.js > calc > sum > breaks (badly)",
        ),
        (
            "JUnit XML",
            output!("junit.xml"),
            [3, 2, 2],
            false,
            "tests.test_calc.TestGroup.test_each[2]",
        ),
        (
            "TAP",
            "TAP version 13\n# Subtest: a\n    ok 1 - inner\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later\n1..3\n",
            [2, 1, 1],
            false,
            "b",
        ),
    ] {
        let tests = read(text);
        assert_eq!(
            (counts(&tests), tests.partial),
            (wanted, partial),
            "{name}: {tests:?}"
        );
        assert_eq!(
            tests.named.get(failed),
            Some(&Status::Failed),
            "{name}: {tests:?}"
        );
    }
}

#[test]
fn what_is_no_test_is_none() {
    for text in [
        "test this ... not yet\nok then\nFAIL to plan\n",
        "PASS [later] this\n    PASS [x] a b\n--- what: ever (1)\n",
        "<testsuite",
        "{\"Action\":\"pass\"}\n{\"Action\": nonsense\n",
        "Ran out of ideas\nok\n",
    ] {
        let tests = read(text);
        assert!(tests.named.is_empty(), "{text}: {tests:?}");
    }
}

#[test]
fn floods_are_bounded() {
    let mut reader = Reader::default();
    for number in 0..MAX_TESTS + 5 {
        reader.push(true, format!("test t{number} ... ok\n").as_bytes());
    }
    reader.push(false, &vec![b'x'; MAX_OUTPUT + 1]);
    reader.push(false, b"\ntest late ... FAILED\nthe end");
    let (tests, tail) = reader.finish();
    assert_eq!(tests.named.len(), MAX_TESTS);
    assert!(tests.partial && !tests.named.contains_key("late"));
    assert!(tail.ends_with("the end") && tail.len() < 8 << 10);
}

/// What runners write, to be put together in every order.
const WORDS: [&str; 26] = [
    "test ",
    "ok ",
    "not ok 1 ",
    "--- FAIL: ",
    "<testcase name=\"",
    "<![CDATA[",
    "FAIL  ",
    "\n✓ ",
    "● ",
    "a.test.ts",
    " > ",
    " ... ok",
    "\n",
    "\"",
    ">",
    "/",
    "\u{1b}[",
    "PASSED",
    "::",
    "%]",
    "(",
    ")",
    "\t",
    "Ran 9 ",
    "<testsuite",
    "你",
];

proptest! {
    #[test]
    fn nothing_that_is_written_is_too_much(
        pieces in prop::collection::vec((any::<bool>(), prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..20)
                .prop_map(|words| words.concat().into_bytes()),
        ]), 0..30)
    ) {
        let mut reader = Reader::default();
        for (is_error, bytes) in &pieces {
            reader.push(*is_error, bytes);
        }
        let (tests, _) = reader.finish();
        for name in tests.named.keys() {
            prop_assert!(!name.is_empty() && name.len() <= 300 && !name.chars().any(char::is_control));
        }
    }
}

fn tests(partial: bool, named: &[(&str, Status)]) -> Tests {
    let named = named
        .iter()
        .map(|(name, status)| ((*name).to_owned(), *status));
    Tests {
        named: named.collect::<BTreeMap<_, _>>(),
        partial,
    }
}

#[test]
fn tests_are_compared_one_by_one() {
    use Status::{Failed, Passed, Skipped};
    let before = tests(
        false,
        &[
            ("a", Failed),
            ("b", Passed),
            ("c", Passed),
            ("d", Passed),
            ("e", Skipped),
            ("f", Passed),
        ],
    );
    let after = tests(
        false,
        &[
            ("a", Passed),
            ("b", Failed),
            ("c", Skipped),
            ("e", Passed),
            ("f", Passed),
            ("g", Passed),
            ("h", Failed),
        ],
    );
    let found: Vec<_> = compare(&before, &after)
        .into_iter()
        .map(|found| (found.test, found.kind))
        .collect();
    let wanted = [
        ("b", DifferenceKind::PassToFail),
        ("h", DifferenceKind::New),
        ("a", DifferenceKind::FailToPass),
        ("c", DifferenceKind::Skipped),
        ("d", DifferenceKind::Removed),
        ("g", DifferenceKind::New),
        ("e", DifferenceKind::Unskipped),
    ];
    assert_eq!(found, wanted.map(|(test, kind)| (test.to_owned(), kind)));
    // A runner that names only what fails says nothing of the others.
    let before = tests(true, &[("a", Failed)]);
    let after = tests(true, &[("b", Failed)]);
    let found: Vec<_> = compare(&before, &after)
        .into_iter()
        .map(|found| found.kind)
        .collect();
    assert_eq!(found, [DifferenceKind::New, DifferenceKind::NoLongerFails]);
}

#[test]
fn edited_tests_and_what_they_assert_no_more_are_told() {
    let path = |text: &str| text.parse().unwrap();
    for (name, is) in [
        ("tests/a.py", true),
        ("a_test.go", true),
        ("src/a.test.ts", true),
        ("src/test_a.py", true),
        ("src/UserTest.java", true),
        ("src/a.rs", false),
        ("attestation.py", false),
        ("contest/a.c", false),
    ] {
        assert_eq!(is_test(&path(name)), is, "{name}");
    }
    let before = "def test_x():\n    assert f(1) == 2\n    assert f(2) == 3\n";
    let after = "@pytest.mark.skip\ndef test_x():\n    assert f(1) == 2\n";
    let found = edited(&path("test_x.py"), before, Some(after)).unwrap();
    assert!(found.is_assertion_removed() && !found.deleted);
    assert_eq!(found.removed, ["assert f(2) == 3"]);
    assert_eq!(found.skips, ["@pytest.mark.skip"]);
    assert!(edited(&path("test_x.py"), before, None).unwrap().deleted);
    assert_eq!(edited(&path("test_x.py"), before, Some(before)), None);
    assert_eq!(edited(&path("src/x.py"), before, Some(after)), None);
    let rust = |code: &str, assertion: &str| {
        format!("{code}\n#[cfg(test)]\nmod tests {{\n    {assertion}\n}}\n")
    };
    let old = rust("fn a() {}", "assert!(a());");
    assert_eq!(
        edited(
            &path("src/a.rs"),
            &old,
            Some(&rust("fn b() {}", "assert!(a());"))
        ),
        None
    );
    let found = edited(&path("src/a.rs"), &old, Some(&rust("fn a() {}", "")));
    assert!(found.unwrap().is_assertion_removed());
}

fn run(end: End, tests: Tests) -> Run {
    Run {
        end,
        millis: 1234,
        cached: false,
        tests,
        tail: "one\ntwo \u{1b}[31m\n".to_owned(),
    }
}

#[test]
fn the_card_says_it_in_words_that_a_terminal_can_bear() {
    let stamp = Stamp {
        changes: Digest::of(b"a"),
        accepted: Digest::of(b""),
    };
    let mut card = Card::new(Part::Whole, stamp, 0);
    assert_eq!(
        (card.verdict(), card.summary().as_str()),
        (Verdict::Checking, "checking")
    );
    let mut check = Check::new("make test", false);
    check.before = Some(run(
        End::Exited { code: 0 },
        tests(false, &[("a", Status::Passed)]),
    ));
    check.after = Some(run(
        End::Exited { code: 1 },
        tests(false, &[("a", Status::Failed)]),
    ));
    check.compare();
    let mut bug = Check::new("make bug", true);
    bug.before = Some(run(End::Exited { code: 0 }, Tests::default()));
    bug.after = Some(run(End::Exited { code: 0 }, Tests::default()));
    card.checks = vec![bug, check];
    card.progress = legwork_evidence::Progress::Done;
    assert_eq!(card.verdict(), Verdict::Failing);
    let text = card.lines().join("\n");
    for line in [
        "checks fail: 0 of 2 checks as they should be, 1 pass→fail\n",
        "reproduction not confirmed: make bug\n",
        "  it passes on the base too, so it shows no bug\n",
        "check fails: make test\n  before passes, 1 passed (1.2 s)\n  after  exit code 1, 1 failed (1.2 s)\n  pass→fail: a\n    | one\n    | two \\x1b[31m",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    card.checks.remove(0);
    card.checks[0].after = Some(Run::not_run("the machine ended"));
    assert_eq!(card.verdict(), Verdict::Unknown);
}
