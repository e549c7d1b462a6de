//! Frameworks for Node.js against the fake provider: damaged histories alone, and with the line that repairs them.

use std::process::Command;

use anyhow::{Result, bail};

use super::npm;
use super::provider::Provider;
use crate::chores::node;
use crate::workspace::{self, Workspace};

const NAME: &str = "node-frameworks";
/// `LangChain` asks for versions of `LangGraph` that not every mirror of the registry has, so all of them are named.
const PACKAGES: &str = "--legacy-peer-deps ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 zod@4.6.7 @openai/agents@0.20.0 \
                        openai@7.55.0 @anthropic-ai/sdk@1.10.0 langchain@1.5.14 @langchain/core@1.2.13 \
                        @langchain/openai@1.5.8 @langchain/langgraph@1.4.13 @langchain/langgraph-checkpoint@1.1.5 \
                        @mastra/core@1.71.0 @mariozechner/pi-coding-agent@0.73.1";
const SCRIPT: &str = "frameworks.mjs";

/// Runs every framework, or those named, and prints a table.
pub(super) fn run(workspace: &Workspace, names: &[&str]) -> Result<()> {
    let native = node::build(workspace)?;
    let programs = npm::install(NAME, PACKAGES)?;
    let Some(program) = programs.last().map(|folder| folder.join("node")) else { bail!("npm has no folder") };
    let folder = npm::folder().join(NAME);
    node::install_package(workspace, &folder)?;
    std::fs::copy(workspace.root().join("crates/xtask/clients").join(SCRIPT), folder.join(SCRIPT))?;
    let provider = Provider::start(workspace)?;
    let mut script = Command::new(program);
    script.arg(SCRIPT).arg(&provider.url).args(names).current_dir(&folder);
    workspace::run(script.env("SEAMLINE_NATIVE", native))
}
