//! `legwork setup neovim`: where the plug-in lies, as lines to copy. Nothing is written.

use std::path::{Path, PathBuf};

use super::program;
use crate::{failure::Failure, output};

/// Does it.
pub(crate) fn neovim() -> Result<(), Failure> {
    let dir = plugin(&program::file()?).ok_or_else(|| {
        Failure::task(
            "the plug-in for Neovim is not beside this program",
            "let your plug-in manager load the folder `editors/neovim` of Legwork's sources",
        )
    })?;
    Ok(output::print(&lines(&dir.to_string_lossy()))?)
}

/// The plug-in's folder: beside an installed program below `share`, else in the sources it was built from.
fn plugin(program: &Path) -> Option<PathBuf> {
    program
        .ancestors()
        .skip(1)
        .take(4)
        .flat_map(|dir| [dir.join("share/legwork/neovim"), dir.join("editors/neovim")])
        .find(|dir| dir.join("lua/legwork").is_dir())
}

fn lines(dir: &str) -> String {
    // A Lua string as Rust writes it: the two agree on what a path needs.
    let dir = dir.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "-- with lazy.nvim, among the plug-ins:\n{{ dir = \"{dir}\" }},\n\
         -- without a plug-in manager, in init.lua:\nvim.opt.runtimepath:prepend(\"{dir}\")\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plug_in_is_found_beside_the_program() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("target/debug/legwork");
        assert_eq!(plugin(&program), None);
        std::fs::create_dir_all(home.path().join("editors/neovim/lua/legwork")).unwrap();
        assert_eq!(plugin(&program), Some(home.path().join("editors/neovim")));
        std::fs::create_dir_all(home.path().join("share/legwork/neovim/lua/legwork")).unwrap();
        let installed = home.path().join("bin/legwork");
        assert_eq!(
            plugin(&installed),
            Some(home.path().join("share/legwork/neovim"))
        );
    }

    #[test]
    fn a_path_is_a_lua_string() {
        assert!(lines("/a \"b\"/c").contains("{ dir = \"/a \\\"b\\\"/c\" },"));
    }
}
