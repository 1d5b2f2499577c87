//! The client against a real server in this process, over a real socket.

use std::convert::Infallible;

use futures::future::BoxFuture;
use http_body_util::{BodyExt, StreamBody, combinators::BoxBody};
use hyper::{body::Frame, server::conn::http1 as server, service::service_fn};
use legwork_model::{EventBody, TaskId};
use tokio::{io::AsyncWriteExt as _, net::UnixListener};

use super::*;
use crate::{ErrorKind, Undo};

type Body = BoxBody<Bytes, Infallible>;

fn places(dir: &Path) -> Places {
    Places {
        state: dir.into(),
        runtime: dir.into(),
        cache: dir.into(),
        config: dir.into(),
    }
}

fn plain(status: u16, body: impl Into<Bytes>) -> Response<Body> {
    let mut answer = Response::new(Full::new(body.into()).boxed());
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer
}

/// Serves `answer` on a socket in `dir` until the runtime ends.
async fn serve<F>(dir: &Path, answer: F) -> Client
where
    F: Fn(Request<Incoming>) -> BoxFuture<'static, Response<Body>> + Clone + Send + 'static,
{
    let listener = UnixListener::bind(places(dir).socket()).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            let service = service_fn(move |request| {
                let answer = answer(request);
                async move { Ok::<_, Infallible>(answer.await) }
            });
            tokio::spawn(server::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    Client::connect(&places(dir)).await.unwrap()
}

fn event(seq: u64) -> Event {
    let body = EventBody::Notice {
        text: format!("one\n: two ü {seq}"),
    };
    Event {
        seq,
        task: TaskId::random(),
        at: 1,
        body,
    }
}

#[tokio::test]
async fn requests_name_their_generation_path_and_body() {
    let dir = tempfile::tempdir().unwrap();
    let client = serve(dir.path(), |request| {
        Box::pin(async move {
            // Every daemon can be asked to end.
            let generation = match request.uri().path() {
                "/v1/stop" => OLDEST_GENERATION,
                _ => GENERATION,
            };
            assert_eq!(
                request.headers()[GENERATION_HEADER],
                generation.to_string().as_str()
            );
            let line = format!("{} {}", request.method(), request.uri());
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let said = format!("{line} {}", String::from_utf8(body.into()).unwrap());
            let refused = ErrorBody {
                kind: ErrorKind::Usage,
                message: said,
                hint: String::new(),
            };
            plain(400, serde_json::to_vec(&refused).unwrap())
        })
    })
    .await;
    let said = |error: WireError| error.to_string();
    let odd = std::ffi::OsStr::from_bytes(b"/a b/\xff?&");
    assert_eq!(
        said(client.tasks(Some(odd.as_ref())).await.unwrap_err()),
        "GET /v1/tasks?workspace=%2Fa%20b%2F%FF%3F%26 "
    );
    assert_eq!(
        said(client.review("../x").await.unwrap_err()),
        "GET /v1/tasks/..%2Fx/review "
    );
    assert_eq!(
        said(client.undo("bcd", &Undo::default()).await.unwrap_err()),
        "POST /v1/tasks/bcd/undo {\"gesture\":null}"
    );
    assert_eq!(
        said(client.stop(Stop { force: true }).await.unwrap_err()),
        "POST /v1/stop {\"force\":true}"
    );
    assert_eq!(
        said(client.events(None).await.unwrap_err()),
        "GET /v1/events "
    );
    let digest = Digest::of(b"x");
    assert_eq!(
        said(client.blob("b", digest).await.unwrap_err()),
        format!("GET /v1/tasks/b/blobs/{digest} ")
    );
    assert_eq!(
        said(client.desk("b").await.unwrap_err()),
        "GET /v1/tasks/b/desk "
    );
    let decide = Decide::default();
    let said_claim = said(client.claim("b", &decide).await.unwrap_err());
    assert!(said_claim.starts_with("POST /v1/tasks/b/claim {\"picks\":[]"));
    let settle = Settle {
        token: Some("t".to_owned()),
        landed: vec![],
        gesture: None,
    };
    assert_eq!(
        said(client.settle("b", &settle).await.unwrap_err()),
        "POST /v1/tasks/b/settle {\"token\":\"t\",\"landed\":[],\"gesture\":null}"
    );
    let reopen = Reopen {
        picks: vec![crate::Pick {
            path: "a/b".parse().unwrap(),
            hunk: None,
        }],
    };
    assert_eq!(
        said(client.reopen("b", &reopen).await.unwrap_err()),
        "POST /v1/tasks/b/reopen {\"picks\":[{\"path\":\"a/b\",\"hunk\":null}]}"
    );
    assert_eq!(
        said(client.task_events("b", 7).await.unwrap_err()),
        "GET /v1/tasks/b/events?after=7 "
    );
}

#[tokio::test]
async fn refusals_keep_kind_message_and_hint_and_other_failures_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let client = serve(dir.path(), |request| {
        Box::pin(async move {
            match request.uri().path() {
                "/v1/tasks/b" => plain(
                    409,
                    r#"{"kind":"conflict","message":"it moved","hint":"look again"}"#,
                ),
                "/v1/tasks/c" => plain(500, "a\u{1b}[31m page"),
                "/v1/tasks/d" => plain(200, "[]"),
                _ => plain(200, vec![0xff, 0]),
            }
        })
    })
    .await;
    match client.task("b").await {
        Err(WireError::Refused(body)) => {
            assert_eq!(
                (body.kind, &*body.message, &*body.hint),
                (ErrorKind::Conflict, "it moved", "look again")
            );
        }
        other => panic!("{other:?}"),
    }
    let stray = client.task("c").await.unwrap_err().to_string();
    assert!(
        stray.contains("500") && stray.contains("[31m page") && !stray.contains('\u{1b}'),
        "{stray}"
    );
    assert!(matches!(client.task("d").await, Err(WireError::Garbled(_))));
    assert_eq!(client.diff("e").await.unwrap(), [0xff, 0]);
}

