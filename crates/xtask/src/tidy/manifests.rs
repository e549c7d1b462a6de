//! Versions are in the root manifest, sorted; every crate has the same lints; every listed dependency is used.

use super::{Complaint, Subject};
use crate::manifest::{Kind, Manifest, Shared};
use crate::source;
use crate::tree::Tree;

/// Bindings generate unsafe code, so they have their own `[lints]`.
const BINDINGS: [&str; 2] = ["seamline-node", "seamline-python"];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let Subject { tree, crates, shared, .. } = subject;
    let mut complaints = unsorted(shared, crates);
    complaints.extend(unused_shared(shared, crates));
    for manifest in crates {
        complaints.extend(irregular(manifest));
        complaints.extend(unused(tree, manifest));
    }
    complaints
}

fn irregular(manifest: &Manifest) -> Vec<Complaint> {
    let mut messages = Vec::new();
    if manifest.name != manifest.folder {
        messages.push(format!("folder and crate `{}` differ", manifest.name));
    }
    if !manifest.has_workspace_lints && !BINDINGS.contains(&manifest.name.as_str()) {
        messages.push("add `[lints] workspace = true`".to_owned());
    }
    let own_versions = manifest.dependencies.iter().filter(|d| !d.is_inherited);
    messages.extend(
        own_versions.map(|dependency| {
            format!("write `{}.workspace = true`; versions are in the root manifest", dependency.name)
        }),
    );
    messages.into_iter().map(|message| Complaint::new(&manifest.path, message)).collect()
}

/// Our own crates come first, by rank; the others follow by name.
fn unsorted(shared: &[Shared], manifests: &[Manifest]) -> Vec<Complaint> {
    let rank = |name: &str| {
        let own = manifests.iter().find(|manifest| manifest.name == name);
        own.and_then(|manifest| manifest.rank)
    };
    let key = |line: &Shared| {
        if line.is_own { (0, rank(&line.name).unwrap_or(i64::MAX), String::new()) } else { (1, 0, line.name.clone()) }
    };
    shared
        .windows(2)
        .filter(|pair| key(&pair[0]) > key(&pair[1]))
        .map(|pair| {
            let message = format!("[workspace.dependencies]: `{}` belongs before `{}`", pair[1].name, pair[0].name);
            Complaint::new("Cargo.toml", message)
        })
        .collect()
}

fn unused_shared(shared: &[Shared], manifests: &[Manifest]) -> Vec<Complaint> {
    let is_used = |name: &str| {
        let mut all = manifests.iter().flat_map(|manifest| &manifest.dependencies);
        all.any(|dependency| dependency.name == name)
    };
    shared
        .iter()
        .filter(|line| !line.is_own && !is_used(&line.name))
        .map(|line| {
            let message = format!("[workspace.dependencies]: no crate uses `{}`", line.name);
            Complaint::new("Cargo.toml", message)
        })
        .collect()
}

/// Dependencies that the crate's code does not name.
fn unused(tree: &Tree, manifest: &Manifest) -> Vec<Complaint> {
    let folder = format!("crates/{}/", manifest.folder);
    let shipped = format!("{folder}src/");
    let mentions = |text: &str, name: &str| text.lines().any(|line| source::words(line).any(|word| word == name));
    manifest
        .dependencies
        .iter()
        .filter(|dependency| {
            let name = dependency.name.replace('-', "_");
            let within = match dependency.kind {
                Kind::Normal => shipped.as_str(),
                Kind::Build | Kind::Dev => folder.as_str(),
            };
            !tree.rust().any(|(path, text)| path.starts_with(within) && mentions(text, &name))
        })
        .map(|dependency| {
            let message = format!("`{}` is listed but not used", dependency.name);
            Complaint::new(&manifest.path, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.dependencies]\n\
        seamline-model = { path = \"crates/seamline-model\" }\n\
        seamline = { path = \"crates/seamline\" }\n\
        anyhow = \"1\"\nserde_json = \"1\"\n";
    const MODEL: &str = "[package]\nname = \"seamline-model\"\n\
        [package.metadata.seamline]\nrank = 0\n[lints]\nworkspace = true\n\
        [dependencies]\nanyhow.workspace = true\nserde_json.workspace = true\n";
    const FACE: &str = "[package]\nname = \"seamline\"\n\
        [package.metadata.seamline]\nrank = 3\n[lints]\nworkspace = true\n";
    const CODE: &str = "use anyhow::Result;\nfn a() -> serde_json::Value {}\n";

    fn complaints(root: &str, model: &str, code: &str) -> Vec<String> {
        let files = [
            ("Cargo.toml", root),
            ("crates/seamline-model/Cargo.toml", model),
            ("crates/seamline-model/src/lib.rs", code),
            ("crates/seamline/Cargo.toml", FACE),
        ];
        Subject::complaints(&files, check)
    }

    #[test]
    fn a_uniform_workspace_passes() {
        assert_eq!(complaints(ROOT, MODEL, CODE), Vec::<String>::new());
    }

    #[test]
    fn a_version_in_a_crate_is_refused() {
        let model = MODEL.replace("anyhow.workspace = true", "anyhow = \"1\"");
        assert_eq!(
            complaints(ROOT, &model, CODE),
            ["error: crates/seamline-model/Cargo.toml: \
                 write `anyhow.workspace = true`; versions are in the root manifest"]
        );
    }

    #[test]
    fn unsorted_dependencies_are_refused() {
        let theirs = ROOT.replace("anyhow = \"1\"\nserde_json = \"1\"", "serde_json = \"1\"\nanyhow = \"1\"");
        assert_eq!(
            complaints(&theirs, MODEL, CODE),
            ["error: Cargo.toml: [workspace.dependencies]: `anyhow` belongs before `serde_json`"]
        );
        let ours = "[workspace.dependencies]\n\
            seamline = { path = \"crates/seamline\" }\n\
            seamline-model = { path = \"crates/seamline-model\" }\n\
            anyhow = \"1\"\nserde_json = \"1\"\n";
        assert_eq!(complaints(ours, MODEL, CODE).len(), 1);
    }

    #[test]
    fn an_unused_dependency_is_refused() {
        let code = "use anyhow::Result;\n";
        assert_eq!(
            complaints(ROOT, MODEL, code),
            ["error: crates/seamline-model/Cargo.toml: `serde_json` is listed but not used"]
        );
        let root = format!("{ROOT}toml = \"1\"\n");
        assert_eq!(
            complaints(&root, MODEL, CODE),
            ["error: Cargo.toml: [workspace.dependencies]: no crate uses `toml`"]
        );
    }

    #[test]
    fn missing_lints_and_another_name_are_refused() {
        let model = MODEL.replace("[lints]\nworkspace = true\n", "").replace("seamline-model", "seamline-words");
        let path = "crates/seamline-model/Cargo.toml";
        assert_eq!(
            complaints("[workspace.dependencies]\n", &model, CODE),
            [
                format!("error: {path}: folder and crate `seamline-words` differ"),
                format!("error: {path}: add `[lints] workspace = true`"),
            ]
        );
    }
}
