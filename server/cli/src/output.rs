//! The two ways out: standard output for data, standard error for what is said beside it. A reader that went away is
//! an error for data and nothing at all for words.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

/// Writes data.
pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Writes data that is text and has its own line ends.
pub(crate) fn print(text: &str) -> io::Result<()> {
    write(text.as_bytes())
}

/// Writes one line of data.
pub(crate) fn line(text: &str) -> io::Result<()> {
    print(&format!("{text}\n"))
}

/// Writes a value as indented JSON.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// Writes a value as JSON on one line.
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Says something, as it is.
pub(crate) fn tell(text: &str) {
    tell_bytes(format!("{text}\n").as_bytes());
}

/// Says something after the program's name.
pub(crate) fn note(text: &str) {
    tell(&format!("legwork: {text}"));
}

/// Passes on what somebody else said.
pub(crate) fn tell_bytes(bytes: &[u8]) {
    // Who closed standard error does not want to hear of it.
    let _unheard = io::stderr().lock().write_all(bytes);
}

/// Whether a terminal reads the data.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether a terminal shows what is said.
pub(crate) fn is_told_to_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether data may be coloured.
pub(crate) fn is_coloured() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    is_terminal() && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// How many columns the terminal that reads the data has; `None` if there is none.
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    is_terminal()
        .then_some(usize::from(size.ws_col))
        .filter(|&columns| columns > 0)
}
