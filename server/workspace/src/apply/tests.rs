//! All or nothing: failures, aborts and races at every step of an apply.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use legwork_model::{Digest, Permissions};
use tempfile::TempDir;

use super::*;

mod attributes;

/// Everything in a tree: type, permission bits, bytes.
type Picture = BTreeMap<String, (char, u32, Vec<u8>)>;

struct Scene {
    dir: TempDir,
    blobs: BlobStore,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("w")).unwrap();
        let blobs = BlobStore::open(dir.path().join("blobs")).unwrap();
        Self { dir, blobs }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("w").join(path)
    }

    fn journal(&self) -> PathBuf {
        self.dir.path().join("journal")
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn file(&self, text: &str) -> Option<Side> {
        let blob = self.blobs.put(text.as_bytes()).unwrap();
        Some(file(blob.digest, text.len(), false))
    }

    fn apply(&self, edits: &[Edit]) -> Result<Applied, ApplyError> {
        let workspace = Workspace::open(&self.at("")).unwrap();
        Applier::new(&workspace, &self.journal(), &self.blobs).apply(edits, "t")
    }

    fn picture(&self) -> Picture {
        let mut picture = BTreeMap::new();
        let mut waiting = vec![self.at("")];
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let (kind, bytes) = if metadata.is_dir() {
                    waiting.push(path.clone());
                    ('d', Vec::new())
                } else if metadata.is_symlink() {
                    (
                        'l',
                        fs::read_link(&path)
                            .unwrap()
                            .into_os_string()
                            .into_encoded_bytes(),
                    )
                } else {
                    ('f', fs::read(&path).unwrap())
                };
                let name = path
                    .strip_prefix(self.at(""))
                    .unwrap()
                    .display()
                    .to_string();
                picture.insert(name, (kind, metadata.permissions().mode(), bytes));
            }
        }
        picture
    }
}

fn file(digest: Digest, size: usize, executable: bool) -> Side {
    Side::File {
        digest,
        size: size as u64,
        permissions: match executable {
            true => Permissions::PROGRAM,
            false => Permissions::PLAIN,
        },
    }
}

fn edit(path: &str, before: Option<Side>, after: Option<Side>) -> Edit {
    Edit {
        path: path.parse().unwrap(),
        before,
        after,
    }
}

fn link(target: &str) -> Option<Side> {
    Some(Side::Symlink {
        target: target.to_owned(),
    })
}

