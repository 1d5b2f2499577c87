//! Who may read, write and execute a file.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The nine permission bits of a file. Bits beyond them (set-user-ID, set-group-ID, sticky) are never carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "u16")]
pub struct Permissions(u16);

impl Permissions {
    /// What most files have: `0644`.
    pub const PLAIN: Self = Self(0o644);

    /// What most programs have: `0755`.
    pub const PROGRAM: Self = Self(0o755);

    /// The lower nine bits of a mode.
    pub const fn of_mode(mode: u32) -> Self {
        Self((mode & 0o777) as u16)
    }

    /// As a number.
    pub fn bits(self) -> u32 {
        self.0.into()
    }

    /// Whether its owner may execute it.
    pub fn is_executable(self) -> bool {
        self.0 & 0o100 != 0
    }

    /// What these become by the step from `before` to `after`: a bit that the step gives or takes is given or taken, the others
    /// stay.
    #[must_use]
    pub fn step(self, before: Self, after: Self) -> Self {
        Self((self.0 | (after.0 & !before.0)) & !(before.0 & !after.0))
    }
}

impl From<u16> for Permissions {
    fn from(mode: u16) -> Self {
        Self::of_mode(mode.into())
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_gives_and_takes_what_it_is_about_and_nothing_else() {
        for (live, before, after, result) in [
            (0o644, 0o644, 0o755, 0o755),
            (0o664, 0o644, 0o755, 0o775),
            (0o755, 0o644, 0o755, 0o755),
            (0o755, 0o755, 0o644, 0o644),
            (0o600, 0o644, 0o644, 0o600),
            (0o666, 0o644, 0o600, 0o622),
            (0o640, 0o644, 0o600, 0o600),
        ] {
            let of = Permissions::of_mode;
            assert_eq!(of(live).step(of(before), of(after)), of(result));
        }
    }

    #[test]
    fn only_nine_bits_come_in() {
        assert_eq!(Permissions::of_mode(0o104_755), Permissions::PROGRAM);
        let read: Permissions = serde_json::from_str("65535").expect("a number");
        assert_eq!(read.to_string(), "0777");
    }
}
