//! Tells the host what programs change while they change it. It polls: an overlay's upper layer tells nobody by itself
//! what goes on in it, and one scan of what was changed is cheap.

use std::{
    cell::RefCell,
    collections::{HashSet, VecDeque},
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

use legwork_link::{Collected, LinkError, Substream, WatchInput, frame};
use tokio::io::{AsyncWriteExt as _, ReadHalf, WriteHalf};

use crate::scan::{Known, News, Step, Trouble};

/// Most entries that are looked at again and again.
const MOST: usize = 20_000;

/// The shortest pause between two scans.
const PAUSE: Duration = Duration::from_millis(80);

/// The longest.
const LONGEST: Duration = Duration::from_secs(5);

/// The pause is this many times as long as a scan, so that a watch takes at most a twentieth of one processor.
const SHARE: u32 = 20;

/// The pause follows the quickest of so many scans: one that took longer waited for a processor.
const SCANS: usize = 4;

/// After so many entries others have their turn: the agent has one thread.
const TURN: u32 = 128;

/// Paths that the host does not want.
type Skips = RefCell<HashSet<Vec<u8>>>;

/// Runs until the host closes the substream, or there is too much to watch.
pub(crate) async fn watch(upper: BorrowedFd<'_>, substream: Substream) -> Result<(), LinkError> {
    let (input, mut output) = tokio::io::split(substream);
    let skips = Skips::default();
    tokio::select! {
        () = obey(input, &skips) => Ok(()),
        ended = tell(upper, &mut output, &skips) => ended,
    }
}

/// Ends when the host closes the substream.
async fn obey(mut input: ReadHalf<Substream>, skips: &Skips) {
    while let Ok(Some(WatchInput::Skip(path))) = frame::read(&mut input).await {
        skips.borrow_mut().insert(path);
    }
}

async fn tell(
    upper: BorrowedFd<'_>,
    output: &mut WriteHalf<Substream>,
    skips: &Skips,
) -> Result<(), LinkError> {
    let mut known = Known::new(MOST);
    let mut scans = VecDeque::new();
    loop {
        let looking = match batch(upper, output, &mut known, skips).await {
            Ok(looking) => looking,
            Err(Broken::Link(error)) => return Err(error),
            Err(Broken::Watch(trouble)) => {
                let words = match trouble {
                    Trouble::Full(most) => format!("more than {most} files and folders changed"),
                    Trouble::Disk(path, errno) => {
                        format!("cannot read {}: {errno}", String::from_utf8_lossy(&path))
                    }
                };
                frame::write(output, &Collected::Failed(words)).await?;
                output.shutdown().await?;
                return Ok(());
            }
        };
        scans.push_back(looking);
        if scans.len() > SCANS {
            scans.pop_front();
        }
        let quickest = scans.iter().min().copied().unwrap_or_default();
        tokio::time::sleep((quickest * SHARE).clamp(PAUSE, LONGEST)).await;
    }
}

enum Broken {
    Link(LinkError),
    Watch(Trouble),
}

impl From<LinkError> for Broken {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

impl From<Trouble> for Broken {
    fn from(trouble: Trouble) -> Self {
        Self::Watch(trouble)
    }
}

/// One scan; what is another is told. Gives how long the looking at all that was as before took.
async fn batch(
    upper: BorrowedFd<'_>,
    output: &mut WriteHalf<Substream>,
    known: &mut Known,
    skips: &Skips,
) -> Result<Duration, Broken> {
    let skips = skips.borrow().clone();
    let mut looking = Duration::ZERO;
    let mut told = false;
    let mut scan = known.scan(upper, &skips)?;
    for turn in 1_u32.. {
        let clock = Instant::now();
        match scan.step()? {
            Step::End => break,
            Step::Nothing => looking += clock.elapsed(),
            Step::News(news) => {
                told = true;
                send(output, news).await?;
            }
            Step::Gone(path) => {
                told = true;
                frame::write(output, &Collected::Gone(path)).await?;
            }
        }
        if turn.is_multiple_of(TURN) {
            tokio::task::yield_now().await;
        }
    }
    for path in scan.gone() {
        told = true;
        frame::write(output, &Collected::Gone(path)).await?;
    }
    if told {
        frame::write(output, &Collected::BatchEnd).await?;
        output.flush().await.map_err(LinkError::from)?;
    }
    Ok(looking)
}

async fn send(output: &mut WriteHalf<Substream>, news: News) -> Result<(), LinkError> {
    let is_file = matches!(news.found.kind, legwork_link::FoundKind::File { .. });
    frame::write(output, &Collected::Found(news.found)).await?;
    if is_file {
        for piece in news.data.chunks(frame::MAX_DATA) {
            frame::write(output, &Collected::Data(piece.to_vec())).await?;
        }
        frame::write(output, &Collected::EndOfFile).await?;
    }
    Ok(())
}
