//! Programs in the guest see a workspace that behaves: times, modes, one owner, and a repository where the user allows it.

use std::process::Command;

use crate::case::Case;

const SEEN: &str = "find . -name .git -prune -o -exec stat -c '%n %.9Y %a %F %N' {} + | sort";

#[test]
fn times_and_modes_are_those_of_the_workspace() {
    let setup = "mkdir -p \"$1/home\" \"$1/ws/d/e\"; cd \"$1/ws\"; echo 1 > a; echo 2 > b; echo 3 > d/c; ln -s a l; chmod 600 a; chmod 755 b; \
        chmod 750 d; touch -d '2001-02-03 04:05:06.123456789' a; touch -d '2001-02-03 04:05:06.123456788' b; \
        touch -d '1969-12-31 23:59:58.5' d/c; touch -d '2040-01-01' -h l; touch -d '2011-01-01 00:00:00.000000001' d/e d .; \
        printf 'out: in\\n\\techo made > out\\n' > Makefile; echo x > in; echo x > out; \
        touch -d '2020-01-01 00:00:00.000000001' in; touch -d '2020-01-01 00:00:00.000000002' out";
    let script =
        format!("{SEEN}; find . ! -uid 0 -o ! -gid 0; id -u; make -q out && echo up to date");
    let case = Case::made(setup.to_owned(), format!("{script}; echo done > done"));
    let here = Command::new("sh")
        .args(["-c", SEEN])
        .current_dir(case.path())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("sh starts");
    let wanted = String::from_utf8_lossy(&here.stdout).into_owned();
    assert!(wanted.contains("./a 981173106.123456789 600"), "{wanted}");
    let done = case.run();
    let log = case.legwork(&["logs", &done.id]).text();
    // All is one user's, and that user is the one who looks: nothing for git, npm or pip to complain about.
    assert_eq!(log, format!("{wanted}0\nup to date\n"));
}

#[test]
fn what_programs_make_has_the_permissions_that_the_user_gives() {
    let case = Case::made(
        "mkdir -p \"$1/home\" \"$1/ws\"; echo 1 > \"$1/ws/a\"; chmod 664 \"$1/ws/a\"".to_owned(),
        "echo 2 > a; echo new > b; echo 3 > c; chmod 604 c; sh -c 'umask 002; echo 4 > d'"
            .to_owned(),
    );
    // The daemon has it from whoever starts it.
    let start = case.home.command(&case.path(), ["daemon", "start"]);
    let variables = start.get_envs();
    let shell = Command::new("sh")
        .args(["-c", "umask 027; exec \"$0\" daemon start"])
        .arg(start.get_program())
        .current_dir(case.path())
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .status()
        .expect("sh starts");
    assert!(shell.success());
    let done = case.run();
    case.accept(&done).expect(0);
    let now = case.now();
    let permissions = |path: &str| now.0[path.as_bytes()].mode & 0o777;
    assert_eq!(
        ["a", "b", "c", "d"].map(permissions),
        [0o664, 0o640, 0o604, 0o664]
    );
}

#[test]
fn a_repository_in_the_guest_is_the_guests_own() {
    let mut case = Case::new("B77");
    case.options = vec!["--include=.git".to_owned()];
    let repositories = case.repositories();
    let script = "git status --porcelain; git -c core.editor=false log --oneline | wc -l; echo guest >> e.txt; \
        git commit -qam guest; git log -1 --format=%s; git checkout -q HEAD~1 -- e.txt; git reset -q --hard; \
        mkdir -p .git/hooks; echo 'touch /tmp/pwned' > .git/hooks/post-checkout; git config core.fsmonitor /bin/false; \
        git remote; rm -rf .git; git status 2>&1 | head -c 10";
    let status = Command::new("git")
        .args(["status", "--porcelain"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .current_dir(case.path())
        .output()
        .expect("git starts");
    let id = case.start_script(script);
    let done = case.wait(&id, || {});
    let log = case.legwork(&["logs", &id]).text();
    let status = String::from_utf8_lossy(&status.stdout);
    assert_eq!(log, format!("{status}1\nguest\nfatal: not"));
    done.refuses(&[".git"]);
    let why = done.shown["detail"]["refused"][0]["reason"].to_string();
    assert!(why.contains("the task's own copy"), "{why}");
    case.accept(&done).expect(0);
    case.repositories().must_be(&repositories, "the user's own");
}
