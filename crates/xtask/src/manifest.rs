//! The manifests of the workspace.

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::tree::Tree;

/// The manifest of one crate.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// The path from the root: `crates/<folder>/Cargo.toml`.
    pub(crate) path: String,
    /// The folder under `crates/`.
    pub(crate) folder: String,
    /// The member `package.name`.
    pub(crate) name: String,
    /// The member `package.metadata.seamline.rank`.
    pub(crate) rank: Option<i64>,
    /// True if `[lints]` inherits from the workspace.
    pub(crate) has_workspace_lints: bool,
    /// All dependencies, of every kind and target.
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line under a crate's dependencies.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// The name on the left of the line.
    pub(crate) name: String,
    /// The table that lists it.
    pub(crate) kind: Kind,
    /// True if it has `workspace = true` and neither a version nor a source.
    pub(crate) is_inherited: bool,
}

/// The table that lists a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

/// One line of `[workspace.dependencies]`.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The name on the left of the line.
    pub(crate) name: String,
    /// True if it is a crate of this workspace.
    pub(crate) is_own: bool,
}

/// The manifests of all crates, by folder.
pub(crate) fn crates(tree: &Tree) -> Result<Vec<Manifest>> {
    tree.texts()
        .filter_map(|(path, text)| Some((path, crate_folder(path)?, text)))
        .map(|(path, folder, text)| {
            let table: Table = text.parse().with_context(|| format!("cannot read {path}"))?;
            Ok(manifest(path, folder, &table))
        })
        .collect()
}

/// The lines of `[workspace.dependencies]`, in the order of the file.
pub(crate) fn shared(tree: &Tree) -> Result<Vec<Shared>> {
    let text = tree.text("Cargo.toml").unwrap_or_default();
    let root: Table = text.parse().context("cannot read Cargo.toml")?;
    let table = root.get("workspace").and_then(|workspace| workspace.get("dependencies")).and_then(Value::as_table);
    Ok(table
        .into_iter()
        .flatten()
        .map(|(name, value)| Shared { name: name.clone(), is_own: value.get("path").is_some() })
        .collect())
}

fn crate_folder(path: &str) -> Option<&str> {
    let folder = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
    (!folder.contains('/')).then_some(folder)
}

fn manifest(path: &str, folder: &str, table: &Table) -> Manifest {
    let package = table.get("package");
    let name = package.and_then(|package| package.get("name")).and_then(Value::as_str).unwrap_or_default();
    let mut dependencies = listed(table);
    let targets = table.get("target").and_then(Value::as_table);
    for target in targets.into_iter().flat_map(Table::values) {
        dependencies.extend(target.as_table().map(listed).unwrap_or_default());
    }
    // A crate that lists itself for its tests switches its own features on for them.
    dependencies.retain(|dependency| dependency.kind != Kind::Dev || dependency.name != name);
    Manifest {
        path: path.to_owned(),
        folder: folder.to_owned(),
        name: name.to_owned(),
        rank: package
            .and_then(|package| package.get("metadata")?.get("seamline")?.get("rank"))
            .and_then(Value::as_integer),
        has_workspace_lints: table.get("lints").is_some_and(is_workspace),
        dependencies,
    }
}

fn listed(table: &Table) -> Vec<Dependency> {
    let kinds = [("dependencies", Kind::Normal), ("build-dependencies", Kind::Build), ("dev-dependencies", Kind::Dev)];
    let mut all = Vec::new();
    for (key, kind) in kinds {
        let lines = table.get(key).and_then(Value::as_table);
        for (name, value) in lines.into_iter().flatten() {
            let says_place = ["version", "path", "git", "registry"].iter().any(|key| value.get(key).is_some());
            all.push(Dependency { name: name.clone(), kind, is_inherited: is_workspace(value) && !says_place });
        }
    }
    all
}

fn is_workspace(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_with_every_kind_of_dependency() {
        let tree = Tree::of(&[(
            "crates/seamline-x/Cargo.toml",
            "[package]\nname = \"seamline-x\"\n[package.metadata.seamline]\nrank = 2\n\
             [lints]\nworkspace = true\n\
             [dependencies]\na.workspace = true\nb = \"1\"\n\
             [dev-dependencies]\nc = { workspace = true, features = [\"f\"] }\n\
             seamline-x = { path = \".\", features = [\"f\"] }\n\
             [target.'cfg(unix)'.build-dependencies]\nd = { workspace = true, version = \"1\" }\n",
        )]);
        let all = crates(&tree).unwrap();
        let [only] = all.as_slice() else {
            panic!("one crate, not {all:?}");
        };
        assert_eq!((only.name.as_str(), only.rank), ("seamline-x", Some(2)));
        assert!(only.has_workspace_lints);
        let seen: Vec<_> = only.dependencies.iter().map(|d| (d.name.as_str(), d.kind, d.is_inherited)).collect();
        assert_eq!(
            seen,
            [("a", Kind::Normal, true), ("b", Kind::Normal, false), ("c", Kind::Dev, true), ("d", Kind::Build, false),]
        );
    }

    #[test]
    fn shared_dependencies_keep_their_order() {
        let tree = Tree::of(&[("Cargo.toml", "[workspace.dependencies]\nzz = { path = \"crates/zz\" }\naa = \"1\"\n")]);
        let seen: Vec<_> = shared(&tree).unwrap().into_iter().map(|line| (line.name, line.is_own)).collect();
        assert_eq!(seen, [("zz".to_owned(), true), ("aa".to_owned(), false)]);
    }
}
