//! Server-sent events out of a stream that is cut anywhere: in a character, between CR and LF, in a mark at its start. Nothing is
//! decoded before an event is whole, and no event is larger than a bound.

/// The largest event, in bytes.
const LARGEST: usize = 8 << 20;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The `event:` field; empty if there is none.
    pub(crate) name: String,
    /// The `data:` lines, joined.
    pub(crate) data: String,
}

/// Why a stream is of no use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// An event is larger than [`LARGEST`].
    TooLarge,
    /// A line is not UTF-8.
    NotText,
}

/// Takes bytes as they come and gives whole events.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    /// A line was seen, so what looks like a byte order mark is none.
    begun: bool,
    /// The last byte was a carriage return: a line feed behind it belongs to it.
    after_return: bool,
    event: Event,
    has_data: bool,
}

impl Decoder {
    /// Takes more bytes; gives the events that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Broken> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()?),
                _ => self.line.push(byte),
            }
            if self.line.len() + self.event.data.len() > LARGEST {
                return Err(Broken::TooLarge);
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Result<Option<Event>, Broken> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        let line = String::from_utf8(line).map_err(|_| Broken::NotText)?;
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.name),
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, data: &str) -> Event {
        Event {
            name: name.to_owned(),
            data: data.to_owned(),
        }
    }

    #[test]
    fn b120_how_a_stream_is_cut_makes_no_difference() {
        let stream = "\u{feff}: ping\r\n\r\nevent: a\r\ndata: grün 你好 🎉\r\n\r\ndata:no blank\n\nevent: b\rdata: 1\rdata: 2\r\rid: 7\n\n\
                      data:\n\ndata: not ended";
        let whole = [
            event("a", "grün 你好 🎉"),
            event("", "no blank"),
            event("b", "1\n2"),
            event("", ""),
        ];
        for size in 1..stream.len() {
            let mut decoder = Decoder::default();
            let mut events = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                events.extend(decoder.push(piece).unwrap());
            }
            assert_eq!(events, whole, "in pieces of {size}");
        }
    }

    #[test]
    fn b120_a_large_event_is_taken_and_an_endless_one_is_not() {
        let mut decoder = Decoder::default();
        let large = format!("data: {}\n\n", "x".repeat(2 << 20));
        assert_eq!(
            decoder.push(large.as_bytes()).unwrap()[0].data.len(),
            2 << 20
        );
        let piece = vec![b'x'; 1 << 20];
        let ended = (0..9).find_map(|_| decoder.push(&piece).err());
        assert_eq!(ended, Some(Broken::TooLarge));
        // Many lines of one event add up too.
        let mut decoder = Decoder::default();
        let line = format!("data: {}\n", "x".repeat(1 << 20));
        let ended = (0..9).find_map(|_| decoder.push(line.as_bytes()).err());
        assert_eq!(ended, Some(Broken::TooLarge));
        assert_eq!(
            Decoder::default().push(b"data: \xff\n\n"),
            Err(Broken::NotText)
        );
    }
}
