//! Looks through an upper layer again and again and says what is another than the last time. Only looking: who is told,
//! and when, is `watch`'s. Programs change the layer meanwhile, so whatever vanishes under its hands is no error.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
};

use legwork_link::{Found, FoundKind, MAX_WATCHED};
use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat},
    io::Errno,
    time::{ClockId, clock_gettime},
};

use crate::collect::{Level, MAX_DEPTH, is_whiteout, opaque};

/// A file that was changed so shortly before it was looked at, in nanoseconds, may be changed again without another time
/// stamp: the kernel's are as coarse as its tick.
const COARSE: i128 = 50_000_000;

/// Why there will be no more scans.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// There is more than is worth looking at so often.
    Full(usize),
    /// The disk fails.
    Disk(Vec<u8>, Errno),
}

/// Something that is new or another than it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) found: Found,
    /// Of a file.
    pub(crate) data: Vec<u8>,
}

/// The layer as it was told.
#[derive(Debug)]
pub(crate) struct Known {
    marks: HashMap<Vec<u8>, Mark>,
    round: u64,
    most: usize,
}

/// How something was when it was last looked at.
#[derive(Debug)]
struct Mark {
    stamp: Stamp,
    /// Over all that is told of it.
    sum: u64,
    /// Its time stamps tell whether it changes.
    settled: bool,
    told: bool,
    round: u64,
}

/// What changes when something is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    mode: u32,
    size: i64,
    modified: i128,
    changed: i128,
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        let time = |seconds: i64, nanos| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        let dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        Self {
            inode: stat.st_ino,
            mode: stat.st_mode,
            // Of a folder these tell what is in it, which is looked at anyway.
            size: if dir { 0 } else { stat.st_size },
            modified: if dir {
                0
            } else {
                time(stat.st_mtime, stat.st_mtime_nsec)
            },
            changed: if dir {
                0
            } else {
                time(stat.st_ctime, stat.st_ctime_nsec)
            },
        }
    }

    fn is_settled(&self, now: i128) -> bool {
        self.changed.max(self.modified) < now - COARSE
    }
}

impl Known {
    /// Nothing was told yet. A scan ends in trouble when there are more than `most` entries.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            marks: HashMap::new(),
            round: 0,
            most,
        }
    }

    /// Begins to look through the layer.
    pub(crate) fn scan<'a>(
        &'a mut self,
        upper: BorrowedFd<'_>,
        skips: &'a HashSet<Vec<u8>>,
    ) -> Result<Scan<'a>, Trouble> {
        self.round += 1;
        let top = Level::top(upper).map_err(|errno| Trouble::Disk(Vec::new(), errno))?;
        let now = clock_gettime(ClockId::Realtime);
        Ok(Scan {
            known: self,
            skips,
            levels: vec![top],
            count: 0,
            now: i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec),
        })
    }
}

/// One look through the layer.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    known: &'a mut Known,
    skips: &'a HashSet<Vec<u8>>,
    levels: Vec<Level>,
    count: usize,
    now: i128,
}

/// What a step came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All was seen; what is gone is left to ask for.
    End,
    /// As it was, or of no interest.
    Nothing,
    /// To be told.
    News(News),
    /// It is there, but is not told any more.
    Gone(Vec<u8>),
}

impl Scan<'_> {
    /// Looks at one entry.
    pub(crate) fn step(&mut self) -> Result<Step, Trouble> {
        let Some(level) = self.levels.last_mut() else {
            return Ok(Step::End);
        };
        let Some((name, path)) = level.next() else {
            self.levels.pop();
            return Ok(Step::Nothing);
        };
        if self.skips.contains(&path) {
            return Ok(Step::Nothing);
        }
        self.count += 1;
        if self.count > self.known.most {
            return Err(Trouble::Full(self.known.most));
        }
        let looked = look(level.dir.as_fd(), &name);
        let Some(seen) = vanished(looked).map_err(|errno| Trouble::Disk(path.clone(), errno))?
        else {
            return Ok(Step::Nothing);
        };
        let Seen {
            stat,
            below,
            opaque,
        } = seen;
        let stamp = Stamp::of(&stat);
        let same = self.known.marks.get_mut(&path).filter(|mark| {
            mark.stamp == stamp
                && mark.settled
                && opaque.is_none_or(|opaque| mark.sum == u64::from(opaque))
        });
        let told = match (&same, opaque) {
            (Some(_), _) => None,
            (None, Some(opaque)) => Some(Ok(Some((dir(&stat, opaque), u64::from(opaque))))),
            (None, None) => Some(tell(level.dir.as_fd(), &name, &stat)),
        };
        if let Some(mark) = same {
            mark.round = self.known.round;
        }
        if let Some(below) = below
            && self.levels.len() < MAX_DEPTH
        {
            let read = vanished(Level::read(below, path.clone()));
            let read = read.map_err(|errno| Trouble::Disk(path.clone(), errno))?;
            self.levels.extend(read);
        }
        let Some(told) = told else {
            return Ok(Step::Nothing);
        };
        let Some(told) = vanished(told).map_err(|errno| Trouble::Disk(path.clone(), errno))? else {
            return Ok(Step::Nothing);
        };
        Ok(self.mark(path, stamp, told))
    }

    fn mark(&mut self, path: Vec<u8>, stamp: Stamp, told: Option<(News, u64)>) -> Step {
        let old = self.known.marks.get(&path);
        let was_told = old.is_some_and(|old| old.told);
        let sum = told.as_ref().map_or(0, |(_, sum)| *sum);
        let same = old.is_some_and(|old| {
            old.told == told.is_some() && old.sum == sum && old.stamp.mode == stamp.mode
        });
        let mark = Mark {
            stamp,
            sum,
            settled: stamp.is_settled(self.now),
            told: told.is_some(),
            round: self.known.round,
        };
        self.known.marks.insert(path.clone(), mark);
        match told {
            Some((mut news, _)) if !same => {
                news.found.path = path;
                Step::News(news)
            }
            None if was_told => Step::Gone(path),
            _ => Step::Nothing,
        }
    }

    /// What was told and is gone, the deepest first.
    pub(crate) fn gone(self) -> Vec<Vec<u8>> {
        let mut gone = Vec::new();
        let (round, skips) = (self.known.round, self.skips);
        self.known.marks.retain(|path, mark| {
            if mark.round != round && mark.told && !is_below_any(path, skips) {
                gone.push(path.clone());
            }
            mark.round == round
        });
        gone.sort_unstable_by(|a, b| b.cmp(a));
        gone
    }
}

