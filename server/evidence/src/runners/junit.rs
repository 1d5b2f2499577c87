//! A report in the XML form of JUnit, if a check prints one.

use crate::results::{Status, Tests};

/// The text from `<testsuite` on. The reader bounds it.
#[derive(Debug, Default)]
pub(crate) struct Junit {
    text: String,
    is_open: bool,
}

impl Junit {
    /// Takes a line; `false` if it belongs to no report.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        if !self.is_open && !line.contains("<testsuite") {
            return false;
        }
        self.is_open = !line.contains("</testsuites>");
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    pub(crate) fn finish(&mut self, tests: &mut Tests) {
        let mut rest = self.text.as_str();
        // The case that is open, and the worst that was said of it.
        let mut case: Option<(String, Status)> = None;
        while let Some(at) = rest.find('<') {
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("<![CDATA[") {
                rest = after.split_once("]]>").map_or("", |(_, rest)| rest);
                continue;
            }
            let Some(end) = end_of_tag(rest) else { break };
            let tag = &rest[1..end];
            rest = &rest[end + 1..];
            let is_whole = tag.ends_with('/');
            match tag.split([' ', '\t', '\n', '/']).next().unwrap_or_default() {
                "testcase" => {
                    let class = attribute(tag, "classname").filter(|class| !class.is_empty());
                    let name = attribute(tag, "name").unwrap_or_default();
                    let full = class.map_or(name.clone(), |class| format!("{class}.{name}"));
                    if is_whole {
                        tests.add(&full, Status::Passed);
                    } else {
                        case = Some((full, Status::Passed));
                    }
                }
                "failure" | "error" => {
                    if let Some((_, status)) = &mut case {
                        *status = Status::Failed;
                    }
                }
                "skipped" => {
                    if let Some((_, status)) = &mut case {
                        *status = Status::Skipped.max(*status);
                    }
                }
                "" if tag.starts_with("/testcase") => {
                    if let Some((name, status)) = case.take() {
                        tests.add(&name, status);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Where a tag ends: not inside the quotes of an attribute.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            None if byte == b'>' => return Some(at),
            None => {}
        }
    }
    None
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    while let Some(at) = rest.find(name) {
        let before = rest[..at].chars().next_back();
        let after = &rest[at + name.len()..];
        if before.is_some_and(char::is_whitespace)
            && let Some(value) = after.trim_start().strip_prefix('=')
        {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| *c == '"' || *c == '\'')?;
            let value = value[1..].split(quote).next()?;
            return Some(unescape(value));
        }
        rest = after;
    }
    None
}

fn unescape(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">");
    let plain = plain.replace("&quot;", "\"").replace("&apos;", "'");
    plain.replace("&amp;", "&")
}
