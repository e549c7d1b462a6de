//! Size of the program and time of a cold build.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};

use super::Table;
use super::table::{Figure, Row};
use crate::workspace::{self, Workspace};

/// The profiles whose program may have been built.
const PROFILES: [&str; 2] = ["release", "dist"];

/// The sizes of the programs that are built already.
pub(super) fn sizes(root: &Path) -> Table {
    let row = |profile: &str| Row {
        name: profile.to_owned(),
        figures: vec![size(&root.join("target").join(profile).join("seamline"))],
    };
    Table {
        title: "binary size",
        columns: vec!["bytes"],
        rows: PROFILES.map(row).into(),
        note: "of `seamline` in target/, where it is built; this chore does not build it.",
    }
}

fn size(program: &Path) -> Figure {
    program.metadata().map_or(Figure::Absent, |meta| Figure::Count(meta.len()))
}

/// Builds the program into an empty folder and measures it.
pub(super) fn cold(workspace: &Workspace) -> Result<Table> {
    let target = std::env::temp_dir().join(format!("seamline-cold-build-{}", std::process::id()));
    std::fs::create_dir(&target).with_context(|| format!("cannot create {}", target.display()))?;
    let measured = measure(workspace, &target);
    std::fs::remove_dir_all(&target).with_context(|| format!("cannot remove {}", target.display()))?;
    measured
}

fn measure(workspace: &Workspace, target: &Path) -> Result<Table> {
    // The network is not part of the measurement.
    workspace::output(&mut workspace.cargo(&["fetch", "--locked"]))?;
    let start = Instant::now();
    workspace::output(workspace.cargo(&["build", "--release", "--locked"]).env("CARGO_TARGET_DIR", target))?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Table {
        title: "cold build",
        columns: vec!["figure"],
        rows: vec![
            Row::text("seconds", format!("{seconds:.1}")),
            Row { name: "bytes of the program".to_owned(), figures: vec![size(&target.join("release/seamline"))] },
        ],
        note: "`cargo build --release` into an empty folder, crates already downloaded.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_built_has_no_size() {
        let rows = sizes(Path::new(env!("CARGO_MANIFEST_DIR"))).rows;
        assert_eq!(rows[0], Row { name: "release".to_owned(), figures: vec![Figure::Absent] });
    }
}
