//! What the guest calls the host for: each call is answered by whoever was named for it, or refused.

use std::{fmt::Debug, pin::Pin, sync::Arc, time::Duration};

use legwork_link::{Call, Forward, MAX_CALLS, Substream, frame};
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

/// How long the guest may take to say what it calls for.
const FIRST_WORD: Duration = Duration::from_secs(10);

/// The work of one call; its end is the call's.
pub type Answering = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Answers what programs in the guest call the host for.
pub trait Answer: Debug + Send + Sync {
    /// The ports of the guest's loopback that are relayed, and what a connection to each calls for. It is asked once, before
    /// the machine starts. A call that stands nowhere here is refused.
    fn forwards(&self) -> Vec<Forward>;

    /// Takes one call. What comes over the substream is the guest's: hostile, and to be bounded. At most [`MAX_CALLS`] are
    /// under way at a time, and all are given up when the machine ends.
    fn answer(&self, call: Call, substream: Substream) -> Answering;
}

/// Where the guest's calls arrive.
#[derive(Debug)]
pub(crate) struct Calls {
    answer: Option<Arc<dyn Answer>>,
    forwards: Arc<[Forward]>,
    places: Arc<Semaphore>,
    under_way: JoinSet<()>,
}

impl Calls {
    /// All are refused if nobody answers.
    pub(crate) fn new(answer: Option<Arc<dyn Answer>>) -> Self {
        let forwards = answer.as_ref().map(|answer| answer.forwards());
        Self {
            answer,
            forwards: forwards.unwrap_or_default().into(),
            places: Arc::new(Semaphore::new(MAX_CALLS)),
            under_way: JoinSet::new(),
        }
    }

    /// What the guest is told to relay.
    pub(crate) fn forwards(&self) -> Vec<Forward> {
        self.forwards.to_vec()
    }

    /// Takes a substream that the guest opened. One that is dropped is reset.
    pub(crate) fn take(&mut self, mut substream: Substream) {
        while self.under_way.try_join_next().is_some() {}
        let Some(answer) = self.answer.clone() else {
            return;
        };
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            tracing::debug!("a call of the guest is refused: there are {MAX_CALLS} already");
            return;
        };
        let forwards = Arc::clone(&self.forwards);
        self.under_way.spawn(async move {
            let first = timeout(FIRST_WORD, frame::read::<Call>(&mut substream)).await;
            match first {
                Ok(Ok(Some(call))) if forwards.iter().any(|known| known.call == call) => {
                    answer.answer(call, substream).await;
                }
                other => tracing::debug!(call = ?other, "a call of the guest is refused"),
            }
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use legwork_link::{Dialer, mux};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Answers with what it hears, if `port` is not 0.
    #[derive(Debug)]
    struct Echo {
        port: u16,
    }

    impl Answer for Echo {
        fn forwards(&self) -> Vec<Forward> {
            let forward = Forward {
                port: self.port,
                call: Call::Model,
            };
            Vec::from_iter((self.port != 0).then_some(forward))
        }

        fn answer(&self, _: Call, substream: Substream) -> Answering {
            Box::pin(async move {
                let (mut from, mut to) = tokio::io::split(substream);
                let _copied = tokio::io::copy(&mut from, &mut to).await;
                let _closed = to.shutdown().await;
            })
        }
    }

    fn guest_of(answer: Option<Arc<dyn Answer>>) -> (Dialer, Dialer) {
        let (host, guest) = tokio::io::duplex(1 << 16);
        let mut calls = Calls::new(answer);
        let (ours, pump) = mux::client(host, move |substream| calls.take(substream));
        tokio::spawn(pump);
        let (theirs, pump) = mux::server(guest, drop);
        tokio::spawn(pump);
        (ours, theirs)
    }

    /// What comes back of a call with these bytes; `None` if nothing does.
    async fn call(guest: &Dialer, first: &[u8]) -> Option<Vec<u8>> {
        let mut substream = guest.open().await.unwrap();
        // A refusal may come before all is said.
        let _said = substream.write_all(first).await;
        let _said = substream.write_all(b"hello").await;
        let _said = substream.shutdown().await;
        let mut heard = Vec::new();
        let _ended = substream.read_to_end(&mut heard).await;
        (!heard.is_empty()).then_some(heard)
    }

    #[tokio::test]
    async fn only_what_is_named_is_answered() {
        let model = frame::encode(&Call::Model).unwrap();
        let (_host, guest) = guest_of(Some(Arc::new(Echo { port: 1 })));
        assert_eq!(call(&guest, &model).await.as_deref(), Some(&b"hello"[..]));
        // A call that does not exist, one that is too long, and none.
        for wrong in [&[1, 0, 0, 0, 99][..], &[255; 4], &[]] {
            assert_eq!(call(&guest, wrong).await, None, "{wrong:?}");
        }
        assert_eq!(call(&guest, &model).await.as_deref(), Some(&b"hello"[..]));
        let (_host, guest) = guest_of(Some(Arc::new(Echo { port: 0 })));
        assert_eq!(call(&guest, &model).await, None);
        let (_host, guest) = guest_of(None);
        assert_eq!(call(&guest, &model).await, None);
    }

    #[tokio::test]
    async fn calls_beyond_the_bound_are_refused_and_the_host_can_still_ask() {
        let model = frame::encode(&Call::Model).unwrap();
        let (host, guest) = guest_of(Some(Arc::new(Echo { port: 1 })));
        let mut held = Vec::new();
        for _ in 0..MAX_CALLS {
            let mut substream = guest.open().await.unwrap();
            substream.write_all(&model).await.unwrap();
            substream.write_all(b"x").await.unwrap();
            let mut back = [0];
            substream.read_exact(&mut back).await.unwrap();
            held.push(substream);
        }
        assert_eq!(call(&guest, &model).await, None);
        assert!(host.open().await.is_ok());
        // One that ends makes room for another, a moment later.
        drop(held.pop());
        while call(&guest, &model).await.is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
