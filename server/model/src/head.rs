//! Which commit a working tree is at.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a repository says is checked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The commit, as hexadecimal digits.
    pub commit: String,
    /// The branch; `None` when none is checked out.
    pub branch: Option<String>,
}

impl Head {
    /// Whether the commit is another, as a sentence without a full stop; `self` is what there was.
    pub fn moved_to(&self, now: &Self) -> Option<String> {
        (self.commit != now.commit)
            .then(|| format!("made on {self}, and the workspace is at {now} now"))
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = self.commit.get(..9).unwrap_or(&self.commit);
        match &self.branch {
            Some(branch) => write!(f, "{commit} ({branch})"),
            None => f.write_str(commit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_commit_is_told_and_another_branch_at_the_same_is_none() {
        let head = |commit: &str, branch: Option<&str>| Head {
            commit: commit.repeat(10),
            branch: branch.map(str::to_owned),
        };
        let main = head("1234", Some("main"));
        assert_eq!(main.moved_to(&head("1234", Some("other"))), None);
        assert_eq!(
            main.moved_to(&head("abcd", None)).unwrap(),
            "made on 123412341 (main), and the workspace is at abcdabcda now"
        );
    }
}
