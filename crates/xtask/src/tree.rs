//! The files of the repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::source;

/// The tree keeps only the name of a larger file.
const TEXT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Folders that a walk skips in a copy without git.
const FOREIGN_FOLDERS: [&str; 5] = [".git", ".venv", "__pycache__", "node_modules", "target"];

/// Every file that git tracks or would add, by its path from the root with `/` between names.
/// A file that is not text has no text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the tree at `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let paths = match list_tracked(root) {
            Some(paths) => paths,
            None => walk(root)?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let full = root.join(&path);
            // A deleted file or a link has no text to read.
            if full.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                let text = text(&full).with_context(|| format!("could not read {path}"))?;
                files.insert(path, text);
            }
        }
        Ok(Self { files })
    }

    /// A tree of the given paths and texts.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), Some((*text).to_owned()));
        Self { files: files.iter().map(owned).collect() }
    }

    /// The text of a file; `None` if the file is missing or is not text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// All paths, in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Path and text of every text file, in order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Path and text of every Rust file, in order.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| source::is_rust(path))
    }

    /// True if the path is a file, or a folder with a file in it.
    pub(crate) fn contains(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(first, _)| first.starts_with(&folder))
    }
}

fn list_tracked(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let listing = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    // An archive that was unpacked inside an ignored folder of another repository lists nothing.
    (!paths.is_empty()).then_some(paths)
}

fn walk(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let full = root.join(&folder);
        for entry in std::fs::read_dir(&full)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() && !FOREIGN_FOLDERS.contains(&name.as_str()) {
                folders.push(path);
            } else if kind.is_file() {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}

fn text(path: &Path) -> Result<Option<String>> {
    if path.metadata()?.len() > TEXT_BYTES_MAX {
        return Ok(None);
    }
    let bytes = std::fs::read(path)?;
    Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_exists_if_it_holds_a_file() {
        let tree = Tree::of(&[("docs/design/a.md", ""), ("docs-old.md", "")]);
        assert!(tree.contains("docs"));
        assert!(tree.contains("docs/design/"));
        assert!(tree.contains("docs/design/a.md"));
        assert!(!tree.contains("doc"));
        assert!(!tree.contains("docs/rules"));
    }

    #[test]
    fn the_walk_and_git_list_this_crate() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let walked = walk(root).unwrap();
        assert!(walked.contains(&"src/tree.rs".to_owned()));
        let tree = Tree::read(root).unwrap();
        assert!(tree.text("src/tree.rs").is_some());
    }
}
