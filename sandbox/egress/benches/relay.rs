//! What the proxy costs beside a bare relay of TCP, on the loopback and in the same run: `cargo bench -p legwork-egress`. Figures
//! for people; nothing passes or fails.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot go on has failed"
)]

use std::{
    io::Write as _,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use legwork_egress::{Host, Locals, Proxy, Record, Witness};
use legwork_spec::EgressPolicy;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional_with_sizes},
    net::{TcpListener, TcpStream},
};

const CONNECTIONS: usize = 500;
const STREAM: u64 = 512 << 20;
const ROUNDS: usize = 5;

#[derive(Debug)]
struct Nobody;

impl Witness for Nobody {
    fn saw(&self, _: Record) {}
}

/// Sends as much as it is asked for: a number of eight bytes.
async fn server() -> SocketAddr {
    serve(|mut stream| async move {
        let mut left = stream.read_u64().await.unwrap();
        let part = vec![7; 64 << 10];
        while left > 0 {
            let next = usize::try_from(left).unwrap_or(usize::MAX).min(part.len());
            if stream.write_all(&part[..next]).await.is_err() {
                return;
            }
            left -= next as u64;
        }
    })
    .await
}

async fn serve<F>(each: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            tokio::spawn(each(stream));
        }
    });
    address
}

/// Connects, by way of the proxy if it is one, asks for so many bytes and takes them.
async fn ask(address: SocketAddr, is_proxy: bool, count: u64) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    if is_proxy {
        stream
            .write_all(b"CONNECT speed.test:9 HTTP/1.1\r\nHost: speed.test:9\r\n\r\n")
            .await
            .unwrap();
        let mut answer = [0; 39];
        stream.read_exact(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200") && answer.ends_with(b"\r\n\r\n"));
    }
    stream.write_u64(count).await.unwrap();
    let (mut left, mut part) = (count, vec![0; 64 << 10]);
    while left > 0 {
        left -= stream.read(&mut part).await.unwrap() as u64;
    }
}

async fn measure(address: SocketAddr, is_proxy: bool) -> (Duration, f64) {
    let begun = Instant::now();
    for _ in 0..CONNECTIONS {
        ask(address, is_proxy, 1).await;
    }
    let each = begun.elapsed() / u32::try_from(CONNECTIONS).unwrap();
    let begun = Instant::now();
    ask(address, is_proxy, STREAM).await;
    let rate = (STREAM as f64) * 8.0 / begun.elapsed().as_secs_f64() / 1e9;
    (each, rate)
}

#[tokio::main]
async fn main() {
    let server = server().await;
    let bare = serve(move |mut stream| async move {
        let mut out = TcpStream::connect(server).await.unwrap();
        out.set_nodelay(true).unwrap();
        let _moved = copy_bidirectional_with_sizes(&mut stream, &mut out, 64 << 10, 64 << 10).await;
    })
    .await;
    let policy = EgressPolicy::new(vec!["speed.test:9".parse().unwrap()]);
    let locals = Locals::from([(("speed.test".parse().unwrap(), 9), server)]);
    let proxy = Arc::new(Proxy::new(policy, locals, Arc::new(Host), Arc::new(Nobody)));
    let proxied = serve(move |stream| {
        let proxy = Arc::clone(&proxy);
        async move { proxy.serve(stream).await }
    })
    .await;
    let (mut plain, mut costs) = (Vec::new(), Vec::new());
    let (mut shares, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (bare, bare_rate) = measure(bare, false).await;
        let (proxy, rate) = measure(proxied, true).await;
        plain.push(bare.as_secs_f64() * 1e6);
        costs.push(proxy.as_secs_f64() * 1e6);
        shares.push(rate / bare_rate * 100.0);
        rates.push(rate);
    }
    for all in [&mut plain, &mut costs, &mut shares, &mut rates] {
        all.sort_by(f64::total_cmp);
    }
    let middle = ROUNDS / 2;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "a connection for one byte takes {:.0} µs, by a bare relay {:.0} µs; {:.1} Gbit/s, {:.0} % of the bare relay (medians of {ROUNDS})",
        costs[middle],
        plain[middle],
        rates[middle],
        shares[middle]
    )
    .unwrap();
}
