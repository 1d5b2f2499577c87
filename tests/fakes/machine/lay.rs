//! Lays what the host tells of an earlier machine into the tree.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write as _},
    os::unix::{
        ffi::OsStringExt as _,
        fs::{PermissionsExt as _, symlink},
    },
};

use legwork_link::{LayInput, LinkError, Substream, frame};

use crate::layer::Base;

/// Takes frames to the last one, and answers.
pub(crate) async fn lay(base: &Base, substream: &mut Substream) -> Result<(), LinkError> {
    let (mut laid, mut file) = (Ok(()), None);
    loop {
        match frame::read::<LayInput>(substream).await? {
            None | Some(LayInput::Done) => break,
            Some(input) => {
                let done = one(base, input, &mut file).map_err(|error| error.to_string());
                laid = laid.and(done);
            }
        }
    }
    crate::link::reply(substream, &laid).await
}

fn one(base: &Base, input: LayInput, file: &mut Option<File>) -> io::Result<()> {
    let room = |path: &[u8]| {
        let place = base.place(path);
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        match fs::symlink_metadata(&place) {
            Ok(meta) if meta.is_dir() => fs::remove_dir(&place)?,
            Ok(_) => fs::remove_file(&place)?,
            Err(_) => {}
        }
        Ok::<_, io::Error>(place)
    };
    match input {
        LayInput::Remove(path) => {
            let place = room(&path)?;
            // Folders that hold nothing go with the last of what was in them; the others stay.
            for above in place.ancestors().skip(1) {
                if fs::remove_dir(above).is_err() {
                    break;
                }
            }
        }
        LayInput::Dir(path) => fs::create_dir_all(base.place(&path))?,
        LayInput::Symlink { path, target } => symlink(OsString::from_vec(target), room(&path)?)?,
        LayInput::File { path, mode } => {
            let made = File::create(room(&path)?)?;
            made.set_permissions(fs::Permissions::from_mode(mode & 0o777))?;
            *file = Some(made);
        }
        LayInput::Data(bytes) => {
            let named = || io::Error::other("data came without a file");
            file.as_mut().ok_or_else(named)?.write_all(&bytes)?;
        }
        LayInput::Done => {}
    }
    Ok(())
}
