//! Names and imports: asked of whoever has an index of the workspace.

use super::Hands;
use crate::{
    paths,
    workbench::{BenchError, Lookup, Workbench},
};

impl<W: Workbench> Hands<'_, W> {
    /// Follows names and imports. Where there is no index, a name is looked for as a word.
    pub(super) async fn look_up(
        &self,
        lookup: &Lookup,
    ) -> Result<Result<String, String>, BenchError> {
        let within = |path: &str| paths::within(&self.workspace, path);
        let lookup = match lookup {
            Lookup::Name(name) => Ok(Lookup::Name(name.clone())),
            Lookup::Imports(from) => within(from).map(Lookup::Imports),
            Lookup::Chain { from, to } => within(from).and_then(|from| {
                Ok(Lookup::Chain {
                    from,
                    to: within(to)?,
                })
            }),
        };
        let lookup = match lookup {
            Ok(lookup) => lookup,
            Err(why) => return Ok(Err(why)),
        };
        if let Some(answer) = self.bench.look_up(lookup.clone()).await {
            return Ok(answer);
        }
        let no_index = "there is no index of the workspace";
        match lookup {
            Lookup::Name(name) => {
                let name = name.rsplit([':', '.']).next().unwrap_or_default();
                let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                if name.is_empty() || !name.chars().all(is_name) {
                    return Ok(Err(format!("{no_index}: search by a pattern")));
                }
                let pattern = format!(
                    "(^|[^[:alnum:]_]){}([^[:alnum:]_]|$)",
                    name.replace('$', "\\$")
                );
                let found = self.search(&pattern, None).await?;
                Ok(found.map(|found| {
                    format!("{no_index}, so these are lines that hold the word\n{found}")
                }))
            }
            Lookup::Imports(_) | Lookup::Chain { .. } => {
                Ok(Err(format!("{no_index}: search by a pattern for imports")))
            }
        }
    }
}
