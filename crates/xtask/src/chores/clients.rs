//! `cargo xtask clients`: real clients against the strict fake provider.

mod client;
mod damage;
mod exports;
mod files;
mod npm;
mod provider;

use anyhow::{Result, bail};

use crate::workspace::{self, Workspace};

/// Runs a group of tests with real clients.
pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Result<()> {
    match args {
        ["files", names @ ..] => files::run(workspace, names),
        _ => bail!("unknown group of clients\nhint: `cargo xtask clients files`"),
    }
}

/// Runs the fake provider until it is stopped.
pub(crate) fn serve(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let mut command = provider::EXAMPLE.to_vec();
    command.extend(args);
    workspace::run(&mut workspace.cargo(&command))
}
