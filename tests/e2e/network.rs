//! What a task may reach: what it was allowed, by name, and nothing else.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use kit::{folder::Folder, home::Home};
use serde_json::Value;

/// A web server for the files of a directory. It writes down what it is asked for.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn of(root: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (root, list) = (root.clone(), Arc::clone(&list));
                std::thread::spawn(move || answer(&root, stream.unwrap(), &list));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(root: &Path, mut stream: TcpStream, asked: &Mutex<Vec<String>>) {
    let mut head = String::new();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
    let path = head.split_whitespace().nth(1).unwrap_or("/").to_owned();
    let path = path.split('?').next().unwrap_or_default();
    let answer = match fs::read(root.join(path.trim_start_matches('/'))) {
        Ok(body) => [
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(),
            &body,
        ]
        .concat(),
        Err(_) => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
    };
    asked.lock().unwrap().push(head);
    // Whoever asked may have gone.
    let _said = stream.write_all(&answer);
}

/// Says something to the proxy and prints the first line of what comes back.
const SAY: &str = r#"use IO::Socket::INET;
my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 3128) or do { print "closed\n"; exit };
(my $text = $ARGV[0]) =~ s/\|/\r\n/g; print $s "$text\r\n\r\n"; $s->flush;
my $line = <$s>; $line =~ s/\r?\n//; print "$line\n";"#;

fn say(text: &str) -> String {
    format!("perl -e '{SAY}' '{text}'")
}

/// A user, a workspace, and the folder with the user's settings.
fn stage() -> (Home, Folder, Folder) {
    let settings = Folder::with(&[]);
    let mut home = Home::new();
    let place = settings.path().display().to_string();
    home.environment.push(("LEGWORK_CONFIG".to_owned(), place));
    (home, Folder::with(&[("a.txt", "a\n")]), settings)
}

fn network_of(task: &Value) -> Vec<(String, u64, u64)> {
    let reached = task["report"]["network"].as_array().unwrap();
    reached
        .iter()
        .map(|reached| {
            let number = |name: &str| reached[name].as_u64().unwrap();
            let target = format!("{}:{}", reached["host"].as_str().unwrap(), reached["port"]);
            (target, number("passed"), number("denied"))
        })
        .collect()
}

