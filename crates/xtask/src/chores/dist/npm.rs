//! The npm packages: `seamline`, and the native part with the command for this platform.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::binary::Binary;
use super::{Release, Shipped, copy, remake};
use crate::chores::node;
use crate::workspace;

/// The first lines that a user of the package writes.
const QUICK_START: &str = r#"
import assert from "node:assert/strict";
import { repair } from "seamline";
import { repairingFetch } from "seamline/fetch";
const messages = [
  { role: "user", content: "What is in main.rs?" },
  { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: {} }] },
  { role: "user", content: "Never mind." },
];
const repaired = repair(messages);
assert(repaired.changed && repaired.remaining.length === 0);
assert.equal(repair(repaired.body).body, repaired.body);
assert.equal(typeof repairingFetch(), "function");
console.log(repaired.actions.length, "repairs");
"#;

pub(super) fn build(release: &Release<'_>, binary: &Binary) -> Result<Vec<Shipped>> {
    let library = node::build_shipped(release.workspace)?;
    let platform = platform()?;
    let packages = [staged_main(release)?, staged_platform(release, binary, &library, &platform)?];
    let packed: Vec<PathBuf> = packages.iter().map(|folder| pack(release, folder)).collect::<Result<_>>()?;
    try_out(release, &packed)?;
    Ok(packed.into_iter().map(|path| Shipped { path, is_package: true }).collect())
}

/// The platform of this machine as the package names it, such as `linux-x64-gnu`.
fn platform() -> Result<String> {
    let script = "const glibc = process.report.getReport().header.glibcVersionRuntime; const { platform, arch } = process; \
                  console.log([platform, arch, ...(platform === 'linux' ? [glibc ? 'gnu' : 'musl'] : [])].join('-'))";
    Ok(workspace::output(Command::new("node").args(["-e", script]))?.trim().to_owned())
}

fn staged_main(release: &Release<'_>) -> Result<PathBuf> {
    let project = release.folder.join("npm");
    remake(&project)?;
    node::install_package(release.workspace, &project)?;
    Ok(project.join("node_modules/seamline"))
}

fn staged_platform(release: &Release<'_>, binary: &Binary, library: &Path, platform: &str) -> Result<PathBuf> {
    let folder = release.folder.join("npm").join(platform);
    remake(&folder)?;
    copy(library, &folder.join("seamline.node"))?;
    copy(&binary.path, &folder.join("seamline"))?;
    copy(&release.workspace.root().join("LICENSE-MIT"), &folder.join("LICENSE-MIT"))?;
    let mut words = platform.split('-');
    let manifest = json!({
        "name": format!("@seamline/{platform}"),
        "version": release.version,
        "description": format!("The native part of seamline for {platform}"),
        "license": "MIT OR Apache-2.0",
        "main": "seamline.node",
        "files": ["seamline.node", "seamline"],
        "os": [words.next()],
        "cpu": [words.next()],
        "libc": words.next().map(|libc| [if libc == "gnu" { "glibc" } else { libc }]),
        "engines": {"node": ">=20"},
    });
    std::fs::write(folder.join("package.json"), serde_json::to_string_pretty(&manifest)? + "\n")?;
    Ok(folder)
}

/// Packs a package and returns the path of the archive.
fn pack(release: &Release<'_>, package: &Path) -> Result<PathBuf> {
    let mut pack = Command::new("npm");
    pack.args(["pack", "--loglevel=error", "--pack-destination"]).arg(&release.folder);
    let name = workspace::output(pack.current_dir(package))?;
    Ok(release.folder.join(name.trim()))
}

/// Installs the packages into an empty project and runs the quick start and the command.
fn try_out(release: &Release<'_>, packed: &[PathBuf]) -> Result<()> {
    let empty = release.folder.join("empty");
    remake(&empty)?;
    std::fs::write(empty.join("package.json"), "{\"private\":true,\"type\":\"module\"}\n")?;
    let mut install = Command::new("npm");
    // The packages of other platforms are not published yet, so npm must not look for them.
    install
        .args(["install", "--no-audit", "--no-fund", "--offline", "--omit=optional", "--loglevel=error"])
        .args(packed);
    workspace::run(install.current_dir(&empty))?;
    std::fs::write(empty.join("quick_start.js"), QUICK_START)?;
    workspace::run(Command::new("node").arg("quick_start.js").current_dir(&empty))?;
    workspace::run(Command::new("npx").args(["--no-install", "seamline", "--version"]).current_dir(&empty))?;
    std::fs::remove_dir_all(&empty).context("cannot remove the empty environment")
}
