//! The archive with the command, its completions and its manual pages.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

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
    pack(&folder, &name, &archive)?;
    try_out(release, &archive, &name)?;
    Ok(vec![Shipped { path: archive, is_package: false }])
}

/// Writes a folder as an archive. Equal files give equal bytes, on every system: the entries are sorted, belong to no user, and
/// have no time.
fn pack(folder: &Path, name: &str, archive: &Path) -> Result<()> {
    let file = File::create(archive).with_context(|| format!("cannot create {}", archive.display()))?;
    let mut builder = tar::Builder::new(GzEncoder::new(file, Compression::best()));
    for path in files(folder)? {
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let inside = Path::new(name).join(path.strip_prefix(folder)?);
        let mut header = tar::Header::new_gnu();
        header.set_size(u64::try_from(bytes.len())?);
        header.set_mode(if is_program(&path)? { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        builder.append_data(&mut header, inside, bytes.as_slice())?;
    }
    builder.into_inner()?.finish()?;
    Ok(())
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(unix)]
fn is_program(path: &Path) -> Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::metadata(path)?.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> Result<bool> {
    Ok(path.extension().is_some_and(|extension| extension == "exe"))
}

/// Unpacks the archive and repairs the example of the README without any variable of this environment.
fn try_out(release: &Release<'_>, archive: &Path, name: &str) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn equal_files_give_equal_archives_that_tar_reads() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let archives = ["one", "two"].map(|folder| {
            let folder = home.path().join(folder);
            std::fs::create_dir_all(folder.join("man")).unwrap();
            for (name, text) in [("seamline", "#!/bin/sh\n"), ("man/b.1", "b"), ("man/a.1", "a")] {
                std::fs::write(folder.join(name), text).unwrap();
            }
            std::fs::set_permissions(folder.join("seamline"), std::fs::Permissions::from_mode(0o700)).unwrap();
            let archive = folder.with_extension("tar.gz");
            pack(&folder, "seamline-1", &archive).unwrap();
            archive
        });
        assert_eq!(std::fs::read(&archives[0]).unwrap(), std::fs::read(&archives[1]).unwrap());
        let listed = workspace::output(Command::new("tar").arg("-tf").arg(&archives[0])).unwrap();
        assert_eq!(listed, "seamline-1/man/a.1\nseamline-1/man/b.1\nseamline-1/seamline\n");
        workspace::run(Command::new("tar").arg("-xf").arg(&archives[0]).current_dir(&home)).unwrap();
        let mode = std::fs::metadata(home.path().join("seamline-1/seamline")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
}
