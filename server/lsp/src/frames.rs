//! The client's bytes, sifted: what is no message never reaches the framework, whose reader ends at the first one. In its
//! place comes a request that is answered with a parse error, as JSON-RPC wants it.

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite,
    AsyncWriteExt as _, BufReader, duplex,
};
use tower_lsp_server::jsonrpc::{Request, Response};

/// Answers with a parse error.
pub(crate) const MALFORMED: &str = "legwork/malformed";
/// The longest message, in bytes: a buffer of that size is none that anyone reviews.
const LONGEST: usize = 256 << 20;
/// The longest line of a header, in bytes.
const LONGEST_HEADER: u64 = 8 << 10;
/// Bytes on their way.
const PIPE: usize = 64 << 10;

/// What of `input` is messages.
pub(crate) fn sifted(
    input: impl AsyncRead + Unpin + Send + 'static,
) -> impl AsyncRead + Unpin + Send + 'static {
    let (mut writer, reader) = duplex(PIPE);
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        while let Some(body) = next(&mut input).await {
            if forward(&mut writer, &body).await.is_err() {
                break;
            }
        }
    });
    reader
}

async fn forward(writer: &mut (impl AsyncWrite + Unpin), body: &[u8]) -> std::io::Result<()> {
    let substitute = format!("{{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"{MALFORMED}\"}}");
    let body = if is_message(body) {
        body
    } else {
        substitute.as_bytes()
    };
    writer
        .write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes())
        .await?;
    writer.write_all(body).await?;
    writer.flush().await
}

fn is_message(body: &[u8]) -> bool {
    // The cheaper of the two by far is also the one that most are.
    serde_json::from_slice::<Request>(body).is_ok_and(|request| !request.method().is_empty())
        || serde_json::from_slice::<Response>(body).is_ok()
}

/// The body of the next frame; `None` at the end of the stream. Headers without a length are passed over.
async fn next(input: &mut (impl AsyncBufRead + Unpin)) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = (&mut *input)
            .take(LONGEST_HEADER)
            .read_until(b'\n', &mut line)
            .await
            .ok()?;
        if read == 0 {
            return None;
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            match length.take() {
                Some(length) if length <= LONGEST => {
                    let mut body = vec![0; length];
                    input.read_exact(&mut body).await.ok()?;
                    return Some(body);
                }
                // No memory is spent on it; what follows it is found again.
                Some(length) => {
                    let mut rest = (&mut *input).take(u64::try_from(length).ok()?);
                    tokio::io::copy(&mut rest, &mut tokio::io::sink())
                        .await
                        .ok()?;
                    return Some(Vec::new());
                }
                None => continue,
            }
        }
        let name = b"content-length:";
        if line.len() > name.len() && line[..name.len()].eq_ignore_ascii_case(name) {
            length = std::str::from_utf8(&line[name.len()..])
                .ok()
                .and_then(|value| value.trim().parse().ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn bodies(mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut bodies = Vec::new();
        while let Some(body) = next(&mut bytes).await {
            bodies.push(body);
        }
        bodies
    }

    #[tokio::test]
    async fn frames_are_found_behind_rubbish() {
        let bytes = b"rubbish\r\n\r\ncontent-length: 2\r\nContent-Type: x\r\n\r\n{}Content-Length: x\r\n\r\nContent-Length: 3\r\n\r\nabcContent-Length: 9\r\n\r\ncut";
        assert_eq!(bodies(bytes).await, [b"{}".to_vec(), b"abc".to_vec()]);
        // Too long to be kept, and told as no message.
        let huge = format!("Content-Length: {}\r\n\r\n", u64::MAX);
        assert_eq!(bodies(huge.as_bytes()).await, [b"".to_vec()]);
        assert_eq!(bodies(&[b'x'; 20_000]).await, Vec::<Vec<u8>>::new());
    }

    #[test]
    fn only_messages_are_messages() {
        for good in [
            r#"{"jsonrpc":"2.0","method":"exit"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}"#,
        ] {
            assert!(is_message(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            "{",
            "[]",
            "{}",
            "3",
            r#"{"jsonrpc":"1.0","method":"exit"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
        ] {
            assert!(!is_message(bad.as_bytes()), "{bad}");
        }
    }
}
