//! Tells the host what programs change while they change it.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fs,
    time::{Duration, Instant, SystemTime},
};

use legwork_link::{Collected, FoundKind, LinkError, MAX_WATCHED, Substream, WatchInput, frame};
use tokio::io::{AsyncWriteExt as _, WriteHalf};

use crate::{
    layer::{Base, Entry, Stamp, vanished},
    link,
};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A file that was changed so shortly ago may be changed again without another time stamp.
const COARSE: Duration = Duration::from_millis(100);

/// What was told of a path.
struct Told {
    stamp: Option<Stamp>,
    settled: bool,
    kind: FoundKind,
    data: Vec<u8>,
}

/// Runs until the host closes the substream.
pub(crate) async fn watch(base: &Base, substream: Substream) -> Result<(), LinkError> {
    let (mut input, mut output) = tokio::io::split(substream);
    let skips = RefCell::new(BTreeSet::new());
    let obey = async {
        while let Ok(Some(WatchInput::Skip(path))) = frame::read(&mut input).await {
            skips.borrow_mut().insert(path);
        }
    };
    let tell = async {
        let mut told = BTreeMap::new();
        loop {
            let start = Instant::now();
            let skips = skips.borrow().clone();
            look(base, &skips, &mut told, &mut output).await?;
            tokio::time::sleep(PAUSE.max(start.elapsed() * 10)).await;
        }
    };
    tokio::select! {
        () = obey => Ok(()),
        ended = tell => ended,
    }
}

async fn look(
    base: &Base,
    skips: &BTreeSet<Vec<u8>>,
    told: &mut BTreeMap<Vec<u8>, Told>,
    output: &mut WriteHalf<Substream>,
) -> Result<(), LinkError> {
    let mut news = false;
    let mut seen = BTreeSet::new();
    for entry in base.upper()? {
        let path = entry.found.path.clone();
        if skips.iter().any(|skip| is_at_or_below(&path, skip)) {
            continue;
        }
        let old = told.get(&path);
        if old.is_some_and(|old| old.settled && old.stamp == entry.stamp) {
            seen.insert(path);
            continue;
        }
        let Some(now) = read(base, &entry)? else {
            continue;
        };
        seen.insert(path.clone());
        let same = old.is_some_and(|old| old.kind == now.kind && old.data == now.data);
        if !same {
            news = true;
            let mut found = entry.found;
            found.kind = now.kind.clone();
            frame::write(output, &Collected::Found(found)).await?;
            if matches!(now.kind, FoundKind::File { .. }) {
                link::data(&now.data, output).await?;
            }
        }
        told.insert(path, now);
    }
    let gone: Vec<Vec<u8>> = told
        .keys()
        .filter(|path| !seen.contains(*path))
        .cloned()
        .collect();
    // The deepest first.
    for path in gone.into_iter().rev() {
        told.remove(&path);
        if !skips.iter().any(|skip| is_at_or_below(&path, skip)) {
            news = true;
            frame::write(output, &Collected::Gone(path)).await?;
        }
    }
    if news {
        frame::write(output, &Collected::BatchEnd).await?;
        output.flush().await?;
    }
    Ok(())
}

/// `None` for what is not told: it has vanished, or is too long.
fn read(base: &Base, entry: &Entry) -> Result<Option<Told>, LinkError> {
    let mut told = Told {
        stamp: entry.stamp,
        settled: entry.stamp.is_none_or(is_settled),
        kind: entry.found.kind.clone(),
        data: Vec::new(),
    };
    if let FoundKind::File { mode, size } = told.kind {
        if size > MAX_WATCHED {
            return Ok(None);
        }
        let Some(data) = vanished(fs::read(base.place(&entry.found.path)))? else {
            return Ok(None);
        };
        let size = data.len() as u64;
        if size > MAX_WATCHED {
            return Ok(None);
        }
        told.kind = FoundKind::File { mode, size };
        told.data = data;
    }
    Ok(Some(told))
}

fn is_settled(stamp: Stamp) -> bool {
    let (seconds, nanos) = stamp.changed;
    let since = |value: i64| u64::try_from(value).unwrap_or(0);
    let changed = Duration::from_secs(since(seconds)) + Duration::from_nanos(since(nanos));
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    changed + COARSE < now
}

fn is_at_or_below(path: &[u8], top: &[u8]) -> bool {
    path.strip_prefix(top)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
