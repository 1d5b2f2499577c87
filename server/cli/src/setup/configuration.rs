//! A file that the user keeps for an editor: read, edited with its comments kept, and put back in one step with the old
//! text beside it. What stands in it is not known here.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use toml_edit::DocumentMut;

use crate::{failure::Failure, printable::printable};

#[cfg(test)]
mod tests;

/// As many backups are kept beside a file before the user has to clean up.
const MOST_BACKUPS: u32 = 100;

/// A file of an editor's configuration, as it is now.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// As the user knows it.
    path: PathBuf,
    /// Where its bytes are: at the end of symbolic links.
    real: PathBuf,
    /// `None` while there is no such file.
    text: Option<String>,
}

impl Configuration {
    /// Reads it. A link that leads nowhere and what is no file of text are refused.
    pub(crate) fn read(path: PathBuf) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::task(
                format!(
                    "cannot read `{}`: {}",
                    shown(&path),
                    printable(&error.to_string())
                ),
                "see to it, or look with --print at what would be written",
            )
        };
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    real: path.clone(),
                    path,
                    text: None,
                });
            }
            Err(error) => return Err(failed(error)),
            Ok(_) => {}
        }
        let real = fs::canonicalize(&path).map_err(failed)?;
        if !fs::metadata(&real).map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is no file")));
        }
        let text = fs::read_to_string(&real).map_err(failed)?;
        Ok(Self {
            path,
            real,
            text: Some(text),
        })
    }

    /// As the user knows it, printable.
    pub(crate) fn name(&self) -> String {
        shown(&self.path)
    }

    /// Its text; empty while there is no such file.
    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Its text after `edit`, which must do nothing to its own result. A text that is no TOML is refused.
    pub(crate) fn edited<T>(
        &self,
        mut edit: impl FnMut(&mut DocumentMut) -> Result<T, Failure>,
    ) -> Result<(String, T), Failure> {
        let mut document: DocumentMut =
            self.text().parse().map_err(|error: toml_edit::TomlError| {
                let place = error.span().map_or_else(String::new, |span| {
                    let before = self.text().get(..span.start).unwrap_or_default();
                    format!("line {}: ", before.matches('\n').count() + 1)
                });
                Failure::task(
                    format!(
                        "`{}` is left as it is, because it is no TOML: {place}{}",
                        self.name(),
                        printable(error.message().trim())
                    ),
                    "mend it and try again",
                )
            })?;
        let told = edit(&mut document)?;
        let text = document.to_string();
        let mut again: DocumentMut = text.parse().map_err(|_| self.beyond())?;
        edit(&mut again)?;
        if again.to_string() == text {
            Ok((text, told))
        } else {
            Err(self.beyond())
        }
    }

    /// The file is written in a way that cannot be added to.
    fn beyond(&self) -> Failure {
        Failure::task(
            format!(
                "`{}` is left as it is: the way it is written cannot be added to safely",
                self.name()
            ),
            "move the file away, let `legwork setup helix --print` say what is needed, and bring the two together",
        )
    }

    /// Puts `text` in its place, if it is another.
    pub(crate) fn write(&self, text: &str) -> Result<Written, Failure> {
        if self.text.as_deref() == Some(text) {
            return Ok(Written::Unchanged);
        }
        self.replace(text).map_err(|error| {
            Failure::task(
                format!(
                    "cannot write `{}`: {}",
                    self.name(),
                    printable(&error.to_string())
                ),
                "with --print it is shown what should be in it",
            )
        })
    }

    fn replace(&self, text: &str) -> io::Result<Written> {
        let dir = self
            .real
            .parent()
            .ok_or_else(|| io::Error::other("it is in no folder"))?;
        let Some(old) = &self.text else {
            fs::create_dir_all(dir)?;
            let new = temporary(dir, text)?;
            new.persist_noclobber(&self.real)?;
            return Ok(Written::Created);
        };
        let permissions = fs::metadata(&self.real)?.permissions();
        if permissions.readonly() {
            return Err(io::Error::other("it is read-only"));
        }
        let backup = self.keep(dir, old, &permissions)?;
        let new = temporary(dir, text)?;
        new.as_file().set_permissions(permissions)?;
        if fs::read(&self.real)? != old.as_bytes() {
            return Err(io::Error::other("somebody else is changing it"));
        }
        new.persist(&self.real)?;
        Ok(Written::Changed { backup })
    }

    /// Keeps the old text beside the file, under the first name that is free.
    fn keep(&self, dir: &Path, old: &str, permissions: &fs::Permissions) -> io::Result<PathBuf> {
        let mut name = self.real.clone().into_os_string();
        name.push(".bak");
        for number in 1..=MOST_BACKUPS {
            let mut name = name.clone();
            if number > 1 {
                name.push(number.to_string());
            }
            let copy = temporary(dir, old)?;
            copy.as_file().set_permissions(permissions.clone())?;
            match copy.persist_noclobber(&name) {
                Ok(_) => return Ok(name.into()),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.error),
            }
        }
        Err(io::Error::other("there are too many backups beside it"))
    }
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It says what it should.
    Unchanged,
    /// There was none.
    Created,
    /// The old text is in `backup`.
    Changed {
        /// A file beside the changed one.
        backup: PathBuf,
    },
}

fn temporary(dir: &Path, text: &str) -> io::Result<tempfile::NamedTempFile> {
    // As open as the user's mask lets a new file be; a changed one is given its old permissions.
    let mut file = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}
