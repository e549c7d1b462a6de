//! `cargo xtask dist`: builds what a release ships, and tries each part in an empty environment.

mod archive;
mod binary;
mod npm;
mod wheel;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use self::binary::Binary;
use crate::workspace::Workspace;

/// The largest wheel or npm package.
const PACKAGE_BYTES_MAX: u64 = 8 << 20;

/// One file of a release.
struct Shipped {
    path: PathBuf,
    /// Whether the limit of packages holds for it.
    is_package: bool,
}

/// The folder of a release and the version that it gets.
struct Release<'w> {
    workspace: &'w Workspace,
    folder: PathBuf,
    version: String,
}

/// Builds the parts, or the named ones: `archive`, `wheel`, `npm`.
pub(crate) fn run(workspace: &Workspace, names: &[&str]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !PARTS.iter().any(|(part, _)| part == *name)) {
        bail!("no part of a release is called `{unknown}`\nhint: archive, wheel or npm");
    }
    let release =
        Release { workspace, folder: workspace.root().join("target/release-files"), version: version(workspace)? };
    remake(&release.folder)?;
    let binary = binary::build(workspace)?;
    let mut shipped = Vec::new();
    for (name, build) in PARTS {
        if names.is_empty() || names.contains(&name) {
            println!("\n=== {name}");
            shipped.extend(build(&release, &binary)?);
        }
    }
    report(&shipped)
}

type Build = fn(&Release<'_>, &Binary) -> Result<Vec<Shipped>>;
const PARTS: [(&str, Build); 3] = [("archive", archive::build), ("wheel", wheel::build), ("npm", npm::build)];

/// The version of the workspace.
fn version(workspace: &Workspace) -> Result<String> {
    let text = std::fs::read_to_string(workspace.root().join("Cargo.toml"))?;
    let manifest: toml::Table = text.parse().context("cannot read Cargo.toml")?;
    let version =
        manifest.get("workspace").and_then(|table| table.get("package")).and_then(|table| table.get("version"));
    Ok(version.and_then(toml::Value::as_str).context("Cargo.toml has no version")?.to_owned())
}

/// Makes a folder anew.
fn remake(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Copies a file and keeps its mode.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// Prints the sizes, and fails if a package is too large.
fn report(shipped: &[Shipped]) -> Result<()> {
    println!("\n=== release");
    let mut too_large = Vec::new();
    for file in shipped {
        let bytes = std::fs::metadata(&file.path)?.len();
        println!("{:>8} kB  {}", bytes.div_ceil(1 << 10), file.path.display());
        if file.is_package && bytes > PACKAGE_BYTES_MAX {
            too_large.push(file.path.display().to_string());
        }
    }
    if too_large.is_empty() { Ok(()) } else { bail!("larger than 8 MB: {}", too_large.join(", ")) }
}
