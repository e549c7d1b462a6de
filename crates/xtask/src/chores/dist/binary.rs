//! The command `seamline` as a release ships it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::workspace::{self, Workspace};

/// The target whose binaries run on every Linux.
const STATIC: &str = "x86_64-unknown-linux-musl";

/// A built command.
pub(super) struct Binary {
    pub(super) path: PathBuf,
    /// The target that it was built for.
    pub(super) target: String,
}

/// Builds the command: for `musl` where this machine has its libraries, else for the machine itself.
pub(super) fn build(workspace: &Workspace) -> Result<Binary> {
    let target = if can_be_static() { STATIC.to_owned() } else { host()? };
    if target != STATIC {
        println!("{STATIC} is not installed; the binary needs the C library of this machine");
        println!("hint: rustup target add {STATIC}, and the package musl-tools");
    }
    let mut build = workspace.cargo(&["build", "--locked", "--profile", "dist", "--features", "full"]);
    workspace::run(build.args(["--package", "seamline-cli", "--target", &target]))?;
    let path = workspace.root().join("target").join(&target).join("dist/seamline");
    Ok(Binary { path, target })
}

fn can_be_static() -> bool {
    let folder = workspace::output(Command::new("rustc").args(["--print", "target-libdir", "--target", STATIC]));
    let has_library = folder.is_ok_and(|folder| PathBuf::from(folder.trim()).is_dir());
    has_library && Command::new("musl-gcc").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The target of this machine.
fn host() -> Result<String> {
    let text = workspace::output(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}
