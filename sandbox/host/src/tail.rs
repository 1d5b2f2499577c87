//! The end of what a stream said: a hostile guest may say as much as it likes.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes that are kept.
const KEPT: usize = 16 * 1024;

/// The last bytes of a stream that is read to its end in the background.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
}

impl Tail {
    /// Reads a stream to its end.
    pub(crate) async fn follow(self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.push(&buffer[..count]);
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// The last lines, at most `lines`, printable, in one line with ` | ` between them.
    pub(crate) fn last_lines(&self, lines: usize) -> String {
        let kept: Vec<u8> = self
            .bytes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .copied()
            .collect();
        let text = String::from_utf8_lossy(&kept);
        let clean = |line: &str| {
            line.chars()
                .filter(|c| !c.is_control())
                .collect::<String>()
                .trim()
                .to_owned()
        };
        let all: Vec<String> = text
            .lines()
            .map(clean)
            .filter(|line| !line.is_empty())
            .collect();
        all[all.len().saturating_sub(lines)..].join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_end_is_kept_and_it_is_printable() {
        let tail = Tail::default();
        let mut flood = b"x\n".repeat(KEPT);
        flood.extend(b"almost\n\x1b[31mlast\x07\n\n");
        tail.clone().follow(flood.as_slice()).await;
        assert_eq!(tail.last_lines(2), "almost | [31mlast");
        assert!(tail.bytes.lock().unwrap().len() <= KEPT);
    }
}
