//! What becomes of users' config.toml files.

use super::*;

fn added(text: &str, program: &str, version: Option<(u32, u32)>) -> (String, Vec<String>) {
    let mut document: DocumentMut = text.parse().unwrap();
    let told = add(&mut document, program, version);
    let text = document.to_string();
    let mut again: DocumentMut = text.parse().unwrap();
    assert_eq!(add(&mut again, program, version), told);
    assert_eq!(again.to_string(), text, "the second time changes nothing");
    (text, told)
}

#[test]
fn an_empty_file_is_given_all_keys() {
    let (text, told) = added("", "legwork", Some((25, 7)));
    assert!(told.is_empty(), "{told:?}");
    let begin = "\
[editor.lsp]
display-progress-messages = true

[editor.inline-diagnostics]
cursor-line = \"info\"

[keys.normal.space.l]
n = \":lsp-workspace-command legwork.new\"
";
    assert!(text.starts_with(begin), "{text}");
    let end = "
[keys.select.space.l]
s = \"@:sh legwork delegate \"
t = \"@:pipe-to legwork delegate --stdin \"
d = '@:lsp-workspace-command legwork.delegate {\"file\":\"%{buffer_name}\",\
\"from\":%{selection_line_start},\"to\":%{selection_line_end}} \"'
";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn an_older_helix_is_given_what_it_can_do() {
    for version in [Some((25, 1)), None] {
        let (text, told) = added("", "/opt/a/legwork", version);
        assert!(!text.contains("%{"));
        assert!(text.contains("s = \"@:sh /opt/a/legwork delegate \""));
        assert_eq!(told.len(), 1);
        assert!(
            told[0].contains("`space l d`") && told[0].contains("25.07"),
            "{told:?}"
        );
    }
}

#[test]
fn a_program_that_needs_quotes_is_not_typed() {
    let (text, told) = added("", "/my apps/legwork", Some((25, 7)));
    assert!(!text.contains("delegate --stdin"));
    assert!(text.contains("legwork.delegate"));
    assert!(told[0].contains("put `legwork` on `PATH`"), "{told:?}");
}

#[test]
fn what_the_user_bound_stays() {
    let mine = "\
theme = 'onedark'
[editor]
lsp.display-progress-messages = false # noisy
[keys.normal.space.l]
y = ':yank' # mine
j = \":lsp-workspace-command legwork.next\"
[keys.select]
space = { l = 'move_line_down' }
";
    let (text, told) = added(mine, "legwork", Some((25, 7)));
    assert!(text.starts_with(
        "theme = 'onedark'\n[editor]\nlsp.display-progress-messages = false # noisy\n"
    ));
    assert!(text.contains("y = ':yank' # mine\n"));
    assert!(text.contains("space = { l = 'move_line_down' }\n"));
    assert!(text.contains("x = \":lsp-workspace-command legwork.reject\"\n"));
    let said = |words: &str| told.iter().any(|line| line.contains(words));
    assert!(said("display-progress-messages` is false"), "{told:?}");
    assert!(said("`space l y` does ':yank'"), "{told:?}");
    assert!(said("in select mode"), "{told:?}");
    assert_eq!(told.len(), 3, "{told:?}");
}

#[test]
fn keys_in_inline_tables_are_added_to() {
    let mine = "[keys]\nnormal = { space = { q = ':q' } }\n";
    let (text, told) = added(mine, "legwork", Some((25, 7)));
    assert!(told.is_empty(), "{told:?}");
    let document: DocumentMut = text.parse().unwrap();
    let space = &document["keys"]["normal"]["space"];
    assert_eq!(space["q"].as_str(), Some(":q"));
    assert_eq!(
        space["l"]["y"].as_str(),
        Some(":lsp-workspace-command legwork.accept")
    );
}
