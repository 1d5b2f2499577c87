//! Frames of the base protocol, read without mercy.

use std::io::{BufRead as _, BufReader, Read};

use serde_json::Value;

/// A message with its header.
pub(super) fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Hands over each message until the stream ends between two of them.
///
/// # Errors
///
/// A sentence on what else stands there.
pub(super) fn read(from: impl Read, mut take: impl FnMut(Value)) -> Result<(), String> {
    let mut from = BufReader::new(from);
    loop {
        let mut length = None;
        loop {
            let mut line = Vec::new();
            let count = from
                .read_until(b'\n', &mut line)
                .map_err(|error| error.to_string())?;
            if count == 0 && length.is_none() {
                return Ok(());
            }
            let line = String::from_utf8_lossy(&line).into_owned();
            if line == "\r\n" && length.is_some() {
                break;
            }
            let header = line
                .strip_suffix("\r\n")
                .and_then(|line| line.split_once(": "));
            match header {
                Some(("Content-Length", digits)) if length.is_none() => {
                    let digits = digits.parse::<usize>().map_err(|_| format!("{line:?}"))?;
                    length = Some(digits);
                }
                Some(("Content-Type", _)) => {}
                _ => return Err(format!("no header: {line:?}")),
            }
        }
        let mut body = vec![0; length.unwrap_or(0)];
        from.read_exact(&mut body)
            .map_err(|_| "a message is cut off".to_owned())?;
        let message: Value =
            serde_json::from_slice(&body).map_err(|error| format!("no JSON: {error}"))?;
        if message["jsonrpc"] != "2.0" {
            return Err(format!("no JSON-RPC: {message}"));
        }
        take(message);
    }
}
