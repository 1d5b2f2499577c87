//! Where the built product is, and a home of its own for each test.

use std::path::{Path, PathBuf};

/// The directory with `legwork`, `legwork-vmm` and `guest/legwork-guest`, as `cargo xtask build` leaves it.
///
/// # Panics
///
/// When they are not built: a test of the product cannot say anything then.
pub fn bin_dir() -> PathBuf {
    let built = std::env::var_os("LEGWORK_BIN_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug"),
        PathBuf::from,
    );
    for part in ["legwork", "legwork-vmm", "guest/legwork-guest"] {
        assert!(
            built.join(part).is_file(),
            "{} is not built: run `cargo xtask build`, or the tests through `cargo xtask test`",
            built.join(part).display()
        );
    }
    built
}

/// The cache that all tests share with the product itself: what is in it depends on this machine only.
///
/// # Panics
///
/// When there is no home directory.
pub fn cache() -> PathBuf {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    variable("LEGWORK_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|dir| dir.join("legwork")))
        .or_else(|| variable("HOME").map(|dir| dir.join(".cache/legwork")))
        .expect("HOME is set")
}
