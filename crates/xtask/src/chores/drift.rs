//! `cargo xtask drift`: prints what vendors added to their types and our dialects do not read.

use std::process::Command;

use anyhow::{Context, Result, bail};

use super::python::Environment;
use crate::drift::{JUDGED, Judged, Known, Report, TABLE, Table};
use crate::tree::Tree;
use crate::workspace::{self, Workspace};

const HELP: &str = "\
usage: cargo xtask drift [--installed]

Installs the newest packages openai, anthropic, google-genai and botocore into target/drift, reads their types, and
prints every item type, block type, role, member, stop reason, stream event and error type that the sources of the
dialects do not read and crates/xtask/drift/judged.toml does not judge. It exits with 1 if there is any.

  --installed   use the packages that an earlier run installed; do not ask the registry

For each name: read it in its dialect, or add a judgement with its reason. A new dialect is one table in
crates/xtask/drift/dialects.toml. The chore needs the Python registry, so `cargo xtask test` does not run it.
";

const PACKAGES: Environment = Environment { name: "drift", requirements: "crates/xtask/drift/requirements.txt" };

/// Compares the vendors' types with the sources of the dialects.
pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let is_upgrade = match args {
        [] => true,
        ["--installed"] => false,
        ["--help" | "-h"] => {
            print!("{HELP}");
            return Ok(());
        }
        _ => bail!("unknown argument `{}`\n\n{HELP}", args.join(" ")),
    };
    let root = workspace.root();
    let tree = Tree::read(root)?;
    let table = Table::read(&tree)?;
    let judged = Judged::read(&tree)?;
    let python = PACKAGES.python(workspace)?.context("this machine has no Python with `venv` and `ensurepip`")?;
    if is_upgrade {
        let list = root.join(PACKAGES.requirements);
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--requirement"]);
        workspace::run(install.arg(list))?;
    }
    let mut difference_count = 0;
    for vendor in table.ask(&python, root)? {
        let Some(known) = Known::read(&tree, &vendor.dialect) else {
            println!(
                "{} ({}): no such dialect in this tree, {} names\n",
                vendor.dialect,
                vendor.package,
                vendor.names.len()
            );
            continue;
        };
        let report = Report::compare(&vendor, &known, &judged);
        println!("{report}");
        difference_count += report.difference_count();
    }
    if difference_count > 0 {
        bail!(
            "{difference_count} names need a decision\nhint: read them in their dialect, or judge them in {JUDGED}; {TABLE} has the types"
        );
    }
    println!("no drift");
    Ok(())
}
