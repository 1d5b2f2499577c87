//! The gateway between a client that speaks HTTP and a server that follows a script, both over real streams.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::*;
use crate::key::ApiKey;

const KEY: &str = "sk-canary-77";

const EVENTS: &str = "HTTP/1.1 200 X\r\nset-cookie: a=b\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
    data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":100,\"output_tokens\":1}}}\n\n\
    data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20}}\n\n";

/// Serves the answers one by one, the last one again and again; gives where, and the requests as they came.
async fn api(answers: &'static [&'static str]) -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (asked, came) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for turn in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = Vec::new();
            // A body of these tests is an object, whose last byte is its only one at the end of a read.
            while !bytes.ends_with(b"}") {
                let mut piece = [0; 4096];
                match stream.read(&mut piece).await.unwrap() {
                    0 => break,
                    count => bytes.extend_from_slice(&piece[..count]),
                }
            }
            let _gone = asked.send(String::from_utf8(bytes).unwrap());
            let answer = answers.get(turn).or(answers.last()).unwrap();
            let _gone = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, came)
}

fn gateway(url: &str, budget: Budget) -> (Arc<Gateway>, mpsc::UnboundedReceiver<AgentStep>) {
    let text = format!(
        "[model]\nprovider = \"anthropic\"\nname = \"ours\"\nurl = \"{url}\"\nprice = {{ input = 3, output = 15 }}\n"
    );
    let (config, _) = legwork_model::Config::parse(&text).unwrap();
    let model = config.model.unwrap();
    let client = ModelClient::new(&model, Some(ApiKey::new(KEY, "K").unwrap())).unwrap();
    let (tell, told) = mpsc::unbounded_channel();
    let wall = Duration::from_mins(1);
    let gateway = Gateway::new(client, Arc::default(), &model, budget, wall, tell);
    (Arc::new(gateway), told)
}

