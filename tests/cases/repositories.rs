//! Shapes of repositories. What git keeps for itself is the same before and after, to the byte. Group E.

use crate::case::Case;

plain! {
    b67_submodules = "B67";
    b69_filters_and_pointers = "B69";
    b73_a_repository_without_commits = "B73";
    b74_several_repositories_below = "B74";
    b76_a_rebase_in_progress = "B76";
    b77_staged_unstaged_and_untracked = "B77";
}

#[test]
fn b68_other_repositories_inside() {
    let case = Case::new("B68");
    let done = case.run();
    // The ignored clone was not in the guest, and that is said.
    assert!(done.left_out().contains(&("ext", "ignored")));
    assert_eq!(done.paths(), ["a.txt", "lib/f.txt", "wt/a.txt"]);
    case.round(&done, &case.direct.clone().with(&case.base, "ext"));
}

#[test]
fn b71_a_linked_worktree() {
    let mut case = Case::new("B71");
    // Without a word, the guest has no repository.
    let done = case.run();
    assert!(done.left_out().contains(&(".git", "version-control")));
    case.legwork(&["reject", &done.id]).expect(0);
    // With it, git works there on a copy, and needs no path of this machine.
    case.options = vec!["--include=.git".to_owned()];
    let done = case.run();
    case.round(&done, &case.direct);
}

#[test]
fn b75_a_folder_of_a_repository() {
    let case = Case::new("B75");
    let shared = case.stage().join("repo/shared/s.txt");
    let before = std::fs::read(&shared).unwrap();
    let done = case.run();
    assert_eq!(done.paths(), ["a.txt"]);
    case.round(&done, &case.direct);
    assert_eq!(
        std::fs::read(&shared).unwrap(),
        before,
        "outside of the folder"
    );
}

#[test]
fn b77_a_lock_that_was_left_does_not_matter() {
    let case = Case::new("B77");
    case.user("touch .git/index.lock");
    let done = case.run();
    case.round(&done, &case.direct);
}

#[test]
fn b78_line_endings_by_attribute() {
    let case = Case::new("B78");
    let done = case.run();
    assert_eq!(done.paths(), ["run.bat"]);
    assert_eq!(done.hunks("run.bat"), 1);
    case.round(&done, &case.direct);
}

#[test]
fn b79_another_version_control_system() {
    let case = Case::new("B79");
    let done = case.run();
    assert!(done.left_out().contains(&(".jj", "version-control")));
    assert_eq!(done.paths(), ["a.txt"]);
    case.round(&done, &case.direct);
}

#[test]
fn b80_a_repository_of_another_user() {
    let mut case = Case::new("B80");
    case.options = vec!["--include=.git".to_owned()];
    let done = case.run();
    case.accept(&done).expect(0);
    // Everything in the guest has one owner, so git finds nothing to complain about.
    assert_eq!(
        String::from_utf8_lossy(case.now().bytes("st.txt")),
        "?? st.txt\nrc=0\n"
    );
    let owner = |path: &str| {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(case.path().join(path)).unwrap().uid()
    };
    assert_eq!(owner("a.txt"), owner(".git"), "the owner is kept");
}

#[test]
fn b81_a_bare_repository_with_worktrees_beside_it() {
    let case = Case::new("B81");
    let done = case.run();
    assert!(done.left_out().contains(&(".bare", "version-control")));
    assert_eq!(done.paths(), ["feat/a.txt"]);
    case.round(&done, &case.direct);
}
