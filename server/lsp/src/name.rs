//! The name of a hunk: `TASK:NUMBER:PATH`, as clients pass it back.

use std::{fmt, str::FromStr};

use legwork_model::{TaskId, TreePath};

/// Names one hunk of one file of one task.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct HunkName {
    pub(crate) task: TaskId,
    pub(crate) number: u32,
    pub(crate) path: TreePath,
}

/// Not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no name of a hunk: it is written TASK:NUMBER:PATH")]
pub(crate) struct ParseHunkNameError;

impl fmt::Display for HunkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.task, self.number, self.path)
    }
}

impl FromStr for HunkName {
    type Err = ParseHunkNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, ':');
        let mut next = || parts.next().ok_or(ParseHunkNameError);
        let (task, number, path) = (next()?, next()?, next()?);
        Ok(Self {
            task: task.parse().map_err(|_| ParseHunkNameError)?,
            number: number.parse().map_err(|_| ParseHunkNameError)?,
            path: path.parse().map_err(|_| ParseHunkNameError)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_hold_colons_and_other_names_are_refused() {
        let name = HunkName {
            task: TaskId::random(),
            number: 3,
            path: TreePath::from_bytes(b"a:4:b/\xe9.txt").unwrap(),
        };
        assert_eq!(name.to_string().parse(), Ok(name));
        for bad in ["", "x", "x:1", "x:y:z", ":::", "../..:1:a"] {
            assert_eq!(bad.parse::<HunkName>(), Err(ParseHunkNameError), "{bad}");
        }
    }
}
