//! An OCI image layout, in a folder or in one tar file as `docker save`, `podman save --format oci-archive` and `skopeo copy`
//! write it. (OCI Image Layout Specification 1.1.)

use std::{
    cell::RefCell,
    collections::HashMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use oci_spec::image::{Arch, Descriptor, ImageIndex, ImageManifest, MediaType, Os};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::{OciError, layers::Fault};

/// The longest description, in bytes.
const LONGEST_JSON: u64 = 4 << 20;

/// How many indexes may stand in one another.
const DEEPEST: u32 = 4;

/// Files of an archive that is a layout.
const MOST_FILES: usize = 100_000;

/// Where the blobs are.
#[derive(Debug)]
pub(super) struct Layout {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Folder,
    /// Positions and lengths of the files in the archive, by name.
    Archive {
        file: RefCell<File>,
        files: HashMap<String, (u64, u64)>,
    },
}

/// The image that was chosen.
#[derive(Debug)]
pub(super) struct Image {
    /// Of its manifest, in hexadecimal digits.
    pub(super) digest: String,
    /// The lowest first.
    pub(super) layers: Vec<Layer>,
}

/// One layer, as the manifest tells it.
#[derive(Debug)]
pub(super) struct Layer {
    digest: String,
    /// As it stands in the layout, in bytes.
    pub(super) size: u64,
    packed: Packed,
}

#[derive(Clone, Copy, Debug)]
enum Packed {
    Plain,
    Gzip,
    Zstd,
}

impl Layout {
    pub(super) fn open(path: &Path) -> Result<Self, OciError> {
        let failed = |source| OciError::Read {
            path: path.to_owned(),
            source,
        };
        let path = path.to_owned();
        if std::fs::metadata(&path).map_err(failed)?.is_dir() {
            return Ok(Self {
                path,
                kind: Kind::Folder,
            });
        }
        let file = File::open(&path).map_err(failed)?;
        let mut files = HashMap::new();
        let mut archive = tar::Archive::new(&file);
        for entry in archive.entries_with_seek().map_err(failed)? {
            let entry = entry.map_err(|source| OciError::Unusable {
                path: path.clone(),
                why: format!(
                    "it is no plain tar file ({source}): unpack it first if it is compressed"
                ),
            })?;
            if files.len() >= MOST_FILES {
                return Err(OciError::Unusable {
                    path,
                    why: "it holds too many files for an image layout".to_owned(),
                });
            }
            if entry.header().entry_type().is_file() {
                let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                let name = name.trim_start_matches("./").to_owned();
                files.insert(name, (entry.raw_file_position(), entry.size()));
            }
        }
        let file = RefCell::new(file);
        Ok(Self {
            path,
            kind: Kind::Archive { file, files },
        })
    }

    /// The image for this machine.
    pub(super) fn image(&self) -> Result<Image, OciError> {
        let (_, bytes) = self
            .bytes("index.json", None)
            .map_err(|error| match error {
                OciError::Read { path, .. } => OciError::Unusable {
                    path,
                    why: "there is no index.json in it; `docker save` writes one since version 25"
                        .to_owned(),
                },
                other => other,
            })?;
        let index: ImageIndex = self.parse(&bytes)?;
        self.manifest(&index, DEEPEST)
    }

    fn manifest(&self, index: &ImageIndex, deepest: u32) -> Result<Image, OciError> {
        let arch = match std::env::consts::ARCH {
            "x86_64" => Arch::Amd64,
            "aarch64" => Arch::ARM64,
            other => Arch::Other(other.to_owned()),
        };
        let fits = |descriptor: &&Descriptor| match descriptor.platform() {
            Some(platform) => *platform.architecture() == arch && *platform.os() == Os::Linux,
            None => true,
        };
        let chosen = index.manifests().iter().find(fits);
        let chosen =
            chosen.ok_or_else(|| self.unusable(format!("no image in it is for linux/{arch}")))?;
        let (digest, bytes) = self.blob(chosen)?;
        match chosen.media_type() {
            MediaType::ImageIndex if deepest > 0 => {
                self.manifest(&self.parse(&bytes)?, deepest - 1)
            }
            MediaType::Other(kind) if kind.ends_with("manifest.list.v2+json") && deepest > 0 => {
                self.manifest(&self.parse(&bytes)?, deepest - 1)
            }
            MediaType::ImageIndex => Err(self.unusable("its indexes lead nowhere".to_owned())),
            _ => {
                let manifest: ImageManifest = self.parse(&bytes)?;
                let layers = manifest.layers().iter().map(|layer| self.described(layer));
                let layers = layers.collect::<Result<_, _>>()?;
                Ok(Image { digest, layers })
            }
        }
    }

    fn described(&self, layer: &Descriptor) -> Result<Layer, OciError> {
        let kind = layer.media_type().to_string();
        let packed = match kind.rsplit(['.', '+']).next() {
            Some("tar") => Packed::Plain,
            Some("gzip") => Packed::Gzip,
            Some("zstd") => Packed::Zstd,
            _ => {
                let kind = kind.escape_default();
                return Err(self.unusable(format!("a layer is of the unknown kind {kind}")));
            }
        };
        Ok(Layer {
            digest: self.sha256(layer)?,
            size: layer.size(),
            packed,
        })
    }

    /// Gives a layer, unpacked, to `read`, and checks that all of it was what its digest says.
    pub(super) fn layer<T>(
        &self,
        layer: &Layer,
        read: impl FnOnce(&mut dyn Read) -> Result<T, Fault>,
    ) -> Result<T, OciError> {
        let failed = |source| OciError::Read {
            path: self.path.clone(),
            source,
        };
        let (length, source) = self.source(&format!("blobs/sha256/{}", layer.digest))?;
        if length != layer.size {
            return Err(self.unusable(format!(
                "layer {} has another length than is said",
                layer.digest
            )));
        }
        let mut hashing = Hashing {
            source,
            hasher: Sha256::new(),
        };
        let value = match layer.packed {
            Packed::Plain => read(&mut hashing),
            Packed::Gzip => read(&mut flate2::read::MultiGzDecoder::new(&mut hashing)),
            Packed::Zstd => {
                read(&mut zstd::stream::read::Decoder::new(&mut hashing).map_err(failed)?)
            }
        };
        let value = value.map_err(|fault| self.fault(fault))?;
        // What stands behind the tar's end belongs to the digest too.
        io::copy(&mut hashing, &mut io::sink()).map_err(failed)?;
        if hex(&hashing.hasher.finalize()) != layer.digest {
            return Err(self.unusable(format!(
                "layer {} holds other bytes than its digest says: get the image again",
                layer.digest
            )));
        }
        Ok(value)
    }

    /// A fault in what an archive says, or of the system.
    pub(super) fn fault(&self, fault: Fault) -> OciError {
        match fault {
            Fault::Hostile(why) => self.unusable(why),
            Fault::Read(source) => OciError::Read {
                path: self.path.clone(),
                source,
            },
            Fault::Write(error) => error.into(),
        }
    }

    fn unusable(&self, why: String) -> OciError {
        OciError::Unusable {
            path: self.path.clone(),
            why,
        }
    }

    /// A description, checked.
    fn blob(&self, descriptor: &Descriptor) -> Result<(String, Vec<u8>), OciError> {
        let digest = self.sha256(descriptor)?;
        self.bytes(&format!("blobs/sha256/{digest}"), Some(&digest))
    }

    fn sha256(&self, descriptor: &Descriptor) -> Result<String, OciError> {
        let digest = descriptor.digest().to_string();
        match digest.strip_prefix("sha256:") {
            Some(hex) if hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()) => {
                Ok(hex.to_ascii_lowercase())
            }
            _ => Err(self.unusable(format!(
                "`{}` is no digest by SHA-256",
                digest.escape_default()
            ))),
        }
    }

    fn bytes(&self, name: &str, digest: Option<&str>) -> Result<(String, Vec<u8>), OciError> {
        let (length, mut source) = self.source(name)?;
        if length > LONGEST_JSON {
            return Err(self.unusable(format!("`{name}` is too long for a description")));
        }
        let mut bytes = Vec::new();
        source
            .read_to_end(&mut bytes)
            .map_err(|source| OciError::Read {
                path: self.path.clone(),
                source,
            })?;
        let found = hex(&Sha256::digest(&bytes));
        if digest.is_some_and(|digest| digest != found) {
            return Err(self.unusable(format!(
                "`{name}` holds other bytes than its digest says: get the image again"
            )));
        }
        Ok((found, bytes))
    }

    fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, OciError> {
        serde_json::from_slice(bytes).map_err(|error| {
            self.unusable(format!("a description in it is not understood ({error})"))
        })
    }

    /// A file of the layout, with its length.
    fn source(&self, name: &str) -> Result<(u64, io::Take<File>), OciError> {
        let opened = match &self.kind {
            Kind::Folder => File::open(self.path.join(name)).and_then(|file| {
                let metadata = file.metadata()?;
                if !metadata.is_file() {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                Ok((metadata.len(), file.take(metadata.len())))
            }),
            Kind::Archive { file, files } => files
                .get(name)
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
                .and_then(|(start, length)| {
                    let mut file = file.borrow().try_clone()?;
                    file.seek(SeekFrom::Start(*start))?;
                    Ok((*length, file.take(*length)))
                }),
        };
        opened.map_err(|source| OciError::Read {
            path: self.path.join(name),
            source,
        })
    }
}

/// Counts what is read into a digest.
struct Hashing<R> {
    source: R,
    hasher: Sha256,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a string does not fail.
        let _ok = write!(text, "{byte:02x}");
        text
    })
}
