//! What a task may reach beyond its machine: the proxy of its own, sealed before the machine starts, and what is told of it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use legwork_egress::{Host, PORT, Proxy, Record, Witness};
use legwork_host::{Answer, Answering, Call, Forward, Substream};
use legwork_model::{
    Config, Connection, ConnectionEnd, EventBody, Failure, FailureKind, ModelConfig, Reached,
    TaskId,
};
use legwork_spec::{EgressPolicy, HostName};
use tokio::{sync::mpsc, task::JoinHandle};

use super::{Break, Job, whole_millis};
use crate::clock;

/// Hosts of which a report tells.
const MOST_REACHED: usize = 200;
/// Connections of which events tell; later ones are only counted.
const MOST_TOLD: usize = 1000;
/// Connections that wait to be stored; more are only counted.
const MOST_WAITING: usize = 256;

/// The way out of one sandbox.
#[derive(Debug)]
pub(super) struct Network {
    door: Arc<Door>,
    ledger: Arc<Ledger>,
    telling: JoinHandle<()>,
}

impl Job {
    /// The way out that a policy leaves; none where nothing is allowed.
    pub(super) async fn network(&self, policy: &EgressPolicy) -> Result<Option<Network>, Break> {
        if *policy == EgressPolicy::Deny {
            return Ok(None);
        }
        let places = self.room.places.clone();
        let read = tokio::task::spawn_blocking(move || places.read_config()).await;
        let read = read.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let (Config { network, model, .. }, _) = read.map_err(|error| {
            Failure::new(
                FailureKind::Setup,
                error.to_string(),
                "correct it and run the task again",
            )
        })?;
        if let Some(host) = model.as_ref().and_then(address)
            && let Some(entry) = policy.destinations().iter().find(|entry| {
                *entry.host() == host || entry.is_wildcard() && host.is_below(entry.host())
            })
        {
            return Err(Failure::new(
                FailureKind::Setup,
                format!(
                    "`{entry}` is the model API that Legwork itself uses: a program with a key of its own could send anything there"
                ),
                "leave it out",
            )
            .into());
        }
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        let ledger = Arc::new(Ledger {
            reached: Mutex::default(),
            sender: Mutex::new(Some(sender)),
        });
        let witness: Arc<dyn Witness> = Arc::clone(&ledger) as _;
        let proxy = Proxy::new(policy.clone(), network.hosts, Arc::new(Host), witness);
        Ok(Some(Network {
            door: Arc::new(Door(Arc::new(proxy))),
            ledger,
            telling: tokio::spawn(tell(Arc::clone(&self.room), self.id.clone(), receiver)),
        }))
    }
}

impl Network {
    /// Who answers the guest.
    pub(super) fn answer(&self) -> Arc<dyn Answer> {
        Arc::clone(&self.door) as _
    }

    /// What was reached, when the machine is gone. All of it is stored as events by then.
    pub(super) async fn close(self) -> Vec<Reached> {
        drop(lock(&self.ledger.sender).take());
        if let Err(error) = self.telling.await {
            tracing::warn!(%error, "some connections of a task are not told");
        }
        let reached = std::mem::take(&mut *lock(&self.ledger.reached));
        reached.into_values().collect()
    }
}

