//! Every third-party dependency has a reason.

use std::collections::BTreeSet;

use super::{Complaint, Subject};

const REASONS: &str = "docs/design/dependencies.md";

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let text = subject.tree.text(REASONS).unwrap_or_default();
    let explained: BTreeSet<&str> = text.lines().filter_map(explained_name).collect();
    let theirs: BTreeSet<&str> =
        subject.shared.iter().filter(|line| !line.is_own).map(|line| line.name.as_str()).collect();
    let missing = theirs.difference(&explained).map(|name| {
        let message = format!("no reason for `{name}`; add a row to {REASONS}");
        Complaint::new("Cargo.toml", message)
    });
    let stale = explained.difference(&theirs).map(|name| {
        let message = format!("`{name}` is not a dependency; remove its reason");
        Complaint::new(REASONS, message)
    });
    missing.chain(stale).collect()
}

/// The crate of a row or heading: the name in backticks that it starts with.
fn explained_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('|').or_else(|| {
        let heading = line.trim_start_matches('#');
        (heading.len() < line.len()).then_some(heading)
    })?;
    let (name, _) = rest.trim_start().strip_prefix('`')?.split_once('`')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(reasons: &str) -> Vec<String> {
        let root = "[workspace.dependencies]\n\
            seamline = { path = \"crates/seamline\" }\nanyhow = \"1\"\ntoml = \"1\"\n";
        Subject::complaints(&[("Cargo.toml", root), (REASONS, reasons)], check)
    }

    #[test]
    fn a_row_or_a_heading_is_a_reason() {
        let reasons = "| crate | why |\n|---|---|\n| `anyhow` | errors |\n\n## `toml`\n\nManifests.\n";
        assert_eq!(complaints(reasons), Vec::<String>::new());
    }

    #[test]
    fn missing_and_stale_reasons_are_refused() {
        assert_eq!(
            complaints("| `anyhow` | errors |\n| `rand` | dice |\n"),
            [
                "error: Cargo.toml: no reason for `toml`; add a row to docs/design/dependencies.md",
                "error: docs/design/dependencies.md: `rand` is not a dependency; remove its reason",
            ]
        );
    }
}
