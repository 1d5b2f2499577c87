//! The order that frames of a listing must come in, which a guest may not keep to. Pure.

use legwork_link::{Collected, FoundKind, MAX_COLLECTED, MAX_WATCHED};

use crate::HostError;

/// What a listing is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All there is, once.
    Whole,
    /// Batches, without end.
    Watch,
}

/// Where a listing stands.
#[derive(Debug)]
pub(crate) struct Order {
    kind: Kind,
    /// Bytes of the file that is being told.
    file: Option<u64>,
    /// What comes next has attributes.
    attributes: bool,
    batch: bool,
}

/// What a frame means for the listing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is to be handed on.
    Frame(Collected),
    /// All was told.
    Done,
}

impl Order {
    /// Nothing came yet.
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            file: None,
            attributes: false,
            batch: false,
        }
    }

    /// Whether more must come soon: the guest is in the middle of something.
    pub(crate) fn is_open(&self) -> bool {
        self.kind == Kind::Whole || self.batch
    }

    /// Takes the next frame; `None` is the end of the stream.
    ///
    /// # Errors
    ///
    /// [`HostError::Protocol`] when it cannot come here, or the guest gave up.
    pub(crate) fn take(&mut self, frame: Option<Collected>) -> Result<Next, HostError> {
        let wrong = |what: &str| Err(HostError::Protocol(what.into()));
        let watch = self.kind == Kind::Watch;
        match &frame {
            Some(Collected::Failed(reason)) => {
                let words: String = reason
                    .chars()
                    .filter(|c| !c.is_control())
                    .take(300)
                    .collect();
                return Err(HostError::Protocol(words));
            }
            Some(Collected::Done) if self.file.is_none() && !self.attributes && !watch => {
                return Ok(Next::Done);
            }
            Some(Collected::Found(found)) if self.file.is_none() => {
                self.file = matches!(found.kind, FoundKind::File { .. }).then_some(0);
                self.attributes = false;
                self.batch = true;
            }
            Some(Collected::Attributes) if self.file.is_none() && !self.attributes && !watch => {
                self.attributes = true;
            }
            Some(Collected::Data(bytes)) if let Some(length) = &mut self.file => {
                *length = length.saturating_add(bytes.len() as u64);
                let most = if watch { MAX_WATCHED } else { MAX_COLLECTED };
                if *length > most {
                    return wrong("a file is told that is too long for a listing");
                }
            }
            Some(Collected::EndOfFile) if self.file.is_some() => self.file = None,
            Some(Collected::Gone(_)) if self.file.is_none() && watch => self.batch = true,
            Some(Collected::BatchEnd) if self.file.is_none() && watch => self.batch = false,
            _ => return wrong("a listing is out of order"),
        }
        frame.map_or_else(
            || wrong("a listing is out of order"),
            |frame| Ok(Next::Frame(frame)),
        )
    }
}

#[cfg(test)]
mod tests {
    use legwork_link::Found;

    use super::*;

    fn found(kind: FoundKind) -> Collected {
        let path = b"a".to_vec();
        Collected::Found(Found { path, kind })
    }

    fn file() -> Collected {
        found(FoundKind::File { mode: 0, size: 0 })
    }

    fn data(length: usize) -> Collected {
        Collected::Data(vec![0; length])
    }

    /// How many frames are taken before one is refused, or all of them.
    fn taken(kind: Kind, frames: &[Collected]) -> usize {
        let mut order = Order::new(kind);
        let refused = |frame: &Collected| order.take(Some(frame.clone())).is_err();
        frames.iter().position(refused).unwrap_or(frames.len())
    }

    #[test]
    fn frames_are_taken_in_order_only() {
        use Collected::{BatchEnd, Done, EndOfFile, Gone};
        let gone = || Gone(b"b".to_vec());
        let whole = [
            Collected::Attributes,
            file(),
            data(3),
            data(3),
            EndOfFile,
            found(FoundKind::Whiteout),
            Done,
        ];
        assert_eq!(taken(Kind::Whole, &whole), 7);
        assert_eq!(taken(Kind::Watch, &whole), 0, "a watch tells no attributes");
        assert_eq!(taken(Kind::Watch, &whole[1..]), 5, "a watch is never done");
        let watch = [
            gone(),
            file(),
            EndOfFile,
            BatchEnd,
            BatchEnd,
            file(),
            data(1),
        ];
        assert_eq!(taken(Kind::Watch, &watch), 7);
        assert_eq!(taken(Kind::Whole, &watch), 0);
        let twice = [Collected::Attributes, Collected::Attributes];
        assert_eq!(taken(Kind::Whole, &twice), 1);
        assert_eq!(taken(Kind::Whole, &[Collected::Attributes, Done]), 1);
        for kind in [Kind::Whole, Kind::Watch] {
            assert_eq!(taken(kind, &[data(1)]), 0);
            assert_eq!(taken(kind, &[EndOfFile]), 0);
            for inside in [file(), Done, gone(), BatchEnd, found(FoundKind::Whiteout)] {
                assert_eq!(taken(kind, &[file(), inside]), 1);
            }
            let mut order = Order::new(kind);
            assert!(order.take(None).is_err(), "it hung up");
            let words = "\u{1b}[31m".to_owned() + &"long ".repeat(100);
            let failed = order
                .take(Some(Collected::Failed(words)))
                .unwrap_err()
                .to_string();
            assert!(!failed.contains('\u{1b}') && failed.len() < 400, "{failed}");
        }
    }

    #[test]
    fn a_listing_tells_no_file_without_end() {
        let mut order = Order::new(Kind::Whole);
        order.take(Some(file())).unwrap();
        let most = usize::try_from(MAX_COLLECTED).unwrap();
        order.take(Some(data(most))).unwrap();
        assert!(order.take(Some(data(1))).is_err());
    }

    #[test]
    fn a_watch_tells_no_long_files_and_may_be_quiet_between_batches() {
        let mut order = Order::new(Kind::Watch);
        assert!(!order.is_open());
        order.take(Some(file())).unwrap();
        assert!(order.is_open());
        let most = usize::try_from(MAX_WATCHED).unwrap();
        order.take(Some(data(most))).unwrap();
        assert!(order.take(Some(data(1))).is_err());
        let mut order = Order::new(Kind::Watch);
        order.take(Some(found(FoundKind::Whiteout))).unwrap();
        order.take(Some(Collected::BatchEnd)).unwrap();
        assert!(!order.is_open());
        assert!(Order::new(Kind::Whole).is_open());
    }
}
