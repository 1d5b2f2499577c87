//! A whole daemon on a real socket. There is no virtual machine beside the test program, so tasks end as the host's
//! failure; what happens in one is tested where there is a machine.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it must be"
)]

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    path::Path,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use legwork_daemon::{RunError, Settings, run};
use legwork_model::{EventBody, FailureKind, Outcome, Request, TaskSpec, TaskState, Worker};
use legwork_spec::Limits;
use legwork_wire::{Client, ErrorKind, GENERATION, Places, Stop, Submit, WireError};

/// A daemon's directories and a workspace.
struct House {
    dir: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["state", "run", "project"] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        fs::write(dir.path().join("project/a.txt"), "a\n").unwrap();
        Self { dir }
    }

    fn places(&self) -> Places {
        let at = |name| self.dir.path().join(name);
        Places {
            state: at("state"),
            runtime: at("run"),
            cache: at("cache"),
            config: at("cache"),
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            idle_exit: Duration::from_mins(1),
            ..Settings::new(self.places())
        }
    }

    fn start(&self) -> JoinHandle<Result<(), RunError>> {
        let settings = self.settings();
        std::thread::spawn(move || run(settings))
    }

    fn submit(&self) -> Submit {
        let spec = TaskSpec::new(
            self.dir.path().canonicalize().unwrap().join("project"),
            Worker::Command {
                argv: vec!["true".to_owned()],
            },
        );
        Submit {
            spec,
            buffers: Vec::new(),
        }
    }

    /// Waits until the daemon listens.
    async fn client(&self) -> Client {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            match Client::connect(&self.places()).await {
                Ok(client) => return client,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn refused<T: std::fmt::Debug>(result: Result<T, WireError>) -> (ErrorKind, String) {
    match result.unwrap_err() {
        WireError::Refused(body) => (body.kind, body.message),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_task_is_stored_told_about_and_still_there_after_a_restart() {
    let house = House::new();
    let daemon = house.start();
    let client = house.client().await;
    let status = client.status().await.unwrap();
    assert_eq!(
        (status.generation, status.running, status.state),
        (GENERATION, 0, house.places().state)
    );
    let task = client.submit(&house.submit()).await.unwrap().task;
    let mut events = client.task_events(task.short(), 0).await.unwrap();
    let mut bodies = Vec::new();
    let mut last = 0;
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        assert!(event.seq > last);
        last = event.seq;
        bodies.push(event.body);
    }
    assert_eq!(
        bodies.first(),
        Some(&EventBody::State {
            state: TaskState::Queued
        })
    );
    let Some(EventBody::Outcome {
        outcome: Outcome::Failed(failure),
        pending: 0,
    }) = bodies.last()
    else {
        panic!("{bodies:?}");
    };
    assert!(matches!(failure.kind, FailureKind::Host), "{failure:?}");
    // A late reader gets the same.
    let mut again = client.task_events(task.as_str(), 0).await.unwrap();
    let mut count = 0;
    while let Some(event) = again.next().await {
        event.unwrap();
        count += 1;
    }
    assert_eq!(count, bodies.len());
    assert!(
        !house
            .places()
            .state
            .join("tasks")
            .join(task.as_str())
            .join("vm")
            .exists()
    );
    assert_eq!(client.manifest(task.as_str()).await.unwrap().files(), 1);
    assert!(client.review(task.as_str()).await.unwrap().files.is_empty());
    let desk = client.desk(task.short()).await.unwrap();
    assert_eq!((desk.title.as_str(), desk.files.len()), ("true", 0));
    let digest = legwork_model::Digest::of(b"text\n");
    let (kind, message) = refused(client.blob(task.as_str(), digest).await);
    assert_eq!(kind, ErrorKind::Usage);
    assert!(message.contains(&digest.to_string()), "{message}");
    let retried = client.retry(task.as_str()).await.unwrap().task;
    assert_ne!(retried, task);

    client.stop(Stop { force: true }).await.unwrap();
    daemon.join().unwrap().unwrap();
    assert!(!house.places().socket().exists());
    let daemon = house.start();
    let client = house.client().await;
    let tasks = client
        .tasks(Some(&house.submit().spec.workspace))
        .await
        .unwrap();
    assert_eq!(
        tasks.iter().map(|task| &task.id).collect::<Vec<_>>(),
        [&retried, &task]
    );
    client.stop(Stop { force: true }).await.unwrap();
    daemon.join().unwrap().unwrap();
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_a_sentence() {
    let house = House::new();
    let daemon = house.start();
    let client = house.client().await;
    let (kind, message) = refused(client.task("bcdfghjkmnpq").await);
    assert_eq!(kind, ErrorKind::Usage);
    assert!(message.contains("bcdfghjkmnpq"), "{message}");
    assert_eq!(refused(client.cancel("../../x").await).0, ErrorKind::Usage);
    let with = |change: &dyn Fn(&mut TaskSpec)| {
        let mut submit = house.submit();
        change(&mut submit.spec);
        submit
    };
    let project = house.submit().spec.workspace;
    let link = project.with_file_name("link");
    std::os::unix::fs::symlink(&project, &link).unwrap();
    for wrong in [
        with(&|spec| spec.worker = Worker::Command { argv: Vec::new() }),
        with(&|spec| spec.limits.vcpus = 0),
        with(&|spec| spec.workspace = "project".into()),
        with(&|spec| spec.workspace = "/nowhere/at/all".into()),
        with(&|spec| spec.workspace = project.join("a.txt")),
        with(&|spec| spec.workspace.clone_from(&link)),
        with(&|spec| spec.directory = "../elsewhere".into()),
        with(&|spec| {
            let text = "x".repeat(Request::LONGEST_PROMPT + 1);
            spec.request = Some(Request {
                text,
                ..Request::default()
            });
        }),
    ] {
        assert_eq!(
            refused(client.submit(&wrong).await).0,
            ErrorKind::Usage,
            "{wrong:?}"
        );
    }
    assert!(client.tasks(None).await.unwrap().is_empty());
    client.stop(Stop::default()).await.unwrap();
    daemon.join().unwrap().unwrap();
}

/// Sends raw bytes, and gives the whole answer.
fn raw(socket: &Path, request: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    // A server that closes early may reset.
    drop(stream.read_to_string(&mut answer));
    answer
}

#[tokio::test]
async fn the_socket_is_private_and_what_comes_through_it_is_checked() {
    let house = House::new();
    let daemon = house.start();
    let client = house.client().await;
    let socket = house.places().socket();
    assert_eq!(
        fs::metadata(&socket).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let answers = tokio::task::spawn_blocking(move || {
        let ask = |line: &str, headers: &str| {
            raw(
                &socket,
                &format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n"),
            )
        };
        let ours = "x-legwork-generation: 1\r\n";
        let older = r#"{"spec":{"workspace":"relative","worker":{"type":"command","argv":["true"]},"limits":LIMITS,"isolation":"emulated-ok","driver":null}}"#;
        let older = older.replace("LIMITS", &serde_json::to_string(&Limits::default()).unwrap());
        [
            ask("GET /v1/status", ""),
            ask("GET /v1/status", "x-legwork-generation: 999\r\n"),
            ask("GET /v1/tasks", ours),
            ask("POST /v1/tasks", &format!("{ours}content-length: {}\r\n\r\n{older}", older.len())),
            ask("GET /v1/tasks/bcd/blobs/xyz", ours),
            ask("GET /v1/nothing", ours),
            ask("DELETE /v1/status", ours),
            ask(
                "POST /v1/tasks",
                &format!("{ours}content-length: 1\r\n\r\n{{"),
            ),
            ask(
                "POST /v1/tasks",
                &format!("{ours}content-length: 99999999999\r\n"),
            ),
            ask("GET /v1/status", ours),
            raw(&socket, "\0\0\0\0garbage\r\n\r\n"),
        ]
    })
    .await
    .unwrap();
    for (answer, (status, word)) in answers.iter().zip([
        ("400", "x-legwork-generation"),
        ("426", "generation"),
        // A client of the first generation says less and is served.
        ("200", "[]"),
        ("400", "absolute"),
        ("400", "64 hexadecimal digits"),
        ("404", "/v1/nothing"),
        ("404", "DELETE"),
        ("400", "not understood"),
        ("413", "larger"),
        ("200", "concurrency"),
        ("400", ""),
    ]) {
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(word),
            "{status}: {answer}"
        );
    }
    client.status().await.unwrap();
    client.stop(Stop::default()).await.unwrap();
    daemon.join().unwrap().unwrap();
}

#[tokio::test]
async fn of_many_daemons_one_runs_and_the_others_say_so() {
    let house = House::new();
    fs::write(house.places().socket(), "left by a daemon that was killed").unwrap();
    let daemons: Vec<_> = (0..6).map(|_| house.start()).collect();
    let client = house.client().await;
    let until = Instant::now() + Duration::from_secs(20);
    while daemons
        .iter()
        .filter(|daemon| !daemon.is_finished())
        .count()
        > 1
    {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    client.status().await.unwrap();
    client.stop(Stop::default()).await.unwrap();
    let ends: Vec<_> = daemons
        .into_iter()
        .map(|daemon| daemon.join().unwrap())
        .collect();
    assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 1);
    for end in ends.into_iter().filter_map(Result::err) {
        assert!(
            matches!(end, RunError::Instance(_)) && end.to_string().contains("already running"),
            "{end}"
        );
    }
}

#[tokio::test]
async fn a_daemon_without_work_ends_by_itself_and_not_under_a_client() {
    let house = House::new();
    let settings = Settings {
        idle_exit: Duration::from_millis(300),
        ..house.settings()
    };
    let daemon = std::thread::spawn(move || run(settings));
    let client = house.client().await;
    let mut events = client.events(None).await.unwrap();
    let quiet = tokio::time::timeout(Duration::from_secs(1), events.next()).await;
    assert!(quiet.is_err(), "the stream is open and silent");
    assert!(!daemon.is_finished());
    drop(events);
    let until = Instant::now() + Duration::from_secs(20);
    while !daemon.is_finished() {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    daemon.join().unwrap().unwrap();
}

#[tokio::test]
async fn a_daemon_whose_runtime_directory_is_taken_away_makes_it_again_and_goes_on() {
    let house = House::new();
    let daemon = house.start();
    let client = house.client().await;
    let mut events = client.events(None).await.unwrap();
    fs::remove_dir_all(house.places().runtime).unwrap();
    // Whoever starts one now finds that there is one.
    let second = house.start().join().unwrap().unwrap_err().to_string();
    assert!(second.contains("already running"), "{second}");
    let again = house.client().await;
    let submitted = again.submit(&house.submit()).await.unwrap();
    let event = events.next().await.unwrap().unwrap();
    assert_eq!(event.task, submitted.task);
    again.stop(Stop { force: true }).await.unwrap();
    daemon.join().unwrap().unwrap();
    assert!(!house.places().socket().exists());
}

#[tokio::test]
async fn one_state_has_one_daemon_wherever_its_clients_look_for_it() {
    let house = House::new();
    let daemon = house.start();
    let pid = house.client().await.status().await.unwrap().pid;
    let elsewhere = Places {
        runtime: house.dir.path().join("elsewhere"),
        ..house.places()
    };
    let second = run(Settings::new(elsewhere.clone())).unwrap_err();
    assert!(second.to_string().contains("already running"), "{second}");
    let client = Client::connect(&elsewhere).await.unwrap();
    assert_eq!(client.status().await.unwrap().pid, pid);
    client.stop(Stop::default()).await.unwrap();
    daemon.join().unwrap().unwrap();
    let gone = Client::connect(&elsewhere).await.unwrap_err().to_string();
    assert!(gone.contains("elsewhere"), "{gone}");
}

#[tokio::test]
async fn a_daemon_whose_state_is_gone_ends() {
    let house = House::new();
    let daemon = house.start();
    let client = house.client().await;
    let _events = client.events(None).await.unwrap();
    fs::remove_dir_all(house.places().state).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !daemon.is_finished() {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(daemon.join().unwrap());
}
