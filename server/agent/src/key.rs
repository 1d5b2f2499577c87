//! Keys of model APIs: read from a variable or a file that is the user's alone, put into one header, shown nowhere.

use std::{
    fmt,
    io::Read as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use legwork_model::ModelConfig;
use secrecy::{ExposeSecret as _, SecretString};

/// The longest key, in bytes.
const LONGEST: usize = 8 << 10;

/// A key. It is wiped from memory when it is dropped, and nothing can print it.
#[derive(Clone)]
pub struct ApiKey(SecretString);

/// Why there is no key. The key itself is in no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set.
    #[error("{0} is not set")]
    Unset(String),
    /// The file cannot be read.
    #[error("the key file {0} cannot be read: {1}")]
    Unreadable(PathBuf, String),
    /// Others could read the file.
    #[error("the key file {0} can be read by others, or belongs to another user")]
    Open(PathBuf),
    /// What is there is no key.
    #[error("what stands in {0} is no key: it is {1}")]
    Malformed(String, &'static str),
    /// There is no home directory.
    #[error("HOME is not set, and the key file is given below it")]
    Homeless,
}

impl ApiKey {
    /// Takes a key as it was written down: blanks and line ends around it are not part of it.
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`], which names `place`.
    pub fn new(text: &str, place: &str) -> Result<Self, KeyError> {
        let key = text.trim();
        let wrong = |why| Err(KeyError::Malformed(place.to_owned(), why));
        if key.is_empty() {
            wrong("empty")
        } else if key.len() > LONGEST {
            wrong("too long")
        } else if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            wrong("more than one word of plain letters, digits and signs")
        } else {
            Ok(Self(SecretString::from(key)))
        }
    }

    /// The key that a model is configured with. `None` where none is named, its usual variable is not set, and the API is
    /// not the provider's own: many local servers want none.
    ///
    /// # Errors
    ///
    /// [`KeyError`].
    pub fn of(config: &ModelConfig) -> Result<Option<Self>, KeyError> {
        if let Some(path) = &config.key_file {
            return Self::read(&expand(path)?).map(Some);
        }
        let usual = config.provider.key_variable();
        let name = config.key_env.as_deref().unwrap_or(usual);
        match std::env::var(name) {
            Ok(value) if !value.trim().is_empty() => Self::new(&value, name).map(Some),
            // A usual key is for its own provider and for nobody else.
            _ if config.url.is_some() && config.key_env.is_none() => Ok(None),
            _ => Err(KeyError::Unset(name.to_owned())),
        }
    }

    /// Reads a key file that only its owner can read.
    ///
    /// # Errors
    ///
    /// [`KeyError`].
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let failed =
            |error: std::io::Error| KeyError::Unreadable(path.to_owned(), error.to_string());
        // A FIFO in its place must not hold anybody up.
        let file = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(NONBLOCK)
            .open(path)
            .map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let own = std::fs::metadata("/proc/self").map_err(failed)?.uid();
        if !metadata.is_file() || metadata.uid() != own || metadata.mode() & 0o077 != 0 {
            return Err(KeyError::Open(path.to_owned()));
        }
        let mut text = String::new();
        file.take(LONGEST as u64 + 3)
            .read_to_string(&mut text)
            .map_err(failed)?;
        Self::new(&text, &path.display().to_string())
    }

    /// For the one header that it is for.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Takes the key out of a text: an API may say it back.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(self.expose(), "[key]")
    }
}

/// `O_NONBLOCK`.
const NONBLOCK: i32 = 0o4000;

fn expand(path: &str) -> Result<PathBuf, KeyError> {
    match path.strip_prefix("~/") {
        None => Ok(path.into()),
        Some(below) => {
            let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
            Ok(Path::new(&home.ok_or(KeyError::Homeless)?).join(below))
        }
    }
}

impl KeyError {
    /// What to do, as a sentence without a full stop.
    pub fn hint(&self) -> String {
        match self {
            Self::Unset(name) => format!(
                "set {name} and run `legwork daemon stop`, so that the daemon starts again with it; or write the key into a \
                 file of mode 0600 and name that by `key_file` under `[model]` in config.toml"
            ),
            Self::Unreadable(..) => {
                "write the key into it, or correct `model.key_file` in config.toml".to_owned()
            }
            Self::Open(path) => format!("run `chmod 600 {}` as its owner", path.display()),
            Self::Malformed(..) => "copy the key once more, alone on one line".to_owned(),
            Self::Homeless => "give the whole path in `model.key_file`".to_owned(),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn b125_a_key_is_trimmed_and_never_printed() {
        let key = ApiKey::new(" sk-secret-1\r\n", "K").unwrap();
        assert_eq!(key.expose(), "sk-secret-1");
        assert_eq!(format!("{key:?} {key:#?}"), "ApiKey ApiKey");
        assert_eq!(key.redact("no: sk-secret-1!"), "no: [key]!");
        for wrong in ["", " \n", "sk-secret 2", "sk-secret\n2", "sk-sécret"] {
            let error = ApiKey::new(wrong, "K").unwrap_err();
            assert!(
                !format!("{error} {error:?} {}", error.hint()).contains("cret"),
                "{error}"
            );
        }
    }

    #[test]
    fn b125_a_key_file_is_the_users_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        assert!(matches!(ApiKey::read(&path), Err(KeyError::Unreadable(..))));
        std::fs::write(&path, "sk-1\n").unwrap();
        for (mode, fits) in [
            (0o644, false),
            (0o640, false),
            (0o604, false),
            (0o600, true),
            (0o400, true),
        ] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(ApiKey::read(&path).is_ok(), fits, "{mode:o}");
        }
        assert!(matches!(ApiKey::read(dir.path()), Err(KeyError::Open(_))));
    }
}
