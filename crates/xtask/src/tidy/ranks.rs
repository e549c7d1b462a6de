//! A crate depends only on crates of a lower rank.

use std::collections::BTreeMap;

use super::{Complaint, Subject};
use crate::manifest::{Dependency, Kind, Manifest};

/// The crate that every other crate may use in its tests.
const TESTKIT: &str = "seamline-testkit";

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let ranks: BTreeMap<&str, i64> =
        subject.crates.iter().filter_map(|manifest| Some((manifest.name.as_str(), manifest.rank?))).collect();
    let mut complaints = Vec::new();
    for manifest in &subject.crates {
        let Some(rank) = manifest.rank else {
            complaints.push(Complaint::new(&manifest.path, "no rank; add `[package.metadata.seamline] rank = …`"));
            continue;
        };
        let refused = manifest
            .dependencies
            .iter()
            .filter_map(|dependency| Some((dependency, *ranks.get(dependency.name.as_str())?)))
            .filter(|(dependency, its_rank)| !is_allowed(dependency, rank, *its_rank))
            .map(|(dependency, its_rank)| refusal(manifest, rank, dependency, its_rank));
        complaints.extend(refused);
    }
    complaints
}

fn is_allowed(dependency: &Dependency, rank: i64, its_rank: i64) -> bool {
    its_rank < rank || (dependency.kind == Kind::Dev && dependency.name == TESTKIT)
}

fn refusal(manifest: &Manifest, rank: i64, dependency: &Dependency, its_rank: i64) -> Complaint {
    Complaint::new(&manifest.path, format!("rank {rank} may not depend on `{}` of rank {its_rank}", dependency.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, rank: i64, rest: &str) -> (String, String) {
        (
            format!("crates/{name}/Cargo.toml"),
            format!("[package]\nname = \"{name}\"\n[package.metadata.seamline]\nrank = {rank}\n{rest}"),
        )
    }

    fn complaints(manifests: &[(String, String)]) -> Vec<String> {
        let files: Vec<(&str, &str)> = manifests.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        Subject::complaints(&files, check)
    }

    #[test]
    fn a_lower_rank_and_the_testkit_in_tests_are_allowed() {
        let found = complaints(&[
            manifest("seamline-model", 0, ""),
            manifest(
                "seamline-rules",
                1,
                "[dependencies]\nseamline-model.workspace = true\n\
                 [dev-dependencies]\nseamline-testkit.workspace = true\n",
            ),
            manifest("seamline-testkit", 9, ""),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_crate_of_the_same_rank_is_refused() {
        let found = complaints(&[
            manifest("seamline-dialects", 1, ""),
            manifest("seamline-rules", 1, "[dev-dependencies]\nseamline-dialects.workspace = true\n"),
        ]);
        assert_eq!(
            found,
            ["error: crates/seamline-rules/Cargo.toml: \
                 rank 1 may not depend on `seamline-dialects` of rank 1"]
        );
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        let found = complaints(&[
            manifest("seamline", 3, "[dependencies]\nseamline-testkit.workspace = true\n"),
            manifest("seamline-testkit", 9, ""),
        ]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_crate_without_a_rank_is_refused() {
        let path = "crates/seamline-x/Cargo.toml".to_owned();
        let found = complaints(&[(path, "[package]\nname = \"seamline-x\"\n".to_owned())]);
        assert_eq!(found.len(), 1);
    }
}