/// Sends these bytes over a connection of their own and reads to its end.
async fn send(gateway: &Arc<Gateway>, bytes: &[u8]) -> String {
    let (mut ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(Arc::clone(gateway).serve(theirs));
    let bytes = bytes.to_vec();
    let (mut from, mut to) = tokio::io::split(&mut ours);
    let mut heard = Vec::new();
    // Who is refused early may not be listened to any more.
    let (_sent, read) = tokio::join!(to.write_all(&bytes), from.read_to_end(&mut heard));
    read.unwrap();
    String::from_utf8_lossy(&heard).into_owned()
}

fn post(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer theirs\r\nx-api-key: theirs\r\n\
         cookie: c=theirs\r\nx-other: theirs\r\nanthropic-beta: one,two\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[tokio::test]
async fn a_request_is_stripped_and_its_answer_is_passed_on_and_counted() {
    let (url, mut came) = api(&[EVENTS]).await;
    let (gateway, mut told) = gateway(&url, Budget::default());
    let body = "{\"model\":\"opus\",\"stream\":true}";
    let answer = send(&gateway, &post("/v1/messages?beta=true", body)).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-type: text/event-stream"));
    assert!(answer.contains("\"output_tokens\":20"), "{answer}");
    assert!(
        !answer.contains("set-cookie") && !answer.contains(KEY),
        "{answer}"
    );
    let asked = came.recv().await.unwrap();
    assert!(
        asked.starts_with("POST /v1/messages HTTP/1.1\r\n"),
        "{asked}"
    );
    assert!(asked.contains(&format!("x-api-key: {KEY}")), "{asked}");
    assert!(asked.contains("anthropic-beta: one,two"), "{asked}");
    assert!(
        asked.ends_with("{\"model\":\"ours\",\"stream\":true}"),
        "{asked}"
    );
    assert!(!asked.contains("theirs"), "{asked}");
    let Some(AgentStep::Turn { spent, .. }) = told.recv().await else {
        panic!("no turn is told");
    };
    assert_eq!((spent.steps, spent.input, spent.output), (1, 100, 20));
    assert_eq!(spent.cost, Some(100 * 3 + 20 * 15));
    assert_eq!(gateway.failure(), None);
}

#[tokio::test]
async fn nothing_else_is_reached() {
    let (url, mut came) = api(&[EVENTS]).await;
    let (gateway, _told) = gateway(&url, Budget::default());
    for (request, status) in [
        (post("/v1/chat/completions", "{}"), "404"),
        (post("/v1/messages/../files", "{}"), "404"),
        (post("/v1/messages", "[1]"), "400"),
        (post("/v1/messages", "{\"a\":"), "400"),
        (b"GET /v1/files HTTP/1.1\r\nconnection: close\r\n\r\n".to_vec(), "404"),
        (b"DELETE /v1/messages HTTP/1.1\r\nconnection: close\r\n\r\n".to_vec(), "404"),
        (b"CONNECT x:443 HTTP/1.1\r\nconnection: close\r\n\r\n".to_vec(), "404"),
        (
            b"POST /v1/messages HTTP/1.1\r\ncontent-encoding: zstd\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}".to_vec(),
            "415",
        ),
        (
            b"POST /v1/messages HTTP/1.1\r\nconnection: close\r\ncontent-length: 99999999\r\n\r\n{".to_vec(),
            "413",
        ),
        (
            [b"GET / HTTP/1.1\r\nx: ".to_vec(), vec![b'x'; 1 << 20]].concat(),
            "431",
        ),
        (b"\x16\x03\x01 no HTTP\r\n\r\n".to_vec(), "400"),
    ] {
        let answer = send(&gateway, &request).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{status}: {answer}"
        );
    }
    let list = send(
        &gateway,
        b"GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n",
    )
    .await;
    assert!(list.contains("\"id\":\"ours\""), "{list}");
    assert!(came.try_recv().is_err(), "something was sent on");
    assert_eq!(gateway.spent().requests, 0);
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_an_error_of_the_providers_form() {
    let (url, _came) = api(&[EVENTS]).await;
    let budget = Budget {
        steps: 2,
        ..Budget::default()
    };
    let (gateway, mut told) = gateway(&url, budget);
    for _ in 0..2 {
        assert!(
            send(&gateway, &post("/v1/messages", "{}"))
                .await
                .contains("200 OK")
        );
    }
    for _ in 0..3 {
        let refused = send(&gateway, &post("/v1/messages", "{}")).await;
        assert!(refused.starts_with("HTTP/1.1 400 "), "{refused}");
        assert!(
            refused.contains("{\"error\":{\"message\":\"The budget of 2 steps is used up"),
            "{refused}"
        );
    }
    assert_eq!(gateway.failure().unwrap().kind, FailureKind::Budget);
    assert_eq!(gateway.spent().requests, 2);
    drop(gateway);
    let mut steps = Vec::new();
    while let Some(step) = told.recv().await {
        steps.push(step);
    }
    assert!(
        matches!(
            steps[..],
            [
                AgentStep::Turn { .. },
                AgentStep::Turn { .. },
                AgentStep::Nearly { .. },
                AgentStep::Told { .. }
            ]
        ),
        "told once: {steps:?}"
    );
}

#[tokio::test]
async fn b121_what_fails_before_its_first_byte_is_tried_again_and_a_key_is_not_said_back() {
    let (url, mut came) = api(&[
        "HTTP/1.1 529 X\r\nretry-after-ms: 10\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
        "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        EVENTS,
        "HTTP/1.1 401 X\r\nconnection: close\r\ncontent-length: 42\r\n\r\n{\"error\":{\"message\":\"no sk-canary-77\"}}   ",
    ])
    .await;
    let (gateway, mut told) = gateway(&url, Budget::default());
    let answer = send(&gateway, &post("/v1/messages", "{}")).await;
    assert!(answer.contains("\"output_tokens\":20"), "{answer}");
    for _ in 0..3 {
        assert!(came.recv().await.is_some());
    }
    assert!(matches!(told.recv().await, Some(AgentStep::Waiting { .. })));
    let refused = send(&gateway, &post("/v1/messages", "{}")).await;
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    assert!(
        refused.contains("no [key]") && !refused.contains(KEY),
        "{refused}"
    );
    assert_eq!(gateway.failure().unwrap().kind, FailureKind::Setup);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_cut_and_never_free() {
    let (url, _came) = api(&[
        "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\ndata: {\"half\": \"12345678901234567890\"}\n\n",
    ])
    .await;
    let (gateway, _told) = gateway(&url, Budget::default());
    let answer = send(
        &gateway,
        &post("/v1/messages", "{\"a\":\"0123456789012345678\"}"),
    )
    .await;
    assert!(answer.contains("half"), "{answer}");
    assert!(!answer.ends_with("0\r\n\r\n"), "it looks whole: {answer}");
    let spent = gateway.spent();
    assert!(
        spent.steps == 1 && spent.input > 0 && spent.output > 0,
        "{spent:?}"
    );
}
