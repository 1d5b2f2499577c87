//! What languages.toml needs: the server itself, and each language with its own servers and Legwork behind them. What
//! the user wrote stays, with its comments and in its order.

use std::collections::BTreeSet;

use toml_edit::{
    Array, ArrayOfTables, Decor, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value,
};

use super::{defaults::Defaults, embedded::takes_txt};
use crate::{failure::Failure, printable::printable};

#[cfg(test)]
mod tests;

/// The server's name in Helix's files.
const SERVER: &str = "legwork";

/// The language of the scratch file that a task is written in.
const TASK: &str = "legwork-task";

/// Plain text, which Helix has no language for.
const TEXT: &str = "text";

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    /// What starts this program.
    pub(crate) program: &'a str,
    pub(crate) defaults: &'a Defaults,
    /// Only these languages, unless it is empty.
    pub(crate) only: &'a [String],
}

impl Wanted<'_> {
    fn is_wanted(&self, language: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == language)
    }

    /// The servers of a language that says nothing of them.
    fn servers(&self, language: &str) -> Array {
        let mut list = self.defaults.servers(language).cloned().unwrap_or_default();
        list.push(SERVER);
        list
    }
}

/// Adds what is missing; tells what was left alone although it stands in the way.
pub(crate) fn add(document: &mut DocumentMut, wanted: &Wanted<'_>) -> Result<Vec<String>, Failure> {
    let mut told = Vec::new();
    server(document, wanted, &mut told)?;
    let mut there = Names::default();
    let languages = document
        .entry("language")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    match languages {
        Item::ArrayOfTables(tables) => {
            for table in tables.iter_mut() {
                attach(table, wanted, &mut there, &mut told);
            }
            for language in missing(wanted, &there)? {
                tables.push(language);
            }
        }
        Item::Value(Value::Array(list)) => {
            for value in list.iter_mut() {
                if let Value::InlineTable(table) = value {
                    attach(table, wanted, &mut there, &mut told);
                }
            }
            for language in missing(wanted, &there)? {
                append(list, Value::InlineTable(language.into_inline_table()));
            }
        }
        _ => return Err(odd("language", "a list of languages")),
    }
    Ok(told)
}

/// What the user's file says of languages by now.
#[derive(Debug, Default)]
struct Names {
    names: BTreeSet<String>,
    takes_txt: bool,
}

/// Makes the server known.
fn server(
    document: &mut DocumentMut,
    wanted: &Wanted<'_>,
    told: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut group = Table::new();
    group.set_implicit(true);
    let servers = document
        .entry("language-server")
        .or_insert(Item::Table(group));
    let inline = servers.is_value();
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| odd("language-server", "a table of servers"))?;
    if let Some(server) = servers.get(SERVER) {
        let command = server
            .as_table_like()
            .and_then(|server| server.get("command")?.as_str());
        if command != Some(wanted.program) {
            told.push(format!(
                "languages.toml starts Legwork as `{}` already, and not as `{}`; that is left alone",
                printable(command.unwrap_or("?")),
                printable(wanted.program)
            ));
        }
        return Ok(());
    }
    let mut server = Table::new();
    server.insert("command", wanted.program.into());
    server.insert("args", Item::Value(Value::Array(Array::from_iter(["lsp"]))));
    let server = if inline {
        Item::Value(Value::InlineTable(server.into_inline_table()))
    } else {
        Item::Table(server)
    };
    servers.insert(SERVER, server);
    Ok(())
}

/// Puts Legwork behind the servers of a language in the user's file.
fn attach(
    language: &mut dyn TableLike,
    wanted: &Wanted<'_>,
    there: &mut Names,
    told: &mut Vec<String>,
) {
    let Some(name) = language
        .get("name")
        .and_then(Item::as_str)
        .map(str::to_owned)
    else {
        return;
    };
    there.takes_txt |= takes_txt(language.get("file-types"));
    if wanted.is_wanted(&name) || name == TASK {
        match language.get_mut("language-servers") {
            None => {
                let list = Value::Array(wanted.servers(&name));
                language.insert("language-servers", Item::Value(list));
            }
            Some(Item::Value(Value::Array(list))) => {
                if !list.iter().any(is_ours) {
                    append(list, SERVER.into());
                }
            }
            Some(_) => told.push(format!(
                "the servers of `{}` are no list in languages.toml; they are left alone",
                printable(&name)
            )),
        }
    }
    there.names.insert(name);
}

fn is_ours(server: &Value) -> bool {
    let named = server
        .as_inline_table()
        .and_then(|server| server.get("name"));
    named.unwrap_or(server).as_str() == Some(SERVER)
}

/// The languages that the user's file does not have.
fn missing(wanted: &Wanted<'_>, there: &Names) -> Result<Vec<Table>, Failure> {
    let known = |name: &str| {
        name == TEXT || there.names.contains(name) || wanted.defaults.servers(name).is_some()
    };
    if let Some(name) = wanted.only.iter().find(|name| !known(name)) {
        return Err(Failure::usage(
            format!("Helix knows no language `{}`", printable(name)),
            "`hx --health languages` lists those that it knows",
        ));
    }
    let mut languages: Vec<_> = wanted
        .defaults
        .iter()
        .map(|(name, _)| name)
        .filter(|name| wanted.is_wanted(name) && !there.names.contains(*name))
        .map(|name| table(name, wanted.servers(name)))
        .collect();
    let has_text = there.takes_txt
        || wanted.defaults.takes_txt
        || there.names.contains(TEXT)
        || wanted.defaults.servers(TEXT).is_some();
    if wanted.is_wanted(TEXT) && !has_text {
        languages.push(new(TEXT, "txt".into()));
    }
    if !there.names.contains(TASK) {
        let glob = InlineTable::from_iter([("glob", ".legwork/new-task.*")]);
        languages.push(new(TASK, Value::InlineTable(glob)));
    }
    Ok(languages)
}

fn table(name: &str, servers: Array) -> Table {
    let mut table = Table::new();
    table.insert("name", name.into());
    table.insert("language-servers", Item::Value(Value::Array(servers)));
    table
}

/// A language that Helix does not have.
fn new(name: &str, file_type: Value) -> Table {
    let mut types = Array::new();
    types.push(file_type);
    let mut table = table(name, Array::from_iter([SERVER]));
    table.insert("scope", "text.plain".into());
    table.insert("file-types", Item::Value(Value::Array(types)));
    table
}

/// Adds a value behind the last one: on a line of its own if that one has one.
fn append(list: &mut Array, mut value: Value) {
    let last = list.iter().last();
    let before = last.and_then(|last| last.decor().prefix()?.as_str());
    match before.and_then(|space| space.rsplit_once('\n')) {
        Some((_, indent)) if indent.trim().is_empty() => {
            *value.decor_mut() = Decor::new(format!("\n{indent}"), "");
            list.push_formatted(value);
        }
        _ => list.push(value),
    }
}

fn odd(key: &str, what: &str) -> Failure {
    Failure::task(
        format!(
            "languages.toml is left as it is: `{}` is not {what} in it",
            Key::new(key)
        ),
        "see `legwork setup helix --print --config-dir` with an empty folder for what is needed",
    )
}
