//! `cargo xtask format`: formats every Rust file, also those that `cargo fmt` does not find.
//!
//! `cargo fmt` follows `mod` items and does not look into macros. The lists of dialects are macros, so the files of
//! the dialects are given by name.

use anyhow::Result;

use crate::tree::Tree;
use crate::workspace::{self, Workspace};

/// Whether files are written or only compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Files are written.
    Write,
    /// A file that is not formatted is an error.
    Check,
}

pub(crate) fn run(workspace: &Workspace, mode: Mode) -> Result<()> {
    let tree = Tree::read(workspace.root())?;
    let mut command = workspace.cargo(&["fmt", "--all"]);
    command.args((mode == Mode::Check).then_some("--check")).arg("--").args(unfound(&tree));
    workspace::run(&mut command)
}

/// The files that `cargo fmt` does not find. It finds the modules of those itself.
fn unfound(tree: &Tree) -> Vec<&str> {
    let is_dialect = |path: &str| {
        let folder = path.strip_prefix("crates/seamline-dialects/src/").and_then(|path| path.strip_suffix("/mod.rs"));
        folder.is_some_and(|folder| tree.contains(&format!("crates/seamline-dialects/src/{folder}/constraints.rs")))
    };
    let is_row = |path: &str| path.starts_with("crates/seamline-testkit/src/dialect/");
    tree.rust().map(|(path, _)| path).filter(|path| is_dialect(path) || is_row(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_dialects_are_given_by_name() {
        let tree = Tree::of(&[
            ("crates/seamline-dialects/src/a_chat/constraints.rs", ""),
            ("crates/seamline-dialects/src/a_chat/mod.rs", ""),
            ("crates/seamline-dialects/src/json/mod.rs", ""),
            ("crates/seamline-testkit/src/dialect.rs", ""),
            ("crates/seamline-testkit/src/dialect/a_chat.rs", ""),
        ]);
        let expected = ["crates/seamline-dialects/src/a_chat/mod.rs", "crates/seamline-testkit/src/dialect/a_chat.rs"];
        assert_eq!(unfound(&tree), expected);
    }
}
