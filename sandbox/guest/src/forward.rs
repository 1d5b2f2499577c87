//! Relays connections to certain ports of the guest's own loopback to the host, one substream each.
//!
//! It decides nothing: what a call gets is the host's to say. Bytes are moved as fast as the slower side takes them, and a
//! half that one side closes is closed for the other.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use anyhow::Context as _;
use legwork_link::{Call, Dialer, Forward, LinkError, MAX_CALLS, frame};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::spawn_local,
};

use crate::boot;

/// Connections that are relayed at once. More wait to be accepted. It is less than the host takes, which may learn a moment
/// later than the guest that a call has ended.
const MAX_CONNECTIONS: usize = MAX_CALLS - 16;

/// Opens substreams for programs.
#[derive(Debug)]
pub(crate) struct Forwarder {
    dialer: Dialer,
    places: Arc<Semaphore>,
}

impl Forwarder {
    /// One that listens to nothing yet.
    pub(crate) fn new(dialer: Dialer) -> Self {
        Self {
            dialer,
            places: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        }
    }

    /// Listens on every port from now on.
    pub(crate) fn listen(&self, forwards: &[Forward]) -> anyhow::Result<()> {
        for forward in forwards {
            let listener = bind(forward.port)
                .with_context(|| format!("cannot listen on port {} of 127.0.0.1", forward.port))?;
            let (dialer, places) = (self.dialer.clone(), Arc::clone(&self.places));
            spawn_local(accept(listener, forward.call.clone(), dialer, places));
        }
        Ok(())
    }
}

fn bind(port: u16) -> std::io::Result<TcpListener> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

async fn accept(listener: TcpListener, call: Call, dialer: Dialer, places: Arc<Semaphore>) {
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (dialer, call) = (dialer.clone(), call.clone());
                spawn_local(async move {
                    // A connection that breaks is known to the program that made it.
                    let _broken = relay(stream, &dialer, &call).await;
                    drop(place);
                });
            }
            Err(error) => {
                boot::complain(&format!("a connection was not accepted: {error}"));
                // Out of file descriptors, mostly, which takes a while to change.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn relay(mut stream: TcpStream, dialer: &Dialer, call: &Call) -> Result<(), LinkError> {
    // Small pieces of a streamed answer are worth more now than larger ones later.
    stream.set_nodelay(true)?;
    let mut substream = dialer.open().await?;
    frame::write(&mut substream, call).await?;
    copy_bidirectional(&mut stream, &mut substream).await?;
    Ok(())
}
