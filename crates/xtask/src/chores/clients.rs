//! `cargo xtask clients`: real clients against the strict fake provider.

mod client;
mod damage;
mod exports;
mod files;
mod home;
mod library;
mod message;
mod node_frameworks;
mod npm;
mod pip;
mod provider;
mod proxy;
mod recorder;
mod rust_clients;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use super::python_package;
use crate::workspace::{self, Workspace};

/// Runs a group of tests with real clients.
pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Result<()> {
    match args {
        ["files", names @ ..] => files::run(workspace, names),
        ["proxy", names @ ..] => proxy::run(workspace, names),
        ["frameworks", "node", names @ ..] => node_frameworks::run(workspace, names),
        ["frameworks", "python", names @ ..] => python_package::print_frameworks(workspace, names),
        ["frameworks", "rust"] => rust_clients::run(workspace),
        ["frameworks"] => {
            rust_clients::run(workspace)?;
            node_frameworks::run(workspace, &[])?;
            python_package::print_frameworks(workspace, &[])
        }
        _ => {
            bail!(
                "unknown group of clients\nhint: `cargo xtask clients files`, `proxy` or `frameworks [node|python|rust]`"
            )
        }
    }
}

/// Runs the fake provider until it is stopped.
pub(crate) fn serve(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let mut command = provider::EXAMPLE.to_vec();
    command.extend(args);
    workspace::run(&mut workspace.cargo(&command))
}

/// Installs the gateways that the benchmark of the proxy compares with, and returns the variables that name them.
pub(crate) fn gateways() -> Vec<(&'static str, PathBuf)> {
    let portkey = || {
        let programs = npm::install("portkey", "@portkey-ai/gateway@1.15.2")?;
        let modules = programs.first().and_then(|programs| programs.parent());
        modules.map(|modules| modules.join("@portkey-ai/gateway")).context("npm has no folder")
    };
    let installed = [
        ("SEAMLINE_TENSORZERO", pip::install("tensorzero", "tensorzero==2026.6.0 openai")),
        ("SEAMLINE_PORTKEY", portkey()),
        ("SEAMLINE_LITELLM", pip::install("litellm", "litellm[proxy]==1.106.2")),
    ];
    let mut gateways = Vec::new();
    for (variable, program) in installed {
        match program {
            Ok(program) => gateways.push((variable, program)),
            Err(error) => println!("not installable: {error}"),
        }
    }
    gateways
}
