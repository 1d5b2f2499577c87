//! The names in a git index. Read only; nothing else of it is of use here.

/// No index is longer, in bytes.
pub(super) const MAX: u64 = 512 << 20;

/// All paths of an index, sorted; `None` when it is not one that this understands.
pub(super) fn paths(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    // The length of an object's name is not told here: SHA-1 first, then SHA-256.
    read(bytes, 20).or_else(|| read(bytes, 32))
}

fn read(bytes: &[u8], hash: usize) -> Option<Vec<Vec<u8>>> {
    const EXTENDED: u16 = 0x4000;
    const STAT: usize = 40;
    let version = number(bytes.strip_prefix(b"DIRC")?)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = usize::try_from(number(bytes.get(8..)?)?).ok()?;
    let mut at = 12;
    let mut paths = Vec::with_capacity(count.min(bytes.len() / 62));
    let mut last: Vec<u8> = Vec::new();
    for _ in 0..count {
        let start = at;
        let flags_at = start + STAT + hash;
        let flags = u16::from_be_bytes(bytes.get(flags_at..flags_at + 2)?.try_into().ok()?);
        at = flags_at + if flags & EXTENDED == 0 { 2 } else { 4 };
        if version == 4 {
            let drop = offset(bytes, &mut at)?;
            last.truncate(last.len().checked_sub(drop)?);
        } else {
            last.clear();
        }
        let name = bytes.get(at..)?;
        let end = name.iter().position(|&byte| byte == 0)?;
        last.extend_from_slice(&name[..end]);
        at += end + 1;
        let told = usize::from(flags & 0xfff);
        if last.is_empty() || (told < 0xfff && told != last.len()) {
            return None;
        }
        if version < 4 {
            at = start + (at - start).next_multiple_of(8);
        }
        // Unmerged files have up to three entries.
        if paths.last() != Some(&last) {
            paths.push(last.clone());
        }
    }
    paths.sort();
    Some(paths)
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?))
}

/// The variable-length number in front of a name in version 4.
fn offset(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value
            .checked_mul(128)?
            .checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}
