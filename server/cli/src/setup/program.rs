//! How an editor starts this very program, and where what comes with it lies.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::{failure::Failure, printable::printable};

/// This program's own file.
pub(crate) fn file() -> Result<PathBuf, Failure> {
    env::current_exe()
        .and_then(std::fs::canonicalize)
        .map_err(|error| {
            Failure::host(
                format!(
                    "cannot tell where this program lies: {}",
                    printable(&error.to_string())
                ),
                "start it by its full path",
            )
        })
}

/// What starts `file`: its short name if a search on `PATH` ends at it, else its full path.
pub(crate) fn command(file: &Path) -> Result<String, Failure> {
    if on_path("legwork").is_some_and(|found| found == file) {
        return Ok("legwork".to_owned());
    }
    file.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::host(
            format!(
                "`{}` is not UTF-8, and editors' files cannot name it",
                printable(&file.to_string_lossy())
            ),
            "put this program into a folder of `PATH`",
        )
    })
}

/// The file, with no link in it, that a search for a program ends at.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .filter(|dir| dir.is_absolute())
        .filter_map(|dir| std::fs::canonicalize(dir.join(name)).ok())
        .find(|file| {
            rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok() && file.is_file()
        })
}
