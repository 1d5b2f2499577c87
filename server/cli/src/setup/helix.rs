//! `legwork setup helix`: adds Legwork to Helix's languages.toml and config.toml. Helix starts a server only for the
//! languages that name it, and a list of servers in the user's file takes the place of Helix's own, so that each
//! language is written down with the servers it has anyhow and Legwork behind them.

use std::path::{Path, PathBuf};

use super::{
    configuration::{Configuration, Written},
    program,
};
use crate::{args::setup::HelixArgs, failure::Failure, output, printable::printable};

mod defaults;
mod embedded;
mod installed;
mod keys;
mod languages;

use defaults::Defaults;
use installed::Installed;

/// Does it.
pub(crate) fn helix(args: &HelixArgs) -> Result<(), Failure> {
    let dir = directory(args.config_dir.as_deref())?;
    let program = program::command(&program::file()?)?;
    let installed = Installed::find();
    let defaults = Defaults::of(installed.as_ref())?;
    let wanted = languages::Wanted {
        program: &program,
        defaults: &defaults,
        only: &args.languages,
    };
    let languages_file = Configuration::read(dir.join("languages.toml"))?;
    let keys_file = Configuration::read(dir.join("config.toml"))?;
    let (languages, mut told) =
        languages_file.edited(|document| languages::add(document, &wanted))?;
    let version = installed.as_ref().and_then(Installed::version);
    let (keys, more) = keys_file.edited(|document| Ok(keys::add(document, &program, version)))?;
    told.extend(more);
    match &installed {
        Some(installed) => installed.read_languages(&languages)?,
        None => told.push(
            "Helix is not on `PATH`: these are the languages and servers of 25.01 and 25.07, and nothing tried them"
                .to_owned(),
        ),
    }
    if args.print {
        output::print(&format!("# {}\n{languages}\n", languages_file.name()))?;
        output::print(&format!("# {}\n{keys}", keys_file.name()))?;
    } else {
        output::line(&report(&languages_file, &languages_file.write(&languages)?))?;
        output::line(&report(&keys_file, &keys_file.write(&keys)?))?;
    }
    for line in told {
        output::note(&line);
    }
    Ok(())
}

/// Where Helix looks for its configuration.
fn directory(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(dir) = named {
        return Ok(dir.to_owned());
    }
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute())
    };
    absolute("XDG_CONFIG_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".config")))
        .map(|dir| dir.join("helix"))
        .ok_or_else(|| {
            Failure::usage(
                "cannot tell where Helix is configured: `HOME` is not set",
                "name the folder with --config-dir",
            )
        })
}

fn report(file: &Configuration, written: &Written) -> String {
    let name = file.name();
    match written {
        Written::Unchanged => format!("{name} has all it needs"),
        Written::Created => format!("{name} is new"),
        Written::Changed { backup } => format!(
            "{name} is changed; as it was: {}",
            printable(&backup.to_string_lossy())
        ),
    }
}
