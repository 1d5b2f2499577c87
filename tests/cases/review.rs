//! Review on disk: orders of decisions, the user's own changes meanwhile, and accepts that cannot be. Group C.

use crate::case::Case;

plain! {
    b49_a_new_file_is_no_change_of_another = "B49";
}

#[test]
fn b31_every_order_of_every_choice() {
    let case = Case::new("B31");
    let done = case.run();
    assert_eq!(done.hunks("f.txt"), 3);
    let wanted = |accepted: &[usize]| {
        let mut text = String::new();
        for number in 1..=50 {
            let gone = accepted.contains(&2) && (number == 20 || number == 21);
            let word = if accepted.contains(&3) && number == 40 {
                "LINE"
            } else {
                "line"
            };
            if !gone {
                text.extend([word, " ", &number.to_string(), "\n"]);
            }
            if accepted.contains(&1) && number == 5 {
                text += "new a\nnew b\nnew c\n";
            }
        }
        text
    };
    for order in [
        [1, 2, 3],
        [1, 3, 2],
        [2, 1, 3],
        [2, 3, 1],
        [3, 1, 2],
        [3, 2, 1],
    ] {
        for choice in 0..8_u32 {
            let mut accepted = Vec::new();
            for hunk in order {
                let pick = format!("f.txt:{hunk}");
                let verb = if choice & (1 << hunk >> 1) == 0 {
                    "reject"
                } else {
                    "accept"
                };
                case.legwork(&[verb, &done.id, &pick]).expect(0);
                if verb == "accept" {
                    accepted.push(hunk);
                }
                assert_eq!(
                    String::from_utf8_lossy(case.now().bytes("f.txt")),
                    wanted(&accepted),
                    "{order:?} {choice:03b}"
                );
            }
            for _ in order {
                case.legwork(&["undo", &done.id]).expect(0);
            }
            case.now().must_be(&case.base, "taken back");
        }
    }
}

#[test]
fn b32_two_tasks_on_one_file() {
    let case = Case::new("B32");
    let script = &case.script;
    let tasks: Vec<_> = ["1", "2", "3"]
        .map(|variant| case.start_script(&format!("VARIANT={variant}\n{script}")))
        .into();
    let done: Vec<_> = tasks.iter().map(|id| case.wait(id, || {})).collect();
    case.accept(&done[0]).expect(0);
    case.accept(&done[1]).expect(0);
    let both = case.now();
    let text = String::from_utf8_lossy(both.bytes("t.txt")).into_owned();
    assert!(
        text.contains("ONE 2\n") && text.contains("TWO 8\n"),
        "{text}"
    );
    let third = case.legwork(&["show", &tasks[2], "--json"]).json();
    assert_eq!(
        third["review"]["files"][0]["hunks"][0]["state"],
        "conflicted"
    );
    let refused = case.accept(&done[2]).expect(1);
    assert!(refused.stderr.contains("t.txt"), "{refused:?}");
    case.now().must_be(&both, "the third is no accept");
}