#[tokio::test]
async fn nobody_there_and_a_socket_left_behind_are_unreachable() {
    let dir = tempfile::tempdir().unwrap();
    let kind = async || match Client::connect(&places(dir.path())).await {
        Err(WireError::Unreachable { source, .. }) => source.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind().await, io::ErrorKind::NotFound);
    drop(UnixListener::bind(places(dir.path()).socket()).unwrap());
    assert_eq!(kind().await, io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn what_is_not_http_is_garbled_and_a_hang_up_is_unreachable() {
    for (said, garbled) in [
        (&b"SSH-2.0-x\r\n\r\n"[..], true),
        (b"", false),
        (b"HTTP/1.1 200 OK\r\n", false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(places(dir.path()).socket()).unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 16];
                let _read = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await;
                let _written = stream.write_all(said).await;
            }
        });
        let error = Client::connect(&places(dir.path()))
            .await
            .unwrap()
            .status()
            .await
            .unwrap_err();
        assert_eq!(matches!(error, WireError::Garbled(_)), garbled, "{error:?}");
        assert_eq!(
            matches!(error, WireError::Unreachable { .. }),
            !garbled,
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_longer_than_the_limit_is_garbled() {
    let dir = tempfile::tempdir().unwrap();
    let client = serve(dir.path(), |_| {
        Box::pin(async {
            let piece = Bytes::from(vec![b' '; 1 << 20]);
            let pieces = futures::stream::iter((0..).map(move |_| Ok(Frame::data(piece.clone()))));
            let mut answer = Response::new(BodyExt::boxed(StreamBody::new(pieces)));
            *answer.status_mut() = StatusCode::BAD_REQUEST;
            answer
        })
    })
    .await;
    assert!(
        matches!(client.status().await, Err(WireError::Garbled(text)) if text.contains("longer"))
    );
}

#[tokio::test]
async fn events_come_whole_however_they_are_cut_and_end_with_the_stream() {
    let dir = tempfile::tempdir().unwrap();
    let events: Vec<Event> = (1..=3).map(event).collect();
    let mut stream = String::from(": hello\n\n");
    for event in &events {
        writeln!(
            stream,
            "id: {}\ndata: {}\n",
            event.seq,
            serde_json::to_string(event).unwrap()
        )
        .unwrap();
    }
    let client = serve(dir.path(), move |request| {
        let whole = stream.clone().into_bytes();
        Box::pin(async move {
            let size: usize = request
                .uri()
                .query()
                .unwrap()
                .trim_start_matches("after=")
                .parse()
                .unwrap();
            let pieces: Vec<_> = whole
                .chunks(size)
                .map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece))))
                .collect();
            Response::new(BodyExt::boxed(StreamBody::new(futures::stream::iter(
                pieces,
            ))))
        })
    })
    .await;
    for size in [1, 2, 7, 100, 10_000] {
        let mut stream = client.task_events("b", size).await.unwrap();
        let mut got = Vec::new();
        while let Some(event) = stream.next().await {
            got.push(event.unwrap());
        }
        assert_eq!(got, events, "in pieces of {size}");
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test]
async fn a_stream_that_breaks_says_so_once() {
    let dir = tempfile::tempdir().unwrap();
    let client = serve(dir.path(), |_| {
        Box::pin(async {
            let data = format!(
                "data: {}\n\ndata: {{\n\ndata: x\n\n",
                serde_json::to_string(&event(1)).unwrap()
            );
            plain(200, data)
        })
    })
    .await;
    let mut stream = client.events(Some(0)).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap().seq, 1);
    assert!(matches!(
        stream.next().await,
        Some(Err(WireError::Garbled(_)))
    ));
    assert!(stream.next().await.is_none());
}
