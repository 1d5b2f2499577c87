//! What is said of a task while somebody waits for it: a spinner on a terminal, plain lines elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use legwork_model::{EventBody, Stream, TaskState};

use crate::{
    output,
    printable::{printable, printable_lines},
    verdict,
};

/// Tells of one task on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Only on a terminal.
    spinner: Option<ProgressBar>,
    /// What the command wrote on each stream since its last line end.
    unfinished: [String; 2],
}

impl Progress {
    /// Begins to tell.
    pub(crate) fn new() -> Self {
        Self {
            spinner: output::is_told_to_terminal().then(spinner),
            unfinished: Default::default(),
        }
    }

    /// Tells of an event.
    pub(crate) fn tell(&mut self, body: &EventBody) {
        match body {
            EventBody::State {
                state: TaskState::Queued,
            } => self.doing("waiting for its turn"),
            EventBody::Phase { phase, detail } => {
                let word = verdict::phase(*phase);
                let detail = printable(detail);
                self.doing(&if detail.is_empty() {
                    word.to_owned()
                } else {
                    format!("{word}: {detail}")
                });
            }
            EventBody::Output { stream, text } => {
                let whole = whole_lines(
                    &mut self.unfinished[usize::from(*stream == Stream::Stderr)],
                    text,
                );
                self.pass_on(&whole);
            }
            EventBody::Notice { text } => self.note(&printable(text)),
            EventBody::State { .. } | EventBody::Outcome { .. } | EventBody::Review { .. } => {}
        }
    }

    /// Says something beside the progress.
    pub(crate) fn note(&self, text: &str) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| output::note(text)),
            None => output::note(text),
        }
    }

    /// Tells what is left to tell, and makes room for the result.
    pub(crate) fn finish(mut self) {
        for stream in 0..self.unfinished.len() {
            let mut rest = std::mem::take(&mut self.unfinished[stream]);
            if !rest.is_empty() {
                rest.push('\n');
                self.pass_on(&rest);
            }
        }
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }

    fn doing(&self, what: &str) {
        match &self.spinner {
            Some(spinner) => spinner.set_message(what.to_owned()),
            None => output::note(what),
        }
    }

    fn pass_on(&self, lines: &str) {
        match &self.spinner {
            _ if lines.is_empty() => {}
            Some(spinner) => {
                spinner.suspend(|| output::tell_bytes(printable_lines(lines).as_bytes()))
            }
            None => output::tell_bytes(lines.as_bytes()),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // However the wait ends, the terminal is left without a spinner.
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed:>4}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// Takes more text; gives the lines that are whole by now and keeps the rest.
fn whole_lines(unfinished: &mut String, text: &str) -> String {
    unfinished.push_str(text);
    let end = unfinished.rfind('\n').map_or(0, |at| at + 1);
    let rest = unfinished.split_off(end);
    std::mem::replace(unfinished, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_when_they_are_whole() {
        let mut unfinished = String::new();
        assert_eq!(whole_lines(&mut unfinished, "ab"), "");
        assert_eq!(whole_lines(&mut unfinished, "c\nd\ne"), "abc\nd\n");
        assert_eq!(unfinished, "e");
        assert_eq!(whole_lines(&mut unfinished, "\n"), "e\n");
        assert_eq!(unfinished, "");
    }
}
