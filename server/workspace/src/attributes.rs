//! Extended attributes and access lists of the user's files. No guest sees them; a file that is replaced keeps them.

use std::{fs::File, io, os::fd::AsFd};

use rustix::{
    fs::{XattrFlags, fgetxattr, flistxattr, flistxattr_query, fsetxattr},
    io::Errno,
};

/// Attributes are at most so long, in bytes; Linux knows no longer ones.
const LONGEST: usize = 64 << 10;

/// Whether an attribute is the user's doing. Labels that a system gives every file, and what belongs to a file system's own
/// workings, are not.
fn is_the_users(name: &[u8]) -> bool {
    name.starts_with(b"user.")
        || name.starts_with(b"system.posix_acl_")
        || name == b"security.capability"
}

/// Whether there are any of the user's. A file system without them has none.
pub(crate) fn has_any(file: impl AsFd) -> bool {
    names(file).is_ok_and(|names| names.iter().any(|name| is_the_users(name)))
}

/// Gives a file that takes another's place what that has. What the kernel takes from every file that is written to, the
/// right to act as somebody else, goes here as well.
pub(crate) fn carry(from: &File, to: &File) -> io::Result<()> {
    for name in names(from)? {
        let is_label = name.starts_with(b"security.") && name != b"security.capability";
        if name == b"security.capability" || !(is_the_users(&name) || is_label) {
            continue;
        }
        let mut value = vec![0; LONGEST];
        let length = match fgetxattr(from, name.as_slice(), &mut value[..]) {
            Ok(length) => length,
            // It went away.
            Err(Errno::NODATA) => continue,
            Err(error) => return Err(error.into()),
        };
        match fsetxattr(to, name.as_slice(), &value[..length], XattrFlags::empty()) {
            // The system gave the new file a label by its own rules.
            Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP | Errno::INVAL) if is_label => {}
            set => set?,
        }
    }
    Ok(())
}

fn names(file: impl AsFd) -> Result<Vec<Vec<u8>>, Errno> {
    // Nearly all files have none, and that costs one call and no memory.
    let length = match flistxattr_query(file.as_fd()) {
        Ok(0) | Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        Ok(length) => length,
        Err(error) => return Err(error),
    };
    let mut list = vec![0; length.min(LONGEST)];
    let length = flistxattr(file, &mut list[..])?;
    let names = list[..length].split(|&byte| byte == 0);
    Ok(names
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
}
