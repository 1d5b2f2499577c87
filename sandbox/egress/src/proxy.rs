//! One connection of the guest after another, each judged alone.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
    time::Duration,
};

use legwork_spec::{Destination, EgressPolicy, HostName};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{
    address,
    head::{self, Request},
    hello::Hello,
    names::Names,
    outside::Outside,
    record::{Denial, Record, Witness},
    relay::{Traffic, relay},
};

/// How long the guest may take for its request, and then for the hello of TLS.
const FIRST_WORDS: Duration = Duration::from_secs(10);
/// How long a name may take to be resolved.
const RESOLVE: Duration = Duration::from_secs(5);
/// How long one address may take to answer.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the guest may take to hear a refusal out.
const FAREWELL: Duration = Duration::from_secs(2);
/// The most addresses that a name may have.
const MOST_ADDRESSES: usize = 32;
/// How many of them are tried.
const MOST_TRIED: usize = 4;

/// A fatal alert of TLS, "access denied" (RFC 8446, 6.2).
const ALERT: [u8; 7] = [21, 3, 1, 0, 2, 2, 49];

/// Names and ports that the user, and nobody else, has said to be these addresses. They are not resolved, and may be anywhere; it
/// takes an entry of the policy all the same to reach them.
pub type Locals = BTreeMap<(HostName, u16), SocketAddr>;

/// The proxy of one sandbox.
#[derive(Debug)]
pub struct Proxy {
    policy: EgressPolicy,
    locals: Locals,
    outside: Arc<dyn Outside>,
    witness: Arc<dyn Witness>,
    names: Mutex<Names>,
}

/// A connection that did not go out.
struct Refused {
    denial: Denial,
    /// What the guest is told.
    farewell: Farewell,
}

#[derive(Clone, Copy)]
enum Farewell {
    Http,
    Tls,
}

impl From<Denial> for Refused {
    fn from(denial: Denial) -> Self {
        Self {
            denial,
            farewell: Farewell::Http,
        }
    }
}

/// Who was asked for, once that is known.
#[derive(Debug, Default)]
struct Wanted {
    host: String,
    port: u16,
}

impl Proxy {
    /// A proxy for this policy, for good.
    pub fn new(
        policy: EgressPolicy,
        locals: Locals,
        outside: Arc<dyn Outside>,
        witness: Arc<dyn Witness>,
    ) -> Self {
        Self {
            policy,
            locals,
            outside,
            witness,
            names: Mutex::default(),
        }
    }

    /// Serves one connection of the guest to its end.
    pub async fn serve<S>(&self, mut guest: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let mut wanted = Wanted::default();
        match self.pass(&mut guest, &mut wanted).await {
            Ok(Some(record)) => self.witness.saw(record),
            // It said nothing.
            Ok(None) => {}
            Err(Refused { denial, farewell }) => {
                let said = match farewell {
                    Farewell::Http => answer(&denial, &wanted),
                    Farewell::Tls => ALERT.to_vec(),
                };
                let Wanted { host, port } = wanted;
                self.witness.saw(Record::Denied { host, port, denial });
                // Whether the guest hears it is its own affair.
                let _heard = timeout(FAREWELL, part(&mut guest, &said)).await;
            }
        }
    }

