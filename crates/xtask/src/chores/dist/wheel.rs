//! The wheel, with the command beside the library.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::binary::Binary;
use super::{Release, Shipped, copy, remake};
use crate::chores::python_package;
use crate::workspace;

const CRATE: &str = "crates/seamline-python";
/// `pip` puts the files of this folder on the path.
const SCRIPTS: &str = "seamline.data/scripts";
/// The first lines that a user of the package writes.
const QUICK_START: &str = "
import seamline
messages = [
    {'role': 'user', 'content': 'What is in main.rs?'},
    {'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 'toolu_1', 'name': 'read', 'input': {}}]},
    {'role': 'user', 'content': 'Never mind.'},
]
repaired = seamline.repair(messages)
assert repaired.changed and not repaired.remaining, repaired
assert seamline.repair(repaired.body).body is repaired.body
print(repaired)
";

pub(super) fn build(release: &Release<'_>, binary: &Binary) -> Result<Vec<Shipped>> {
    let workspace = release.workspace;
    let python = python_package::environment(workspace)?.context("python3 with venv is not installed")?;
    let package = workspace.root().join(CRATE);
    let scripts = package.join(SCRIPTS);
    remake(&scripts)?;
    copy(&binary.path, &scripts.join("seamline"))?;
    let wheels = release.folder.join("wheels");
    let mut build = Command::new(&python);
    build.args(["-m", "maturin", "build", "--profile", "dist", "--interpreter"]).arg(&python).arg("--out").arg(&wheels);
    let built = workspace::run(build.current_dir(&package));
    // The folder of sources stays clean, whatever the outcome is.
    std::fs::remove_dir_all(package.join("seamline.data")).context("cannot remove the staged command")?;
    built?;
    let entry = std::fs::read_dir(&wheels)?.next().context("maturin wrote no wheel")??;
    let wheel = release.folder.join(entry.file_name());
    std::fs::rename(entry.path(), &wheel)?;
    std::fs::remove_dir(&wheels)?;
    try_out(release, &wheel)?;
    Ok(vec![Shipped { path: wheel, is_package: true }])
}

/// Installs the wheel into an empty environment and runs the quick start and the command.
fn try_out(release: &Release<'_>, wheel: &Path) -> Result<()> {
    let empty = release.folder.join("empty");
    remake(&empty)?;
    workspace::run(Command::new("python3").args(["-m", "venv"]).arg(empty.join("env")))?;
    let programs = empty.join("env/bin");
    let mut install = Command::new(programs.join("python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]).arg(wheel);
    workspace::run(&mut install)?;
    std::fs::write(empty.join("quick_start.py"), QUICK_START)?;
    workspace::run(Command::new(programs.join("python")).arg("quick_start.py").current_dir(&empty))?;
    workspace::run(Command::new(programs.join("seamline")).arg("--version"))?;
    workspace::run(Command::new(programs.join("python")).args(["-m", "seamline", "--version"]).current_dir(&empty))?;
    std::fs::remove_dir_all(&empty).context("cannot remove the empty environment")
}
