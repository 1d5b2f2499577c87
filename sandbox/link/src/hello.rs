//! The first bytes each way: a magic number and the version.
//!
//! The guest rings first, since a byte that the host sends before the guest has opened its port may be lost. The host
//! skips whatever the guest's firmware or kernel may have written to the port before that, up to [`MAX_NOISE`].

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{LinkError, VERSION};

/// No text and no plausible prefix of anything else.
pub const MAGIC: [u8; 16] = *b"\x00legwork\xfflink\x01\r\n";

/// How much is skipped while the magic is looked for, in bytes.
pub const MAX_NOISE: usize = 64 * 1024;

/// The host's side: waits for the guest's ring and answers it.
///
/// # Errors
///
/// [`LinkError`] when the stream ends, only noise comes, or the guest is of another version.
pub async fn answer(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Result<(), LinkError> {
    expect(stream).await?;
    ring(stream).await
}

/// The guest's first word.
///
/// # Errors
///
/// What the stream says.
pub async fn ring(stream: &mut (impl AsyncWrite + Unpin)) -> Result<(), LinkError> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    stream.write_all(&bytes).await?;
    stream.flush().await?;
    Ok(())
}

/// Waits for the other side's magic and checks its version.
///
/// # Errors
///
/// As [`answer`].
pub async fn expect(stream: &mut (impl AsyncRead + Unpin)) -> Result<(), LinkError> {
    let mut matched = 0;
    let mut noise = 0;
    while matched < MAGIC.len() {
        let byte = stream.read_u8().await?;
        // The magic's first byte stands nowhere else in it, so a mismatch can only restart it.
        matched = match byte {
            byte if byte == MAGIC[matched] => matched + 1,
            byte if byte == MAGIC[0] => 1,
            _ => 0,
        };
        noise += 1;
        if noise > MAX_NOISE {
            return Err(LinkError::Malformed(
                "no greeting in the first 64 KiB".into(),
            ));
        }
    }
    let theirs = stream.read_u32_le().await?;
    if theirs != VERSION {
        return Err(LinkError::Version {
            ours: VERSION,
            theirs,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_sides_meet_through_noise() {
        let (mut host, mut guest) = tokio::io::duplex(1024);
        let guest_side = async {
            guest
                .write_all(b"early boot noise \x00legwork\xff and a half magic")
                .await
                .unwrap();
            ring(&mut guest).await.unwrap();
            expect(&mut guest).await.unwrap();
        };
        let (answered, ()) = tokio::join!(answer(&mut host), guest_side);
        answered.unwrap();
    }

    #[tokio::test]
    async fn another_version_and_endless_noise_are_refused() {
        let mut other = MAGIC.to_vec();
        other.extend((VERSION + 1).to_le_bytes());
        assert!(matches!(
            expect(&mut other.as_slice()).await,
            Err(LinkError::Version { .. })
        ));
        let noise = vec![b'x'; MAX_NOISE + 1];
        assert!(matches!(
            expect(&mut noise.as_slice()).await,
            Err(LinkError::Malformed(_))
        ));
        assert!(matches!(
            expect(&mut b"short".as_slice()).await,
            Err(LinkError::Io(_))
        ));
    }
}