/// One tree and a set of edits with every kind of step in it.
fn everything() -> (Scene, Vec<Edit>) {
    let scene = Scene::new();
    scene
        .write("modify", "old")
        .write("script", "#!/bin/sh\n")
        .write("gone/deep/file", "1")
        .write("was-file", "2")
        .write("was-dir/a", "3")
        .write("kept/only", "4")
        .write("stays/file", "5");
    fs::set_permissions(scene.at("modify"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::set_permissions(scene.at("gone"), fs::Permissions::from_mode(0o751)).unwrap();
    symlink("modify", scene.at("link")).unwrap();
    let script = |executable| Some(file(Digest::of(b"#!/bin/sh\n"), 10, executable));
    let edits = vec![
        edit("modify", scene.file("old"), scene.file("new")),
        edit("script", script(false), script(true)),
        edit("gone/deep/file", scene.file("1"), None),
        edit("was-file", scene.file("2"), None),
        edit("was-file/inside/x", None, scene.file("6")),
        edit("was-dir/a", scene.file("3"), None),
        edit("was-dir", None, scene.file("7")),
        edit("kept/only", scene.file("4"), None),
        edit("kept", None, Some(Side::Dir)),
        edit("link", link("modify"), link("script")),
        edit("new/deep/file", None, scene.file("8")),
        edit("stays/more", None, scene.file("")),
        edit("empty", None, Some(Side::Dir)),
    ];
    (scene, edits)
}

#[test]
fn everything_is_done_and_undone() {
    let (scene, edits) = everything();
    let before = scene.picture();
    let applied = scene.apply(&edits).unwrap();
    let after = scene.picture();
    let text = |path: &str| String::from_utf8(after[path].2.clone()).unwrap();
    assert_eq!(text("modify"), "new");
    assert_eq!(after["modify"].1 & 0o7777, 0o640);
    assert_eq!(after["script"].1 & 0o111, 0o111);
    assert_eq!(text("was-file/inside/x"), "6");
    assert_eq!(text("was-dir"), "7");
    assert_eq!(text("link"), "script");
    assert_eq!((after["kept"].0, after["empty"].0), ('d', 'd'));
    for gone in ["gone", "gone/deep", "kept/only"] {
        assert!(!after.contains_key(gone), "{gone}");
    }
    assert_eq!(after.len(), 15, "{after:?}");
    assert_eq!(fs::read_dir(scene.journal()).unwrap().count(), 0);
    let again = scene.apply(&edits).unwrap_err();
    assert!(matches!(again, ApplyError::Changed { .. }), "{again}");
    assert_eq!(scene.picture(), after);
    scene.apply(&applied.undo).unwrap();
    // Directories that had gone come back as this user makes them.
    let plain = |mut picture: Picture| {
        picture
            .values_mut()
            .filter(|entry| entry.0 == 'd')
            .for_each(|entry| entry.1 = 0);
        picture
    };
    assert_eq!(plain(scene.picture()), plain(before));
}

#[test]
fn a_failure_at_any_step_leaves_the_tree_as_it_was() {
    for step in 1.. {
        let (scene, edits) = everything();
        let before = scene.picture();
        let workspace = Workspace::open(&scene.at("")).unwrap();
        let count = Cell::new(0);
        let mut applier = Applier::new(&workspace, &scene.journal(), &scene.blobs);
        applier.hook = Hook(Some(Box::new(|| {
            count.set(count.get() + 1);
            match count.get() == step {
                true => Err(Errno::NOSPC.into()),
                false => Ok(()),
            }
        })));
        let result = applier.apply(&edits, "t");
        let recovered = recover(&scene.journal()).unwrap();
        match result {
            Err(error) => {
                assert!(
                    matches!(error, ApplyError::DiskFull),
                    "step {step}: {error}"
                );
                assert_eq!(scene.picture(), before, "step {step}");
            }
            Ok(_) => {
                assert_eq!(scene.picture().len(), 15, "step {step}");
                assert!(
                    recovered
                        .iter()
                        .all(|one| matches!(one.outcome, RecoveredAs::Finished(_)))
                );
            }
        }
        assert_eq!(
            fs::read_dir(scene.journal()).map_or(0, Iterator::count),
            0,
            "step {step}"
        );
        if step > count.get() {
            assert!(step > 40, "the table has {step} rows");
            return;
        }
    }
}

/// The child of the next test: applies and dies at a step.
#[test]
fn dies_at_a_step_when_told_to() {
    let Some(step) = std::env::var("LEGWORK_TEST_DIE_AT").ok() else {
        return;
    };
    let step: usize = step.parse().unwrap();
    let dir = PathBuf::from(std::env::var_os("LEGWORK_TEST_DIR").unwrap());
    let edits: Vec<Edit> = serde_json::from_slice(&fs::read(dir.join("edits")).unwrap()).unwrap();
    let blobs = BlobStore::open(dir.join("blobs")).unwrap();
    let workspace = Workspace::open(&dir.join("w")).unwrap();
    let count = Cell::new(0);
    let mut applier = Applier::new(&workspace, &dir.join("journal"), &blobs);
    applier.hook = Hook(Some(Box::new(|| {
        count.set(count.get() + 1);
        if count.get() == step {
            std::process::abort();
        }
        Ok(())
    })));
    applier.apply(&edits, "context").unwrap();
}

#[test]
fn a_death_at_any_step_is_before_or_after_and_never_between() {
    let (scene, edits) = everything();
    let before = scene.picture();
    scene.apply(&edits).unwrap();
    let after = scene.picture();
    let (mut finished, mut back) = (0, 0);
    for step in 1.. {
        let (scene, edits) = everything();
        let edits = serde_json::to_vec(&edits).unwrap();
        fs::write(scene.dir.path().join("edits"), edits).unwrap();
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "apply::tests::dies_at_a_step_when_told_to",
                "--test-threads=1",
            ])
            .env("LEGWORK_TEST_DIE_AT", step.to_string())
            .env("LEGWORK_TEST_DIR", scene.dir.path())
            .output()
            .unwrap();
        // Recovery itself may die at its first, third, … step: the next one ends it.
        let count = Cell::new(0);
        let hook = Hook(Some(Box::new(|| {
            count.set(count.get() + 1);
            match count.get() > step % 7 {
                true => Err(io::Error::other("cut short")),
                false => Ok(()),
            }
        })));
        let _cut = recover_with(&scene.journal(), &hook).unwrap();
        for one in recover(&scene.journal()).unwrap() {
            assert_eq!(one.context, "context");
            assert!(
                !matches!(one.outcome, RecoveredAs::Stuck(_)),
                "step {step}: {one:?}"
            );
        }
        let now = scene.picture();
        assert!(now == before || now == after, "step {step}: {now:?}");
        *(if now == before {
            &mut back
        } else {
            &mut finished
        }) += 1;
        assert!(recover(&scene.journal()).unwrap().is_empty(), "step {step}");
        if child.status.success() {
            assert!(
                now == after && back > 5 && finished > 5,
                "{back} {finished}"
            );
            return;
        }
    }
}

