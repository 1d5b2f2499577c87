//! Files as users keep them: linked, private, broken, read-only.

use super::*;

fn set(document: &mut DocumentMut) -> Result<(), Failure> {
    document["b"] = toml_edit::value(2);
    Ok(())
}

fn change(path: &Path) -> Result<Written, Failure> {
    let file = Configuration::read(path.to_owned())?;
    let (text, ()) = file.edited(set)?;
    file.write(&text)
}

#[test]
fn a_file_is_changed_once_and_keeps_its_comments() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("f.toml");
    fs::write(&path, "# mine\na = 1 # one\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let backup = home.path().join("f.toml.bak");
    assert_eq!(
        change(&path).unwrap(),
        Written::Changed {
            backup: backup.clone()
        }
    );
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "# mine\na = 1 # one\nb = 2\n"
    );
    assert_eq!(
        fs::read_to_string(&backup).unwrap(),
        "# mine\na = 1 # one\n"
    );
    for file in [&path, &backup] {
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }
    assert_eq!(change(&path).unwrap(), Written::Unchanged);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}

#[test]
fn a_backup_takes_nobodys_place() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("f.toml");
    fs::write(&path, "a = 1\n").unwrap();
    fs::write(home.path().join("f.toml.bak"), "the user's").unwrap();
    let backup = home.path().join("f.toml.bak2");
    assert_eq!(change(&path).unwrap(), Written::Changed { backup });
    assert_eq!(
        fs::read_to_string(home.path().join("f.toml.bak")).unwrap(),
        "the user's"
    );
}

#[test]
fn a_new_file_is_made_with_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a/b/f.toml");
    assert_eq!(change(&path).unwrap(), Written::Created);
    assert_eq!(fs::read_to_string(&path).unwrap(), "b = 2\n");
}

#[test]
fn a_link_stays_one() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("dotfiles")).unwrap();
    let real = home.path().join("dotfiles/f.toml");
    fs::write(&real, "a = 1\n").unwrap();
    let path = home.path().join("f.toml");
    std::os::unix::fs::symlink("dotfiles/f.toml", &path).unwrap();
    change(&path).unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "a = 1\nb = 2\n");
    assert!(home.path().join("dotfiles/f.toml.bak").exists());

    let nowhere = home.path().join("g.toml");
    std::os::unix::fs::symlink("gone/g.toml", &nowhere).unwrap();
    assert!(
        change(&nowhere)
            .unwrap_err()
            .message
            .contains("cannot read")
    );
    assert!(!home.path().join("gone").exists());
}

#[test]
fn what_cannot_be_read_or_changed_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    for (text, told) in [
        (&b"a = 1\nb = = 2\n"[..], "line 2: "),
        (b"a = \"\xff\"\n", "cannot read"),
        (b"a = 1\na = 2\n", "no TOML"),
    ] {
        let path = home.path().join("f.toml");
        fs::write(&path, text).unwrap();
        let failure = change(&path).unwrap_err();
        assert!(failure.message.contains(told), "{}", failure.message);
        assert!(!failure.hint.is_empty());
        assert_eq!(fs::read(&path).unwrap(), text);
    }
    let path = home.path().join("r.toml");
    fs::write(&path, "a = 1\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(change(&path).unwrap_err().message.contains("read-only"));
    assert!(change(home.path()).unwrap_err().message.contains("no file"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "a = 1\n");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}

#[test]
fn a_file_that_somebody_changes_meanwhile_is_theirs() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("f.toml");
    fs::write(&path, "a = 1\n").unwrap();
    let file = Configuration::read(path.clone()).unwrap();
    fs::write(&path, "a = 3\n").unwrap();
    assert!(file.write("b = 2\n").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "a = 3\n");
}

#[test]
fn an_edit_that_is_not_over_after_one_time_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let file = Configuration::read(home.path().join("f.toml")).unwrap();
    let mut count = 0;
    let failure = file
        .edited(|document| {
            count += 1;
            document["a"] = toml_edit::value(count);
            Ok(())
        })
        .unwrap_err();
    assert!(failure.message.contains("cannot be added to safely"));
}
