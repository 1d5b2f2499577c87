//! What is said of a task while somebody waits for it: a spinner on a terminal, plain lines elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use legwork_model::{ConnectionEnd, EventBody, Phase, Stream, TaskState};

use crate::{
    output,
    printable::{printable, printable_lines},
    verdict,
};

/// How often a phase tells of itself where there is no spinner.
const PACE: Duration = Duration::from_secs(5);

/// Tells of one task on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Only on a terminal.
    spinner: Option<ProgressBar>,
    /// What the command wrote on each stream since its last line end.
    unfinished: [String; 2],
    /// Only where there is no spinner.
    steps: Steps,
    notices: Vec<String>,
}

impl Progress {
    /// Begins to tell.
    pub(crate) fn new() -> Self {
        Self {
            spinner: output::is_told_to_terminal().then(spinner),
            unfinished: Default::default(),
            steps: Steps::default(),
            notices: vec![],
        }
    }

    /// Tells of an event.
    pub(crate) fn tell(&mut self, body: &EventBody) {
        match body {
            EventBody::State {
                state: TaskState::Queued,
            } => self.doing(None, "waiting for its turn"),
            EventBody::Phase { phase, detail } => {
                let word = verdict::phase(*phase);
                let detail = printable(detail);
                let what = if detail.is_empty() {
                    word.to_owned()
                } else {
                    format!("{word}: {detail}")
                };
                self.doing(Some(*phase), &what);
            }
            EventBody::Output { stream, text } => {
                let whole = whole_lines(
                    &mut self.unfinished[usize::from(*stream == Stream::Stderr)],
                    text,
                );
                self.pass_on(&whole);
            }
            EventBody::Agent { step, .. } => self.pass_on(&step.lines()),
            EventBody::Network { connection } => {
                if matches!(connection.end, ConnectionEnd::Denied { .. }) {
                    self.note(&printable(&connection.line()));
                }
            }
            EventBody::Notice { text } => {
                self.note(&printable(text));
                self.notices.push(text.clone());
            }
            // The waiter looks at the card itself.
            EventBody::Evidence { .. }
            | EventBody::State { .. }
            | EventBody::Outcome { .. }
            | EventBody::Message { .. }
            | EventBody::Asked { .. }
            | EventBody::Review { .. }
            | EventBody::Changes { .. } => {}
        }
    }

    /// Says something beside the progress.
    pub(crate) fn note(&self, text: &str) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| output::note(text)),
            None => output::note(text),
        }
    }

    /// Tells what is left to tell, and makes room for the result. Gives the notices that were told.
    pub(crate) fn finish(mut self) -> Vec<String> {
        if let Some(step) = self.steps.held.take() {
            self.note(&step);
        }
        for stream in 0..self.unfinished.len() {
            let mut rest = std::mem::take(&mut self.unfinished[stream]);
            if !rest.is_empty() {
                rest.push('\n');
                self.pass_on(&rest);
            }
        }
        std::mem::take(&mut self.notices)
    }

    fn doing(&mut self, phase: Option<Phase>, what: &str) {
        match &self.spinner {
            Some(spinner) => spinner.set_message(what.to_owned()),
            None => {
                for step in self.steps.take(phase, what, Instant::now()) {
                    output::note(&step);
                }
            }
        }
    }

    fn pass_on(&self, lines: &str) {
        match &self.spinner {
            _ if lines.is_empty() => {}
            Some(spinner) => {
                spinner.suspend(|| output::tell_bytes(printable_lines(lines).as_bytes()));
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

/// Lines about phases at a pace that a log bears: the first and the last of each phase, and now and then one between.
#[derive(Debug, Default)]
struct Steps {
    phase: Option<Phase>,
    told: Option<Instant>,
    held: Option<String>,
}

impl Steps {
    /// Takes a line; gives those that are to be told now.
    fn take(&mut self, phase: Option<Phase>, line: &str, now: Instant) -> Vec<String> {
        let goes_on = phase.is_some() && self.phase == phase;
        if goes_on
            && self
                .told
                .is_some_and(|told| now.duration_since(told) < PACE)
        {
            self.held = Some(line.to_owned());
            return vec![];
        }
        // What was held back in this phase is out of date by now.
        let last = self.held.take().filter(|_| !goes_on);
        self.phase = phase;
        self.told = Some(now);
        last.into_iter().chain([line.to_owned()]).collect()
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
    fn a_phase_that_tells_much_is_told_little() {
        let (mut steps, start) = (Steps::default(), Instant::now());
        let mut at = |phase, line: &str, seconds| {
            let told = steps.take(Some(phase), line, start + Duration::from_secs(seconds));
            told.join(",")
        };
        assert_eq!(at(Phase::Capture, "a", 0), "a");
        assert_eq!(at(Phase::Image, "0 %", 0), "0 %");
        assert_eq!(at(Phase::Image, "10 %", 1), "");
        assert_eq!(at(Phase::Image, "50 %", 5), "50 %");
        assert_eq!(at(Phase::Image, "90 %", 7), "");
        assert_eq!(at(Phase::Image, "100 %", 8), "");
        assert_eq!(at(Phase::Boot, "b", 9), "100 %,b");
        assert_eq!(at(Phase::Command, "c", 9), "c");
    }

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
