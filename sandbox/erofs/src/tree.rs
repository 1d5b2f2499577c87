//! Names and metadata of an image in the making.
//!
//! Holds no file contents and knows nothing of the image's bytes but where contents were put.

use std::collections::BTreeMap;

use crate::layout::{Meta, NAME_MAX, Special, Type};

/// Index into [`Tree::nodes`].
pub(crate) type NodeId = usize;

pub(crate) const ROOT: NodeId = 0;

/// Why an entry cannot be added to an image. The image is as it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A component of the path is empty, `.`, `..`, too long or holds a NUL byte.
    #[error(
        "`{0}` cannot be a path in an image: give each part 1 to 255 bytes without NUL, not `.` \
         or `..`, and no slash at either end"
    )]
    Path(String),
    /// There is an entry of that name already.
    #[error("`{0}` is in the image already: add each path once")]
    Exists(String),
    /// A parent of the path is a file or a link.
    #[error("`{0}` lies below something that is not a directory: add the parent as a directory")]
    Parent(String),
    /// The target of a symbolic link is empty, too long or holds a NUL byte.
    #[error("the symbolic link `{0}` needs a target of 1 to 4095 bytes without NUL")]
    Target(String),
    /// The first name of a hard link is not a file of the image.
    #[error("`{0}` cannot be linked to: it is not a file of the image, so add it as one first")]
    Link(String),
}

#[derive(Debug)]
pub(crate) enum Body {
    Dir {
        children: BTreeMap<Box<[u8]>, NodeId>,
        parent: NodeId,
        explicit: bool,
    },
    File {
        block: u32,
        len: u64,
    },
    Symlink(Box<[u8]>),
    Special(Special),
}

impl Body {
    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Dir { .. } => Type::DIR,
            Self::File { .. } => Type::FILE,
            Self::Symlink(_) => Type::SYMLINK,
            Self::Special(Special::Fifo) => Type::FIFO,
            Self::Special(Special::Socket) => Type::SOCKET,
            Self::Special(Special::Char { .. }) => Type::CHAR,
            Self::Special(Special::Block { .. }) => Type::BLOCK,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) meta: Meta,
    pub(crate) body: Body,
    pub(crate) links: u32,
}

/// Where a new entry goes: it is free, and its parent exists.
#[derive(Debug)]
pub(crate) struct Place {
    parent: NodeId,
    name: Box<[u8]>,
}

#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self {
            nodes: vec![Node {
                meta: Meta::dir(),
                body: empty_dir(ROOT, false),
                links: 2,
            }],
        }
    }

    /// Finds the place of a path that is not taken, making the parents that are missing.
    pub(crate) fn place(&mut self, path: &[u8]) -> Result<Place, TreeError> {
        check_path(path)?;
        let (parents, name) = match path.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (Some(&path[..slash]), &path[slash + 1..]),
            None => (None, path),
        };
        let mut parent = ROOT;
        for part in parents
            .into_iter()
            .flat_map(|parents| parents.split(|&byte| byte == b'/'))
        {
            parent = match self.child(parent, part) {
                Some(child) if matches!(self.nodes[child].body, Body::Dir { .. }) => child,
                Some(_) => return Err(TreeError::Parent(show(path))),
                None => {
                    let body = empty_dir(parent, false);
                    self.insert(
                        Place {
                            parent,
                            name: part.into(),
                        },
                        Meta::dir(),
                        body,
                    )
                }
            };
        }
        if self.child(parent, name).is_some() {
            return Err(TreeError::Exists(show(path)));
        }
        Ok(Place {
            parent,
            name: name.into(),
        })
    }

    pub(crate) fn insert(&mut self, place: Place, meta: Meta, body: Body) -> NodeId {
        let id = self.nodes.len();
        let links = if matches!(body, Body::Dir { .. }) {
            2
        } else {
            1
        };
        self.nodes.push(Node { meta, body, links });
        if links == 2 {
            self.nodes[place.parent].links += 1;
        }
        self.attach(place, id);
        id
    }

    /// Adds a directory, or gives one that came into being as a parent its real metadata.
    pub(crate) fn dir(&mut self, path: &[u8], meta: Meta) -> Result<(), TreeError> {
        let known = if path.is_empty() {
            Some(ROOT)
        } else {
            self.find(path)?
        };
        let Some(id) = known else {
            let place = self.place(path)?;
            let body = empty_dir(place.parent, true);
            self.insert(place, meta, body);
            return Ok(());
        };
        match &mut self.nodes[id].body {
            Body::Dir { explicit, .. } if !*explicit => *explicit = true,
            _ => return Err(TreeError::Exists(show(path))),
        }
        self.nodes[id].meta = meta;
        Ok(())
    }

    pub(crate) fn link(&mut self, path: &[u8], first: &[u8]) -> Result<(), TreeError> {
        let id = self
            .find(first)?
            .ok_or_else(|| TreeError::Link(show(first)))?;
        if !matches!(self.nodes[id].body, Body::File { .. }) {
            return Err(TreeError::Link(show(first)));
        }
        let place = self.place(path)?;
        self.attach(place, id);
        self.nodes[id].links += 1;
        Ok(())
    }

    /// All nodes, parents before children and the children of one directory next to each other.
    pub(crate) fn in_order(&self) -> Vec<NodeId> {
        let mut seen = vec![false; self.nodes.len()];
        let mut order = vec![ROOT];
        seen[ROOT] = true;
        let mut next = 0;
        while let Some(&id) = order.get(next) {
            next += 1;
            if let Body::Dir { children, .. } = &self.nodes[id].body {
                for &child in children.values() {
                    if !std::mem::replace(&mut seen[child], true) {
                        order.push(child);
                    }
                }
            }
        }
        order
    }

    fn find(&self, path: &[u8]) -> Result<Option<NodeId>, TreeError> {
        check_path(path)?;
        let mut id = ROOT;
        for part in path.split(|&byte| byte == b'/') {
            match self.child(id, part) {
                Some(child) => id = child,
                None => return Ok(None),
            }
        }
        Ok(Some(id))
    }

    fn child(&self, dir: NodeId, name: &[u8]) -> Option<NodeId> {
        match &self.nodes[dir].body {
            Body::Dir { children, .. } => children.get(name).copied(),
            _ => None,
        }
    }

    fn attach(&mut self, place: Place, id: NodeId) {
        if let Body::Dir { children, .. } = &mut self.nodes[place.parent].body {
            children.insert(place.name, id);
        }
    }
}

pub(crate) fn check_target(path: &[u8], target: &[u8]) -> Result<(), TreeError> {
    if (1..=crate::TARGET_MAX).contains(&target.len()) && !target.contains(&0) {
        return Ok(());
    }
    Err(TreeError::Target(show(path)))
}

/// A path as text for a message.
pub(crate) fn show(path: &[u8]) -> String {
    path.escape_ascii().to_string()
}

fn empty_dir(parent: NodeId, explicit: bool) -> Body {
    Body::Dir {
        children: BTreeMap::new(),
        parent,
        explicit,
    }
}

fn check_path(path: &[u8]) -> Result<(), TreeError> {
    let sound = |part: &[u8]| {
        (1..=NAME_MAX).contains(&part.len()) && part != b"." && part != b".." && !part.contains(&0)
    };
    if path.split(|&byte| byte == b'/').all(sound) {
        return Ok(());
    }
    Err(TreeError::Path(show(path)))
}
