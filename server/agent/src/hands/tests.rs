//! Tools on a folder of this machine, by the same programs as in a sandbox.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use legwork_model::AgentStep;

use super::*;
use crate::{edit::Replacement, workbench::Lookup};

/// Runs programs in a folder, without a sandbox.
struct Folder(tempfile::TempDir);

impl Workbench for Folder {
    async fn run(
        &self,
        errand: Errand,
        output: &mut (dyn FnMut(bool, &[u8]) + Send),
    ) -> Result<End, BenchError> {
        let (program, arguments) = errand.argv.split_first().unwrap();
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(&errand.stdin)
            .unwrap();
        let ran = child.wait_with_output().unwrap();
        output(false, &ran.stdout);
        output(true, &ran.stderr);
        Ok(End::Exited(ran.status.code().unwrap()))
    }

    async fn look_up(&self, _lookup: Lookup) -> Option<Result<String, String>> {
        None
    }

    async fn changed_lines(&self) -> u64 {
        0
    }

    async fn hear(&self) -> Vec<String> {
        Vec::new()
    }

    async fn ask(&self, _question: &str) -> Result<bool, BenchError> {
        Ok(false)
    }

    async fn keep(&self, _transcript: crate::Transcript) {}

    async fn tell(&self, _step: AgentStep) {}
}

fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder(tempfile::tempdir().unwrap());
    for (path, text) in files {
        let path = folder.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn at(folder: &Folder, path: &str) -> String {
    std::fs::read_to_string(folder.0.path().join(path)).unwrap()
}

async fn work(hands: &mut Hands<'_, Folder>, job: Job) -> (bool, String) {
    let done = hands.work(&job, Duration::from_mins(1)).await.unwrap();
    (done.ok, done.text)
}

fn read(path: &str) -> Job {
    Job::Read {
        path: path.to_owned(),
        from: None,
        to: None,
    }
}

fn edit(path: &str, old: &str, new: &str) -> Job {
    let edits = vec![Replacement {
        old: old.to_owned(),
        new: new.to_owned(),
    }];
    Job::Edit {
        path: path.to_owned(),
        edits,
    }
}

fn bash(command: &str) -> Job {
    Job::Bash {
        command: command.to_owned(),
        timeout: None,
    }
}

#[tokio::test]
async fn b128_edits_are_made_in_order_and_a_stale_one_is_refused() {
    let folder = folder(&[("src/a.txt", "one\ntwo\nthree\n")]);
    let mut hands = Hands::new(&folder, Path::new("/w"));
    let (ok, why) = work(&mut hands, edit("src/a.txt", "one", "1")).await;
    assert!(!ok && why.contains("read src/a.txt first"), "{why}");
    let (ok, text) = work(&mut hands, read("./src//a.txt")).await;
    assert!(
        ok && text.starts_with("src/a.txt, lines 1 to 3 of 3, stamp "),
        "{text}"
    );
    assert!(text.ends_with("1\tone\n2\ttwo\n3\tthree\n"), "{text}");
    for (old, new) in [("one", "1"), ("two", "2"), ("three", "3"), ("1\n2", "1+2")] {
        let (ok, why) = work(&mut hands, edit("/w/src/a.txt", old, new)).await;
        assert!(ok, "{why}");
    }
    assert_eq!(at(&folder, "src/a.txt"), "1+2\n3\n");
    // A script in between changes the file under the model.
    work(&mut hands, bash("echo 4 >> src/a.txt")).await;
    let (ok, why) = work(&mut hands, edit("src/a.txt", "3", "x")).await;
    assert!(
        !ok && why.contains("was changed since you read it"),
        "{why}"
    );
    assert_eq!(at(&folder, "src/a.txt"), "1+2\n3\n4\n");
    work(&mut hands, read("src/a.txt")).await;
    assert!(work(&mut hands, edit("src/a.txt", "3", "x")).await.0);
}

#[tokio::test]
async fn two_failed_edits_make_the_model_look_again() {
    let folder = folder(&[("a.txt", "one\n")]);
    let mut hands = Hands::new(&folder, Path::new("/w"));
    work(&mut hands, read("a.txt")).await;
    assert!(
        !work(&mut hands, edit("a.txt", "two", "x"))
            .await
            .1
            .contains("read it again before")
    );
    assert!(
        work(&mut hands, edit("a.txt", "three", "x"))
            .await
            .1
            .contains("read it again before")
    );
    assert!(
        work(&mut hands, edit("a.txt", "one", "x"))
            .await
            .1
            .contains("read a.txt first")
    );
}

#[tokio::test]
async fn b127_files_are_written_as_given_and_never_over_what_was_not_seen() {
    let folder = folder(&[("there.md", "old\n")]);
    let mut hands = Hands::new(&folder, Path::new("/w"));
    let write = |path: &str, content: &str| Job::Write {
        path: path.to_owned(),
        content: content.to_owned(),
    };
    let fenced = "```ts\nlet a = 1;\n```\n";
    assert!(work(&mut hands, write("deep/new file.md", fenced)).await.0);
    assert_eq!(at(&folder, "deep/new file.md"), fenced);
    let (ok, why) = work(&mut hands, write("there.md", "new\n")).await;
    assert!(!ok && why.contains("is there already"), "{why}");
    work(&mut hands, read("there.md")).await;
    assert!(work(&mut hands, write("there.md", "new\n")).await.0);
    assert_eq!(at(&folder, "there.md"), "new\n");
    assert!(!work(&mut hands, write("../out.md", "x")).await.0);
    assert!(!work(&mut hands, write("/etc/out.md", "x")).await.0);
    assert!(work(&mut hands, write("-n", "dash\n")).await.0);
    assert_eq!(at(&folder, "-n"), "dash\n");
}

#[tokio::test]
async fn an_edit_that_would_not_parse_is_made_only_when_it_is_meant() {
    let folder = folder(&[("a.py", "def f():\n    return 1\n")]);
    let mut hands = Hands::new(&folder, Path::new("/w"));
    work(&mut hands, read("a.py")).await;
    let (ok, why) = work(&mut hands, edit("a.py", "def f():", "def f(:")).await;
    assert!(!ok && why.contains("would not parse"), "{why}");
    assert_eq!(at(&folder, "a.py"), "def f():\n    return 1\n");
    assert!(
        work(&mut hands, edit("a.py", "def f():", "def f(:"))
            .await
            .0
    );
    assert_eq!(at(&folder, "a.py"), "def f(:\n    return 1\n");
}

#[tokio::test]
async fn b123_outputs_are_told_by_their_ends_and_searches_by_counts() {
    let folder = folder(&[("a.txt", "x1\nx2\n"), ("b/c.txt", "x3\ny\n")]);
    let mut hands = Hands::new(&folder, Path::new("/w"));
    let (ok, text) = work(
        &mut hands,
        bash("head -c 5000000 /dev/zero | tr '\\0' a; exit 3"),
    )
    .await;
    assert!(
        ok && text.len() < 11_000
            && text.contains("4990000 bytes left out")
            && text.ends_with("[exit code 3]")
    );
    let search = |pattern: &str, path: Option<&str>| Job::Search {
        pattern: pattern.to_owned(),
        path: path.map(str::to_owned),
    };
    let (_, text) = work(&mut hands, search("x[0-9]", None)).await;
    assert!(
        text.starts_with("3 lines in 2 files\n") && text.contains("a.txt:2:x2\n"),
        "{text}"
    );
    let (_, text) = work(&mut hands, search("x", Some("b"))).await;
    assert_eq!(text, "1 lines in 1 files\nb/c.txt:1:x3\n");
    assert_eq!(
        work(&mut hands, search("none", None)).await,
        (true, "no line in . matches".to_owned())
    );
    assert!(!work(&mut hands, search("(", None)).await.0);
    let (ok, why) = work(&mut hands, read("nowhere.txt")).await;
    assert!(!ok && why.contains("No such file"), "{why}");
    std::fs::write(folder.0.path().join("bytes"), b"\xff\xfe").unwrap();
    assert!(
        work(&mut hands, read("bytes"))
            .await
            .1
            .contains("not UTF-8")
    );
}

#[tokio::test]
async fn without_an_index_a_name_is_looked_for_as_a_word() {
    let folder = folder(&[("a.py", "total = 1\nsubtotal = 2\n")]);
    let mut hands = Hands::new(&folder, Path::new("/w"));
    let name = |name: &str| Job::LookUp(Lookup::Name(name.to_owned()));
    let (ok, text) = work(&mut hands, name("shop.total")).await;
    assert!(
        ok && text.starts_with("there is no index")
            && text.ends_with("1 lines in 1 files\na.py:1:total = 1\n"),
        "{text}"
    );
    assert!(!work(&mut hands, name("a b")).await.0);
    let chain = |from: &str| {
        Job::LookUp(Lookup::Chain {
            from: from.to_owned(),
            to: "a.py".to_owned(),
        })
    };
    assert!(
        work(&mut hands, chain("../out.py"))
            .await
            .1
            .contains("not in the workspace")
    );
    assert!(work(&mut hands, chain("a.py")).await.1.contains("no index"));
}
