//! What becomes of users' languages.toml files.

use super::*;

/// Adds to `text`, with 25.07's languages.
fn added(text: &str, only: &[&str]) -> (String, Vec<String>) {
    let only: Vec<_> = only.iter().map(ToString::to_string).collect();
    let defaults = Defaults::table(Some((25, 7))).unwrap();
    let wanted = Wanted {
        program: "legwork",
        defaults: &defaults,
        only: &only,
    };
    let mut document: DocumentMut = text.parse().unwrap();
    let told = add(&mut document, &wanted).unwrap();
    let text = document.to_string();
    let mut again: DocumentMut = text.parse().unwrap();
    add(&mut again, &wanted).unwrap();
    assert_eq!(again.to_string(), text, "the second time changes nothing");
    (text, told)
}

const SERVER_TABLE: &str = "[language-server.legwork]\ncommand = \"legwork\"\nargs = [\"lsp\"]\n";

const TASK_TABLE: &str = "\n[[language]]\nname = \"legwork-task\"\nlanguage-servers = [\"legwork\"]\n\
                          scope = \"text.plain\"\nfile-types = [{ glob = \".legwork/new-task.*\" }]\n";

#[test]
fn an_empty_file_is_given_each_language_with_its_own_servers() {
    let (text, told) = added("", &[]);
    assert!(told.is_empty(), "{told:?}");
    let document: DocumentMut = text.parse().unwrap();
    let languages = document["language"].as_array_of_tables().unwrap();
    let servers = |name: &str| {
        let mut found = languages
            .iter()
            .filter(|table| table["name"].as_str() == Some(name));
        let list = found.next().unwrap()["language-servers"].to_string();
        assert!(found.next().is_none(), "{name} stands there once");
        list.trim().to_owned()
    };
    assert_eq!(servers("rust"), r#"["rust-analyzer", "legwork"]"#);
    assert_eq!(
        servers("markdown"),
        r#"["marksman", "markdown-oxide", "legwork"]"#
    );
    assert_eq!(servers("git-commit"), r#"["legwork"]"#);
    assert_eq!(servers("text"), r#"["legwork"]"#);
    assert_eq!(servers("legwork-task"), r#"["legwork"]"#);
    assert!(servers("gjs").contains("except-features = [\"format\", \"diagnostics\"]"));
    assert!(languages.len() > 250);
    assert!(text.starts_with(SERVER_TABLE), "{}", &text[..200]);
}

#[test]
fn only_the_languages_asked_for_are_written() {
    let (text, _) = added("", &["rust"]);
    assert_eq!(
        text,
        format!(
            "{SERVER_TABLE}\n[[language]]\nname = \"rust\"\n\
             language-servers = [\"rust-analyzer\", \"legwork\"]\n{TASK_TABLE}"
        )
    );
}

#[test]
fn what_the_user_wrote_stays() {
    let mine = "\
# my servers
[language-server.mine]   # starts fast
command = 'mine'

[[language]]
name = 'python' # no jedi
language-servers = [
    'ruff', # first
    { name = 'mine', only-features = ['format'] },
]
indent = { tab-width = 4, unit = '    ' }

[[language]]
name = \"rust\"
auto-format = true

[[language]]
name = 'own'
scope = 'source.own'
file-types = ['own', 'txt']
";
    let (text, told) = added(mine, &["rust", "python", "own", "text"]);
    assert!(told.is_empty(), "{told:?}");
    assert!(
        text.starts_with(
            "# my servers\n[language-server.mine]   # starts fast\ncommand = 'mine'\n"
        )
    );
    assert!(text.contains(SERVER_TABLE));
    assert!(
        text.contains(
            "name = 'python' # no jedi\nlanguage-servers = [\n    'ruff', # first\n    \
         { name = 'mine', only-features = ['format'] },\n    \"legwork\",\n]\nindent = {"
        ),
        "{text}"
    );
    assert!(text.contains(
        "name = \"rust\"\nauto-format = true\nlanguage-servers = [\"rust-analyzer\", \"legwork\"]\n"
    ));
    assert!(text.contains("file-types = ['own', 'txt']\nlanguage-servers = [\"legwork\"]\n"));
    assert!(!text.contains("\"text\""), "somebody takes .txt already");
    assert!(text.ends_with(TASK_TABLE));
}

#[test]
fn a_language_that_has_legwork_already_is_complete() {
    let mine = "\
[language-server]
legwork = { command = '/opt/legwork', args = ['lsp'] }
[[language]]
name = 'rust'
language-servers = [{ name = 'legwork', except-features = ['hover'] }, 'rust-analyzer']
";
    let (text, told) = added(mine, &["rust"]);
    assert_eq!(text, format!("{mine}{TASK_TABLE}"));
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("`/opt/legwork`"), "{told:?}");
}

#[test]
fn other_ways_to_write_it_are_kept_too() {
    let mine = "\
language-server = { a = { command = 'a' } }
language = [
    { name = 'rust', language-servers = ['a'] },
    { name = 'go' },
]
";
    let (text, _) = added(mine, &["rust", "go", "nix"]);
    assert_eq!(
        text,
        "\
language-server = { a = { command = 'a' } , legwork = { command = \"legwork\", args = [\"lsp\"] } }
language = [
    { name = 'rust', language-servers = ['a', \"legwork\"] },
    { name = 'go' , language-servers = [\"gopls\", \"golangci-lint-lsp\", \"legwork\"] },
    { name = \"nix\", language-servers = [\"nil\", \"nixd\", \"legwork\"] },
    { name = \"legwork-task\", language-servers = [\"legwork\"], scope = \"text.plain\", \
         file-types = [{ glob = \".legwork/new-task.*\" }] },
]
"
    );
}

#[test]
fn what_cannot_be_added_to_is_refused_or_told() {
    let defaults = Defaults::table(None).unwrap();
    let refused = |text: &str, only: &[String]| {
        let wanted = Wanted {
            program: "legwork",
            defaults: &defaults,
            only,
        };
        let mut document: DocumentMut = text.parse().unwrap();
        add(&mut document, &wanted).unwrap_err().message
    };
    assert!(refused("language = 3", &[]).contains("`language` is not"));
    assert!(refused("language-server = 'x'", &[]).contains("`language-server` is not"));
    assert!(refused("", &["rost".to_owned()]).contains("no language `rost`"));
    let (_, told) = added(
        "[[language]]\nname = 'rust'\nlanguage-servers = 'x'\n",
        &["rust"],
    );
    assert!(told[0].contains("`rust` are no list"), "{told:?}");
}
