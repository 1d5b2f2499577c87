//! Permissions that a change does not carry: set-user-ID, set-group-ID and sticky bits of files, and those of folders; that is said
//! where a task set them. Pure.

/// Others may write: what an umask takes or leaves.
const SHARED: u32 = 0o022;

/// What is to be said of a file's mode.
pub(super) fn of_file(mode: u32) -> Option<String> {
    (mode & 0o7000 != 0).then(|| {
        let mode = mode & 0o7777;
        format!(
            "the task gave it the permissions {mode:04o}, of which the first digit is never taken over"
        )
    })
}

/// What is to be said of a directory's mode; `old` is that of the base, if it is a directory there.
pub(super) fn of_dir(old: Option<u16>, new: u32) -> Option<String> {
    let new = new & 0o7777;
    let missed = match old.map(u32::from) {
        None => 0o755 & !new != 0,
        Some(old) => {
            let (lost, won) = (old & !new & 0o777, new & !old & 0o777);
            lost & !SHARED != 0 || won & !SHARED != 0
        }
    };
    said(missed || new & 0o7000 != 0, new)
}

fn said(missed: bool, mode: u32) -> Option<String> {
    missed.then(|| {
        format!("the task gave it the permissions {mode:04o}; those of folders are not taken over")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_set_is_said_and_what_an_umask_did_is_not() {
        for (mode, is_said) in [
            (0o100_644, false),
            (0o100_600, false),
            (0o100_777, false),
            (0o104_755, true),
            (0o102_755, true),
            (0o101_644, true),
        ] {
            assert_eq!(of_file(mode).is_some(), is_said, "{mode:o}");
        }
        for (old, new, is_said) in [
            (None, 0o755, false),
            (None, 0o775, false),
            (None, 0o700, true),
            (None, 0o1777, true),
            (Some(0o775), 0o755, false),
            (Some(0o755), 0o700, true),
            (Some(0o555), 0o755, true),
        ] {
            assert_eq!(of_dir(old, new).is_some(), is_said, "{old:?} {new:o}");
        }
    }
}
