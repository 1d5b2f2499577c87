//! Agents of others: which are known, which are installed, and how one is installed. The daemon need not run for this.
//!
//! An installed agent is a read-only image in the cache, `agents/<package>/<version>.erofs`, which becomes a disk of the
//! machine. Packages are unpacked here and nothing of them is run: npm's scripts are off, and of Python only wheels are taken.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::Command,
};

use legwork_agent::{Package, Recipe, Recipes};
use legwork_host::folder_image;
use legwork_model::{Failure, FailureKind};
use legwork_spec::ByteSize;
use legwork_wire::Places;

/// The longest `recipes.toml`, in bytes.
const LONGEST: u64 = 1 << 20;

/// An agent that can be asked for by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    /// As `--agent` and `agent.kind` take it.
    pub name: String,
    /// What it is called by people.
    pub about: String,
    /// What it speaks, as `model.provider` names it.
    pub api: &'static str,
    /// The version that is used; `None` if it comes from no package.
    pub version: Option<String>,
    /// Whether it can be used now.
    pub installed: bool,
}

/// Every agent that is known.
///
/// # Errors
///
/// A [`Failure`] of the user's `recipes.toml`.
pub fn agents(places: &Places) -> Result<Vec<KnownAgent>, Failure> {
    let recipes = read(places)?;
    let known = recipes.iter().map(|(name, recipe)| KnownAgent {
        name: name.to_owned(),
        about: recipe.about.clone(),
        api: recipe.api.name(),
        version: recipe.package().map(|(package, _)| package.version.clone()),
        installed: image(places, recipe).is_none_or(|image| image.exists()),
    });
    Ok(known.collect())
}

/// Installs an agent; gives the size of its image. One that is installed already stays as it is.
///
/// # Errors
///
/// A [`Failure`] with the last words of the package manager.
pub fn install_agent(places: &Places, name: &str) -> Result<ByteSize, Failure> {
    let recipe = find(places, name)?;
    let size = |image: &Path| {
        let length = std::fs::metadata(image).map(|found| found.len());
        ByteSize::bytes(length.unwrap_or(0))
    };
    let (Some(image), Some((package, is_npm))) = (image(places, &recipe), recipe.package()) else {
        return Ok(ByteSize::bytes(0));
    };
    if image.exists() {
        return Ok(size(&image));
    }
    let failed = |message: String, hint: &str| Failure::new(FailureKind::Setup, message, hint);
    let disk = |error: std::io::Error| {
        failed(
            format!("cannot make a folder for {name}: {error}"),
            "check the cache directory and its free space",
        )
    };
    let parent = image.parent().unwrap_or(&places.cache);
    std::fs::create_dir_all(parent).map_err(disk)?;
    let unpacked = tempfile::Builder::new()
        .prefix(".unfinished-")
        .tempdir_in(parent)
        .map_err(disk)?;
    run(&mut unpack(package, is_npm, unpacked.path()), name)?;
    let summary = folder_image(unpacked.path(), &image).map_err(|error| {
        failed(
            format!("{name} cannot be made an image: {error}"),
            "check the cache directory and its free space",
        )
    })?;
    Ok(ByteSize::bytes(summary.bytes))
}

/// The package manager, told to unpack and to run nothing.
fn unpack(package: &Package, is_npm: bool, into: &Path) -> Command {
    let mut command = Command::new(if is_npm { "npm" } else { "/usr/bin/python3" });
    if is_npm {
        command
            .args([
                "install",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ])
            .arg("--prefix")
            .arg(into)
            .arg(format!("{}@{}", package.package, package.version));
    } else {
        // The guest has the host's own Python.
        command
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args(["--only-binary", ":all:", "--target"])
            .arg(into)
            .arg(format!("{}=={}", package.package, package.version));
    }
    command.current_dir(into).stdin(std::process::Stdio::null());
    command
}

fn run(command: &mut Command, name: &str) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |message: String| {
        Failure::new(
            FailureKind::Setup,
            message,
            format!("{program} is what installs it: see that it is there and reaches its registry"),
        )
    };
    let output = command
        .output()
        .map_err(|error| failed(format!("{program} cannot be run: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = words.lines().rev().take(5).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(failed(format!(
        "{name} was not installed: {}",
        last.join("; ")
    )))
}

/// The recipe of an agent.
pub(crate) fn find(places: &Places, name: &str) -> Result<Recipe, Failure> {
    let recipes = read(places)?;
    recipes.get(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = recipes.iter().map(|(name, _)| name).collect();
        Failure::new(
            FailureKind::Setup,
            format!("there is no agent `{}`", name.escape_debug()),
            format!(
                "name one of these: builtin, {}; or write a recipe for it into {}",
                names.join(", "),
                file(places).display()
            ),
        )
    })
}

/// Where the image of an agent is, or will be; `None` if it comes from no package.
pub(crate) fn image(places: &Places, recipe: &Recipe) -> Option<PathBuf> {
    let (package, _) = recipe.package()?;
    let dir = places.cache.join("agents");
    let dir = dir.join(package.package.replace('/', "+"));
    Some(dir.join(format!("{}.erofs", package.version)))
}

fn file(places: &Places) -> PathBuf {
    places.config.join("recipes.toml")
}

fn read(places: &Places) -> Result<Recipes, Failure> {
    let path = file(places);
    let wrong = |why: String| {
        Failure::new(
            FailureKind::Setup,
            format!("{} cannot be used: {why}", path.display()),
            "correct it and run the task again",
        )
    };
    let mut own = String::new();
    match std::fs::File::open(&path) {
        Ok(file) => {
            let read = file.take(LONGEST + 1).read_to_string(&mut own);
            read.map_err(|error| wrong(error.to_string()))?;
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(wrong(error.to_string())),
    }
    if own.len() as u64 > LONGEST {
        return Err(wrong("it is too large".to_owned()));
    }
    Recipes::with(&own).map_err(|error| wrong(error.to_string()))
}