#[test]
fn b36_a_formatter_runs_between_two_accepts() {
    let case = Case::new("B36");
    let done = case.run();
    assert_eq!(done.hunks("q.js"), 2);
    case.legwork(&["accept", &done.id, "q.js:1"]).expect(0);
    case.user("../formatter.sh");
    let formatted = case.now();
    // What the formatter did is no hunk of the task.
    let shown = case.legwork(&["show", &done.id, "--json"]).json();
    assert_eq!(
        shown["review"]["files"][0]["hunks"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let second = case.legwork(&["accept", &done.id, "q.js:2"]);
    if second.code == 0 {
        let text = String::from_utf8_lossy(formatted.bytes("q.js")).replace("\"b\"", "\"B\"");
        assert_eq!(String::from_utf8_lossy(case.now().bytes("q.js")), text);
    } else {
        assert!(second.stderr.contains("q.js"), "{second:?}");
        case.now().must_be(&formatted, "no accept");
    }
}

#[test]
fn b40_what_was_deleted_and_made_anew_is_one_change() {
    let case = Case::new("B40");
    let done = case.run();
    assert_eq!(done.paths(), ["a.txt", "dir/x.txt"]);
    assert_eq!(done.file("a.txt")["kind"]["type"], "modify");
    case.round(&done, &case.direct);
}

#[test]
fn b44_the_same_text_several_times() {
    const BLOCK: &str = "func () {\n  open()\n  close()\n}\n\n";
    const CHANGED: &str = "func () {\n  open()\n  flush()\n  close()\n}\n\n";
    let case = Case::new("B44");
    let done = case.run();
    case.user("printf 'func () {\\n  open()\\n  close()\\n}\\n\\n' | cat - dup.txt > ../t; cat ../t > dup.txt");
    // Nobody can tell whether the new block came above all others or anywhere above the fourth: it is the right block or a
    // conflict, and never another.
    let right = |wanted: &str| {
        let before = case.now();
        let ran = case.accept(&done);
        if ran.code == 0 {
            assert_eq!(String::from_utf8_lossy(case.now().bytes("dup.txt")), wanted);
            case.legwork(&["undo", &done.id]).expect(0);
        } else {
            assert!(ran.stderr.contains("dup.txt"), "{ran:?}");
        }
        case.now().must_be(&before, "no accept");
    };
    right(&[&BLOCK.repeat(4), CHANGED, &BLOCK.repeat(2)].concat());
    case.user("sed -i 1,10d dup.txt");
    right(&[&BLOCK.repeat(2), CHANGED, &BLOCK.repeat(2)].concat());
    // Another text above them leaves no doubt.
    case.user("for i in 1 2 3 4 5 6; do printf 'func () {\\n  open()\\n  close()\\n}\\n\\n'; done | sed '1i // mine' > dup.txt");
    case.accept(&done).expect(0);
    let wanted = ["// mine\n", &BLOCK.repeat(3), CHANGED, &BLOCK.repeat(2)].concat();
    assert_eq!(String::from_utf8_lossy(case.now().bytes("dup.txt")), wanted);
}

#[test]
fn b45_a_file_that_cannot_be_written_stops_all_of_an_accept() {
    let case = Case::new("B45");
    let done = case.run();
    case.user("chmod 0444 ro/f3.txt; chmod 0555 ro");
    let before = case.now();
    let ran = case.accept(&done).expect(1);
    assert!(
        ran.stderr.contains("ro/f3.txt") && ran.stderr.contains("nothing was written"),
        "{ran:?}"
    );
    case.now().must_be(&before, "nothing was written");
    case.user("chmod 0755 ro; chmod 0644 ro/f3.txt");
    case.accept(&done).expect(0);
    case.now()
        .must_be(&case.direct, "accepted once it could be");
}

#[test]
fn b46_a_new_file_whose_place_is_taken_by_now() {
    let case = Case::new("B46");
    let done = case.run();
    for taken in [
        "mkdir notes; echo mine > notes/todo.md",
        "mkdir -p notes/todo.md/mine",
        "mkdir -p notes/todo.md",
        "mkdir notes; ln -s nowhere notes/todo.md",
        "mkdir notes; mkfifo notes/todo.md",
        "echo mine > notes",
        "ln -s .. notes",
    ] {
        case.user(taken);
        let before = case.now();
        let ran = case.accept(&done);
        assert_eq!(ran.code, 1, "{taken}: {ran:?}");
        assert!(ran.stderr.contains("notes"), "{taken}: {ran:?}");
        case.now().must_be(&before, taken);
        case.user("rm -rf notes");
    }
    // It keeps nothing else back: what has its place is accepted, and the rest is named.
    let case = Case::new("B46");
    let id = case.start_script(&format!("{}\necho more >> a.txt", case.script));
    let done = case.wait(&id, || {});
    case.user("mkdir -p notes/todo.md");
    let shown = case.legwork(&["show", &id, "--json"]).json();
    assert_eq!(
        shown["review"]["files"][1]["hunks"][0]["state"],
        "conflicted"
    );
    let ran = case.legwork(&["accept", &id]).expect(0);
    assert!(ran.stderr.contains("left notes/todo.md"), "{ran:?}");
    assert_eq!(case.now().bytes("a.txt"), b"base\nmore\n");
    assert!(case.path().join("notes/todo.md").is_dir());
    case.legwork(&["undo", &id]).expect(0);
    case.user("rm -r notes");
    // A folder on the way is no obstacle, and stays when the file goes again.
    case.user("mkdir -m 700 notes");
    let before = case.now();
    case.accept(&done).expect(0);
    assert_eq!(case.now().bytes("notes/todo.md"), b"from task\n");
    case.legwork(&["undo", &done.id]).expect(0);
    case.now().must_be(&before, "taken back");
}

#[test]
fn b47_the_file_is_elsewhere_by_now() {
    let case = Case::new("B47");
    let done = case.run();
    for moved in [
        "git mv src/a.rs src/b.rs",
        "mv src/a.rs src/b.rs",
        "rm src/a.rs",
    ] {
        case.user(moved);
        let before = case.now();
        let ran = case.accept(&done).expect(1);
        assert!(ran.stderr.contains("src/a.rs"), "{ran:?}");
        case.now().must_be(&before, moved);
        case.user("git reset -q --hard");
        case.user("rm -f src/b.rs");
        case.now().must_be(&case.base, "as before");
    }
    let commit = || case.legwork(&["show", &done.id]).expect(0).text();
    assert!(!commit().contains("made on"), "{}", commit());
    case.user("git checkout -q other");
    assert!(commit().contains("(other) now"), "{}", commit());
    case.accept(&done).expect(0);
    let now = case.now();
    let text = String::from_utf8_lossy(now.bytes("src/a.rs"));
    assert!(
        text.contains("fifteen\n") && text.contains("twenty\n"),
        "{text}"
    );
}

#[test]
fn b48_a_file_that_was_cut_short_is_said_and_asked_for() {
    let case = Case::new("B48");
    let done = case.run();
    let file = done.file("big.html");
    let summary = file["summary"].as_str().unwrap();
    assert!(
        summary.contains("29984 of 30000 lines are gone"),
        "{summary}"
    );
    // A bulk accept leaves it for a second look.
    let ran = case.legwork(&["accept", &done.id]);
    assert!(ran.stderr.contains("big.html"), "{ran:?}");
    case.now().must_be(&case.base, "not in a bulk accept");
    case.round(&done, &case.direct);
}
