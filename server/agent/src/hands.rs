//! Does what a model asks for, by programs on a [`Workbench`]. What went wrong is told to the model; only the end of the machine is an
//! error.

mod follow;

use std::{
    collections::HashMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    clip::Clip,
    edit, paths, syntax,
    tools::Job,
    workbench::{BenchError, End, Errand, Workbench},
};

/// Bytes that are told of either end of an output.
const ENDS: usize = 5_000;

/// The largest file that is read or written here, in bytes.
const LARGEST: usize = 2 << 20;

/// Most lines, most bytes, and the longest line of one `read`.
const READ: (usize, usize, usize) = (2_000, 60_000, 1_000);

/// How much of what `grep` finds is looked at, and how much of it is told, in bytes.
const FOUND: (usize, usize) = (512 << 10, 8_000);

/// How long a script may take unless it is said otherwise, and how long at the most, in seconds.
const SCRIPT: (u64, u64) = (120, 3_600);

/// How long a small program may take.
const SMALL: Duration = Duration::from_mins(2);

/// Failed edits of a file after which it has to be read again.
const FAILURES: u32 = 2;

/// What came of a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) ok: bool,
    pub(crate) text: String,
}

/// Tools, and what they remember.
#[derive(Debug)]
pub(crate) struct Hands<'a, W> {
    bench: &'a W,
    workspace: PathBuf,
    /// What the model last saw of a file.
    seen: HashMap<String, blake3::Hash>,
    failures: HashMap<String, u32>,
    /// The result that was not written because it would not parse.
    refused: Option<(String, blake3::Hash)>,
}

impl<'a, W: Workbench> Hands<'a, W> {
    pub(crate) fn new(bench: &'a W, workspace: &Path) -> Self {
        Self {
            bench,
            workspace: workspace.to_owned(),
            seen: HashMap::new(),
            failures: HashMap::new(),
            refused: None,
        }
    }

    /// Does a job in the time that is left.
    pub(crate) async fn work(&mut self, job: &Job, left: Duration) -> Result<Done, BenchError> {
        let done = match job {
            Job::Bash { command, timeout } => {
                let wanted = timeout.unwrap_or(SCRIPT.0).clamp(1, SCRIPT.1);
                let timeout = Duration::from_secs(wanted)
                    .min(left)
                    .max(Duration::from_secs(1));
                return self.bash(command, timeout).await;
            }
            Job::Read { path, from, to } => self.read(path, *from, *to).await?,
            Job::Search { pattern, path } => self.search(pattern, path.as_deref()).await?,
            Job::LookUp(lookup) => self.look_up(lookup).await?,
            Job::Edit { path, edits } => {
                let edited = self.edit(path, |text| edit::apply(text, edits)).await?;
                self.count_failure(path, edited)
            }
            Job::Write { path, content } => self.write(path, content).await?,
            Job::Ask { .. } | Job::Finish { .. } => Ok(String::new()),
        };
        Ok(match done {
            Ok(text) => Done { ok: true, text },
            Err(text) => Done { ok: false, text },
        })
    }

    async fn bash(&self, command: &str, timeout: Duration) -> Result<Done, BenchError> {
        let mut clip = Clip::new(ENDS);
        let mut end = End::NotStarted(String::new());
        for shell in ["bash", "sh"] {
            let errand = errand([shell, "-c", command], timeout);
            end = self
                .bench
                .run(errand, &mut |_, bytes| clip.push(bytes))
                .await?;
            if !matches!(end, End::NotStarted(_)) {
                break;
            }
        }
        let mut text = clip.text();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let ok = !matches!(end, End::NotStarted(_));
        let ending = match end {
            End::Exited(code) => format!("[exit code {code}]"),
            End::Signaled(signal) => format!("[ended by signal {signal}]"),
            End::NotStarted(why) => format!("[it did not start: {why}]"),
            End::TimedOut => format!(
                "[ended after {} s, which was all its time]",
                timeout.as_secs()
            ),
            End::OutOfMemory => "[ended because the machine's memory was used up]".to_owned(),
        };
        text.push_str(&ending);
        Ok(Done { ok, text })
    }

    /// All bytes of a file.
    async fn load(&self, path: &str) -> Result<Result<Vec<u8>, String>, BenchError> {
        let (mut bytes, mut errors) = (Vec::new(), Clip::new(500));
        let mut take = |is_error: bool, more: &[u8]| {
            if is_error {
                errors.push(more);
            } else {
                let room = (LARGEST + 1).saturating_sub(bytes.len()).min(more.len());
                bytes.extend_from_slice(&more[..room]);
            }
        };
        let end = self
            .bench
            .run(errand(["cat", "--", &below(path)], SMALL), &mut take)
            .await?;
        Ok(match end {
            End::Exited(0) if bytes.len() > LARGEST => Err(format!(
                "{path} is larger than {} MiB: look at parts of it with `bash`",
                LARGEST >> 20
            )),
            End::Exited(0) => Ok(bytes),
            end => Err(failed(path, &end, &errors)),
        })
    }

