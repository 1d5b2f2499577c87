//! The kernel of the emulated machine: Debian's own, fetched once and unpacked, never installed.
//!
//! Knows packages and kernel modules; does not know what they are for.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

/// What the root over 9p, the overlay above it and KVM on an AMD processor need; their own needs are resolved.
const MODULES: [&str; 5] = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "kvm_amd"];

/// An unpacked kernel.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) image: PathBuf,
    /// Holds uncompressed modules; their names sort in the order they must be loaded in.
    pub(super) modules: PathBuf,
}

impl Kernel {
    /// The kernel in `cache`, or a fresh one that is then in `cache`.
    pub(super) fn obtain(cache: &Path) -> Result<Self> {
        let place = cache.join("kernel");
        if !place.join("vmlinuz").exists() {
            fetch(cache, &place)?;
        }
        Ok(Self {
            image: place.join("vmlinuz"),
            modules: place.join("modules"),
        })
    }
}

fn fetch(cache: &Path, place: &Path) -> Result<()> {
    let work = tempfile::Builder::new()
        .prefix("fetch-")
        .tempdir_in(cache)
        .context("cannot write to the cache")?;
    let package = package()?;
    super::run(
        Command::new("apt-get")
            .args(["download", &package])
            .current_dir(work.path()),
    )?;
    let archive = files(work.path())?
        .into_iter()
        .find(|file| has_suffix(file, ".deb"));
    let archive =
        archive.with_context(|| format!("apt-get downloaded no package for {package}"))?;
    let tree = work.path().join("tree");
    super::run(Command::new("dpkg").arg("-x").arg(&archive).arg(&tree))?;

    let ready = work.path().join("ready");
    let modules = ready.join("modules");
    fs::create_dir_all(&modules)?;
    let found =
        index(&tree.join("lib/modules")).or_else(|_| index(&tree.join("usr/lib/modules")))?;
    for (number, name) in ordered(&found)?.iter().enumerate() {
        fs::write(
            modules.join(format!("{number:02}-{name}.ko")),
            content(&found[name])?,
        )?;
    }
    let image = files(&tree.join("boot"))?
        .into_iter()
        .find(|file| has_prefix(file, "vmlinuz-"));
    let image = fs::read(image.with_context(|| format!("{package} holds no kernel image"))?)?;
    let decompressed = decompressed(&image);
    fs::write(ready.join("vmlinuz"), decompressed.unwrap_or(image))?;
    // Moved as a whole: where there is an image, everything is there. That it is there already means that another
    // process was quicker.
    match fs::rename(&ready, place) {
        Err(_) if place.join("vmlinuz").exists() => Ok(()),
        moved => moved.with_context(|| format!("cannot put the kernel at {}", place.display())),
    }
}

/// The package that the distribution's `linux-image-amd64` stands for.
fn package() -> Result<String> {
    let text = super::run(Command::new("apt-cache").args(["depends", "linux-image-amd64"]))?;
    text.lines()
        .find_map(|line| line.trim().strip_prefix("Depends: "))
        .map(str::to_owned)
        .context("apt knows no linux-image-amd64; run `apt-get update` on a Debian for amd64")
}

/// Module name (with underscores) to file.
fn index(root: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for path in files(&directory)? {
            if path.is_dir() {
                waiting.push(path);
            } else if let Some((name, _)) = path
                .file_name()
                .and_then(|name| name.to_str())
                .and_then(|name| name.split_once(".ko"))
            {
                found.insert(name.replace('-', "_"), path);
            }
        }
    }
    Ok(found)
}

/// [`MODULES`] and all they depend on, each behind what it depends on.
fn ordered(found: &BTreeMap<String, PathBuf>) -> Result<Vec<String>> {
    fn visit(name: &str, found: &BTreeMap<String, PathBuf>, order: &mut Vec<String>) -> Result<()> {
        if order.iter().any(|known| known == name) {
            return Ok(());
        }
        let path = found
            .get(name)
            .with_context(|| format!("the kernel package has no module {name}"))?;
        for needed in depends(&content(path)?) {
            visit(&needed, found, order)?;
        }
        order.push(name.to_owned());
        Ok(())
    }
    let mut order = Vec::new();
    for name in MODULES {
        visit(name, found, &mut order)?;
    }
    Ok(order)
}

/// A module's own list of what it depends on: a NUL-terminated `depends=a,b` among its strings.
fn depends(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(start) = module.windows(KEY.len()).position(|window| window == KEY) else {
        return Vec::new();
    };
    let list = module[start + KEY.len()..]
        .split(|byte| *byte == 0)
        .next()
        .unwrap_or_default();
    String::from_utf8_lossy(list)
        .split(',')
        .filter(|name| !name.is_empty())
        .map(|name| name.replace('-', "_"))
        .collect()
}

/// A module's bytes, decompressed.
fn content(path: &Path) -> Result<Vec<u8>> {
    let tool = match path.extension().and_then(|extension| extension.to_str()) {
        Some("ko") => {
            return fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        }
        Some("xz") => "xz",
        Some("zst") => "zstd",
        _ => bail!("{} is compressed in an unknown way", path.display()),
    };
    let output = Command::new(tool).arg("-dc").arg(path).output();
    let output = output.with_context(|| {
        format!("cannot run {tool}, which the kernel's modules need; install it")
    })?;
    ensure!(
        output.status.success(),
        "{tool} cannot read {}",
        path.display()
    );
    Ok(output.stdout)
}

/// The ELF file inside a bzImage: QEMU starts it directly (the kernel has a PVH entry), and the emulated processor is
/// spared the decompression, half of the whole boot. Nothing when the layout or the compression is not a known one.
fn decompressed(image: &[u8]) -> Option<Vec<u8>> {
    let word = |at: usize| {
        usize::try_from(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?)).ok()
    };
    // The x86 boot protocol: "HdrS", sectors of the real-mode part, then offset and length of the payload behind it.
    if image.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let start = (usize::from(*image.get(0x1f1)?) + 1) * 512 + word(0x248)?;
    // Its last four bytes are the decompressed size.
    let payload = image.get(start..start.checked_add(word(0x24c)?)?.checked_sub(4)?)?;
    let (tool, flag) = match payload {
        [0xfd, b'7', b'z', ..] => ("xz", "--single-stream"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ("zstd", "--quiet"),
        _ => return None,
    };
    let mut input = tempfile::tempfile().ok()?;
    input.write_all(payload).ok()?;
    input.rewind().ok()?;
    let output = Command::new(tool)
        .args(["-dc", flag])
        .stdin(input)
        .output()
        .ok()?;
    (output.status.success() && output.stdout.starts_with(b"\x7fELF")).then_some(output.stdout)
}

fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn has_prefix(path: &Path, prefix: &str) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(prefix))
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::depends;

    #[test]
    fn reads_what_a_module_depends_on() {
        assert_eq!(
            depends(b"license=GPL\0depends=kvm,irq-bypass\0retpoline=Y\0"),
            ["kvm", "irq_bypass"]
        );
        assert!(depends(b"license=GPL\0depends=\0retpoline=Y\0").is_empty());
        assert!(depends(b"").is_empty());
    }
}
