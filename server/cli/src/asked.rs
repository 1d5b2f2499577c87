//! What is asked for in words: the words, the text on standard input, the lines of a file.

use std::io::{self, Read};

use legwork_model::{Place as Spot, Request};

use crate::{
    args::TaskArgs,
    failure::Failure,
    output,
    printable::printable,
    workspace::{Place, tree_path},
};

/// What was said, if anything was. The arguments that say it are taken out.
pub(crate) fn request(args: &mut TaskArgs, place: &Place) -> Result<Option<Request>, Failure> {
    let stdin = if args.stdin {
        let text = read(io::stdin().lock()).map_err(|error| {
            Failure::usage(
                format!("standard input cannot be read: {error}"),
                "pipe the text that it is about into it",
            )
        })?;
        Some(text)
    } else {
        None
    };
    let spot = match args.file.take() {
        None => None,
        Some(file) => {
            let shown = || printable(&file.display().to_string()).into_owned();
            let inside = place.locate(&file).as_deref().and_then(tree_path);
            let path = inside.ok_or_else(|| {
                Failure::usage(
                    format!(
                        "{} is no file of the workspace {}",
                        shown(),
                        printable(&place.workspace.display().to_string())
                    ),
                    "name a file below it, or another workspace with -C",
                )
            })?;
            let on_disk = std::fs::read(path.under(&place.workspace));
            let text = match (on_disk, &stdin) {
                (Ok(text), _) => text,
                // It may be in an editor only.
                (Err(_), Some(_)) => Vec::new(),
                (Err(error), None) => {
                    return Err(Failure::usage(
                        format!("{} cannot be read: {error}", shown()),
                        "name a file that is there",
                    ));
                }
            };
            let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
            let count = u32::try_from(lines.len()).unwrap_or(u32::MAX).max(1);
            let (first, last) = args.lines.unwrap_or((1, count));
            let picked = lines
                .iter()
                .take(last as usize)
                .skip(first as usize - 1)
                .copied()
                .collect::<Vec<_>>()
                .concat();
            Some(Spot {
                path,
                lines: (first, last),
                text: match args.lines {
                    Some(_) => String::from_utf8_lossy(&picked).into_owned(),
                    // The file itself is in the snapshot.
                    None => String::new(),
                },
                language: None,
                symbol: None,
            })
        }
    };
    let words = std::mem::take(&mut args.prompt).join(" ");
    let Some(request) = asked(words, stdin, spot, !args.command.is_empty()) else {
        return Ok(None);
    };
    let long = request
        .selection
        .iter()
        .chain(request.place.iter().map(|spot| &spot.text));
    if long
        .map(String::len)
        .any(|size| size > Request::LONGEST_TEXT)
    {
        output::note(&format!(
            "the text is long: only its first {} KiB are told beside the task, the files are all there",
            Request::LONGEST_TEXT >> 10
        ));
    }
    let request = request.bounded();
    request.check().map_err(|error| {
        Failure::usage(error.to_string(), "say it shorter, or write it into a file")
    })?;
    Ok(Some(request))
}

/// Joins the parts. What comes on standard input is what was selected, or the very sentence where there is no other.
fn asked(
    words: String,
    stdin: Option<String>,
    mut place: Option<Spot>,
    commanded: bool,
) -> Option<Request> {
    let mut request = Request {
        text: words.trim().to_owned(),
        ..Request::default()
    };
    match (stdin, &mut place) {
        (Some(text), _) if request.text.is_empty() && !commanded => {
            request.text = text.trim().to_owned();
        }
        (Some(text), Some(place)) => place.text = text,
        (Some(text), None) => request.selection = Some(text),
        (None, _) => {}
    }
    request.place = place;
    (request != Request::default()).then_some(request)
}

/// Reads to the end, so that whoever writes is not cut off, and keeps what can be of use.
fn read(mut stdin: impl Read) -> io::Result<String> {
    let limit = 2 * Request::LONGEST_TEXT as u64;
    let mut bytes = Vec::new();
    stdin.by_ref().take(limit).read_to_end(&mut bytes)?;
    io::copy(&mut stdin, &mut io::sink())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::args::{Command, parse};

    fn task(line: &str) -> TaskArgs {
        match parse(line) {
            Ok(Command::Delegate(delegate)) => delegate.task,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn words_and_lines_make_a_request() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.rs"), "one\ntwo\nthree\nfour").unwrap();
        let place = Place {
            workspace: dir.path().into(),
            directory: PathBuf::from("src"),
        };
        let request = |line: &str| request(&mut task(line), &place);
        assert_eq!(request("legwork delegate -- make").unwrap(), None);
        let asked = request("legwork delegate --file a.rs --lines 2-3 fix the  parser")
            .unwrap()
            .unwrap();
        assert_eq!(asked.text, "fix the  parser");
        let spot = asked.place.unwrap();
        assert_eq!(
            (spot.path.to_string().as_str(), spot.lines),
            ("src/a.rs", (2, 3))
        );
        assert_eq!(spot.text, "two\nthree\n");
        let spot = request("legwork delegate --file ../src/a.rs x")
            .unwrap()
            .unwrap()
            .place
            .unwrap();
        assert_eq!((spot.lines, spot.text.as_str()), ((1, 4), ""));
        let told = request("legwork delegate --file a.rs --lines 9 -- make")
            .unwrap()
            .unwrap();
        assert_eq!(
            (told.text.as_str(), told.place.unwrap().text),
            ("", String::new())
        );
        for wrong in [
            "--file ../../x x",
            "--file nothing.rs x",
            "--file . x",
            "--file .. x",
        ] {
            let failure = request(&format!("legwork delegate {wrong}")).unwrap_err();
            assert_eq!(failure.kind.code(), 2, "{wrong}");
        }
        let long = format!(
            "legwork delegate {}",
            "x".repeat(Request::LONGEST_PROMPT + 1)
        );
        assert_eq!(request(&long).unwrap_err().kind.code(), 2);
    }

    #[test]
    fn standard_input_is_what_was_selected_or_the_sentence_itself() {
        let spot = || Spot {
            path: "a".parse().unwrap(),
            lines: (1, 2),
            text: "on disk".to_owned(),
            language: None,
            symbol: None,
        };
        let text = || Some("the text\n".to_owned());
        let asked = |words: &str, stdin, spot, commanded| {
            super::asked(words.to_owned(), stdin, spot, commanded).unwrap()
        };
        let request = asked("fix", text(), None, false);
        assert_eq!((request.text.as_str(), request.selection), ("fix", text()));
        let request = asked("fix", text(), Some(spot()), false);
        assert_eq!(
            (request.selection, request.place.unwrap().text),
            (None, "the text\n".to_owned())
        );
        let request = asked(" ", text(), Some(spot()), false);
        assert_eq!(
            (request.text.as_str(), request.place),
            ("the text", Some(spot()))
        );
        let request = asked("", text(), None, true);
        assert_eq!((request.text.as_str(), request.selection), ("", text()));
        assert_eq!(super::asked(String::new(), None, None, true), None);
    }

    #[test]
    fn all_of_standard_input_is_read_and_some_of_it_kept() {
        let mut long = io::repeat(b'x').take(1 << 20);
        assert_eq!(read(&mut long).unwrap().len(), 2 * Request::LONGEST_TEXT);
        assert_eq!(long.limit(), 0);
        assert_eq!(read(&b"a\xff"[..]).unwrap(), "a\u{fffd}");
    }
}