    async fn text(&self, path: &str) -> Result<Result<String, String>, BenchError> {
        Ok(self.load(path).await?.and_then(|bytes| {
            String::from_utf8(bytes)
                .map_err(|_| format!("{path} is not UTF-8 text: use `bash` for it"))
        }))
    }

    async fn read(
        &mut self,
        path: &str,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<Result<String, String>, BenchError> {
        let path = match paths::within(&self.workspace, path) {
            Ok(path) => path,
            Err(why) => return Ok(Err(why)),
        };
        let text = match self.text(&path).await? {
            Ok(text) => text,
            Err(why) => return Ok(Err(why)),
        };
        let hash = blake3::hash(text.as_bytes());
        let lines: Vec<&str> = text.lines().collect();
        let line = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let first = line(from.unwrap_or(1)).max(1);
        let last = to.map_or(usize::MAX, line).min(lines.len());
        if first > last && !lines.is_empty() {
            return Ok(Err(format!(
                "{path} has {} lines, so there are no lines {first} to {last}",
                lines.len()
            )));
        }
        self.seen.insert(path.clone(), hash);
        self.failures.remove(&path);
        let (most, bytes, longest) = READ;
        let (mut shown, mut end) = (String::new(), first.saturating_sub(1));
        for line in lines.iter().take(last).skip(first - 1).take(most) {
            if shown.len() > bytes {
                break;
            }
            end += 1;
            let cut = line.floor_char_boundary(longest);
            let mark = if cut < line.len() { " [... cut]" } else { "" };
            let _ = writeln!(shown, "{end}\t{}{mark}", &line[..cut]);
        }
        let more = if end < last {
            format!(
                "[{} more lines; read on from line {}]\n",
                last - end,
                end + 1
            )
        } else {
            String::new()
        };
        let stamp = &hash.to_hex()[..8];
        let header = format!(
            "{path}, lines {} to {end} of {}, stamp {stamp}\n",
            first.min(end.max(1)),
            lines.len()
        );
        Ok(Ok(format!("{header}{shown}{more}")))
    }

    async fn search(
        &self,
        pattern: &str,
        path: Option<&str>,
    ) -> Result<Result<String, String>, BenchError> {
        let path = match paths::within(&self.workspace, path.unwrap_or(".")) {
            Ok(path) => path,
            Err(why) => return Ok(Err(why)),
        };
        let below = below(&path);
        let argv = [
            "grep",
            "-rnIHE",
            "--exclude-dir=.git",
            "--exclude-dir=node_modules",
            "--exclude-dir=target",
            "-e",
            pattern,
            "--",
            &below,
        ];
        let (mut found, mut errors) = (Vec::new(), Clip::new(500));
        let mut is_cut = false;
        let mut take = |is_error: bool, more: &[u8]| {
            if is_error {
                errors.push(more);
            } else {
                let room = FOUND.0.saturating_sub(found.len()).min(more.len());
                is_cut |= room < more.len();
                found.extend_from_slice(&more[..room]);
            }
        };
        let end = self.bench.run(errand(argv, SMALL), &mut take).await?;
        match end {
            End::Exited(0) => {}
            End::Exited(1) => return Ok(Ok(format!("no line in {path} matches"))),
            // It could not read something, and found something.
            End::Exited(_) if !found.is_empty() => {}
            end => return Ok(Err(failed(&path, &end, &errors))),
        }
        Ok(Ok(tell_found(&found, is_cut)))
    }

    /// Reads a file, makes another text of it, and writes that.
    async fn edit(
        &mut self,
        path: &str,
        change: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Result<String, String>, BenchError> {
        let path = match paths::within(&self.workspace, path) {
            Ok(path) => path,
            Err(why) => return Ok(Err(why)),
        };
        let Some(seen) = self.seen.get(&path).copied() else {
            return Ok(Err(format!("read {path} first: nothing was changed")));
        };
        let before = match self.text(&path).await? {
            Ok(text) => text,
            Err(why) => return Ok(Err(why)),
        };
        if blake3::hash(before.as_bytes()) != seen {
            self.seen.remove(&path);
            return Ok(Err(format!(
                "{path} was changed since you read it: read it again; nothing was changed"
            )));
        }
        let after = match change(&before) {
            Ok(after) => after,
            Err(why) => return Ok(Err(why)),
        };
        self.put(&path, &before, &after).await
    }

    async fn write(
        &mut self,
        path: &str,
        content: &str,
    ) -> Result<Result<String, String>, BenchError> {
        let path = match paths::within(&self.workspace, path) {
            Ok(path) => path,
            Err(why) => return Ok(Err(why)),
        };
        if self.seen.contains_key(&path) {
            return self.edit(&path, |_| Ok(content.to_owned())).await;
        }
        // What is there and was not seen is not written over.
        let check = errand(["test", "-e", &below(&path)], SMALL);
        if self.bench.run(check, &mut |_, _| {}).await? == End::Exited(0) {
            return Ok(Err(format!(
                "{path} is there already: read it first; nothing was changed"
            )));
        }
        self.put(&path, "", content).await
    }

    /// Writes a text, unless that breaks its syntax for the first time.
    async fn put(
        &mut self,
        path: &str,
        before: &str,
        after: &str,
    ) -> Result<Result<String, String>, BenchError> {
        if after.len() > LARGEST {
            return Ok(Err(format!(
                "the file would be larger than {} MiB: use `bash` for it",
                LARGEST >> 20
            )));
        }
        if before == after && !before.is_empty() {
            return Ok(Err(
                "the file is like that already: nothing was changed".to_owned()
            ));
        }
        let hash = blake3::hash(after.as_bytes());
        if let Some(why) = syntax::broken(path, before, after) {
            let this = Some((path.to_owned(), hash));
            if self.refused != this {
                self.refused = this;
                return Ok(Err(format!(
                    "{why}; nothing was changed. If it is meant so, make the very same call once more"
                )));
            }
        }
        self.refused = None;
        let script = "mkdir -p -- \"$(dirname -- \"$1\")\" && cat > \"$1\"";
        let mut task = errand(["sh", "-c", script, "sh", &below(path)], SMALL);
        task.stdin = after.as_bytes().to_vec();
        let mut errors = Clip::new(500);
        let end = self
            .bench
            .run(task, &mut |_, bytes| errors.push(bytes))
            .await?;
        if end != End::Exited(0) {
            // Nobody knows what is there now.
            self.seen.remove(path);
            return Ok(Err(failed(path, &end, &errors)));
        }
        self.seen.insert(path.to_owned(), hash);
        let lines = after.lines().count();
        Ok(Ok(format!(
            "{path} is written: {lines} lines, stamp {}",
            &hash.to_hex()[..8]
        )))
    }

    /// A model that edits what it only remembers is made to look.
    fn count_failure(
        &mut self,
        given: &str,
        edited: Result<String, String>,
    ) -> Result<String, String> {
        let path = paths::within(&self.workspace, given).unwrap_or_else(|_| given.to_owned());
        match edited {
            Ok(text) => {
                self.failures.remove(&path);
                Ok(text)
            }
            Err(why) => {
                let count = self.failures.entry(path.clone()).or_default();
                *count += 1;
                if *count == FAILURES && self.seen.remove(&path).is_some() {
                    return Err(format!(
                        "{why}\n{FAILURES} edits of {path} failed: read it again before the next one"
                    ));
                }
                Err(why)
            }
        }
    }
}

/// A path that no program takes for an option.
fn below(path: &str) -> String {
    format!("./{path}")
}

fn errand<'s>(argv: impl IntoIterator<Item = &'s str>, timeout: Duration) -> Errand {
    Errand {
        argv: argv.into_iter().map(str::to_owned).collect(),
        stdin: Vec::new(),
        timeout,
    }
}

fn failed(path: &str, end: &End, errors: &Clip) -> String {
    let said = errors.text();
    let said = said.trim();
    match end {
        End::TimedOut => format!("{path}: it took too long"),
        End::NotStarted(why) => format!("{path}: {why}"),
        _ if said.is_empty() => format!("{path}: it failed ({end:?})"),
        _ => said.to_owned(),
    }
}

/// What `grep` found: counts first, then lines.
fn tell_found(found: &[u8], is_cut: bool) -> String {
    let text = String::from_utf8_lossy(found);
    let mut files: Vec<(&str, usize)> = Vec::new();
    for line in text.lines() {
        let file = line
            .split(':')
            .next()
            .unwrap_or_default()
            .trim_start_matches("./");
        match files.last_mut() {
            Some((last, count)) if *last == file => *count += 1,
            _ => files.push((file, 1)),
        }
    }
    let total = text.lines().count();
    let more = if is_cut { "at least " } else { "" };
    let mut told = format!("{more}{total} lines in {} files\n", files.len());
    if files.len() > 1 {
        for (file, count) in files.iter().take(30) {
            let _ = writeln!(told, "{count:>6} {file}");
        }
        if files.len() > 30 {
            let _ = writeln!(told, "       and {} more files", files.len() - 30);
        }
    }
    let mut shown = 0;
    for line in text.lines() {
        if told.len() > FOUND.1 {
            break;
        }
        shown += 1;
        let line = line.trim_start_matches("./");
        told.push_str(&line[..line.floor_char_boundary(300)]);
        told.push('\n');
    }
    if shown < total {
        let _ = writeln!(
            told,
            "[{} more lines; narrow the pattern or the path]",
            total - shown
        );
    }
    told
}

#[cfg(test)]
mod tests;
