//! The network of the test, the proxy on it, and a guest that says something.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
};

use legwork_egress::{Asked, Denial, Locals, Outside, Proxy, Record, Witness};
use legwork_spec::{EgressPolicy, HostName};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Public, and nobody's that a test could reach.
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// The network of a test.
#[derive(Debug)]
pub(crate) struct Fake {
    answers: Mutex<Vec<Vec<&'static str>>>,
    pub(crate) server: SocketAddr,
    own: &'static str,
    /// What happened, in order.
    log: Mutex<Vec<String>>,
}

impl Outside for Fake {
    fn resolve<'a>(&'a self, host: &'a HostName) -> Asked<'a, Vec<IpAddr>> {
        self.log.lock().unwrap().push(format!("resolve {host}"));
        let mut answers = self.answers.lock().unwrap();
        let next = if answers.len() > 1 {
            answers.remove(0)
        } else {
            answers[0].clone()
        };
        Box::pin(async move {
            match next.as_slice() {
                ["slow"] => std::future::pending().await,
                ["broken"] => Err(io::Error::other("no such name")),
                addresses => Ok(addresses
                    .iter()
                    .map(|address| address.parse().unwrap())
                    .collect()),
            }
        })
    }

    fn is_own(&self, address: IpAddr) -> bool {
        address.to_string() == self.own
    }

    fn connect(&self, address: SocketAddr) -> Asked<'_, TcpStream> {
        self.log.lock().unwrap().push(format!("connect {address}"));
        Box::pin(TcpStream::connect(self.server))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Seen(pub(crate) Mutex<Vec<Record>>);

impl Witness for Seen {
    fn saw(&self, record: Record) {
        self.0.lock().unwrap().push(record);
    }
}

pub(crate) struct Stage {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) fake: Arc<Fake>,
    pub(crate) seen: Arc<Seen>,
    /// What each connection to the server brought, once it has ended.
    pub(crate) heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// A server that greets, hears its client out and says it all back.
pub(crate) async fn stage(entries: &[&str], answers: &[&[&'static str]]) -> Stage {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let list = Arc::clone(&list);
            tokio::spawn(async move {
                let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
                loop {
                    let read = stream.read(&mut part).await.unwrap_or(0);
                    bytes.extend_from_slice(&part[..read]);
                    // A request ends with its head or with the word `end`; a tunnel with its half.
                    let ended = bytes.starts_with(b"GET") && bytes.ends_with(b"\r\n\r\n")
                        || bytes.ends_with(b"end");
                    if read == 0 || ended {
                        break;
                    }
                }
                list.lock().unwrap().push(bytes.clone());
                let _said = stream
                    .write_all(&[b"said: ", bytes.as_slice()].concat())
                    .await;
            });
        }
    });
    let fake = Arc::new(Fake {
        answers: Mutex::new(answers.iter().map(|answer| answer.to_vec()).collect()),
        server,
        own: "198.41.0.4",
        log: Mutex::default(),
    });
    let seen = Arc::new(Seen::default());
    let policy = EgressPolicy::new(entries.iter().map(|entry| entry.parse().unwrap()).collect());
    let proxy = Arc::new(Proxy::new(
        policy,
        Locals::new(),
        Arc::clone(&fake) as _,
        Arc::clone(&seen) as _,
    ));
    Stage {
        proxy,
        fake,
        seen,
        heard,
    }
}

pub(crate) async fn usual() -> Stage {
    stage(
        &["example.com", "*.pkg.test", "example.com:22"],
        &[&[PUBLIC]],
    )
    .await
}

impl Stage {
    /// Says this in pieces, closes that half, and gives all that comes back.
    pub(crate) async fn say(&self, pieces: &[&[u8]]) -> Vec<u8> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let proxy = Arc::clone(&self.proxy);
        let served = tokio::spawn(async move { proxy.serve(theirs).await });
        let (mut from, mut to) = tokio::io::split(ours);
        let say = async {
            for piece in pieces {
                // A refusal may come before all is said.
                if to.write_all(piece).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            let _closed = to.shutdown().await;
        };
        let mut back = Vec::new();
        let (_read, ()) = tokio::join!(from.read_to_end(&mut back), say);
        drop((from, to));
        served.await.unwrap();
        back
    }

    pub(crate) async fn connect(&self, target: &str, then: &[u8]) -> String {
        let head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
        String::from_utf8_lossy(&self.say(&[head.as_bytes(), then]).await).into_owned()
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.fake.log.lock().unwrap().clone()
    }

    pub(crate) fn denials(&self) -> Vec<Denial> {
        let denial = |record: &Record| match record {
            Record::Denied { denial, .. } => Some(denial.clone()),
            Record::Passed { .. } => None,
        };
        self.seen
            .0
            .lock()
            .unwrap()
            .iter()
            .filter_map(denial)
            .collect()
    }
}

pub(crate) fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or(answer)
}

/// A hello of TLS with just a name in it.
pub(crate) fn hello(name: &str) -> Vec<u8> {
    let vector =
        |data: &[u8]| [&u16::try_from(data.len()).unwrap().to_be_bytes()[..], data].concat();
    let names = vector(&[&[0][..], &vector(name.as_bytes())].concat());
    let extensions = vector(&[&[0, 0][..], &vector(&names)].concat());
    let body = [
        &[3, 3][..],
        &[7; 32],
        &[0, 0, 2, 0x13, 1, 1, 0],
        &extensions,
    ]
    .concat();
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    let message = [&[1], &length[1..], &body].concat();
    [&[22, 3, 1][..], &vector(&message)].concat()
}
