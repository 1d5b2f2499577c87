//! Rust source as a flat list of tokens: rules about code must not trip over comments and strings.

use std::str::FromStr;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// One token, with brackets as tokens of their own.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Counted from 1.
    pub(crate) line: usize,
}

/// Splits source into tokens; comments are dropped.
///
/// # Errors
/// A sentence, when it is no Rust.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>, String> {
    let stream =
        TokenStream::from_str(source).map_err(|error| format!("cannot be read: {error}"))?;
    let mut list = Vec::new();
    flatten(stream, &mut list);
    Ok(list)
}

fn flatten(stream: TokenStream, list: &mut Vec<Token>) {
    let push = |text: &str, span: Span, list: &mut Vec<Token>| {
        list.push(Token {
            text: text.to_owned(),
            line: span.start().line,
        });
    };
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open, group.span_open(), list);
                flatten(group.stream(), list);
                push(close, group.span_close(), list);
            }
            TokenTree::Ident(ident) => push(&ident.to_string(), ident.span(), list),
            TokenTree::Punct(punct) => push(&punct.as_char().to_string(), punct.span(), list),
            TokenTree::Literal(literal) => push(&literal.to_string(), literal.span(), list),
        }
    }
}

/// The lines on which the words stand one after the other.
pub(crate) fn lines_with(tokens: &[Token], words: &[&str]) -> Vec<usize> {
    tokens
        .windows(words.len())
        .filter(|window| {
            window
                .iter()
                .zip(words)
                .all(|(token, word)| token.text == *word)
        })
        .map(|window| window[0].line)
        .collect()
}

#[test]
fn comments_and_strings_are_no_code() {
    let source = "// a::b\n/* a::b */\n/// a::b\nfn f() { \"a::b\"; }\nuse a::b;\n";
    let tokens = tokens(source).unwrap();
    assert_eq!(lines_with(&tokens, &["a", ":", ":", "b"]), [5]);
}

#[test]
fn what_is_no_rust_is_an_error() {
    assert!(tokens("fn f( {").is_err());
}
