//! The proxy as a guest meets it, with real sockets. The resolver and the dialer are the test's own: whatever public address is
//! dialled leads to one server on the loopback, and all that is dialled is written down.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod stage;

use std::{sync::Arc, time::Duration};

use legwork_egress::{Denial, Locals, Proxy, Record};
use legwork_spec::{EgressPolicy, HostName};
use stage::{PUBLIC, Stage, hello, stage, status, usual};
use tokio::io::AsyncWriteExt as _;

#[tokio::test]
async fn allowed_names_pass_and_their_bytes_arrive_as_they_are() {
    for (target, name) in [
        ("example.com:443", "example.com"),
        ("EXAMPLE.com:443", "example.com"),
        ("example.com.:443", "EXAMPLE.com"),
        ("a.b.pkg.test:443", "a.b.pkg.test"),
    ] {
        let stage = usual().await;
        let said = [hello(name), b"and more".to_vec()].concat();
        let answer = stage.connect(target, &said).await;
        assert_eq!(status(&answer), "200", "{answer}");
        assert_eq!(stage.heard.lock().unwrap().concat(), said);
        assert!(answer.ends_with("and more"));
        let seen = stage.seen.0.lock().unwrap();
        let [
            Record::Passed {
                port: 443,
                address,
                up,
                down,
                ..
            },
        ] = seen.as_slice()
        else {
            panic!("{seen:?}");
        };
        assert_eq!(address.to_string(), format!("{PUBLIC}:443"));
        assert_eq!((*up, *down), (said.len() as u64, said.len() as u64 + 6));
    }
}

#[tokio::test]
async fn what_is_not_allowed_is_refused_before_anything_is_asked_of_the_network() {
    let stage = usual().await;
    for target in [
        "notexample.com:443",
        "example.com.evil.test:443",
        "example.com-evil.test:443",
        "xexample.com:443",
        "www.example.com:443",
        "pkg.test:443",
        "apkg.test:443",
        "example.com:80",
        "example.com:8443",
        "a.pkg.test:22",
        "localhost:443",
        "foo.localhost:443",
        "host.local:443",
        "intranet:443",
    ] {
        let answer = stage.connect(target, &hello("example.com")).await;
        assert_eq!(status(&answer), "403", "{target}: {answer}");
        // What cannot be allowed is not offered.
        let can = target.contains('.');
        assert_eq!(
            answer.contains(&format!("`--allow {target}`")),
            can,
            "{answer}"
        );
    }
    for target in [
        "93.184.216.34:443",
        "[2606:2800::1]:443",
        "2130706433:443",
        "127.1:443",
        "example.com",
        "example.com:0443",
        "a\0.example.com:443",
    ] {
        let answer = stage.connect(target, b"").await;
        assert_eq!(status(&answer), "400", "{target}: {answer}");
    }
    for other in [
        &b"\x04\x01\x00\x50"[..],
        b"\x05\x01\x00",
        b"\x16\x03\x01\x00\x05",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http://example.com/",
    ] {
        let answer = stage.say(&[other]).await;
        assert!(answer.starts_with(b"HTTP/1.1 400"), "{other:?}");
    }
    assert_eq!(stage.log(), Vec::<String>::new());
    assert_eq!(stage.denials().len(), 26);
    // Nothing at all is nothing to tell.
    assert!(stage.say(&[]).await.is_empty());
    assert_eq!(stage.denials().len(), 26);
}

#[tokio::test]
async fn no_list_allows_nothing() {
    let stage = stage(&[], &[&[PUBLIC]]).await;
    assert_eq!(status(&stage.connect("example.com:443", b"").await), "403");
    assert!(stage.log().is_empty());
}

