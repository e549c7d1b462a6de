//! `cargo xtask new-rule <group> <name>`.

use anyhow::{Result, bail};

use crate::workspace::Workspace;

pub(crate) fn run(_workspace: &Workspace, _group: &str, _name: &str) -> Result<()> {
    bail!("pending")
}
