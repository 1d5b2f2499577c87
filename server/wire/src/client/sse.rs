//! Server-sent events out of a byte stream that is cut anywhere. Only what the daemon uses: `data:` lines, comments
//! (which keep the connection alive) and blank lines; other fields are passed over.

/// The largest event that is taken, in bytes. An event carries at most one piece of output, so this is far above need.
const LARGEST: usize = 16 << 20;

/// An event larger than [`LARGEST`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Takes bytes as they come and gives the data of each event.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// What came and has not been looked at.
    bytes: Vec<u8>,
    /// Up to where `bytes` is known to hold no line end.
    searched: usize,
    /// The `data:` lines of the event that is not ended yet.
    data: Option<Vec<u8>>,
}

impl Decoder {
    /// Takes more bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The data of the next whole event; `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// [`TooLarge`], after which the stream is of no use.
    pub(super) fn event(&mut self) -> Result<Option<Vec<u8>>, TooLarge> {
        while let Some(offset) = self.bytes[self.searched..]
            .iter()
            .position(|&byte| byte == b'\n')
        {
            let end = self.searched + offset;
            let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
            self.searched = 0;
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if line.is_empty() {
                if let Some(data) = self.data.take() {
                    return Ok(Some(data));
                }
                continue;
            }
            self.field(&line)?;
        }
        self.searched = self.bytes.len();
        if self.bytes.len() > LARGEST {
            Err(TooLarge)
        } else {
            Ok(None)
        }
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLarge> {
        let Some(value) = line.strip_prefix(b"data:") else {
            return Ok(());
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        let size = self.data.as_ref().map_or(0, Vec::len);
        if size > LARGEST {
            Err(TooLarge)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] = b": hello\n\nid: 7\r\ndata: {\"a\":1}\r\n\r\ndata:one\ndata: two\nevent: x\n\n\ndata: unfinished\n";

    fn decode(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(&piece);
            while let Some(data) = decoder.event().unwrap() {
                events.push(String::from_utf8(data).unwrap());
            }
        }
        events
    }

    #[test]
    fn events_are_the_same_wherever_the_stream_is_cut() {
        let want = ["{\"a\":1}", "one\ntwo"];
        for size in 1..=STREAM.len() {
            assert_eq!(
                decode(STREAM.chunks(size).map(<[u8]>::to_vec)),
                want,
                "in pieces of {size}"
            );
        }
    }

    #[test]
    fn a_line_without_end_is_refused_in_time() {
        let mut decoder = Decoder::default();
        decoder.push(b"data: ");
        let refused = (0..40).any(|_| {
            decoder.push(&vec![b'x'; 1 << 20]);
            decoder.event() == Err(TooLarge)
        });
        assert!(refused);
    }

    #[test]
    fn an_event_of_many_lines_is_refused_in_time() {
        let mut decoder = Decoder::default();
        let line = [b"data: ".as_slice(), &[b'x'; 1 << 20], b"\n"].concat();
        let refused = (0..40).any(|_| {
            decoder.push(&line);
            decoder.event() == Err(TooLarge)
        });
        assert!(refused);
    }
}
