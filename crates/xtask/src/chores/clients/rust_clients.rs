//! SDKs for Rust against the fake provider: a damaged history alone, and with the lines that repair it.

use std::process::Command;

use anyhow::Result;

use super::provider::Provider;
use crate::workspace::{self, Workspace};

/// The folder of the examples, a workspace of its own.
const FOLDER: &str = "examples/rust";
const NAMES: [&str; 2] = ["async_openai", "genai"];

/// Runs every example. An example fails if its history is rejected with Seamline, too.
pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let provider = Provider::start(workspace)?;
    for name in NAMES {
        println!("\n{name}");
        let mut example = Command::new("cargo");
        example.args(["run", "--quiet", "--bin", name, "--", &provider.url]);
        example.current_dir(workspace.root().join(FOLDER));
        // The built crates stay out of the folder of sources.
        workspace::run(example.env("CARGO_TARGET_DIR", workspace.root().join("target/rust-examples")))?;
    }
    Ok(())
}
