//! Neovim in a terminal, with its RPC at hand: keys are pressed in the terminal as a user presses them, and what became of
//! them is asked for over the socket.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rmpv::Value;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::room::Room;
use crate::screen::{Screen, eventually};

/// Neovim answers nothing while it shows a prompt, such as hit-enter.
const ANSWER: Duration = Duration::from_secs(15);

/// A running Neovim; it ends with this value.
#[derive(Debug)]
pub struct Nvim {
    /// Its terminal.
    pub screen: Screen,
    channel: RefCell<Channel>,
    home: TempDir,
    /// What edits is a process of its own, which outlives its terminal.
    server: Option<Pid>,
}

#[derive(Debug)]
struct Channel {
    stream: UnixStream,
    last: u64,
}

impl Nvim {
    /// Starts Neovim in `folder`, with `init` (Lua) as its whole configuration, and opens `files`.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn open(room: &Room, folder: &Path, init: &str, files: &[&str]) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("nvim")
            .tempdir()
            .expect("a temporary directory");
        let home = dir.path();
        std::fs::write(home.join("init.lua"), init).expect("a file");
        let socket = home.join("socket");
        let mut line: Vec<OsString> = vec!["nvim".into(), "-n".into(), "-u".into()];
        line.push(home.join("init.lua").into());
        line.extend(["--listen".into(), socket.clone().into()]);
        line.push("--".into());
        line.extend(files.iter().map(OsString::from));
        let room = room.clone().showing(home).with("HOME", home);
        let screen = Screen::open(&room.command(folder, line));
        let channel = RefCell::new(Channel::connect(&screen, &socket));
        let mut nvim = Self {
            screen,
            channel,
            home: dir,
            server: None,
        };
        nvim.server = nvim
            .lua("return vim.fn.getpid()")
            .as_i64()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        // It listens before it has read its configuration.
        nvim.wait_lua("vim.v.vim_did_enter == 1");
        nvim
    }

    /// Runs Lua in Neovim and gives what it returns.
    ///
    /// # Panics
    ///
    /// When it fails, or Neovim does not answer.
    pub fn lua(&self, code: &str) -> Value {
        self.call("nvim_exec_lua", vec![code.into(), Value::Array(Vec::new())])
    }

    /// As [`Nvim::lua`], for text.
    ///
    /// # Panics
    ///
    /// When what comes is no text.
    pub fn lua_text(&self, code: &str) -> String {
        match self.lua(code) {
            Value::String(text) => text.into_str().expect("UTF-8"),
            other => panic!("no text but {other} from {code}"),
        }
    }

    /// The text of the current buffer, line by line.
    ///
    /// # Panics
    ///
    /// When Neovim does not answer.
    pub fn buffer(&self) -> String {
        self.lua_text(r"return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')")
    }

    /// Waits until Lua gives `true`.
    ///
    /// # Panics
    ///
    /// When it does not in time.
    pub fn wait_lua(&self, condition: &str) {
        eventually(
            || format!("{condition}; the screen is:\n{}", self.screen.read()),
            || (self.lua(&format!("return {condition}")) == Value::Boolean(true)).then_some(()),
        );
    }

    /// Waits until the current buffer is as wanted.
    ///
    /// # Panics
    ///
    /// When it is not in time.
    pub fn wait_buffer(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        eventually(
            || format!("{what}; the buffer is:\n{}", self.buffer()),
            || Some(self.buffer()).filter(|text| wanted(text)),
        )
    }

    /// A method of Neovim's API.
    ///
    /// # Panics
    ///
    /// When it fails, or Neovim does not answer.
    pub fn call(&self, method: &str, arguments: Vec<Value>) -> Value {
        let answer = self.channel.borrow_mut().call(method, arguments);
        answer.unwrap_or_else(|error| {
            panic!("{method}: {error}; the screen is:\n{}", self.screen.read())
        })
    }
}

impl Drop for Nvim {
    fn drop(&mut self) {
        if let Some(server) = self.server {
            // It may have ended by itself.
            kill_process(server, Signal::KILL).ok();
        }
        let log = self.home.path().join(".local/state/nvim/lsp.log");
        if std::thread::panicking()
            && let Ok(text) = std::fs::read_to_string(log)
        {
            let lines: Vec<&str> = text.lines().collect();
            // The test harness shows this with the failure.
            #[expect(clippy::print_stderr, reason = "a failed test tells what it saw")]
            for line in &lines[lines.len().saturating_sub(20)..] {
                eprintln!("lsp.log: {line}");
            }
        }
    }
}

impl Channel {
    fn connect(screen: &Screen, socket: &PathBuf) -> Self {
        let stream = eventually(
            || format!("Neovim listens; the screen is:\n{}", screen.read()),
            || UnixStream::connect(socket).ok(),
        );
        for set in [UnixStream::set_read_timeout, UnixStream::set_write_timeout] {
            set(&stream, Some(ANSWER)).expect("a time-out that is not nothing");
        }
        Self { stream, last: 0 }
    }

    fn call(&mut self, method: &str, arguments: Vec<Value>) -> Result<Value, String> {
        self.last += 1;
        let id = Value::from(self.last);
        let request = vec![0.into(), id.clone(), method.into(), Value::Array(arguments)];
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &Value::Array(request))
            .map_err(|error| error.to_string())?;
        self.stream
            .write_all(&bytes)
            .map_err(|error| format!("Neovim takes nothing: {error}"))?;
        loop {
            let message = rmpv::decode::read_value(&mut self.stream)
                .map_err(|error| format!("Neovim does not answer: {error}"))?;
            let Value::Array(parts) = message else {
                return Err(format!("no message: {message}"));
            };
            // Anything else is a notification, or the answer to a call that was given up.
            if let [kind, answered, error, result] = parts.as_slice()
                && *kind == Value::from(1)
                && *answered == id
            {
                return match error {
                    Value::Nil => Ok(result.clone()),
                    error => Err(error.to_string()),
                };
            }
        }
    }
}
