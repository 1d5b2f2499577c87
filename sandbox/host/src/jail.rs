//! What the machine's own process tells of its jail, before a guest exists.

use legwork_spec::{Isolation, Jailed};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::HostError;

/// Reads the first line on the link. Not a byte behind it is taken: those are the guest's.
pub(crate) async fn read(link: &mut (impl AsyncRead + Unpin)) -> Result<Jailed, HostError> {
    let mut line = Vec::new();
    loop {
        let byte = link
            .read_u8()
            .await
            .map_err(HostError::io("read of the machine's jail"))?;
        if byte == b'\n' {
            return serde_json::from_slice(&line).map_err(|error| {
                HostError::Protocol(format!(
                    "what it tells of its jail is not to be read: {error}"
                ))
            });
        }
        line.push(byte);
        if line.len() > Jailed::LONGEST {
            return Err(HostError::Protocol(
                "what it tells of its jail has no end".into(),
            ));
        }
    }
}

/// Refuses a jail that lacks something, unless that was allowed.
pub(crate) fn judge(isolation: Isolation, lack: Option<String>) -> Result<(), HostError> {
    match lack {
        Some(lack) if isolation != Isolation::UnjailedOk => Err(HostError::Unable {
            message: format!("the virtual machine's process cannot be jailed here: {lack}"),
            hint: "mend that, or allow it for this task with `--isolation unjailed-ok`: a guest that breaks out of its \
                   virtual machine then acts as you"
                .into(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use legwork_spec::{Wall, WallKind};

    use super::*;

    #[tokio::test]
    async fn the_line_ends_where_the_guest_begins() {
        let mut link: &[u8] = b"{\"walls\":[],\"micros\":7}\nguest";
        assert_eq!(read(&mut link).await.unwrap().micros, 7);
        assert_eq!(link, b"guest");
    }

    #[tokio::test]
    async fn what_is_no_such_line_is_refused() {
        let endless = vec![b'x'; 100_000];
        for bytes in [&b"LWRK\n"[..], b"{}", b"", &endless] {
            let mut link = bytes;
            assert!(read(&mut link).await.is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn an_incomplete_jail_needs_to_be_allowed() {
        let mut jailed = Jailed {
            walls: WallKind::ALL
                .map(|kind| Wall {
                    kind,
                    stands: true,
                    detail: "d".into(),
                })
                .to_vec(),
            micros: 0,
        };
        for isolation in [
            Isolation::Hardware,
            Isolation::EmulatedOk,
            Isolation::UnjailedOk,
        ] {
            assert!(judge(isolation, jailed.lack()).is_ok());
        }
        jailed.walls[3].stands = false;
        for isolation in [Isolation::Hardware, Isolation::EmulatedOk] {
            let error = judge(isolation, jailed.lack()).unwrap_err();
            assert!(error.to_string().ends_with("system calls: d"), "{error}");
            assert!(error.hint().contains("--isolation unjailed-ok"));
        }
        assert!(judge(Isolation::UnjailedOk, jailed.lack()).is_ok());
    }
}
