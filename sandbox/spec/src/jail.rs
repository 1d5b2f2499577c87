//! The walls around the process of a virtual machine, as that process tells of them.
//!
//! `legwork-vmm boot` writes one [`Jailed`] as a line of JSON on the link, before a guest exists: nothing that a guest
//! sends can come before it. `legwork-vmm walls` writes the same to its standard output, for a machine that never starts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a wall holds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WallKind {
    /// It has no capability, no program that it starts gains one, and it leaves no core dump.
    Privileges,
    /// It has a bound for memory, file size and open files.
    Resources,
    /// It opens its own images and nothing else.
    Files,
    /// It makes the system calls of a virtual machine and no others: no sockets, no new processes, no mounts.
    Calls,
}

impl WallKind {
    /// Every wall that has to stand, in the order in which they are built.
    pub const ALL: [Self; 4] = [Self::Privileges, Self::Resources, Self::Files, Self::Calls];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Privileges => "privileges",
            Self::Resources => "resources",
            Self::Files => "files",
            Self::Calls => "system calls",
        }
    }
}

/// One wall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wall {
    /// What it holds back.
    pub kind: WallKind,
    /// Whether it was built, and tried from inside.
    pub stands: bool,
    /// What it is made of; or why it does not stand, and what to do.
    pub detail: String,
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.word(), self.detail)
    }
}

/// The walls of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jailed {
    /// Its walls.
    pub walls: Vec<Wall>,
    /// How long building and trying them took, in microseconds.
    pub micros: u64,
}

impl Jailed {
    /// The longest line that tells of walls, in bytes.
    pub const LONGEST: usize = 8 * 1024;

    /// Whether this wall is said to stand.
    pub fn stands(&self, kind: WallKind) -> bool {
        self.walls
            .iter()
            .any(|wall| wall.kind == kind && wall.stands)
    }

    /// Why the jail is not whole; `None` when every wall stands. A wall that is not mentioned does not stand.
    pub fn lack(&self) -> Option<String> {
        let lacking: Vec<String> = WallKind::ALL
            .into_iter()
            .filter_map(
                |kind| match self.walls.iter().find(|wall| wall.kind == kind) {
                    Some(wall) if wall.stands => None,
                    Some(wall) => Some(wall.to_string()),
                    None => Some(format!("{}: nothing is known of this wall", kind.word())),
                },
            )
            .collect();
        (!lacking.is_empty()).then(|| lacking.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(kind: WallKind, stands: bool) -> Wall {
        Wall {
            kind,
            stands,
            detail: "why".to_owned(),
        }
    }

    #[test]
    fn a_jail_is_whole_only_when_each_wall_is_said_to_stand() {
        let mut jailed = Jailed {
            walls: WallKind::ALL.map(|kind| wall(kind, true)).to_vec(),
            micros: 1,
        };
        assert_eq!(jailed.lack(), None);
        jailed.walls[2].stands = false;
        assert_eq!(jailed.lack().as_deref(), Some("files: why"));
        jailed.walls.truncate(2);
        let lack = jailed.lack().unwrap();
        assert!(
            lack.contains("files: nothing") && lack.contains("system calls: nothing"),
            "{lack}"
        );
        assert!(Jailed::default().lack().is_some());
    }
}
