//! `cargo xtask bench packages`: the speed of the packages for Python and Node.js beside other libraries.

use std::process::Command;

use anyhow::{Context as _, Result};

use super::python::Environment;
use super::{node, python_package};
use crate::workspace::{self, Workspace};

/// The libraries that the Python package is compared with.
const PEERS: Environment =
    Environment { name: "python-bench", requirements: "crates/seamline-python/bench/requirements.txt" };

/// The benchmarks, which take the number of rounds.
const PYTHON: &str = "crates/seamline-python/bench/packages.py";
const NODE: &str = "crates/seamline-node/bench/packages.mjs";

/// Builds what a release ships, and prints times and ratios. The first argument names one package.
pub(super) fn run(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let (only, rest) = match args {
        ["python", rest @ ..] => (Some("python"), rest),
        ["node", rest @ ..] => (Some("node"), rest),
        rest => (None, rest),
    };
    if only != Some("node") {
        let python = PEERS.python(workspace)?.context("python3 with venv is not installed")?;
        python_package::install(workspace, &python, "dist")?;
        workspace::run(Command::new(&python).arg(workspace.root().join(PYTHON)).args(rest))?;
    }
    if only != Some("python") {
        let native = node::build_shipped(workspace)?;
        let mut command = Command::new("node");
        command.arg(workspace.root().join(NODE)).args(rest).env("SEAMLINE_NATIVE", native);
        workspace::run(command.current_dir(workspace.root()))?;
    }
    Ok(())
}
