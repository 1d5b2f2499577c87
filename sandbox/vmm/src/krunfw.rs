//! libkrunfw: the shared library that holds the guest kernel.
//!
//! The only file that opens it. What becomes of the kernel is the business of `pvh` (for QEMU) and of libkrun itself.
#![expect(
    unsafe_code,
    reason = "a foreign library can only be loaded and called this way"
)]

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use libloading::os::unix::{self, RTLD_NOW};
use libloading::{Library, Symbol};

use crate::pvh;

/// The interface version of libkrunfw that libkrun 1.x speaks: the `5` in `libkrunfw.so.5`.
const KRUNFW_VERSION: i32 = 5;

/// What libkrun asks the loader for.
const SONAME: &str = "libkrunfw.so.5";
/// From `dlfcn.h` of Linux; libloading has no name for it.
const RTLD_NOLOAD: i32 = 4;

type GetVersion = unsafe extern "C" fn() -> std::ffi::c_int;
type GetKernel = unsafe extern "C" fn(*mut u64, *mut u64, *mut usize) -> *const std::ffi::c_uchar;

/// A loaded libkrunfw of the right version.
pub(crate) struct Krunfw(Library);

impl Krunfw {
    /// Loads the library at the absolute path `library`.
    pub(crate) fn open(library: &Path) -> Result<Self> {
        if !library.is_absolute() {
            // A bare name would be searched for in places that somebody else may write to.
            bail!(
                "the path of libkrunfw must be absolute, and {} is not",
                library.display()
            );
        }
        // SAFETY: loading runs the library's initialisers. It is the guest kernel that this machine will run as its
        // own, named by an absolute path; libkrunfw is data and two accessors and has no initialiser.
        let loaded = unsafe { Library::new(library) }.with_context(|| {
            format!(
                "cannot load the guest kernel {}; run `cargo xtask setup`",
                library.display()
            )
        })?;
        // SAFETY: the signature is that of libkrunfw.h, unchanged since version 1.
        let get_version: Symbol<'_, GetVersion> = unsafe { loaded.get(b"krunfw_get_version\0") }
            .with_context(|| {
                format!(
                    "{} is not libkrunfw: it has no krunfw_get_version",
                    library.display()
                )
            })?;
        // SAFETY: the function takes nothing and returns a constant.
        let version = unsafe { get_version() };
        if version != KRUNFW_VERSION {
            bail!(
                "{} has interface version {version} and libkrun needs {KRUNFW_VERSION}; install libkrunfw{KRUNFW_VERSION}",
                library.display()
            );
        }
        Ok(Self(loaded))
    }

    /// Checks that whoever loads a library of libkrunfw's bare name is given this one.
    ///
    /// libkrun does that. The loader compares with the names that loaded libraries give themselves before it searches
    /// any directory, so this holds exactly when the library calls itself [`SONAME`].
    pub(crate) fn answers_to_its_name(&self) -> Result<()> {
        // SAFETY: with RTLD_NOLOAD nothing is loaded and no initialiser runs.
        let named = unsafe { unix::Library::open(Some(SONAME), RTLD_NOW | RTLD_NOLOAD) };
        match named {
            Ok(_) => Ok(()),
            Err(_) => {
                bail!("the library does not call itself {SONAME}, so libkrun would not find it")
            }
        }
    }

    /// The kernel's loaded image and the physical address it belongs at.
    fn kernel(&self) -> Result<(&[u8], u64)> {
        // SAFETY: the signature is that of libkrunfw.h for version 5, which was checked.
        let get_kernel: Symbol<'_, GetKernel> = unsafe { self.0.get(b"krunfw_get_kernel\0") }
            .context("the library has no krunfw_get_kernel")?;
        let (mut load, mut entry, mut size) = (0, 0, 0);
        // SAFETY: the three pointers are valid for writes for the length of the call.
        let start = unsafe { get_kernel(&raw mut load, &raw mut entry, &raw mut size) };
        if start.is_null() || size == 0 || isize::try_from(size).is_err() {
            bail!("libkrunfw gave no kernel");
        }
        // SAFETY: the library promises `size` readable bytes at `start`, constant data of its own that lives as long as
        // it is loaded; the slice borrows `self`, which keeps it loaded.
        Ok((unsafe { std::slice::from_raw_parts(start, size) }, load))
    }
}

/// `legwork-vmm kernel LIBRARY OUTPUT`: writes the kernel in `library` to `output` as an ELF file for QEMU.
pub(crate) fn write_kernel(library: &Path, output: &Path) -> Result<()> {
    let krunfw = Krunfw::open(library)?;
    let (image, load) = krunfw.kernel()?;
    let file = pvh::wrap(image, load)?;
    File::create(output)
        .and_then(|mut output| output.write_all(&file))
        .with_context(|| format!("cannot write the guest kernel to {}", output.display()))
}
