//! The diff against the one reader that everybody has: `git apply`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
};

use legwork_model::TreePath;
use legwork_review::{Mode, Version, unified_diff};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::texts::{noise, text, versions};

type Side = Option<(Vec<u8>, Mode)>;

fn version(side: &Side) -> Option<Version<'_>> {
    side.as_ref()
        .map(|(bytes, mode)| Version { bytes, mode: *mode })
}

fn put(root: &Path, path: &TreePath, side: &Side) {
    let Some((bytes, mode)) = side else { return };
    let place = path.under(root);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    if *mode == Mode::Symlink {
        symlink(String::from_utf8_lossy(bytes).as_ref(), place).unwrap();
        return;
    }
    fs::write(&place, bytes).unwrap();
    let bits = if *mode == Mode::EXECUTABLE {
        0o755
    } else {
        0o644
    };
    fs::set_permissions(&place, fs::Permissions::from_mode(bits)).unwrap();
}

fn get(root: &Path, path: &TreePath) -> Side {
    let place = path.under(root);
    let meta = fs::symlink_metadata(&place).ok()?;
    if meta.is_symlink() {
        let target = fs::read_link(place).unwrap();
        return Some((target.to_str().unwrap().as_bytes().to_vec(), Mode::Symlink));
    }
    let executable = meta.permissions().mode() & 0o100 != 0;
    let mode = if executable {
        Mode::EXECUTABLE
    } else {
        Mode::REGULAR
    };
    Some((fs::read(place).unwrap(), mode))
}

/// Applies a patch in a folder, or says what git said.
fn apply(root: &Path, patch: &[u8]) -> Result<(), String> {
    let file = root.join(".patch");
    fs::write(&file, patch).unwrap();
    let output = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "-p1", "--", ".patch"])
        .current_dir(root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap())
        .output()
        .expect("git is needed for this test: install it");
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let piece = select(vec![
        &b"a"[..],
        b"b c",
        b"\"q\"",
        b"\\",
        b"\t",
        b"\n",
        b"\xc3\xbc",
        b"\xff",
        b"-rf",
        b"$(x)",
        b"d/e",
        b" ",
        b"\x01",
        b"\x7f",
        b"->",
    ]);
    vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

fn sides() -> impl Strategy<Value = (Side, Side)> {
    let mode = || select(vec![Mode::REGULAR, Mode::REGULAR, Mode::EXECUTABLE]);
    let link = select(vec![&b"target"[..], b"a/b", b"../up", b"line\nbreak"])
        .prop_map(|target| Some((target.to_vec(), Mode::Symlink)));
    let file = || (text(), mode()).prop_map(Some);
    prop_oneof![
        6 => (versions(), mode(), mode()).prop_map(|((a, b), m, n)| (Some((a, m)), Some((b, n)))),
        1 => (noise(), noise()).prop_map(|(a, b)| (Some((a, Mode::REGULAR)), Some((b, Mode::REGULAR)))),
        1 => file().prop_map(|side| (None, side)),
        1 => file().prop_map(|side| (side, None)),
        1 => (file(), link.clone()),
        1 => (link.clone(), file()),
        1 => (link.clone(), link),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn git_makes_the_agents_files_of_it(
        files in vec((name(), sides(), 1..5_usize), 1..8),
        renamed in (versions(), any::<bool>()),
    ) {
        let root = tempfile::tempdir().unwrap();
        let mut patch = Vec::new();
        let mut expected = Vec::new();
        for (index, (name, (base, agent), context)) in files.into_iter().enumerate() {
            let path = [format!("{index}/").into_bytes(), name].concat();
            let path = TreePath::from_bytes(&path).unwrap();
            put(root.path(), &path, &base);
            patch.extend(unified_diff(&path, None, version(&base), version(&agent), context));
            expected.push((path, agent));
        }
        let ((base, agent), same) = renamed;
        let agent = if same { base.clone() } else { agent };
        let (old, new) = ("from \u{fc}/x", "to y/z w");
        let (old, new): (TreePath, TreePath) = (old.parse().unwrap(), new.parse().unwrap());
        let (base, agent) = (Some((base, Mode::REGULAR)), Some((agent, Mode::EXECUTABLE)));
        put(root.path(), &old, &base);
        patch.extend(unified_diff(&new, Some(&old), version(&base), version(&agent), 3));
        expected.push((new, agent));
        expected.push((old, None));

        if let Err(said) = apply(root.path(), &patch) {
            prop_assert!(false, "{said}\n{}", String::from_utf8_lossy(&patch));
        }
        for (path, side) in expected {
            prop_assert_eq!(get(root.path(), &path), side, "{}\n{}", path, String::from_utf8_lossy(&patch));
        }
    }
}

#[test]
fn equal_versions_and_folders_have_no_diff_and_binaries_are_named() {
    let path: TreePath = "a b".parse().unwrap();
    let text = Version::regular(b"x\n");
    assert!(unified_diff(&path, None, Some(text), Some(text), 3).is_empty());
    let dir = Version {
        bytes: b"",
        mode: Mode::Dir,
    };
    assert!(unified_diff(&path, None, None, Some(dir), 3).is_empty());
    let binary = Version::regular(b"\0");
    assert_eq!(
        unified_diff(&path, None, None, Some(binary), 3),
        b"diff --git a/a b b/a b\nnew file mode 100644\nBinary files /dev/null and b/a b differ\n"
    );
    assert_eq!(
        unified_diff(&path, None, Some(text), Some(Version::regular(b"y")), 3),
        b"diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n"
    );
}
