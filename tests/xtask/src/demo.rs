//! (room)
use anyhow::Result;
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}
pub(crate) fn main(_: &Args) -> Result<()> {
    Ok(())
}