    async fn pass<S>(&self, guest: &mut S, wanted: &mut Wanted) -> Result<Option<Record>, Refused>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let mut bytes = Vec::new();
        let read = timeout(FIRST_WORDS, read_head(guest, &mut bytes)).await;
        let Some(end) = read.map_err(|_| Denial::Slow)?? else {
            return Ok(None);
        };
        let request = head::parse(&bytes[..end])?;
        bytes.drain(..end);
        let (host, port) = request.authority();
        *wanted = Wanted {
            host: host.as_str().to_owned(),
            port,
        };
        self.judge(host, port)?;
        match (&request, port) {
            (Request::Tunnel { .. }, 80) => {
                return Err(Denial::Way(
                    "port 80 is reached by http:// requests, not through a tunnel",
                )
                .into());
            }
            (Request::Plain { .. }, 443) => {
                return Err(
                    Denial::Way("port 443 is reached through a tunnel with TLS in it").into(),
                );
            }
            _ => {}
        }
        let (mut stream, address) = self.dial(host, port).await?;
        let traffic = Traffic::new();
        let broken = |error: io::Error| Denial::Unreachable(error.to_string());
        let body = match &request {
            Request::Tunnel { host, .. } => {
                guest
                    .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    .await
                    .map_err(broken)?;
                guest.flush().await.map_err(broken)?;
                if port == 443 {
                    let read = timeout(FIRST_WORDS, read_hello(guest, &mut bytes, host)).await;
                    let read = read.unwrap_or(Err(Denial::Slow));
                    read.map_err(|denial| Refused {
                        denial,
                        farewell: Farewell::Tls,
                    })?;
                }
                None
            }
            Request::Plain { head, body, .. } => {
                stream.write_all(head).await.map_err(broken)?;
                traffic.up.fetch_add(head.len() as u64, Relaxed);
                bytes.truncate(usize::try_from(*body).unwrap_or(usize::MAX));
                Some(body - bytes.len() as u64)
            }
        };
        // From here on it has gone out, however it ends.
        let moved = async {
            stream.write_all(&bytes).await?;
            traffic.up.fetch_add(bytes.len() as u64, Relaxed);
            drop(bytes);
            relay(guest, &mut stream, body, &traffic).await
        };
        if let Err(error) = moved.await {
            tracing::debug!(%error, host = wanted.host, port, "a connection of the guest broke");
        }
        Ok(Some(Record::Passed {
            host: wanted.host.clone(),
            port,
            address,
            up: traffic.up.load(Relaxed),
            down: traffic.down.load(Relaxed),
            time: traffic.time(),
        }))
    }

    /// Asks the policy.
    fn judge(&self, host: &HostName, port: u16) -> Result<(), Denial> {
        let entry = self.policy.entry(host, port).ok_or(Denial::NotAllowed)?;
        let admitted = !entry.is_wildcard()
            || self
                .names
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .admit(host);
        admitted.then_some(()).ok_or(Denial::Names)
    }

    /// Connects to an address that was checked.
    async fn dial(&self, host: &HostName, port: u16) -> Result<(TcpStream, SocketAddr), Denial> {
        if let Some(address) = self.locals.get(&(host.clone(), port)) {
            return self.connect(&[*address]).await;
        }
        let found = timeout(RESOLVE, self.outside.resolve(host)).await;
        let found = found.map_err(|_| Denial::ResolverSlow)?;
        let mut found = found.map_err(|error| Denial::Unresolved(error.to_string()))?;
        if found.len() > MOST_ADDRESSES {
            return Err(Denial::Addresses);
        }
        for address in &found {
            let own = || self.outside.is_own(*address).then_some("this host's own");
            if let Some(why) = address::special(*address).or_else(own) {
                return Err(Denial::Address {
                    address: *address,
                    why,
                });
            }
        }
        found.truncate(MOST_TRIED);
        let checked: Vec<SocketAddr> = found
            .into_iter()
            .map(|address| (address, port).into())
            .collect();
        self.connect(&checked).await
    }

    /// Connects to the first of these that answers.
    async fn connect(&self, addresses: &[SocketAddr]) -> Result<(TcpStream, SocketAddr), Denial> {
        let mut last = "it has no address".to_owned();
        for address in addresses {
            match timeout(CONNECT, self.outside.connect(*address)).await {
                Ok(Ok(stream)) => {
                    // Small questions are not to wait for larger ones.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "a connection may be slower than it could be");
                    }
                    return Ok((stream, *address));
                }
                Ok(Err(error)) => last = error.to_string(),
                Err(_) => last = "it does not answer".to_owned(),
            }
        }
        Err(Denial::Unreachable(last))
    }
}

/// Reads until the head is whole; gives where it ends, or nothing if the guest closed without a word.
async fn read_head<S: AsyncRead + Unpin>(
    guest: &mut S,
    bytes: &mut Vec<u8>,
) -> Result<Option<usize>, Denial> {
    let mut part = [0; 4096];
    loop {
        let read = guest.read(&mut part).await.unwrap_or(0);
        if read == 0 {
            return if bytes.is_empty() {
                Ok(None)
            } else {
                Err(Denial::Grammar("it ends in the middle"))
            };
        }
        bytes.extend_from_slice(&part[..read]);
        if let Some(end) = head::end(bytes)? {
            return Ok(Some(end));
        }
    }
}

/// Reads until it is known whom the guest's TLS wants.
async fn read_hello<S: AsyncRead + Unpin>(
    guest: &mut S,
    bytes: &mut Vec<u8>,
    host: &HostName,
) -> Result<(), Denial> {
    let mut hello = Hello::default();
    let mut part = [0; 4096];
    while !hello.read(bytes, host).map_err(Denial::Tls)? {
        let read = guest.read(&mut part).await.unwrap_or(0);
        if read == 0 {
            return Err(Denial::Tls("it ends before it says whom it wants"));
        }
        bytes.extend_from_slice(&part[..read]);
    }
    Ok(())
}

/// A refusal as an HTTP answer, in the words that the user sees too.
fn answer(denial: &Denial, wanted: &Wanted) -> Vec<u8> {
    let target = format!("{}:{}", wanted.host, wanted.port);
    let refused = format!("Legwork: a connection to {target} is refused: {denial}\n");
    let text = if wanted.host.is_empty() {
        format!("Legwork: {denial}\n")
    } else if denial.is_for_the_user() && target.parse::<Destination>().is_ok() {
        format!("{refused}The user can allow it with `--allow {target}`.\n")
    } else {
        refused
    };
    let status = denial.status();
    let length = text.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}"
    )
    .into_bytes()
}

/// Says the last words and lets the guest hear them: what it still says is read and forgotten until it closes.
async fn part<S: AsyncRead + AsyncWrite + Unpin>(guest: &mut S, said: &[u8]) -> io::Result<()> {
    guest.write_all(said).await?;
    guest.shutdown().await?;
    let mut rest = [0; 4096];
    while guest.read(&mut rest).await? > 0 {}
    Ok(())
}
