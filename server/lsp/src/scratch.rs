//! The scratch task file: a task typed in a buffer and sent by saving it, for editors that cannot
//! ask for a line of text. What the file says before and after; who opens and reads it is not here.

use std::path::Path;

/// The file, from the workspace root.
pub(crate) const PATH: &str = ".legwork/new-task.txt";

/// What the file says when it opens: at most three lines that begin with `#`, and a line to type
/// in. `about` names the place the task is about, as `src/a.rs, lines 3-20`.
pub(crate) fn template(about: Option<&str>) -> String {
    let mut text = String::from(
        "# Say what to do, in a sentence or more, then save: the task starts.\n\
         # Lines that begin with # are left out. To start nothing, close without saving.\n",
    );
    if let Some(about) = about {
        text.push_str("# About: ");
        // A line break in a file's name must not turn the rest of it into the task.
        text.extend(about.chars().map(|c| if c.is_control() { ' ' } else { c }));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The task in the file's text: the lines that do not begin with `#`, with `\n` between them and
/// nothing blank around them. `None` if nothing was typed.
pub(crate) fn sentence(text: &str) -> Option<String> {
    let typed: Vec<&str> = text
        .trim_start_matches('\u{feff}')
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::trim_end)
        .collect();
    let typed = typed.join("\n");
    let typed = typed.trim();
    (!typed.is_empty()).then(|| typed.to_owned())
}

/// Whether a path is the scratch file of some workspace.
pub(crate) fn is_scratch(path: &Path) -> bool {
    path.ends_with(PATH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_untouched_template_asks_for_nothing() {
        for about in [
            None,
            Some("src/a.rs, lines 3-20"),
            Some("a\nrm everything\r\nb"),
        ] {
            let text = template(about);
            assert_eq!(sentence(&text), None, "{text:?}");
            let explained = text.lines().filter(|line| line.starts_with('#')).count();
            assert!(explained <= 3, "{text:?}");
            assert!(text.ends_with("\n\n"), "{text:?}");
        }
        assert!(
            template(Some("src/a.rs, lines 3-20")).contains("\n# About: src/a.rs, lines 3-20\n")
        );
        assert!(!template(None).contains("About"));
    }

    #[test]
    fn what_is_typed_is_the_task() {
        let cases = [
            ("", None),
            ("#", None),
            (" \t\r\n\r\n", None),
            ("# only\r\n# this\r\n", None),
            ("fix it", Some("fix it")),
            ("# a\r\nfix it\r\n# b\r\nnow\r\n", Some("fix it\nnow")),
            ("\u{feff}# a\nfix 🦀  \n", Some("fix 🦀")),
            ("see #3\n\n  and # this\n", Some("see #3\n\n  and # this")),
        ];
        for (text, task) in cases {
            assert_eq!(sentence(text).as_deref(), task, "{text:?}");
        }
        let typed = format!("{}make it fast\n", template(Some("a.rs")));
        assert_eq!(sentence(&typed).as_deref(), Some("make it fast"));
    }

    #[test]
    fn only_the_scratch_file_is_one() {
        assert!(is_scratch(Path::new("/w/.legwork/new-task.txt")));
        assert!(is_scratch(Path::new(PATH)));
        assert!(!is_scratch(Path::new("/w/new-task.txt")));
        assert!(!is_scratch(Path::new("/w/x.legwork/new-task.txt")));
        assert!(!is_scratch(Path::new("/w/.legwork/new-task.txt/a")));
        assert!(!is_scratch(Path::new("")));
    }
}
