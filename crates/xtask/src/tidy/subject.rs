//! The input of the checks.

use anyhow::Result;

use super::history::History;
use crate::manifest::{self, Manifest, Shared};
use crate::tree::Tree;

/// The tree, its parsed manifests and its history.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Every file of the tree.
    pub(super) tree: Tree,
    /// The manifests of the crates.
    pub(super) crates: Vec<Manifest>,
    /// The lines of `[workspace.dependencies]`.
    pub(super) shared: Vec<Shared>,
    /// The commits whose subjects are checked.
    pub(super) history: History,
}

impl Subject {
    /// Reads the manifests of the tree.
    pub(crate) fn read(tree: Tree, history: History) -> Result<Self> {
        Ok(Self { crates: manifest::crates(&tree)?, shared: manifest::shared(&tree)?, tree, history })
    }

    /// The complaints of `check` about a tree of the given paths and texts.
    #[cfg(test)]
    pub(super) fn complaints(files: &[(&str, &str)], check: fn(&Self) -> Vec<super::Complaint>) -> Vec<String> {
        let subject = Self::read(Tree::of(files), History::Known(Vec::new())).unwrap();
        check(&subject).iter().map(ToString::to_string).collect()
    }
}
