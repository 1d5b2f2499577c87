//! Whatever a guest sends, the host neither panics nor hangs nor believes it.

use std::time::Duration;

use legwork_link::{Call, Collected, Configured, ExecOutput, Stats, WatchInput, frame, hello, mux};
use proptest::{collection::vec, prelude::*};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

/// Runs a piece of async code that must end soon.
fn soon<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        timeout(Duration::from_secs(10), work)
            .await
            .expect("it hangs")
    })
}

/// Bytes that are plausible here and there: small lengths, variant numbers, yamux headers.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        vec(any::<u8>(), 0..40),
        (0_u32..300, vec(0_u8..12, 0..60)).prop_map(|(length, rest)| [
            &length.to_le_bytes()[..],
            &rest
        ]
        .concat()),
        (0_u8..4, 0_u16..16, 0_u32..6, any::<u32>()).prop_map(|(kind, flags, id, length)| {
            [
                &[0, kind][..],
                &flags.to_be_bytes(),
                &id.to_be_bytes(),
                &length.to_be_bytes(),
            ]
            .concat()
        }),
        Just(hello::MAGIC.to_vec()),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn frames_of_any_bytes_are_read_or_refused(bytes in bytes()) {
        soon(async {
            let mut from = bytes.as_slice();
            while let Ok(Some(_)) = frame::read::<Collected>(&mut from).await {}
            let mut from = bytes.as_slice();
            while let Ok(Some(_)) = frame::read::<ExecOutput>(&mut from).await {}
        });
        // Either answer will do; what counts is that there is one.
        let _stats = frame::decode::<Stats>(&bytes);
        let _call = frame::decode::<Call>(&bytes);
        let _watch = frame::decode::<WatchInput>(&bytes);
        let _laid = frame::decode::<Result<(), String>>(&bytes);
        let _configured = frame::decode::<Result<Configured, String>>(&bytes);
    }

    #[test]
    fn a_greeting_is_the_greeting_and_nothing_else(noise in vec(1_u8.., 0..200), rest in bytes()) {
        let greeting = [&noise[..], &hello::MAGIC, &legwork_link::VERSION.to_le_bytes(), &rest].concat();
        soon(async {
            let mut from = greeting.as_slice();
            // The magic's first byte is 0, which the noise has not.
            hello::expect(&mut from).await.expect("the greeting is there");
            assert_eq!(from, rest);
        });
    }

    #[test]
    fn the_host_survives_any_bytes_on_the_link(bytes in bytes()) {
        soon(async {
            let (host, mut guest) = tokio::io::duplex(1 << 16);
            let (called, mut calls) = tokio::sync::mpsc::unbounded_channel();
            let (dialer, pump) = mux::client(host, move |substream| {
                let _taken = called.send(substream);
            });
            // Whatever the guest opens is listened to for a call, and then for bytes to the end.
            let take = async {
                while let Some(mut substream) = calls.recv().await {
                    if let Ok(Some(_)) = frame::read::<Call>(&mut substream).await {
                        let _read = tokio::io::copy(&mut substream, &mut tokio::io::sink()).await;
                    }
                }
            };
            let talk = async {
                guest.write_all(&bytes).await.expect("the host reads or hangs up later");
                let mut said = [0; 64];
                // The host may answer with anything, or nothing.
                let _said = timeout(Duration::from_millis(1), guest.read(&mut said)).await;
                drop(guest);
            };
            let ask = async {
                if let Ok(mut substream) = dialer.open().await {
                    let _answer = frame::read::<Stats>(&mut substream).await;
                }
                drop(dialer);
            };
            let (_ended, (), (), ()) = tokio::join!(pump, talk, ask, take);
        });
    }
}
