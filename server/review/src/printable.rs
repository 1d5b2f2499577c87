//! Bytes of a file as text that is safe to show: nothing in it moves a cursor, hides, or turns the reading direction.

use std::fmt::Write as _;

/// Valid UTF-8 as it is, with tabs; bytes that are not as `\xNN`; control characters, and characters that are invisible or
/// change the direction of text, as `\xNN` or `\u{NNNN}`. It is for looking at: there is no way back.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_plain(character) {
                text.push(character);
            } else {
                escape(&mut text, character);
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("a string takes all text");
        }
    }
    text
}

fn escape(text: &mut String, character: char) {
    match character {
        '\r' => text.push_str("\\r"),
        '\n' => text.push_str("\\n"),
        _ if character.is_ascii() => {
            write!(text, "\\x{:02x}", u32::from(character)).expect("a string takes all text");
        }
        _ => {
            write!(text, "\\u{{{:x}}}", u32::from(character)).expect("a string takes all text");
        }
    }
}

/// Whether a character shows itself and nothing else. The others are the control characters but tab, Unicode's format
/// characters, its line separators, and letters and marks that have no ink.
fn is_plain(character: char) -> bool {
    if character == '\t' {
        return true;
    }
    !(character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_and_tricks_show() {
        assert_eq!(printable("\tgrün 日本 🙂".as_bytes()), "\tgrün 日本 🙂");
        assert_eq!(printable(b"caf\xe9\r"), "caf\\xe9\\r");
        assert_eq!(printable(b"\x1b[2J\x07\x7f\0"), "\\x1b[2J\\x07\\x7f\\x00");
        assert_eq!(
            printable("a\u{202e}b\u{200b}c\u{9b}d\u{feff}".as_bytes()),
            "a\\u{202e}b\\u{200b}c\\u{9b}d\\u{feff}"
        );
        assert_eq!(printable(b"\xe2\x80"), "\\xe2\\x80");
    }
}