#[test]
fn what_is_not_as_expected_is_refused_with_a_sentence() {
    let scene = Scene::new();
    scene
        .write("a", "1")
        .write("read-only", "r")
        .write("d/x", "x");
    fs::create_dir(scene.at("empty")).unwrap();
    symlink("d", scene.at("l")).unwrap();
    fs::set_permissions(scene.at("read-only"), fs::Permissions::from_mode(0o444)).unwrap();
    let before = scene.picture();
    let new = scene.file("new");
    for (edits, said) in [
        (
            vec![edit("a", scene.file("2"), new.clone())],
            "`a` was changed meanwhile",
        ),
        (vec![edit("a", None, new.clone())], "`a` exists by now"),
        (
            vec![edit("b", scene.file("2"), None)],
            "`b` is not there any more",
        ),
        (
            vec![edit("d", scene.file("2"), None)],
            "`d` is of another type by now",
        ),
        (vec![edit("d", None, new.clone())], "`d` is a folder by now"),
        // An empty one is the user's as well.
        (
            vec![edit("empty", None, new.clone())],
            "`empty` is a folder by now",
        ),
        (
            vec![edit("a/x", None, new.clone())],
            "`a` is not a folder by now",
        ),
        (
            vec![edit("l/x", scene.file("x"), new.clone())],
            "lies behind a symbolic link",
        ),
        (
            vec![edit("l/y", None, new.clone())],
            "lies behind a symbolic link",
        ),
        (
            vec![edit("l", scene.file("x"), new.clone())],
            "`l` is of another type by now",
        ),
        (
            vec![edit("read-only", scene.file("r"), new.clone())],
            "`read-only` is read-only",
        ),
        (
            vec![edit("c", None, Some(file(Digest::of(b"?"), 1, false)))],
            "are not kept",
        ),
        (
            vec![edit("z", None, new.clone()), edit("z", None, new.clone())],
            "in the set twice",
        ),
        // All or nothing: the good one is not done either.
        (
            vec![edit("good", None, new), edit("a", scene.file("2"), None)],
            "`a` was changed",
        ),
    ] {
        let error = scene.apply(&edits).unwrap_err().to_string();
        assert!(error.contains(said), "{error} / {said}");
        assert_eq!(scene.picture(), before, "{said}");
    }
}

#[test]
fn the_users_own_files_in_a_folder_keep_it() {
    let scene = Scene::new();
    scene
        .write("d/ours", "1")
        .write("d/ignored", "2")
        .write("e/only", "3");
    let edits = [
        edit("d/ours", scene.file("1"), None),
        edit("d", Some(Side::Dir), None),
        edit("e/only", scene.file("3"), None),
    ];
    scene.apply(&edits).unwrap();
    let names: Vec<_> = scene.picture().into_keys().collect();
    assert_eq!(names, ["d", "d/ignored"]);
}

#[test]
fn a_save_in_the_very_moment_wins() {
    let scene = Scene::new();
    scene.write("a", "1").write("b", "2").write("gone", "3");
    let edits = [
        edit("gone", scene.file("3"), None),
        edit("a", scene.file("1"), scene.file("ours")),
        edit("b", scene.file("2"), scene.file("ours")),
    ];
    for victim in ["a", "b", "gone"] {
        for step in 1.. {
            let workspace = Workspace::open(&scene.at("")).unwrap();
            let count = Cell::new(0);
            let path = scene.at(victim);
            let old = fs::read(&path).unwrap();
            let mut applier = Applier::new(&workspace, &scene.journal(), &scene.blobs);
            applier.hook = Hook(Some(Box::new(|| {
                count.set(count.get() + 1);
                if count.get() == step && path.exists() {
                    let temp = path.with_extension("save");
                    fs::write(&temp, "the user's").unwrap();
                    fs::rename(&temp, &path).unwrap();
                }
                Ok(())
            })));
            let result = applier.apply(&edits, "t");
            let saved = fs::read(&path).is_ok_and(|bytes| bytes == b"the user's");
            if step > count.get() {
                // Never interfered with.
                let undo = result.unwrap().undo;
                drop(applier);
                scene.apply(&undo).unwrap();
                break;
            }
            if result.is_err() {
                assert!(saved, "{victim} {step}");
                let others = ["a", "b", "gone"].map(|name| fs::read(scene.at(name)).unwrap());
                let untouched = others.iter().filter(|bytes| bytes.len() == 1).count();
                assert_eq!(untouched, 2, "{victim} {step}");
                fs::write(&path, old).unwrap();
            } else {
                // The save came after: it is on top, and the rest is done.
                drop(applier);
                for (name, text) in [("a", "1"), ("b", "2"), ("gone", "3")] {
                    scene.write(name, text);
                }
            }
            assert_eq!(
                fs::read_dir(scene.at("")).unwrap().count(),
                3,
                "{victim} {step}"
            );
        }
    }
}

#[test]
fn nothing_is_written_outside_while_a_parent_is_swapped_for_a_link() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let scene = Scene::new();
    scene.write("dir/file", "1");
    let outside = scene.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "1").unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(scene.at("dir"), scene.at("aside")).unwrap();
                symlink(&outside, scene.at("dir")).unwrap();
                fs::remove_file(scene.at("dir")).unwrap();
                fs::rename(scene.at("aside"), scene.at("dir")).unwrap();
            }
        });
        let (one, two) = (scene.file("1"), scene.file("2"));
        for _ in 0..300 {
            if scene
                .apply(&[edit("dir/file", one.clone(), two.clone())])
                .is_ok()
            {
                let _raced = scene.apply(&[edit("dir/file", two.clone(), one.clone())]);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"1");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}
