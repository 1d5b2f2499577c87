//! A file that is replaced keeps its extended attributes.

use rustix::fs::{XattrFlags, getxattr, setxattr};

use super::*;

#[test]
fn attributes_stay_with_the_name_and_are_named_in_a_snapshot() {
    let scene = Scene::new();
    scene.write("d/a", "1").write("plain", "1");
    for (path, value) in [("d/a", &b"value \0 of mine"[..]), ("d", b"of a folder")] {
        let set = setxattr(
            scene.at(path),
            c"user.legwork.test",
            value,
            XattrFlags::empty(),
        );
        set.expect("the file system of the temporary directory knows attributes");
    }
    fs::set_permissions(scene.at("d/a"), fs::Permissions::from_mode(0o640)).unwrap();
    let workspace = Workspace::open(&scene.at("")).unwrap();
    let snapshot = crate::capture(
        &workspace,
        &scene.dir.path().join("image"),
        &crate::CaptureOptions::default(),
        &mut |_, _| {},
    )
    .unwrap();
    let named: Vec<_> = snapshot
        .manifest
        .unattributed
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(named, ["d", "d/a"]);
    let value = || {
        let mut value = [0; 64];
        let length = getxattr(scene.at("d/a"), c"user.legwork.test", &mut value).unwrap();
        value[..length].to_vec()
    };
    let edits = [edit("d/a", scene.file("1"), scene.file("2"))];
    let applied = scene.apply(&edits).unwrap();
    assert_eq!(fs::read(scene.at("d/a")).unwrap(), b"2");
    assert_eq!(value(), b"value \0 of mine");
    let mode = fs::metadata(scene.at("d/a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    scene.apply(&applied.undo).unwrap();
    assert_eq!(
        (fs::read(scene.at("d/a")).unwrap(), value()),
        (b"1".to_vec(), b"value \0 of mine".to_vec())
    );
}
