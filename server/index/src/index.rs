//! All files of a repository with their tags, where each name is defined, and who imports whom.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    kept::{Kept, Key},
    resolve::Resolver,
    tags::{Definition, Tags},
    words,
};

/// How long all files together may take: a repository may be made to be slow.
const MAX_BUILD: Duration = Duration::from_secs(30);

/// A file that is to be looked at.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it stands, with `/` between the parts.
    pub path: String,
    /// What its tags are kept by.
    pub key: Key,
}

/// A repository.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(crate) files: Vec<File>,
    /// Files and definitions in them, by the number of the name.
    pub(crate) defined: HashMap<u32, Vec<(u32, u32)>>,
}

/// A file, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) tags: Arc<Tags>,
    /// The files that it imports.
    pub(crate) imports: Vec<u32>,
}

impl Index {
    /// The most files that are looked at; of a larger repository the rest is left out.
    pub const MOST: usize = 20_000;

    /// Looks at these files. What is kept is taken; for the rest `read` gives the bytes of the file with this number, on
    /// several threads, and what cannot be read has no tags. Gives also what is to be kept now, and how many files were read.
    pub fn build(
        sources: &[Source],
        kept: &Kept,
        read: &(dyn Fn(usize) -> Option<Vec<u8>> + Sync),
    ) -> (Self, Kept, usize) {
        let sources = &sources[..sources.len().min(Self::MOST)];
        let mut tags: Vec<Option<Arc<Tags>>> = sources
            .iter()
            .map(|source| kept.get(&source.key).cloned())
            .collect();
        let missing: Vec<usize> = (0..sources.len())
            .filter(|index| tags[*index].is_none())
            .collect();
        let made = tag_all(sources, &missing, read);
        let count = made.len();
        for (index, made) in made {
            tags[index] = Some(made);
        }
        let mut now = Kept::default();
        let mut files = Vec::with_capacity(sources.len());
        for (source, tags) in sources.iter().zip(tags) {
            if let Some(tags) = &tags {
                now.put(source.key, Arc::clone(tags));
            }
            files.push((source.path.clone(), tags.unwrap_or_default()));
        }
        (Self::of(files), now, count)
    }

    /// The same, with some files as they are by now; `None` for one that is gone.
    #[must_use]
    pub fn with(&self, changes: Vec<(String, Option<Arc<Tags>>)>) -> Self {
        let changed: HashSet<&str> = changes.iter().map(|(path, _)| path.as_str()).collect();
        let mut files: Vec<(String, Arc<Tags>)> = self
            .files
            .iter()
            .filter(|file| !changed.contains(file.path.as_str()))
            .map(|file| (file.path.clone(), Arc::clone(&file.tags)))
            .collect();
        files.extend(
            changes
                .into_iter()
                .filter_map(|(path, tags)| Some((path, tags?))),
        );
        Self::of(files)
    }

    fn of(mut files: Vec<(String, Arc<Tags>)>) -> Self {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        files.truncate(Self::MOST);
        let manifests = files
            .iter()
            .filter_map(|(path, tags)| Some((path.as_str(), tags.package.as_ref()?)));
        let paths = files.iter().map(|(path, _)| path.as_str()).collect();
        let resolver = Resolver::new(paths, manifests);
        let mut defined: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        let mut imports = Vec::with_capacity(files.len());
        for (index, (path, tags)) in files.iter().enumerate() {
            for (at, definition) in tags.definitions.iter().enumerate() {
                let name = words::hash(&definition.name);
                defined
                    .entry(name)
                    .or_default()
                    .push((number(index), number(at)));
            }
            let mut all: Vec<u32> = tags
                .imports
                .iter()
                .flat_map(|import| resolver.resolve(path, import))
                .collect();
            all.sort_unstable();
            all.dedup();
            all.retain(|file| *file != number(index));
            imports.push(all);
        }
        let files = files
            .into_iter()
            .zip(imports)
            .map(|((path, tags), imports)| File {
                path,
                tags,
                imports,
            })
            .collect();
        Self { files, defined }
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        self.files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()
    }

    pub(crate) fn definition(&self, file: u32, at: u32) -> Option<(&File, &Definition)> {
        let file = self.files.get(usize::try_from(file).ok()?)?;
        Some((file, file.tags.definitions.get(usize::try_from(at).ok()?)?))
    }
}

pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Tags of the files with these numbers, made on as many threads as there are processors, at most eight. What is not begun when
/// the time is up is left out.
fn tag_all(
    sources: &[Source],
    missing: &[usize],
    read: &(dyn Fn(usize) -> Option<Vec<u8>> + Sync),
) -> Vec<(usize, Arc<Tags>)> {
    let started = Instant::now();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        while started.elapsed() < MAX_BUILD
            && let Some(index) = missing.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let tags = match read(*index) {
                Some(bytes) => Tags::of(&sources[*index].path, &bytes),
                None => Tags::default(),
            };
            made.push((*index, Arc::new(tags)));
        }
        made
    };
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .clamp(1, 8);
    if missing.len() < 8 || threads == 1 {
        return work();
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}
