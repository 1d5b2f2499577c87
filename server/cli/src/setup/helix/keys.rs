//! What config.toml needs: keys behind `space l`, messages of the servers, and diagnostics under the line that the cursor
//! is in. A key that is bound stays as it is.

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::printable::printable;

#[cfg(test)]
mod tests;

/// A key behind `space l`.
struct Bound {
    key: &'static str,
    /// What it does; `PROGRAM` stands for what starts this program.
    does: &'static str,
    /// Also where text is being selected.
    selecting: bool,
    /// From which version on Helix can do it.
    since: (u32, u32),
}

const OLDEST: (u32, u32) = (25, 1);

/// A command of the language server.
const fn runs(key: &'static str, does: &'static str) -> Bound {
    Bound {
        key,
        does,
        selecting: false,
        since: OLDEST,
    }
}

/// A line that is begun for the user, about the selection.
const fn asks(key: &'static str, does: &'static str, since: (u32, u32)) -> Bound {
    Bound {
        key,
        does,
        selecting: true,
        since,
    }
}

const KEYS: [Bound; 14] = [
    runs("n", ":lsp-workspace-command legwork.new"),
    runs("l", ":lsp-workspace-command legwork.tasks"),
    runs("r", ":lsp-workspace-command legwork.review"),
    runs("j", ":lsp-workspace-command legwork.next"),
    runs("k", ":lsp-workspace-command legwork.prev"),
    runs("y", ":lsp-workspace-command legwork.accept"),
    runs("x", ":lsp-workspace-command legwork.reject"),
    runs("f", ":lsp-workspace-command legwork.acceptFile"),
    runs("A", ":lsp-workspace-command legwork.acceptTask"),
    runs("u", ":lsp-workspace-command legwork.undo"),
    runs("c", ":lsp-workspace-command legwork.cancel"),
    asks("s", "@:sh PROGRAM delegate ", OLDEST),
    asks("t", "@:pipe-to PROGRAM delegate --stdin ", OLDEST),
    asks(
        "d",
        "@:lsp-workspace-command legwork.delegate {\"file\":\"%{buffer_name}\",\
         \"from\":%{selection_line_start},\"to\":%{selection_line_end}} \"",
        (25, 7),
    ),
];

/// Adds what is missing; tells what was left alone or left out.
pub(crate) fn add(
    document: &mut DocumentMut,
    program: &str,
    version: Option<(u32, u32)>,
) -> Vec<String> {
    let mut told = Vec::new();
    setting(
        document,
        ["editor", "lsp"],
        "display-progress-messages",
        true.into(),
        &mut told,
    );
    setting(
        document,
        ["editor", "inline-diagnostics"],
        "cursor-line",
        "info".into(),
        &mut told,
    );
    let typable = program
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || "/._-+".contains(char));
    if !typable {
        told.push(format!(
            "`space l s` and `space l t` are left out, because `{}` would have to be quoted: put `legwork` on `PATH`",
            printable(program)
        ));
    }
    let able = |bound: &Bound| version.unwrap_or(OLDEST) >= bound.since;
    if let Some(bound) = KEYS.iter().find(|bound| !able(bound)) {
        told.push(format!(
            "`space l {}` is left out: Helix can do it from {}.{:02} on",
            bound.key, bound.since.0, bound.since.1
        ));
    }
    for mode in ["normal", "select"] {
        let path = ["keys", mode, "space", "l"];
        let Some(keys) = table(document.as_table_mut(), &path) else {
            told.push(format!(
                "`space l` is bound to something else in {mode} mode; it is left alone, and there is no key for Legwork"
            ));
            continue;
        };
        for bound in KEYS.iter().filter(|bound| able(bound)) {
            let fits = bound.selecting || mode == "normal";
            if fits && (typable || !bound.does.contains("PROGRAM")) {
                bind(
                    keys,
                    mode,
                    bound.key,
                    &bound.does.replace("PROGRAM", program),
                    &mut told,
                );
            }
        }
    }
    told
}

/// Sets what the user did not.
fn setting(
    document: &mut DocumentMut,
    path: [&str; 2],
    key: &str,
    value: Value,
    told: &mut Vec<String>,
) {
    let name = format!("{}.{}.{key}", path[0], path[1]);
    let Some(table) = table(document.as_table_mut(), &path) else {
        told.push(format!(
            "`{name}` cannot be set, because config.toml has something else there"
        ));
        return;
    };
    match table.get(key) {
        None => {
            table.insert(key, Item::Value(value));
        }
        Some(item) if shown(item) == value.to_string() => {}
        Some(item) => told.push(format!(
            "`{name}` is {} in config.toml; {value} shows more of Legwork",
            printable(&shown(item))
        )),
    }
}

fn bind(keys: &mut dyn TableLike, mode: &str, key: &str, does: &str, told: &mut Vec<String>) {
    match keys.get(key) {
        None => {
            keys.insert(key, does.into());
        }
        Some(item) if item.as_str() == Some(does) => {}
        Some(item) => told.push(format!(
            "`space l {key}` does {} in {mode} mode; it is left alone, and `{does}` has no key",
            printable(&shown(item))
        )),
    }
}

fn shown(item: &Item) -> String {
    item.to_string().trim().to_owned()
}

/// The table at a path, made where there is nothing; `None` where there is something else.
fn table<'a>(root: &'a mut dyn TableLike, path: &[&str]) -> Option<&'a mut dyn TableLike> {
    let mut table = root;
    let mut inline = false;
    for (depth, key) in path.iter().enumerate() {
        let new = if inline {
            Item::Value(Value::InlineTable(toml_edit::InlineTable::new()))
        } else {
            let mut new = Table::new();
            new.set_implicit(depth + 1 < path.len());
            Item::Table(new)
        };
        let item = table.entry(key).or_insert(new);
        inline = item.is_value();
        table = item.as_table_like_mut()?;
    }
    Some(table)
}