#[tokio::test]
async fn names_that_lead_inside_are_refused_whatever_else_they_lead_to() {
    for answers in [
        &["127.0.0.1"][..],
        &["10.0.0.1"],
        &["169.254.169.254"],
        &["100.100.100.200"],
        &["168.63.129.16"],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["::127.0.0.1"],
        &["64:ff9b::a00:1"],
        &["2002:7f00:1::"],
        &["fd00:ec2::254"],
        &["fe80::1"],
        &[PUBLIC, "127.0.0.1"],
        &["127.0.0.1", PUBLIC],
        &["198.41.0.4"],
    ] {
        let stage = stage(&["example.com"], &[answers]).await;
        let answer = stage
            .connect("example.com:443", &hello("example.com"))
            .await;
        assert_eq!(status(&answer), "403", "{answers:?}: {answer}");
        assert_eq!(
            stage.log(),
            ["resolve example.com"],
            "nothing is connected to"
        );
        assert!(matches!(stage.denials()[..], [Denial::Address { .. }]));
    }
}

#[tokio::test]
async fn a_name_is_resolved_once_and_what_was_checked_is_dialled() {
    let stage = stage(&["example.com"], &[&[PUBLIC], &["127.0.0.1"]]).await;
    let answer = stage
        .connect("example.com:443", &hello("example.com"))
        .await;
    assert_eq!(status(&answer), "200");
    assert_eq!(
        stage.log(),
        [
            "resolve example.com".to_owned(),
            format!("connect {PUBLIC}:443")
        ]
    );
    // The next connection is judged by what the name leads to then.
    assert_eq!(status(&stage.connect("example.com:443", b"").await), "403");
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_fails_is_slow_or_says_too_much_ends_it() {
    for (answers, code) in [
        (&["broken"][..], "502"),
        (&["slow"], "504"),
        (&[], "502"),
        (&[PUBLIC; 33], "403"),
    ] {
        let stage = stage(&["example.com"], &[answers]).await;
        assert_eq!(status(&stage.connect("example.com:443", b"").await), code);
        assert_eq!(stage.log(), ["resolve example.com"]);
    }
}

#[tokio::test]
async fn on_port_443_only_tls_for_the_same_name_gets_out() {
    for said in [
        hello("other.test"),
        hello("example.com."),
        hello("93.184.216.34"),
        b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n".to_vec(),
        vec![1, 0, 0, 0, 9],
        vec![],
        hello("example.com")[..20].to_vec(),
    ] {
        let stage = usual().await;
        let answer = stage.connect("example.com:443", &said).await;
        assert_eq!(status(&answer), "200");
        assert!(
            answer.as_bytes().ends_with(&[0, 2, 2, 49]),
            "an alert: {answer:?}"
        );
        assert!(
            matches!(stage.denials()[..], [Denial::Tls(_)]),
            "{:?}",
            stage.denials()
        );
        // The server got a connection, perhaps, and never a byte.
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(stage.heard.lock().unwrap().iter().all(Vec::is_empty));
    }
}

#[tokio::test]
async fn a_hello_in_single_bytes_is_a_hello() {
    let stage = usual().await;
    let whole = [
        b"CONNECT example.com:443 HTTP/1.1\r\n\r\n".to_vec(),
        hello("example.com"),
    ]
    .concat();
    let bytes: Vec<&[u8]> = whole.chunks(1).collect();
    stage.say(&bytes).await;
    assert_eq!(*stage.heard.lock().unwrap(), [hello("example.com")]);
}

#[tokio::test(start_paused = true)]
async fn a_guest_that_dawdles_is_let_go() {
    for said in [
        &b"CONNECT exam"[..],
        b"CONNECT example.com:443 HTTP/1.1\r\n\r\n\x16\x03\x01",
    ] {
        let stage = usual().await;
        let (mut ours, theirs) = tokio::io::duplex(1 << 16);
        let proxy = Arc::clone(&stage.proxy);
        let served = tokio::spawn(async move { proxy.serve(theirs).await });
        ours.write_all(said).await.unwrap();
        // It stays open on this side, and ends all the same.
        served.await.unwrap();
        assert_eq!(stage.denials(), [Denial::Slow]);
    }
}

#[tokio::test]
async fn a_port_that_was_named_carries_anything() {
    let stage = usual().await;
    let answer = stage.connect("example.com:22", b"SSH-2.0-x\r\n").await;
    assert!(answer.ends_with("said: SSH-2.0-x\r\n"), "{answer}");
}

#[tokio::test]
async fn plain_requests_are_one_request_to_the_host_they_name() {
    let stage = stage(
        &["example.com:80", "other.test:8080", "tls.test:443"],
        &[&[PUBLIC]],
    )
    .await;
    let smuggled = b"GET http://example.com/a HTTP/1.1\r\nHost: EXAMPLE.com\r\nProxy-Connection: keep-alive\r\n\r\n\
                     GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    let answer = stage.say(&[smuggled]).await;
    assert!(
        answer.starts_with(
            b"said: GET /a HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n"
        )
    );
    let posted = b"POST http://other.test:8080/ HTTP/1.1\r\nHost: other.test:8080\r\nContent-Length: 5\r\n\r\n12endGET / HTTP/1.1\r\n\r\n";
    stage.say(&[posted]).await;
    let heard = stage.heard.lock().unwrap().clone();
    assert_eq!(
        heard[0],
        b"GET /a HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n"
    );
    assert!(
        heard[1].ends_with(b"\r\n\r\n12end"),
        "{}",
        String::from_utf8_lossy(&heard[1])
    );
    assert_eq!(heard.len(), 2);
    // The body in its own time, too.
    let (head, body) = posted.split_at(85);
    stage.say(&[head, &body[..2], &body[2..]]).await;
    assert!(stage.heard.lock().unwrap()[2].ends_with(b"\r\n\r\n12end"));
    for refused in [
        &b"GET http://tls.test:443/ HTTP/1.1\r\nHost: tls.test:443\r\n\r\n"[..],
        b"GET http://example.com/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        b"CONNECT example.com:80 HTTP/1.1\r\n\r\n",
    ] {
        let answer = stage.say(&[refused]).await;
        assert!(
            answer.starts_with(b"HTTP/1.1 40"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    assert_eq!(stage.heard.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn new_names_under_a_wildcard_are_counted() {
    let stage = usual().await;
    let mut refused = 0;
    for number in 0..100 {
        let answer = stage.connect(&format!("n{number}.pkg.test:443"), b"").await;
        refused += usize::from(status(&answer) == "429");
    }
    assert_eq!(refused, 40);
    assert_eq!(
        stage
            .log()
            .iter()
            .filter(|line| line.starts_with("resolve"))
            .count(),
        60
    );
    assert_eq!(status(&stage.connect("example.com:443", b"").await), "200");
}

#[tokio::test]
async fn the_users_own_names_need_an_entry_too() {
    let stage = usual().await;
    let local: HostName = "db.local.test".parse().unwrap();
    let locals = Locals::from([((local, 5432), stage.fake.server)]);
    for (entries, code) in [
        (&["db.local.test:5432"][..], "200"),
        (&["db.local.test:22"], "403"),
        (&[], "403"),
    ] {
        let policy =
            EgressPolicy::new(entries.iter().map(|entry| entry.parse().unwrap()).collect());
        let proxy = Proxy::new(
            policy,
            locals.clone(),
            Arc::clone(&stage.fake) as _,
            Arc::clone(&stage.seen) as _,
        );
        let stage = Stage {
            proxy: Arc::new(proxy),
            fake: Arc::clone(&stage.fake),
            seen: Arc::clone(&stage.seen),
            heard: Arc::clone(&stage.heard),
        };
        let answer = stage.connect("db.local.test:5432", b"hello").await;
        assert_eq!(status(&answer), code, "{entries:?}");
    }
    assert!(
        stage
            .log()
            .iter()
            .all(|line| line.starts_with("connect 127.0.0.1")),
        "{:?}",
        stage.log()
    );
    assert_eq!(*stage.heard.lock().unwrap(), [b"hello"]);
}
