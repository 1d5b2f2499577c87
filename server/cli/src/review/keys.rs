//! Answers from standard input: single keys on a terminal, the first letter of each line elsewhere.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, IsTerminal as _},
};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use super::walk::Key;

/// Where answers come from.
#[derive(Debug)]
pub(crate) enum Keys {
    /// A terminal, and what was typed ahead.
    Single(VecDeque<u8>),
    /// A pipe or a file.
    Lines,
}

impl Keys {
    /// Answers from standard input.
    pub(crate) fn of_stdin() -> Self {
        if io::stdin().is_terminal() {
            Self::Single(VecDeque::new())
        } else {
            Self::Lines
        }
    }

    /// The next answer; `None` at the end of input.
    pub(crate) fn next(&mut self) -> io::Result<Option<Key>> {
        match self {
            Self::Lines => {
                let mut line = String::new();
                let read = io::stdin().lock().read_line(&mut line)?;
                Ok((read > 0).then(|| of_line(&line)))
            }
            Self::Single(ahead) => {
                if ahead.is_empty() {
                    ahead.extend(typed()?);
                }
                Ok(ahead.pop_front().map(Key::of))
            }
        }
    }
}

fn of_line(line: &str) -> Key {
    line.trim().bytes().next().map_or(Key::Other, Key::of)
}

/// What was typed, at least one byte; nothing at the end of input.
fn typed() -> io::Result<Vec<u8>> {
    let _raw = Raw::enter()?;
    let mut bytes = [0; 64];
    let read = loop {
        match rustix::io::read(io::stdin(), &mut bytes) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?,
        }
    };
    Ok(one_answer(&bytes[..read]))
}

/// An arrow or function key comes as an escape and some letters; those letters are no answers.
fn one_answer(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [0x1b, ..] => vec![0x1b],
        bytes => bytes.to_vec(),
    }
}

/// A terminal that gives each key at once and shows none; as it was before when this is dropped.
struct Raw(Termios);

impl Raw {
    fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        // Signals are off too: Ctrl-C must not leave the terminal like this.
        raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that went away needs no care.
        let _gone = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_are_no_answers_and_typing_ahead_is_kept() {
        assert_eq!(one_answer(b"\x1b[d"), b"\x1b");
        assert_eq!(one_answer(b"yn"), b"yn");
        assert_eq!(Key::of(0x1b), Key::Other);
    }

    #[test]
    fn a_line_answers_with_its_first_letter() {
        for (line, key) in [
            ("y\n", Key::Accept),
            (" no\n", Key::Reject),
            ("\n", Key::Other),
            ("q", Key::Quit),
        ] {
            assert_eq!(of_line(line), key, "{line:?}");
        }
    }
}
