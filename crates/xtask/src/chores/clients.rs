//! `cargo xtask clients`: real clients against the strict fake provider.

mod client;
mod damage;
mod files;
mod home;
mod library;
mod message;
mod npm;
mod pip;
mod provider;
mod proxy;
mod recorder;

use anyhow::{Result, bail};

use crate::workspace::{self, Workspace};

/// Runs a group of tests with real clients.
pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Result<()> {
    match args {
        ["files", names @ ..] => files::run(workspace, names),
        ["proxy", names @ ..] => proxy::run(workspace, names),
        _ => bail!("unknown group of clients\nhint: `cargo xtask clients files` or `cargo xtask clients proxy`"),
    }
}

/// Runs the fake provider until it is stopped.
pub(crate) fn serve(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let mut command = provider::EXAMPLE.to_vec();
    command.extend(args);
    workspace::run(&mut workspace.cargo(&command))
}
