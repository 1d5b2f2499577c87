//! Programs that hold languages, and programs that only seem to.

use std::fmt::Write as _;

use super::*;

fn program(text: &str) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x00\xff\n[[language]\n".to_vec();
    bytes.extend(text.as_bytes());
    bytes.extend(b"helix-loader/src/config.rs\x00\xff\n\xfe");
    bytes
}

fn many(count: usize) -> String {
    let mut text = "use-grammars = { except = [] }\n\n".to_owned();
    for number in 0..count {
        write!(
            text,
            "[[language]]\nname = \"l{number}\"\nfile-types = [\"x\"]\nlanguage-servers = [ \"s{number}\" ]\n\n\
             [[grammar]]\nname = \"l{number}\"\nsource = {{ git = \"g\" }}\n"
        )
        .unwrap();
    }
    text
}

#[test]
fn languages_are_read_with_their_servers() {
    let mut text = many(60);
    text.push_str(
        "\n[[language]]\nname = \"gjs\"\nfile-types = [\"txt\", { glob = \"*.g\" }]\nlanguage-servers = [\n  \
         { except-features = [\"format\"], name = \"ts\" },\n  \"ember\", # why\n]\n\n\
         [language.auto-pairs]\n'(' = ')'\n\n\
         [[language]]\nname = \"inner\"\nfile-types = []\n\n\
         [[language]]\nname = \"script\"\nfile-types = []\nshebangs = [\"sh\"]\n\n\
         [[grammar]]\nname = \"gjs\"\nsource = { git = \"g\" }\n",
    );
    let found = languages(&program(&text)).unwrap();
    assert_eq!(found.len(), 62);
    assert_eq!(found[7].name, "l7");
    assert_eq!(found[7].servers.to_string(), "[\"s7\"]");
    assert!(!found[7].takes_txt);
    assert_eq!(
        found[60].servers.to_string(),
        "[{ except-features = [\"format\"], name = \"ts\" }, \"ember\"]"
    );
    assert!(found[60].takes_txt);
    assert_eq!(found[61].name, "script");
    assert!(found[61].servers.is_empty());
}

#[test]
fn what_is_not_all_of_them_is_none() {
    assert!(languages(&program(&many(10))).is_none());
    assert!(languages(&program("")).is_none());
    assert!(languages(&[]).is_none());
    let odd = many(60).replacen("name = \"l7\"", "name = 7", 1);
    assert!(languages(&program(&odd)).is_none());
    let cut = format!("{}[[language]]\nname = \"la", many(60));
    assert!(languages(&program(&cut)).is_none());
}
