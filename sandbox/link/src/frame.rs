//! Frames: a `u32` length, little-endian, then that many bytes of postcard.

use serde::{Serialize, de::DeserializeOwned};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::LinkError;

/// The longest frame, in bytes, without its length.
pub const MAX_FRAME: usize = 128 * 1024;

/// The most data bytes that are put into one frame.
pub const MAX_DATA: usize = 64 * 1024;

/// Reads one frame; `None` when the stream ended cleanly before it.
///
/// # Errors
///
/// [`LinkError`] when the stream breaks inside a frame, the frame is too long, or it is not a `T`.
pub async fn read<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<Option<T>, LinkError> {
    let mut length = [0; 4];
    let mut filled = 0;
    while filled < length.len() {
        match stream.read(&mut length[filled..]).await? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(LinkError::Io(std::io::ErrorKind::UnexpectedEof.into())),
            count => filled += count,
        }
    }
    let length = u32::from_le_bytes(length);
    let limit = MAX_FRAME;
    let checked = usize::try_from(length)
        .ok()
        .filter(|&length| length <= limit);
    let Some(size) = checked else {
        return Err(LinkError::TooLong {
            length: u64::from(length),
            limit: limit as u64,
        });
    };
    let mut bytes = vec![0; size];
    stream.read_exact(&mut bytes).await?;
    decode(&bytes).map(Some)
}

/// Writes one frame. It is not flushed.
///
/// # Errors
///
/// [`LinkError::TooLong`] before anything is written, or what the stream says.
pub async fn write<T: Serialize>(
    stream: &mut (impl AsyncWrite + Unpin),
    message: &T,
) -> Result<(), LinkError> {
    let bytes = encode(message)?;
    stream.write_all(&bytes).await?;
    Ok(())
}

/// The bytes of a frame, its length in front.
///
/// # Errors
///
/// [`LinkError::TooLong`], or [`LinkError::Malformed`] if postcard cannot say it.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, LinkError> {
    let mut bytes = postcard::to_extend(message, vec![0; 4])
        .map_err(|error| LinkError::Malformed(error.to_string()))?;
    let size = bytes.len() - 4;
    let length = u32::try_from(size).ok().filter(|_| size <= MAX_FRAME);
    let Some(length) = length else {
        return Err(LinkError::TooLong {
            length: size as u64,
            limit: MAX_FRAME as u64,
        });
    };
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Understands the inside of a frame. All of it must be used up.
///
/// # Errors
///
/// [`LinkError::Malformed`].
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, LinkError> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => Err(LinkError::Malformed(format!(
            "{} bytes too many",
            rest.len()
        ))),
        Err(error) => Err(LinkError::Malformed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ExecOutput;

    #[tokio::test]
    async fn frames_survive_and_nothing_else_is_believed() {
        let message = ExecOutput::Stdout(vec![7; MAX_DATA]);
        let mut bytes = encode(&message).unwrap();
        assert_eq!(
            read::<ExecOutput>(&mut bytes.as_slice()).await.unwrap(),
            Some(message)
        );
        assert!(
            read::<ExecOutput>(&mut [].as_slice())
                .await
                .unwrap()
                .is_none()
        );
        // Cut inside the frame and inside its length.
        assert!(matches!(
            read::<ExecOutput>(&mut &bytes[..9]).await,
            Err(LinkError::Io(_))
        ));
        assert!(matches!(
            read::<ExecOutput>(&mut &bytes[..2]).await,
            Err(LinkError::Io(_))
        ));
        // A huge length is refused before it is allocated.
        let huge = u32::MAX.to_le_bytes();
        assert!(matches!(
            read::<ExecOutput>(&mut huge.as_slice()).await,
            Err(LinkError::TooLong { .. })
        ));
        // Bytes behind the message, and a variant that does not exist.
        let grown = u32::try_from(bytes.len() - 4 + 1).unwrap();
        bytes[..4].copy_from_slice(&grown.to_le_bytes());
        bytes.push(0);
        assert!(matches!(
            read::<ExecOutput>(&mut bytes.as_slice()).await,
            Err(LinkError::Malformed(_))
        ));
        assert!(matches!(
            decode::<ExecOutput>(&[250, 1, 2]),
            Err(LinkError::Malformed(_))
        ));
        assert!(matches!(
            encode(&vec![0_u8; MAX_FRAME + 1]),
            Err(LinkError::TooLong { .. })
        ));
    }
}
