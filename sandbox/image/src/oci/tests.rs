//! Images that are made here, layer by layer.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
};

use legwork_erofs::{Image as Tree, Kind};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::*;

/// An entry of a layer: its type, path, and content or target.
type Part<'a> = (char, &'a str, &'a str);

fn tar(parts: &[Part<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, path, text) in parts {
        let mut header = tar::Header::new_gnu();
        let (entry_type, mode, size) = match kind {
            'd' => (tar::EntryType::Directory, 0o750, 0),
            'l' => (tar::EntryType::Symlink, 0o777, 0),
            'h' => (tar::EntryType::Link, 0o644, 0),
            'c' => (tar::EntryType::Char, 0o666, 0),
            _ => (tar::EntryType::Regular, 0o4755, text.len()),
        };
        header.set_entry_type(entry_type);
        // As it stands there: a careful library would not write some of them.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        if "lh".contains(*kind) {
            header.as_old_mut().linkname[..text.len()].copy_from_slice(text.as_bytes());
        }
        header.set_mode(mode);
        header.set_uid(7);
        header.set_gid(8);
        header.set_mtime(1_700_000_000);
        header.set_size(size as u64);
        header.set_cksum();
        bytes.extend(header.as_bytes());
        if size > 0 {
            bytes.extend(text.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(512), 0);
        }
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// An image layout in a folder, and a cache.
struct Scene {
    dir: TempDir,
}

impl Scene {
    fn new(layers: &[&[Part<'_>]]) -> Self {
        let scene = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(scene.layout().join("blobs/sha256")).unwrap();
        let mut described = Vec::new();
        for (number, parts) in layers.iter().enumerate() {
            let plain = tar(parts);
            // Each way to pack one, in turn.
            let (kind, bytes) = match number % 3 {
                0 => ("tar", plain),
                1 => {
                    let mut gzip =
                        flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                    gzip.write_all(&plain).unwrap();
                    ("tar+gzip", gzip.finish().unwrap())
                }
                _ => ("tar+zstd", zstd::stream::encode_all(&plain[..], 1).unwrap()),
            };
            let kind = format!("application/vnd.oci.image.layer.v1.{kind}");
            described.push(scene.blob(&bytes, &kind));
        }
        let config = scene.blob(b"{}", "application/vnd.oci.image.config.v1+json");
        let manifest = json!({"schemaVersion": 2, "config": config, "layers": described});
        let manifest = manifest.to_string().into_bytes();
        let mut other = scene.blob(b"{}", "application/vnd.oci.image.manifest.v1+json");
        other["platform"] = json!({"architecture": "s390x", "os": "linux"});
        let here = scene.blob(&manifest, "application/vnd.oci.image.manifest.v1+json");
        let inner = json!({"schemaVersion": 2, "manifests": [other, here]}).to_string();
        let inner = scene.blob(inner.as_bytes(), "application/vnd.oci.image.index.v1+json");
        let index = json!({"schemaVersion": 2, "manifests": [inner]}).to_string();
        fs::write(scene.layout().join("index.json"), index).unwrap();
        scene
    }

    fn layout(&self) -> PathBuf {
        self.dir.path().join("layout")
    }

    fn blob(&self, bytes: &[u8], kind: &str) -> serde_json::Value {
        let digest = digest(bytes);
        let place = self.layout().join("blobs/sha256").join(&digest);
        fs::write(place, bytes).unwrap();
        json!({"mediaType": kind, "digest": format!("sha256:{digest}"), "size": bytes.len()})
    }

    fn build(&self) -> Result<RootImage, OciError> {
        self.build_from(&self.layout(), OciCaps::default())
    }

    fn build_from(&self, path: &Path, caps: OciCaps) -> Result<RootImage, OciError> {
        oci_root(&self.dir.path().join("cache"), path, caps, &mut |_| {})
    }

    /// Why it is not built.
    fn refusal(&self) -> String {
        self.build().unwrap_err().to_string()
    }
}

/// Paths with what stands there: a folder ends in a slash.
fn tree(image: &RootImage) -> Vec<String> {
    let mut tree = Tree::open(File::open(&image.path).unwrap()).unwrap();
    let entries: BTreeMap<_, _> = tree.read_tree().unwrap();
    let mut shown = Vec::new();
    for (path, entry) in entries.iter().filter(|(path, _)| !path.is_empty()) {
        let path = String::from_utf8_lossy(path);
        shown.push(match &entry.kind {
            Kind::Dir => format!("{path}/"),
            Kind::Symlink(target) => format!("{path} -> {}", String::from_utf8_lossy(target)),
            Kind::File { .. } => {
                let bytes = tree.read_file(entry).unwrap();
                format!("{path}={}", String::from_utf8_lossy(&bytes))
            }
            other => format!("{path} {other:?}"),
        });
    }
    shown
}

#[test]
fn layers_lie_on_one_another() {
    let scene = Scene::new(&[
        &[
            ('d', "etc/", ""),
            ('f', "etc/os-release", "old"),
            ('f', "etc/gone", "gone"),
            ('f', "cache/a", "1"),
            ('f', "cache/deep/b", "2"),
            ('f', "folder/x", "x"),
            ('f', "file", "a file"),
            ('l', "lib", "usr/lib"),
            ('c', "dev/null", ""),
        ],
        &[
            ('f', "./etc/os-release", "new"),
            ('f', "etc/.wh.gone", ""),
            ('f', "cache/.wh..wh..opq", ""),
            ('f', "cache/c", "3"),
            ('f', "folder", "no folder any more"),
            ('d', "file", ""),
            ('f', "file/in", "in"),
        ],
        &[('f', "/top", "above"), ('f', ".wh.lib", "")],
    ]);
    let image = scene.build().unwrap();
    assert_eq!(
        tree(&image),
        [
            "cache/",
            "cache/c=3",
            "etc/",
            "etc/os-release=new",
            "file/",
            "file/in=in",
            "folder=no folder any more",
            "top=above",
        ]
    );
    assert_eq!(image.summary.special, 1);
    // The folder is as the lower layer made it, although an upper one had something in it first.
    let mut read = Tree::open(File::open(&image.path).unwrap()).unwrap();
    let entries = read.read_tree().unwrap();
    assert_eq!(entries[&b"etc"[..]].meta.mode, 0o750);
    let file = entries[&b"top"[..]].meta;
    assert_eq!((file.mode, file.uid, file.gid), (0o4755, 7, 8));
}

#[test]
fn a_file_with_several_names_is_one_as_long_as_one_of_them_shows() {
    let scene = Scene::new(&[
        &[
            ('f', "bin/one", "program"),
            ('h', "bin/two", "bin/one"),
            ('h', "bin/three", "./bin/one"),
        ],
        &[('f', "bin/.wh.one", ""), ('f', "bin/three", "another")],
    ]);
    let image = scene.build().unwrap();
    assert_eq!(
        tree(&image),
        ["bin/", "bin/three=another", "bin/two=program"]
    );
    let scene = Scene::new(&[&[('f', "one", "1"), ('h', "two", "one")]]);
    let image = scene.build().unwrap();
    assert_eq!(tree(&image), ["one=1", "two=1"]);
    let scene = Scene::new(&[&[('f', "one", "1")], &[('h', "two", "one")]]);
    assert!(
        scene.refusal().contains("not in its layer"),
        "{}",
        scene.refusal()
    );
}

#[test]
fn an_archive_is_the_same_as_its_folder_and_is_built_once() {
    let scene = Scene::new(&[&[('f', "a", "1")], &[('f', "b", "2")]]);
    let path = scene.dir.path().join("image.tar");
    let mut archive = tar::Builder::new(File::create(&path).unwrap());
    archive.append_dir_all(".", scene.layout()).unwrap();
    archive.finish().unwrap();
    let image = scene.build_from(&path, OciCaps::default()).unwrap();
    assert_eq!(tree(&image), ["a=1", "b=2"]);
    let written = fs::metadata(&image.path).unwrap().modified().unwrap();
    let again = scene.build().unwrap();
    assert_eq!(again.path, image.path);
    assert_eq!(
        fs::metadata(&again.path).unwrap().modified().unwrap(),
        written
    );
    let mut packed =
        flate2::read::GzEncoder::new(File::open(&path).unwrap(), flate2::Compression::fast());
    let mut bytes = Vec::new();
    packed.read_to_end(&mut bytes).unwrap();
    fs::write(&path, bytes).unwrap();
    let told = scene
        .build_from(&path, OciCaps::default())
        .unwrap_err()
        .to_string();
    assert!(told.contains("unpack it first"), "{told}");
}

#[test]
fn what_leads_out_of_an_image_or_lies_about_itself_is_refused() {
    for (path, kind) in [("../x", 'f'), ("a/../../x", 'd'), ("x", 'h')] {
        let scene = Scene::new(&[&[(kind, path, "../../etc/shadow")]]);
        assert!(scene.refusal().contains("leads out"), "{}", scene.refusal());
    }
    // Below what a layer says is a link nothing is written through it.
    let scene = Scene::new(&[&[('f', "l/x", "below")], &[('l', "l", "/etc")]]);
    assert_eq!(tree(&scene.build().unwrap()), ["l -> /etc"]);
    let scene = Scene::new(&[&[('l', "l", "/etc"), ('f', "l/x", "through")]]);
    assert_eq!(tree(&scene.build().unwrap()), ["l -> /etc"]);
    let scene = Scene::new(&[&[('f', "a", "1")]]);
    let layer = tar(&[('f', "a", "1")]);
    let place = scene.layout().join("blobs/sha256").join(digest(&layer));
    fs::write(&place, tar(&[('f', "a", "2")])).unwrap();
    assert!(
        scene.refusal().contains("other bytes"),
        "{}",
        scene.refusal()
    );
    let cache = scene.dir.path().join("cache/oci");
    let left = fs::read_dir(cache).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name != "lock"
    });
    assert_eq!(left.count(), 0, "something is left behind");
}

#[test]
fn an_image_that_is_too_large_is_refused() {
    let scene = Scene::new(&[&[('f', "a", "12345"), ('f', "b", "12345")]]);
    let caps = |entries, bytes| OciCaps {
        entries,
        bytes: ByteSize::bytes(bytes),
    };
    for caps in [caps(1, 1000), caps(10, 9)] {
        let told = scene
            .build_from(&scene.layout(), caps)
            .unwrap_err()
            .to_string();
        assert!(told.contains("it holds more than"), "{told}");
    }
    assert!(scene.build_from(&scene.layout(), caps(2, 10)).is_ok());
}

#[test]
fn what_is_no_image_is_said() {
    let scene = Scene::new(&[]);
    let dir = scene.dir.path();
    let said = |path: &Path| {
        scene
            .build_from(path, OciCaps::default())
            .unwrap_err()
            .to_string()
    };
    assert!(said(&dir.join("nothing")).contains("cannot read"));
    assert!(said(dir).contains("no index.json"));
    fs::write(scene.layout().join("index.json"), "{").unwrap();
    assert!(scene.refusal().contains("not understood"));
    fs::write(
        scene.layout().join("index.json"),
        json!({"schemaVersion": 2, "manifests": []}).to_string(),
    )
    .unwrap();
    assert!(scene.refusal().contains("no image in it is for linux/"));
}