/// What the user should know of it at the end.
pub(super) fn notices(reached: &[Reached], task: &TaskId) -> Vec<String> {
    let mut notices = Vec::new();
    let mut wanted = Vec::new();
    for reached in reached.iter().filter(|reached| reached.denied > 0) {
        let count = match reached.denied {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        let reason = reached.reason.as_deref().unwrap_or_default();
        notices.push(format!(
            "network: {} was refused {count}: {reason}",
            reached.target()
        ));
        wanted.extend(
            reached
                .allow
                .as_ref()
                .map(|entry| format!(" --allow {entry}")),
        );
    }
    if !wanted.is_empty() {
        notices.push(format!(
            "network: `legwork retry {}{}` runs the task again with that allowed",
            task.short(),
            wanted.concat()
        ));
    }
    notices
}

/// Where the guest's connections arrive.
#[derive(Debug)]
struct Door(Arc<Proxy>);

impl Answer for Door {
    fn forwards(&self) -> Vec<Forward> {
        vec![Forward {
            port: PORT,
            call: Call::Proxy,
        }]
    }

    fn answer(&self, _: Call, substream: Substream) -> Answering {
        let proxy = Arc::clone(&self.0);
        Box::pin(async move { proxy.serve(substream).await })
    }
}

/// Counts connections, and passes them on to be told.
#[derive(Debug)]
struct Ledger {
    reached: Mutex<BTreeMap<(String, u16), Reached>>,
    sender: Mutex<Option<mpsc::Sender<Connection>>>,
}

impl Witness for Ledger {
    fn saw(&self, record: Record) {
        let connection = connection(record);
        let mut reached = lock(&self.reached);
        let key = (connection.host.clone(), connection.port);
        if reached.len() < MOST_REACHED || reached.contains_key(&key) {
            let entry = reached.entry(key).or_insert_with(|| Reached {
                host: connection.host.clone(),
                port: connection.port,
                ..Reached::default()
            });
            entry.add(&connection.end);
        }
        drop(reached);
        if let Some(sender) = &*lock(&self.sender) {
            // It is counted; that the store is behind is no reason to keep the guest.
            let _told = sender.try_send(connection);
        }
    }
}

fn connection(record: Record) -> Connection {
    match record {
        Record::Passed {
            host,
            port,
            address,
            up,
            down,
            time,
        } => Connection {
            host,
            port,
            end: ConnectionEnd::Passed {
                address: address.to_string(),
                up,
                down,
                millis: whole_millis(time),
            },
        },
        Record::Denied { host, port, denial } => {
            let allow = denial
                .is_for_the_user()
                .then(|| format!("{host}:{port}").parse().ok())
                .flatten();
            Connection {
                host,
                port,
                end: ConnectionEnd::Denied {
                    reason: denial.to_string(),
                    allow,
                },
            }
        }
    }
}

/// Stores what comes, as many at a time as there are.
async fn tell(room: Arc<super::Room>, task: TaskId, mut connections: mpsc::Receiver<Connection>) {
    let mut left = MOST_TOLD;
    let mut batch = Vec::new();
    while connections.recv_many(&mut batch, MOST_WAITING).await > 0 {
        let bodies: Vec<EventBody> = batch
            .drain(..)
            .take(left)
            .map(|connection| EventBody::Network { connection })
            .collect();
        left -= bodies.len();
        if bodies.is_empty() {
            continue;
        }
        let id = task.clone();
        let stored = room
            .store
            .call(move |db| db.append(&id, clock::now(), &bodies));
        if let Err(error) = stored.await {
            tracing::warn!(%task, %error, "connections were not stored");
        }
    }
}

/// The host of a model API, if it has a name.
fn address(model: &ModelConfig) -> Option<HostName> {
    let url = model.url.as_deref().unwrap_or(model.provider.url());
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    host.parse().ok()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use legwork_egress::Denial;

    use super::*;

    fn ledger() -> Ledger {
        Ledger {
            reached: Mutex::default(),
            sender: Mutex::default(),
        }
    }

    fn denied(host: &str, denial: Denial) -> Record {
        Record::Denied {
            host: host.to_owned(),
            port: 443,
            denial,
        }
    }

    #[test]
    fn the_last_line_allows_all_that_the_user_can_allow() {
        let ledger = ledger();
        for host in ["b.test", "b.test", "a.test"] {
            ledger.saw(denied(host, Denial::NotAllowed));
        }
        ledger.saw(denied("c.test", Denial::Slow));
        let reached: Vec<Reached> = lock(&ledger.reached).values().cloned().collect();
        let task = TaskId::random();
        let notices = notices(&reached, &task);
        assert_eq!(notices.len(), 4);
        assert_eq!(
            notices[0],
            "network: a.test:443 was refused once: the user has not allowed it"
        );
        assert!(notices[1].starts_with("network: b.test:443 was refused 2 times: "));
        assert_eq!(
            notices[3],
            format!(
                "network: `legwork retry {} --allow a.test:443 --allow b.test:443` runs the task again with that allowed",
                task.short()
            )
        );
        assert!(super::notices(&[], &task).is_empty());
    }

    #[test]
    fn what_is_kept_of_many_hosts_is_bounded() {
        let ledger = ledger();
        for number in 0..1000 {
            ledger.saw(denied(&format!("h{number}.test"), Denial::NotAllowed));
            ledger.saw(denied("h0.test", Denial::NotAllowed));
        }
        let reached = lock(&ledger.reached);
        assert_eq!(reached.len(), MOST_REACHED);
        assert_eq!(reached[&("h0.test".to_owned(), 443)].denied, 1001);
    }

    #[test]
    fn the_host_of_a_model_api_is_found() {
        let with = |url: &str| {
            let text = format!("[model]\nprovider = \"openai\"\nname = \"m\"\nurl = \"{url}\"\n");
            address(&Config::parse(&text).unwrap().0.model.unwrap()).map(String::from)
        };
        assert_eq!(
            with("https://Api.Example.com/v1").as_deref(),
            Some("api.example.com")
        );
        assert_eq!(with("http://llm.test:8080").as_deref(), Some("llm.test"));
        assert_eq!(with("http://127.0.0.1:8080"), None);
    }
}