#[test]
fn git_clones_from_a_host_that_is_allowed_and_all_else_is_refused_and_told() {
    let published = Folder::with(&[("hello.txt", "hello from outside\n")]);
    published.sh(
        "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm a && \
         git clone -q --bare . repo.git && cd repo.git && git update-server-info",
    );
    let server = Server::of(published.path());
    let (home, folder, settings) = stage();
    let config = format!(
        "[network.hosts]\n\"pkg.test:80\" = \"127.0.0.1:{}\"\n",
        server.port
    );
    settings.write("config.toml", &config);
    let script = format!(
        "git clone -q http://pkg.test/repo.git /tmp/cloned && cp /tmp/cloned/hello.txt got.txt; \
         {}; {}; {}; {}",
        say("CONNECT other.test:443 HTTP/1.1"),
        say("CONNECT other.test:443 HTTP/1.1"),
        say("CONNECT 127.0.0.1:443 HTTP/1.1"),
        say("CONNECT pkg.test:443 HTTP/1.1"),
    );
    let ran = home
        .legwork(
            &folder.path(),
            ["run", "--allow", "pkg.test:80", "--", "sh", "-c", &script],
        )
        .expect(0);
    assert!(
        ran.text().contains("+hello from outside"),
        "{}\n{}",
        ran.text(),
        ran.stderr
    );
    assert!(
        ran.stderr.contains("network: it may reach pkg.test:80"),
        "{}",
        ran.stderr
    );
    for line in ["HTTP/1.1 403 Forbidden", "HTTP/1.1 400 Bad Request"] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    assert!(
        ran.stderr
            .contains("network: other.test:443 was refused 2 times: the user has not allowed it"),
        "{}",
        ran.stderr
    );
    // What arrived outside is one request a connection, to the name that was asked for.
    let asked = server.asked();
    assert!(
        asked.len() > 1 && asked[0].starts_with("GET /repo.git/info/refs"),
        "{asked:?}"
    );
    for head in &asked {
        assert!(
            head.contains("\r\nHost: pkg.test\r\nConnection: close\r\n"),
            "{head}"
        );
        assert!(!head.to_lowercase().contains("proxy"), "{head}");
    }

    let tasks = home.legwork(&folder.path(), ["tasks", "--json"]).json();
    let id = tasks[0]["id"].as_str().unwrap().to_owned();
    let count = asked.len() as u64;
    assert_eq!(
        network_of(&tasks[0]),
        [
            (":0".to_owned(), 0, 1),
            ("other.test:443".to_owned(), 0, 2),
            ("pkg.test:80".to_owned(), count, 0),
            ("pkg.test:443".to_owned(), 0, 1),
        ]
    );
    let shown = home.legwork(&folder.path(), ["show", &id]).expect(0);
    for line in [
        "network    pkg.test:80\n",
        "reached    other.test:443: 2 refused: the user has not allowed it\n",
    ] {
        assert!(shown.text().contains(line), "{line}: {}", shown.text());
    }
    // Each connection is told.
    let told = home
        .legwork(&folder.path(), ["logs", "--network", &id])
        .expect(0);
    let lines = told.text();
    assert_eq!(
        lines.matches("network: pkg.test:80 at 127.0.0.1:").count() as u64,
        count,
        "{lines}"
    );

    // The last line can be typed as it is.
    let short = &id[..6];
    let again = format!("`legwork retry {short} --allow other.test:443 --allow pkg.test:443`");
    assert!(ran.stderr.contains(&again), "{}", ran.stderr);
    let retried = home
        .legwork(
            &folder.path(),
            ["retry", short, "--allow", "other.test:443", "--json"],
        )
        .json();
    let id = retried["task"].as_str().unwrap().to_owned();
    home.wait_for(&folder.path(), &id, &["ready", "ended"]);
    let shown = home.legwork(&folder.path(), ["show", &id, "--json"]).json();
    let task = &shown["detail"]["task"];
    assert_eq!(
        task["spec"]["allow"],
        serde_json::json!(["other.test:443", "pkg.test:80"])
    );
    let reached = network_of(task);
    // It is allowed now, and a name that nobody has.
    assert_eq!(reached[1], ("other.test:443".to_owned(), 0, 2));
    assert_ne!(
        task["report"]["network"][1]["reason"],
        "the user has not allowed it"
    );
}

#[test]
fn without_a_list_there_is_no_proxy_and_a_list_without_sense_starts_nothing() {
    let (home, folder, settings) = stage();
    let script = format!(
        "env | grep -i proxy; {}",
        say("CONNECT example.com:443 HTTP/1.1")
    );
    let ran = home
        .legwork(&folder.path(), ["run", "--", "sh", "-c", &script])
        .expect(0);
    assert!(
        ran.stderr.contains("\nclosed\n") && !ran.stderr.contains("http://127.0.0.1:3128"),
        "{}",
        ran.stderr
    );
    for wrong in [
        "*",
        "*.com",
        "com",
        "1.2.3.4",
        "example.com:0",
        "",
        "https://example.com",
    ] {
        let ran = home
            .legwork(&folder.path(), ["run", "--allow", wrong, "--", "true"])
            .expect(2);
        assert!(
            ran.stderr.contains("cannot be allowed"),
            "{wrong}: {}",
            ran.stderr
        );
    }
    settings.write("config.toml", "[network]\nallow = [\"*.com\"]\n");
    let ran = home
        .legwork(&folder.path(), ["run", "--", "true"])
        .expect(2);
    assert!(
        ran.stderr.contains("`*.com` cannot be allowed"),
        "{}",
        ran.stderr
    );
    let tasks = home.legwork(&folder.path(), ["tasks", "--json"]).json();
    assert_eq!(tasks.as_array().unwrap().len(), 1, "nothing was started");
    // What stands in the settings is every task's, from its start on.
    settings.write("config.toml", "[network]\nallow = [\"example.com\"]\n");
    let ran = home
        .legwork(
            &folder.path(),
            ["run", "--json", "--", "sh", "-c", "env | grep -c 3128"],
        )
        .expect(0);
    assert!(
        ran.stderr.contains("network: it may reach example.com:443"),
        "{}",
        ran.stderr
    );
    settings.write("config.toml", "");
    let tasks = home.legwork(&folder.path(), ["tasks", "--json"]).json();
    assert_eq!(
        tasks[0]["spec"]["allow"],
        serde_json::json!(["example.com:443"])
    );
}