/// What the first look shows.
struct Seen {
    stat: Stat,
    /// A folder, opened.
    below: Option<OwnedFd>,
    /// For a folder.
    opaque: Option<bool>,
}

fn look(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Seen, Errno> {
    let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mut seen = Seen {
        stat,
        below: None,
        opaque: None,
    };
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::DIRECTORY;
        let below = openat(dir, name, flags, Mode::empty())?;
        seen.stat = fstat(&below)?;
        seen.opaque = Some(opaque(below.as_fd()));
        seen.below = Some(below);
    }
    Ok(seen)
}

fn dir(stat: &Stat, opaque: bool) -> News {
    let mode = stat.st_mode & 0o7777;
    news(FoundKind::Dir { mode, opaque }, Vec::new())
}

/// The path is filled in by who knows it.
fn news(kind: FoundKind, data: Vec<u8>) -> News {
    let path = Vec::new();
    News {
        found: Found { path, kind },
        data,
    }
}

/// What is to be told of something that is no folder, with a sum over it; `None` for a file that is too long.
fn tell(dir: BorrowedFd<'_>, name: &[u8], stat: &Stat) -> Result<Option<(News, u64)>, Errno> {
    let told = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let Some((mode, data)) = read(dir, name)? else {
                return Ok(None);
            };
            let size = data.len() as u64;
            news(FoundKind::File { mode, size }, data)
        }
        FileType::Symlink => {
            let target = readlinkat(dir, name, Vec::new())?.into_bytes();
            news(FoundKind::Symlink { target }, Vec::new())
        }
        FileType::CharacterDevice if is_whiteout(stat) => news(FoundKind::Whiteout, Vec::new()),
        _ => {
            let file_type = stat.st_mode & 0o170_000;
            news(FoundKind::Special { file_type }, Vec::new())
        }
    };
    let mut sum = DefaultHasher::new();
    told.data.hash(&mut sum);
    if let FoundKind::Symlink { target } = &told.found.kind {
        target.hash(&mut sum);
    }
    Ok(Some((told, sum.finish())))
}

/// A whole file, with its permission bits, unless it is too long. What is read is what is told, however it grows.
fn read(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Option<(u32, Vec<u8>)>, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(dir, name, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        // Something else has taken its place; the next scan tells it.
        return Err(Errno::NOENT);
    }
    let most = usize::try_from(MAX_WATCHED).unwrap_or(usize::MAX);
    let expected = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
    if expected > most {
        return Ok(None);
    }
    let mut data = vec![0; expected + 1];
    let mut filled = 0;
    loop {
        let count = rustix::io::read(&file, &mut data[filled..])?;
        if count == 0 {
            break;
        }
        filled += count;
        if filled > most {
            return Ok(None);
        }
        if filled == data.len() {
            data.resize((filled * 2).min(most + 1), 0);
        }
    }
    data.truncate(filled);
    Ok(Some((stat.st_mode & 0o7777, data)))
}

/// `None` for what was there a moment ago.
fn vanished<T>(result: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::STALE | Errno::NXIO) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn is_below_any(path: &[u8], tops: &HashSet<Vec<u8>>) -> bool {
    if tops.is_empty() {
        return false;
    }
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut above = slashes.map(|(at, _)| &path[..at]);
    tops.contains(path) || above.any(|top| tops.contains(top))
}

#[cfg(test)]
mod tests;
