//! The tests of the npm package: builds the native part, installs the package into an empty project, runs its suite.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::postgres;
use super::tally::Tally;
use super::test::Outcome;
use crate::workspace::{self, Workspace};

/// The folder of the package.
const PACKAGE: &str = "crates/seamline-node";
/// The packages that the tests need: their own tools, and half of the frameworks.
const NEEDED: [&str; 14] = [
    "fast-check@4.10.2",
    "typescript@6.0.3",
    "@types/node@20.19.43",
    "ai@7.0.173",
    "@ai-sdk/openai-compatible@3.0.92",
    "zod@4.6.7",
    "@openai/agents@0.20.0",
    "openai@7.55.0",
    "@anthropic-ai/sdk@1.10.0",
    "langchain@1.5.14",
    "@langchain/core@1.2.13",
    "@langchain/openai@1.5.8",
    "@langchain/langgraph@1.4.13",
    "@langchain/langgraph-checkpoint@1.1.5",
];
/// The script that runs the frameworks.
const FRAMEWORKS: &str = "crates/xtask/clients/frameworks.mjs";
/// The oldest Node.js that the package runs on.
const NODE_MIN: u32 = 20;
/// The folders and files of the package that users get.
const SHIPPED: [&str; 5] = ["package.json", "README.md", "bin", "lib", "types"];
/// The texts of its licences, from the root of the workspace.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Runs the suite of the package.
pub(super) fn run(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    if let Some(why) = missing() {
        return Ok(Outcome::Skipped(why));
    }
    let native = build(workspace)?;
    let provider = workspace::build_provider(workspace)?;
    let project = workspace.root().join("target/node");
    install_needed(&project)?;
    install_package(workspace, &project)?;
    workspace::copy_folder(&workspace.root().join(PACKAGE).join("test"), &project.join("test"))?;
    workspace::copy_folder(&workspace.root().join(FRAMEWORKS), &project.join("test/frameworks.mjs"))?;
    let mut types = Command::new("npx");
    types.args(["--no-install", "tsc", "--project", "test/tsconfig.json"]).current_dir(&project);
    workspace::run(&mut types)?;
    let mut suite = Command::new("node");
    suite.args(["--expose-gc", "--test", "--test-reporter=spec"]).args(suites(&project.join("test"))?);
    suite.current_dir(&project).env("SEAMLINE_NATIVE", native);
    suite.env("SEAMLINE_FIXTURES", workspace.root().join("fixtures")).env("SEAMLINE_ROOT", workspace.root());
    suite.env("SEAMLINE_PROVIDER", provider);
    postgres::watched(workspace, suite, tally)
}

/// The reason why the suite cannot run on this machine.
fn missing() -> Option<String> {
    let version = |program: &str| {
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        String::from_utf8(output.stdout).ok().filter(|_| output.status.success())
    };
    let node = version("node").and_then(|text| major(&text));
    match (node, version("npm")) {
        (None, _) => Some("node is not installed".to_owned()),
        (Some(found), _) if found < NODE_MIN => Some(format!("node is {found}; it needs {NODE_MIN}")),
        (_, None) => Some("npm is not installed".to_owned()),
        _ => None,
    }
}

fn major(version: &str) -> Option<u32> {
    version.trim().trim_start_matches('v').split('.').next()?.parse().ok()
}

/// Builds the native part as a release ships it, and returns its path.
pub(super) fn build_shipped(workspace: &Workspace) -> Result<PathBuf> {
    workspace::run(&mut workspace.cargo(&["build", "--locked", "--profile", "dist", "-p", "seamline-node"]))?;
    Ok(workspace.root().join("target/dist").join(file_name()))
}

/// Builds the native part and returns its path.
pub(super) fn build(workspace: &Workspace) -> Result<PathBuf> {
    workspace::build_libraries(workspace)?;
    Ok(workspace.root().join("target/debug").join(file_name()))
}

fn file_name() -> String {
    format!("{}seamline_node{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

fn install_needed(project: &Path) -> Result<()> {
    let made = project.join("made-from.txt");
    let wanted = NEEDED.join(" ");
    if std::fs::read_to_string(&made).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    std::fs::create_dir_all(project)?;
    std::fs::write(project.join("package.json"), "{\"private\":true}\n")?;
    let mut npm = Command::new("npm");
    // `LangChain` asks for versions of `LangGraph` that not every mirror of the registry has, so all of them are named.
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--legacy-peer-deps"]).args(NEEDED);
    npm.current_dir(project);
    workspace::run(&mut npm)?;
    Ok(std::fs::write(&made, wanted)?)
}

/// Copies the package into the modules of a project, as npm would.
pub(super) fn install_package(workspace: &Workspace, project: &Path) -> Result<()> {
    let package = workspace.root().join(PACKAGE);
    let installed = project.join("node_modules/seamline");
    if installed.exists() {
        std::fs::remove_dir_all(&installed).with_context(|| format!("cannot remove {}", installed.display()))?;
    }
    std::fs::create_dir_all(&installed)?;
    for name in SHIPPED {
        workspace::copy_folder(&package.join(name), &installed.join(name))?;
    }
    for licence in LICENCES {
        workspace::copy_folder(&workspace.root().join(licence), &installed.join(licence))?;
    }
    Ok(())
}

fn suites(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_node_is_read() {
        assert_eq!((major("v20.20.2\n"), major("v8"), major("x")), (Some(20), Some(8), None));
    }
}
