//! What the command is told of what the user asked for in words: variables of its environment.

use std::path::{Path, PathBuf};

use legwork_model::{Request, TaskSpec};

/// The longest `LEGWORK_REQUEST`, in bytes. A command is started by one message, which bounds all its words together.
const LONGEST_JSON: usize = 48 << 10;

/// The variables; none where nothing was said.
pub(super) fn environment(spec: &TaskSpec) -> Vec<(String, String)> {
    let Some(request) = &spec.request else {
        return Vec::new();
    };
    let mut variables = vec![("LEGWORK_PROMPT", request.text.clone())];
    if let Some(place) = &request.place {
        let path = from(&spec.directory, place.path.as_path());
        // What is not UTF-8 stands in the request, escaped.
        if let Some(path) = path.to_str() {
            variables.push(("LEGWORK_FILE", path.to_owned()));
        }
        let (first, last) = place.lines;
        variables.push(("LEGWORK_LINES", format!("{first}-{last}")));
    }
    if let Some(json) = json(request.clone()) {
        variables.push(("LEGWORK_REQUEST", json));
    }
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A path of the workspace as it is reached from a directory of it.
fn from(directory: &Path, path: &Path) -> PathBuf {
    match path.strip_prefix(directory) {
        Ok(below) => below.to_owned(),
        Err(_) => {
            let up = directory.components().map(|_| "..");
            up.collect::<PathBuf>().join(path)
        }
    }
}

/// As JSON, its texts cut until it is short enough: the longest first.
fn json(mut request: Request) -> Option<String> {
    loop {
        let json = serde_json::to_string(&request).ok()?;
        if json.len() <= LONGEST_JSON {
            return Some(json);
        }
        let found: usize = request
            .diagnostics
            .iter()
            .map(|found| found.message.len())
            .sum();
        let place = request.place.as_mut().map(|place| &mut place.text);
        let texts = [Some(&mut request.text), request.selection.as_mut(), place];
        let longest = texts.into_iter().flatten().max_by_key(|text| text.len());
        match longest {
            Some(text) if text.len() >= found && !text.is_empty() => {
                text.truncate(text.floor_char_boundary(text.len() / 2));
            }
            _ if request.diagnostics.is_empty() => return None,
            _ => request.diagnostics.truncate(request.diagnostics.len() / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use legwork_model::{Finding, Place, Worker};

    use super::*;

    fn spec(directory: &str, request: Option<Request>) -> TaskSpec {
        TaskSpec {
            directory: directory.into(),
            request,
            ..TaskSpec::new(
                "/w".into(),
                Worker::Command {
                    argv: vec!["true".to_owned()],
                },
            )
        }
    }

    fn request() -> Request {
        Request {
            text: "fix it".to_owned(),
            place: Some(Place {
                path: "src/a b.rs".parse().unwrap(),
                lines: (12, 20),
                text: "fn x() {}\n".to_owned(),
                language: None,
                symbol: None,
            }),
            ..Request::default()
        }
    }

    #[test]
    fn a_command_is_told_what_where_and_all_of_it() {
        assert!(environment(&spec("", None)).is_empty());
        let told = environment(&spec("", Some(request())));
        let names: Vec<&str> = told.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            [
                "LEGWORK_PROMPT",
                "LEGWORK_FILE",
                "LEGWORK_LINES",
                "LEGWORK_REQUEST"
            ]
        );
        assert_eq!(told[0].1, "fix it");
        assert_eq!(told[1].1, "src/a b.rs");
        assert_eq!(told[2].1, "12-20");
        assert_eq!(
            serde_json::from_str::<Request>(&told[3].1).unwrap(),
            request()
        );
        for (directory, path) in [("src", "a b.rs"), ("lib/x", "../../src/a b.rs")] {
            assert_eq!(environment(&spec(directory, Some(request())))[1].1, path);
        }
    }

    #[test]
    fn the_largest_request_is_cut_and_is_still_one() {
        let finding = Finding {
            line: 1,
            severity: "error".to_owned(),
            source: None,
            message: "\u{1}".repeat(Request::LONGEST_MESSAGE),
        };
        let mut large = Request {
            text: "\u{1}".repeat(Request::LONGEST_PROMPT),
            selection: Some("ü".repeat(Request::LONGEST_TEXT / 2)),
            diagnostics: vec![finding; Request::MOST_FINDINGS],
            ..request()
        };
        if let Some(place) = &mut large.place {
            place.text = "\\".repeat(Request::LONGEST_TEXT);
        }
        large.check().unwrap();
        let told = environment(&spec("", Some(large)));
        let total: usize = told
            .iter()
            .map(|(name, value)| name.len() + value.len())
            .sum();
        assert!(total < 80 << 10, "{total}");
        let cut: Request = serde_json::from_str(&told[3].1).unwrap();
        assert_eq!(cut.place.unwrap().lines, (12, 20));
        assert!(!cut.diagnostics.is_empty() && told[3].1.len() > LONGEST_JSON / 4);
    }
}
