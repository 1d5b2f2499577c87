//! Permission bits that a change does not carry: it carries whether a file can be executed, and that is said where a task set
//! more than this. What a program leaves by rewriting a file under another umask is nobody's wish. Pure.

/// Others may write: what an umask takes or leaves.
const SHARED: u32 = 0o022;

/// What is to be said of a file's mode; `old` is that of the base, if it is a file there, and `same` whether the content is.
pub(super) fn of_file(old: Option<u16>, new: u32, same: bool) -> Option<String> {
    let new = new & 0o7777;
    let executable = new & 0o100 != 0;
    let missed = match old.map(u32::from) {
        // A new file is made as any program of the user's makes one; one that was to be more private would not be.
        None => 0o744 & !new & if executable { 0o777 } else { 0o666 } != 0,
        Some(old) => {
            let kept = match (old & 0o100 != 0, executable) {
                (false, true) => old | ((old & 0o444) >> 2),
                (true, false) => old & !0o111,
                _ => old,
            };
            let (lost, won) = (kept & !new & 0o777, new & !kept & 0o777);
            lost & !SHARED != 0 || (same && won & !SHARED != 0)
        }
    };
    said(missed || new & 0o7000 != 0, new)
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
        format!(
            "the task gave it the permissions {mode:04o}, of which only whether a file can be executed is taken over"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_set_is_said_and_what_an_umask_did_is_not() {
        for (old, new, same, is_said) in [
            // New ones.
            (None, 0o644, false, false),
            (None, 0o664, false, false),
            (None, 0o755, false, false),
            (None, 0o600, false, true),
            (None, 0o700, false, true),
            (None, 0o4755, false, true),
            // A rewrite by another umask, and the same content written anew.
            (Some(0o664), 0o644, false, false),
            (Some(0o664), 0o644, true, false),
            (Some(0o600), 0o644, false, false),
            (Some(0o755), 0o755, true, false),
            // Executable or not any more: carried.
            (Some(0o644), 0o755, true, false),
            (Some(0o640), 0o750, true, false),
            (Some(0o755), 0o644, true, false),
            // More than this.
            (Some(0o644), 0o600, true, true),
            (Some(0o644), 0o600, false, true),
            (Some(0o644), 0o664, true, false),
            (Some(0o600), 0o644, true, true),
            (Some(0o644), 0o444, true, true),
            (Some(0o755), 0o6755, true, true),
        ] {
            let told = of_file(old, new, same);
            assert_eq!(told.is_some(), is_said, "{old:?} {new:o} {same}: {told:?}");
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
