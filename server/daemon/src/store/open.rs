//! The file: opened, checked, brought to today's schema, or put aside.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, ErrorCode};

use super::{Db, StoreError};

/// Each one brings a database from the schema of its index to the next. They are never edited, only added to.
const MIGRATIONS: [&str; 3] = [
    include_str!("schema1.sql"),
    include_str!("schema2.sql"),
    include_str!("schema3.sql"),
];

/// Why a database is not used as it is.
enum Trouble {
    /// Its content is broken.
    Corrupt(String),
    /// Anything else.
    Other(StoreError),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt(error.to_string())
            }
            _ => Self::Other(error.into()),
        }
    }
}

pub(super) fn open(path: &Path) -> Result<(Db, Option<String>), StoreError> {
    match attempt(path) {
        Ok(db) => Ok((db, None)),
        Err(Trouble::Other(error)) => Err(error),
        Err(Trouble::Corrupt(reason)) => {
            let aside = put_aside(path)?;
            let notice = format!(
                "the database was broken ({reason}) and was moved to {}: earlier tasks are not listed any more, your \
                 files were not touched",
                aside.display()
            );
            let db = attempt(path).map_err(|trouble| match trouble {
                Trouble::Other(error) => error,
                Trouble::Corrupt(reason) => StoreError::Garbled(reason),
            })?;
            Ok((db, Some(notice)))
        }
    }
}

fn attempt(path: &Path) -> Result<Db, Trouble> {
    make_private(path)?;
    let mut connection = Connection::open(path)
        .map_err(StoreError::from)
        .map_err(Trouble::Other)?;
    // Exclusive, because two daemons with one state directory and two runtime directories would both run its tasks.
    let mode = connection
        .pragma_update(None, "locking_mode", "EXCLUSIVE")
        .and_then(|()| {
            connection
                .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
        })
        .map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Trouble::Other(StoreError::InUse(path.to_owned()))
            }
            _ => error.into(),
        })?;
    if !mode.eq_ignore_ascii_case("wal") {
        let text = format!(
            "{} is on a file system without write-ahead logging: set LEGWORK_STATE to a local one",
            path.display()
        );
        return Err(Trouble::Other(StoreError::Garbled(text)));
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -1024)?;
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(Trouble::Corrupt(verdict));
    }
    migrate(&mut connection, path)?;
    Ok(Db { connection })
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Trouble> {
    let known = i64::try_from(MIGRATIONS.len()).expect("there are few migrations");
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > known {
        return Err(Trouble::Other(StoreError::Newer {
            path: path.to_owned(),
            found,
            known,
        }));
    }
    for (index, migration) in (0..known)
        .zip(MIGRATIONS)
        .skip_while(|(index, _)| *index < found)
    {
        let transaction = connection.transaction()?;
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", index + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

/// SQLite gives the files beside it the rights of the database.
fn make_private(path: &Path) -> Result<(), Trouble> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map(drop)
        .map_err(|source| {
            Trouble::Other(StoreError::Open {
                path: path.to_owned(),
                source,
            })
        })
}

fn put_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let with = |suffix: &str| {
        let mut name = OsString::from(path);
        name.push(suffix);
        PathBuf::from(name)
    };
    let stamp = jiff::Timestamp::now()
        .strftime("%Y%m%dT%H%M%SZ")
        .to_string();
    let mut aside = with(&format!(".corrupt-{stamp}"));
    let mut count = 1;
    while aside.exists() {
        count += 1;
        aside = with(&format!(".corrupt-{stamp}-{count}"));
    }
    for suffix in ["-wal", "-shm"] {
        let mut name = OsString::from(&aside);
        name.push(suffix);
        match std::fs::rename(with(suffix), PathBuf::from(name)) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::Open {
                    path: with(suffix),
                    source,
                });
            }
            _ => {}
        }
    }
    std::fs::rename(path, &aside).map_err(|source| StoreError::Open {
        path: path.to_owned(),
        source,
    })?;
    Ok(aside)
}
