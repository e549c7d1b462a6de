//! What the checks look at.

use anyhow::Result;

use crate::manifest::{self, Manifest, Shared};
use crate::tree::Tree;

/// The tree, and its manifests as they were understood.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Every file.
    pub(super) tree: Tree,
    /// The manifests of the crates.
    pub(super) crates: Vec<Manifest>,
    /// The lines of `[workspace.dependencies]`.
    pub(super) shared: Vec<Shared>,
}

impl Subject {
    /// Reads the manifests of the tree.
    pub(crate) fn read(tree: Tree) -> Result<Self> {
        Ok(Self { crates: manifest::crates(&tree)?, shared: manifest::shared(&tree)?, tree })
    }

    /// What `check` says of a tree of the given paths and texts.
    #[cfg(test)]
    pub(super) fn said(files: &[(&str, &str)], check: fn(&Self) -> Vec<super::Complaint>) -> Vec<String> {
        let subject = Self::read(Tree::of(files)).unwrap();
        check(&subject).iter().map(ToString::to_string).collect()
    }
}
