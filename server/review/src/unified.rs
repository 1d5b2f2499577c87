//! A change as git writes it, so that `git apply` and `patch -p1` can read it. Bytes, not text for a screen.

use std::ops::Range;

use legwork_model::TreePath;

use crate::{
    Mode, Version,
    diff::{Region, regions},
    text::lines,
};

/// The difference of two versions of a file in git's extended unified format; empty when they are equal or a directory is
/// on one side. `from` is the old path of a rename. `context` is the number of lines around a change (git shows 3).
///
/// Of permissions it says what git says: whether a file can be executed.
///
/// What is not text is named and not carried ("Binary files … differ"). A change of type is a deletion and a creation.
pub fn unified_diff(
    path: &TreePath,
    from: Option<&TreePath>,
    base: Option<Version<'_>>,
    agent: Option<Version<'_>>,
    context: usize,
) -> Vec<u8> {
    let mut out = Vec::new();
    let file = |version: &Version<'_>| version.mode != Mode::Dir;
    let (base, agent) = (base.filter(file), agent.filter(file));
    let old = from.unwrap_or(path);
    match (base, agent) {
        (None, None) => {}
        (Some(was), Some(is)) if was.mode.is_file() != is.mode.is_file() => {
            one(&mut out, old, old, Some(was), None, context);
            one(&mut out, path, path, None, Some(is), context);
        }
        _ => one(&mut out, old, path, base, agent, context),
    }
    out
}

fn one(
    out: &mut Vec<u8>,
    old: &TreePath,
    new: &TreePath,
    base: Option<Version<'_>>,
    agent: Option<Version<'_>>,
    context: usize,
) {
    if base.map(told) == agent.map(told) && old == new {
        return;
    }
    let a = quoted(b"a/", old);
    let b = quoted(b"b/", new);
    put(out, &[b"diff --git ", &a, b" ", &b, b"\n"]);
    match (base, agent) {
        (None, Some(is)) => put(out, &[b"new file mode ", mode(is.mode), b"\n"]),
        (Some(was), None) => put(out, &[b"deleted file mode ", mode(was.mode), b"\n"]),
        (Some(was), Some(is)) => {
            if mode(was.mode) != mode(is.mode) {
                put(out, &[b"old mode ", mode(was.mode), b"\n"]);
                put(out, &[b"new mode ", mode(is.mode), b"\n"]);
            }
            if old != new {
                put(out, &[b"rename from ", &quoted(b"", old), b"\n"]);
                put(out, &[b"rename to ", &quoted(b"", new), b"\n"]);
            }
        }
        (None, None) => {}
    }
    let (was, is) = (content(base), content(agent));
    if was == is {
        return;
    }
    let a = if base.is_some() {
        a
    } else {
        b"/dev/null".to_vec()
    };
    let b = if agent.is_some() {
        b
    } else {
        b"/dev/null".to_vec()
    };
    if [base, agent]
        .into_iter()
        .flatten()
        .any(|version| version.mode.is_file() && !version.is_text())
    {
        put(out, &[b"Binary files ", &a, b" and ", &b, b" differ\n"]);
        return;
    }
    put(out, &[b"--- ", &a, tab(&a), b"\n"]);
    put(out, &[b"+++ ", &b, tab(&b), b"\n"]);
    body(out, &lines(was), &lines(is), context);
}

/// What git can say of it.
fn told(version: Version<'_>) -> (&'static [u8], &[u8]) {
    (mode(version.mode), version.bytes)
}

fn content(version: Option<Version<'_>>) -> &[u8] {
    version.map_or(&[], |version| version.bytes)
}

fn body(out: &mut Vec<u8>, was: &[&[u8]], is: &[&[u8]], context: usize) {
    let regions = regions(was, is);
    let mut groups: Vec<&[Region]> = Vec::new();
    let mut start = 0;
    for index in 1..=regions.len() {
        let apart = regions.get(index).is_none_or(|next| {
            next.old.start - regions[index - 1].old.end > context.saturating_mul(2)
        });
        if apart {
            groups.push(&regions[start..index]);
            start = index;
        }
    }
    for group in groups {
        put_group(out, was, is, group, context);
    }
}

fn put_group(out: &mut Vec<u8>, was: &[&[u8]], is: &[&[u8]], group: &[Region], context: usize) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    let above = first.old.start.min(context);
    let below = (was.len() - last.old.end).min(context);
    let old = first.old.start - above..last.old.end + below;
    let new = first.new.start - above..last.new.end + below;
    put(out, &[b"@@ -", &range(&old), b" +", &range(&new), b" @@\n"]);
    let mut next = old.start;
    for region in group {
        put_lines(out, b" ", &was[next..region.old.start]);
        put_lines(out, b"-", &was[region.old.clone()]);
        put_lines(out, b"+", &is[region.new.clone()]);
        next = region.old.end;
    }
    put_lines(out, b" ", &was[next..old.end]);
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

fn put_lines(out: &mut Vec<u8>, sign: &[u8], lines: &[&[u8]]) {
    for line in lines {
        put(out, &[sign, line]);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// Lines as a hunk's head tells them: from 1, an empty range by the line above it, a single line without a length.
fn range(lines: &Range<usize>) -> Vec<u8> {
    match lines.len() {
        0 => format!("{},0", lines.start).into_bytes(),
        1 => (lines.start + 1).to_string().into_bytes(),
        n => format!("{},{n}", lines.start + 1).into_bytes(),
    }
}

fn mode(mode: Mode) -> &'static [u8] {
    match mode {
        Mode::File(permissions) if permissions.is_executable() => b"100755",
        Mode::File(_) => b"100644",
        Mode::Symlink => b"120000",
        Mode::Dir => b"040000",
    }
}

/// A file name with a space in it is followed by a tab, so that a reader sees where it ends.
fn tab(name: &[u8]) -> &'static [u8] {
    if name.contains(&b' ') && !name.starts_with(b"\"") {
        b"\t"
    } else {
        b""
    }
}

/// A path as git writes it: in double quotes with C escapes when a byte of it is not plain ASCII.
fn quoted(prefix: &[u8], path: &TreePath) -> Vec<u8> {
    let path = path.as_bytes();
    let plain = |&byte: &u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if path.iter().all(plain) {
        return [prefix, path].concat();
    }
    let mut name = b"\"".to_vec();
    name.extend_from_slice(prefix);
    for byte in path {
        match byte {
            7 => name.extend_from_slice(b"\\a"),
            8 => name.extend_from_slice(b"\\b"),
            b'\t' => name.extend_from_slice(b"\\t"),
            b'\n' => name.extend_from_slice(b"\\n"),
            11 => name.extend_from_slice(b"\\v"),
            12 => name.extend_from_slice(b"\\f"),
            b'\r' => name.extend_from_slice(b"\\r"),
            b'"' | b'\\' => name.extend_from_slice(&[b'\\', *byte]),
            byte if plain(byte) => name.push(*byte),
            byte => name.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    name.push(b'"');
    name
}
