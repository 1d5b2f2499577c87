//! The index of a task's workspace: made of the snapshot on threads of its own, kept in the cache by what the files hold, and
//! brought up to what the task has changed when it is asked.

use std::{
    io::Write as _,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use legwork_agent::Lookup;
use legwork_index::{Index, Kept, Key, LONGEST, MapOptions, Query, Source, Tags};
use legwork_model::{Digest, Entry, EntryKind, Phase, Request, Task};
use legwork_workspace::{BlobStore, Snapshot};

use super::Job;
use crate::store::FileRow;

/// The most workspaces whose tags are kept.
const MOST_KEPT: usize = 32;

/// Larger files of tags are not read, in bytes.
const LARGEST_KEPT: u64 = 256 << 20;

/// The most changed files that an answer looks at.
const MOST_CHANGED: usize = 2_000;

/// How long an answer may look at changed files; those that are left then have no tags in it.
const MAX_LOOK: Duration = Duration::from_secs(5);

/// The index of a snapshot.
#[derive(Debug)]
pub(super) struct Indexed {
    /// The files that the request is about, as the model is told of them.
    pub(super) map: String,
    base: Arc<Index>,
    now: Mutex<Now>,
}

/// What an index became, and by which changes.
#[derive(Clone, Debug)]
struct Now {
    changed: Vec<Changed>,
    index: Arc<Index>,
    kept: Kept,
}

/// A file that the task changed; `None` where it took it away.
type Changed = (String, Option<Digest>);

impl Job {
    /// Makes the index. That there is none is no reason to stop.
    pub(super) async fn index(&self, task: &Task, snapshot: &Arc<Snapshot>) -> Option<Indexed> {
        let kept = place(&self.room.cache, &task.spec.workspace);
        let snapshot = Arc::clone(snapshot);
        let query = query(&task.spec.request.clone().unwrap_or_default());
        let make = move || {
            let (index, read) = make(&kept, &snapshot);
            let map = index.map(&query, MapOptions::default());
            (Arc::new(index), map, read)
        };
        match tokio::task::spawn_blocking(make).await {
            Ok((base, map, read)) => {
                let detail = format!(
                    "the map of {} files is made; {read} of them were read",
                    base.len()
                );
                self.tell(Phase::Command, detail).await;
                let now = Mutex::new(Now {
                    changed: Vec::new(),
                    index: Arc::clone(&base),
                    kept: Kept::default(),
                });
                Some(Indexed { map, base, now })
            }
            Err(error) => {
                tracing::warn!(task = %self.id, %error, "there is no index of the workspace");
                None
            }
        }
    }

    /// Answers a question of the agent, with the files as the review has them: that follows the guest by a fraction of a second.
    pub(super) async fn look_up(
        &self,
        indexed: &Indexed,
        lookup: Lookup,
    ) -> Option<Result<String, String>> {
        let id = self.id.clone();
        let rows = self
            .room
            .store
            .call(move |db| db.files(&id))
            .await
            .unwrap_or_default();
        let changed = changed(&rows);
        let mut now = indexed
            .now
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if now.changed != changed {
            let (base, blobs) = (Arc::clone(&indexed.base), self.room.blobs.clone());
            now.changed.clone_from(&changed);
            now = tokio::task::spawn_blocking(move || follow(&base, &blobs, now))
                .await
                .ok()?;
            *indexed.now.lock().unwrap_or_else(PoisonError::into_inner) = now.clone();
        }
        let source = match changed.len() {
            0 => "From the index of the workspace as it was at the start.".to_owned(),
            count => format!(
                "From the index of the workspace, with {count} files as they were changed up to a moment ago."
            ),
        };
        Some(answer(&now.index, &lookup).map(|told| format!("{source}\n{told}")))
    }
}

/// What a request says, and where.
fn query(request: &Request) -> Query {
    let mut more = request.selection.clone().unwrap_or_default();
    if let Some(place) = &request.place {
        more = format!(
            "{more} {} {}",
            place.symbol.as_deref().unwrap_or_default(),
            place.text
        );
    }
    for finding in &request.diagnostics {
        more = format!("{more} {}", finding.message);
    }
    Query {
        text: request.text.clone(),
        place: request.place.as_ref().map(|place| place.path.to_string()),
        more,
    }
}

/// The index with the files as they were changed. What a machine made may be made to be slow, so it stops after a while.
fn follow(base: &Index, blobs: &BlobStore, before: Now) -> Now {
    let started = Instant::now();
    let mut kept = Kept::default();
    let mut changes = Vec::with_capacity(before.changed.len());
    for (path, digest) in &before.changed {
        let tags = digest.map(|digest| {
            let key = Key::new(path, &digest);
            if let Some(tags) = before.kept.get(&key) {
                kept.put(key, Arc::clone(tags));
                return Arc::clone(tags);
            }
            let is_small = std::fs::metadata(blobs.dir().join(digest.to_string()))
                .is_ok_and(|metadata| metadata.len() <= LONGEST as u64);
            if !is_small || started.elapsed() > MAX_LOOK {
                return Arc::default();
            }
            let tags = Arc::new(Tags::of(path, &blobs.get(&digest).unwrap_or_default()));
            kept.put(key, Arc::clone(&tags));
            tags
        });
        changes.push((path.clone(), tags));
    }
    Now {
        index: Arc::new(base.with(changes)),
        changed: before.changed,
        kept,
    }
}

fn answer(index: &Index, lookup: &Lookup) -> Result<String, String> {
    let unknown = |path: &str| {
        format!("{path} is not in the index: give the path of a text file of the workspace")
    };
    let list = |paths: &[String]| match paths.len() {
        0 => "none\n".to_owned(),
        1..=60 => format!("{}\n", paths.join("\n")),
        more => format!("{}\n[and {} more]\n", paths[..60].join("\n"), more - 60),
    };
    match lookup {
        Lookup::Name(name) => {
            let named = index.named(name);
            if named.definitions.is_empty() && named.users.is_empty() {
                return Ok(format!(
                    "{name} is neither defined nor used in any file that is understood"
                ));
            }
            Ok(named.to_string())
        }
        Lookup::Imports(path) => {
            let (importers, imported) = index.neighbours(path).map_err(unknown)?;
            Ok(format!(
                "{path} is imported by\n{}and imports\n{}",
                list(&importers),
                list(&imported)
            ))
        }
        Lookup::Chain { from, to } => Ok(match index.chain(from, to).map_err(unknown)? {
            Some(chain) => format!("{chain}\n"),
            None => format!("no chain of imports leads from {from} to {to}\n"),
        }),
    }
}

/// The texts that the task made, as the review has them.
fn changed(rows: &[FileRow]) -> Vec<Changed> {
    let all = rows.iter().take(MOST_CHANGED).map(|row| {
        let text = row.review.agent().map(|stored| stored.digest);
        (row.path().to_string(), text)
    });
    all.collect()
}

/// Where the tags of a workspace are kept.
fn place(cache: &Path, workspace: &Path) -> PathBuf {
    let name = Digest::of(workspace.as_os_str().as_encoded_bytes()).to_string();
    cache.join("tags").join(&name[..32])
}

/// Makes the index with what is kept, and keeps what it became. Gives also how many files were read.
fn make(kept_at: &Path, snapshot: &Snapshot) -> (Index, usize) {
    let entries: Vec<(&Entry, Digest, u64)> = snapshot
        .manifest
        .entries
        .iter()
        .filter_map(|entry| match entry.kind {
            EntryKind::File { digest, size, .. } => Some((entry, digest, size)),
            _ => None,
        })
        .collect();
    let sources: Vec<Source> = entries
        .iter()
        .map(|(entry, digest, _)| {
            let path = entry.path.to_string();
            let key = Key::new(&path, digest);
            Source { path, key }
        })
        .collect();
    let kept = read(kept_at);
    let (index, now, count) = Index::build(&sources, &kept, &|at| {
        let (entry, _, size) = entries.get(at)?;
        (*size <= LONGEST as u64)
            .then(|| snapshot.read(entry).ok())
            .flatten()
    });
    if (count > 0 || now.len() != kept.len())
        && let Err(error) = keep(kept_at, &now)
    {
        tracing::warn!(%error, "the tags of a workspace were not kept");
    }
    (index, count)
}

fn read(path: &Path) -> Kept {
    let is_small = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() <= LARGEST_KEPT);
    let bytes = if is_small {
        std::fs::read(path).unwrap_or_default()
    } else {
        Vec::new()
    };
    Kept::read(&bytes)
}

