//! The archive with the command, its completions and its manual pages.

use std::fs::File;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::binary::Binary;
use super::{Release, Shipped, copy, remake};
use crate::workspace;

const SHELLS: [(&str, &str); 4] =
    [("bash", "seamline.bash"), ("zsh", "_seamline"), ("fish", "seamline.fish"), ("powershell", "_seamline.ps1")];
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
const EXAMPLE: &str = "examples/stuck-agent.json";

pub(super) fn build(release: &Release<'_>, binary: &Binary) -> Result<Vec<Shipped>> {
    let name = format!("seamline-{}-{}", release.version, binary.target);
    let folder = release.folder.join(&name);
    remake(&folder.join("completions"))?;
    copy(&binary.path, &folder.join("seamline"))?;
    for text in TEXTS {
        copy(&release.workspace.root().join(text), &folder.join(text))?;
    }
    for (shell, file) in SHELLS {
        let script = workspace::output(Command::new(&binary.path).args(["completions", shell]))?;
        std::fs::write(folder.join("completions").join(file), script)?;
    }
    workspace::run(Command::new(&binary.path).arg("man").arg(folder.join("man")))?;
    let archive = release.folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--owner=0", "--group=0", "--file"]).arg(&archive).arg(&name);
    workspace::run(tar.current_dir(&release.folder))?;
    try_out(release, &archive, &name)?;
    Ok(vec![Shipped { path: archive, is_package: false }])
}

/// Unpacks the archive and repairs the example of the README without any variable of this environment.
fn try_out(release: &Release<'_>, archive: &std::path::Path, name: &str) -> Result<()> {
    let empty = release.folder.join("empty");
    remake(&empty)?;
    workspace::run(Command::new("tar").arg("--extract").arg("--file").arg(archive).current_dir(&empty))?;
    let broken = File::open(release.workspace.root().join(EXAMPLE)).context("cannot open the example")?;
    let program = empty.join(name).join("seamline");
    let repaired = Command::new(&program).arg("fix").env_clear().env("HOME", &empty).stdin(broken).output()?;
    std::fs::write(empty.join("repaired.json"), repaired.stdout)?;
    let mut check = Command::new(&program);
    check.args(["check", "repaired.json"]).env_clear().env("HOME", &empty).current_dir(&empty);
    workspace::run(check.stderr(Stdio::inherit()))?;
    std::fs::remove_dir_all(&empty).context("cannot remove the empty environment")
}
