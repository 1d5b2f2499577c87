//! Why a sandbox cannot do what was asked. Each message is a sentence; [`HostError::hint`] is the next step.

use legwork_image::{ArtifactError, BootError, KernelError, OciError, RootError, ScratchError};
use legwork_link::LinkError;

/// Why a sandbox cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A part of the installation is missing.
    #[error("{what} is not installed beside this program")]
    Installation {
        /// The missing program.
        what: &'static str,
    },
    /// This host cannot run a virtual machine as asked.
    #[error("{message}")]
    Unable {
        /// Why.
        message: String,
        /// What to do.
        hint: String,
    },
    /// An image that the machine needs cannot be made.
    #[error("{0}")]
    Image(String),
    /// The machine did not come up. `console` is the end of what it said.
    #[error("the virtual machine did not come up: {reason}")]
    Boot {
        /// Why.
        reason: String,
        /// The end of the guest's console and of the machine's own words.
        console: String,
    },
    /// The machine ended while something was asked of it.
    #[error("the virtual machine ended before the answer came ({how})")]
    Died {
        /// How its process ended.
        how: String,
        /// The end of the guest's console and of the machine's own words.
        console: String,
    },
    /// The guest does not answer any more.
    #[error("the guest did not answer in time")]
    Silent,
    /// The guest's answer broke the protocol or could not be completed.
    #[error("the guest's answer cannot be used: {0}")]
    Protocol(String),
    /// The machine's own directory cannot be used.
    #[error("failed to {action}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl HostError {
    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    /// What to do next, as a sentence without a full stop.
    pub fn hint(&self) -> String {
        match self {
            Self::Installation { .. } => "run `cargo xtask build`, or install Legwork again".into(),
            Self::Unable { hint, .. } => hint.clone(),
            Self::Image(_) => "`legwork doctor` says what is missing".into(),
            Self::Boot { console, .. } | Self::Died { console, .. } if !console.is_empty() => {
                format!("its last words were: {console}")
            }
            Self::Boot { .. } | Self::Died { .. } | Self::Silent | Self::Protocol(_) => {
                "run the task again with `legwork retry`; if it happens again, `legwork doctor` may tell more".into()
            }
            Self::Io { .. } => "make room on the disk or mend its permissions, then `legwork retry`".into(),
        }
    }
}

/// An error with all its causes in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}

macro_rules! from_image {
    ($($error:ty),*) => {
        $(impl From<$error> for HostError {
            fn from(error: $error) -> Self {
                Self::Image(chain(&error))
            }
        })*
    };
}
from_image!(
    ArtifactError,
    BootError,
    KernelError,
    OciError,
    RootError,
    ScratchError
);

impl From<LinkError> for HostError {
    fn from(error: LinkError) -> Self {
        Self::Protocol(error.to_string())
    }
}