/// Writes tags, whole or not at all, and forgets those of the workspaces that were longest not looked at.
fn keep(path: &Path, kept: &Kept) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    let mut temp = tempfile::NamedTempFile::new_in(dir)?;
    temp.write_all(&kept.bytes())?;
    temp.persist(path).map_err(|error| error.error)?;
    let mut all: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(dir)?
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    all.sort();
    let over = all.len().saturating_sub(MOST_KEPT);
    for (_, old) in &all[..over] {
        std::fs::remove_file(old)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use legwork_workspace::{CaptureOptions, Workspace, capture};

    use super::*;

    #[test]
    fn only_what_changed_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        std::fs::create_dir(&work).unwrap();
        for n in 0..30 {
            std::fs::write(
                work.join(format!("f{n}.py")),
                format!("def part{n}():\n    pass\n"),
            )
            .unwrap();
        }
        let workspace = Workspace::open(&work).unwrap();
        let kept = place(dir.path(), &work);
        let made = || {
            let image = dir.path().join("base.erofs");
            let snapshot = capture(
                &workspace,
                &image,
                &CaptureOptions::default(),
                &mut |_, _| {},
            )
            .unwrap();
            make(&kept, &snapshot)
        };
        assert_eq!(made().1, 30);
        assert_eq!(made().1, 0);
        std::fs::write(work.join("f3.py"), "def other():\n    pass\n").unwrap();
        std::fs::remove_file(work.join("f4.py")).unwrap();
        let (index, read) = made();
        assert_eq!((index.len(), read), (29, 1));
        assert_eq!(index.named("other").definitions.len(), 1);
        assert!(index.named("part4").definitions.is_empty());
        std::fs::write(&kept, "damaged").unwrap();
        assert_eq!(made().1, 29);
        for n in 0..40 {
            keep(
                &place(dir.path(), Path::new(&format!("/w{n}"))),
                &Kept::default(),
            )
            .unwrap();
        }
        let count = std::fs::read_dir(kept.parent().unwrap()).unwrap().count();
        assert_eq!(count, MOST_KEPT);
    }

    #[test]
    fn an_answer_has_the_files_as_they_were_changed() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = BlobStore::open(dir.path().join("blobs")).unwrap();
        let tags = |path: &str, text: &str| {
            (
                path.to_owned(),
                Some(Arc::new(Tags::of(path, text.as_bytes()))),
            )
        };
        let base = Index::default().with(vec![
            tags("a.py", "def before(): pass\n"),
            tags("b.py", "def gone(): pass\n"),
        ]);
        let text = blobs.put(b"def after(): pass\n").unwrap().digest;
        let large = blobs
            .put("def large(): pass\n".repeat(LONGEST / 10).as_bytes())
            .unwrap()
            .digest;
        let now = |changed: Vec<Changed>| {
            let index = Arc::new(Index::default());
            follow(
                &base,
                &blobs,
                Now {
                    changed,
                    index,
                    kept: Kept::default(),
                },
            )
        };
        let after = now(vec![
            ("a.py".to_owned(), Some(text)),
            ("b.py".to_owned(), None),
            ("c.py".to_owned(), Some(large)),
            ("d.py".to_owned(), Some(Digest::of(b"not kept"))),
        ]);
        let defined = |name: &str| after.index.named(name).definitions.len();
        assert_eq!(
            (
                defined("after"),
                defined("before"),
                defined("gone"),
                defined("large")
            ),
            (1, 0, 0, 0)
        );
        assert_eq!((after.index.len(), after.kept.len()), (3, 1));
        // What was looked at is not looked at again.
        blobs.remove(&text).unwrap();
        let again = follow(&base, &blobs, after);
        assert_eq!(again.index.named("after").definitions.len(), 1);
    }
}
