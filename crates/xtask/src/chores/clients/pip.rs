//! Packages from the Python registry.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use super::npm;
use crate::workspace;

/// Installs packages, with a space between them, into an environment of their own, and returns its Python.
pub(super) fn install(name: &str, packages: &str) -> Result<PathBuf> {
    let folder = npm::folder().join(name);
    let python = folder.join("bin").join("python");
    let made = folder.join("made-from.txt");
    if std::fs::read_to_string(&made).is_ok_and(|found| found == packages) {
        return Ok(python);
    }
    println!("installing {packages}");
    workspace::output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages.split(' '));
    let done = pip.stdin(Stdio::null()).output()?;
    if !done.status.success() {
        let text = String::from_utf8_lossy(&done.stderr);
        bail!("pip install {packages} failed: {}", text.lines().last().unwrap_or_default());
    }
    std::fs::write(&made, packages)?;
    Ok(python)
}
