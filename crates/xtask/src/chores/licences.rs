//! Checks the licences and sources of dependencies, with cargo-deny if it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::test::Outcome;
use crate::workspace::{self, Workspace};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    if workspace.has_plugin("deny") {
        let args = ["deny", "check", "licenses", "bans", "sources"];
        workspace::run(&mut workspace.cargo(&args))?;
        advisories(&mut workspace.cargo(&["deny", "check", "advisories"]))
    } else {
        println!("cargo-deny is not installed; checking licences and sources against deny.toml");
        check_licences(workspace)?;
        Ok(Outcome::Partly("licences and sources ok; advisories need cargo-deny".to_owned()))
    }
}

/// Checks the advisories. A failed download does not fail the step.
fn advisories(command: &mut Command) -> Result<Outcome> {
    println!("$ {}", workspace::command_line(command));
    let output = command.output().context("cannot start cargo-deny")?;
    let said = String::from_utf8_lossy(&output.stderr);
    print!("{said}");
    if output.status.success() {
        Ok(Outcome::Passed)
    } else if said.contains("failed to fetch advisory database") {
        Ok(Outcome::Partly("licences and sources ok; the advisories could not be fetched".to_owned()))
    } else {
        bail!("a dependency has an advisory");
    }
}

#[derive(Deserialize)]
struct Policy {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

fn check_licences(workspace: &Workspace) -> Result<()> {
    let policy = std::fs::read_to_string(workspace.root().join("deny.toml")).context("cannot read deny.toml")?;
    let policy: Policy = toml::from_str(&policy).context("cannot read deny.toml")?;
    let args = ["metadata", "--format-version", "1", "--all-features"];
    let metadata = workspace::output(&mut workspace.cargo(&args))?;
    let metadata: Metadata = serde_json::from_str(&metadata).context("cannot read cargo metadata")?;
    let refused = refusals(&metadata.packages, &policy.licenses.allow);
    if !refused.is_empty() {
        bail!("{}", refused.join("\n"));
    }
    for line in duplicates(&metadata.packages) {
        println!("warning: {line}");
    }
    println!("{} packages, all allowed", metadata.packages.len());
    Ok(())
}

fn refusals(packages: &[Package], allowed: &BTreeSet<String>) -> Vec<String> {
    let mut messages = Vec::new();
    for package in packages {
        let Package { name, version, .. } = package;
        // Our own packages have no source, and the workspace sets their licence.
        let Some(source) = &package.source else {
            continue;
        };
        if source != CRATES_IO {
            messages.push(format!("{name} {version} comes from {source}"));
        }
        match &package.license {
            None => messages.push(format!("{name} {version} states no licence")),
            Some(licence) if !is_allowed(licence, allowed) => {
                messages.push(format!("{name} {version} has licence `{licence}`"));
            }
            Some(_) => {}
        }
    }
    messages
}

fn duplicates(packages: &[Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1)
        .map(|(name, versions)| format!("{name} comes in versions {}", versions.join(", ")))
        .collect()
}

/// True if the allowed licences satisfy the expression. An expression that cannot be parsed is not allowed.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        // The old notation of `OR`.
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, allowed).is_some_and(|is_met| is_met && rest.is_empty())
}

fn any_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut is_met = all_of(words, allowed)?;
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        is_met |= all_of(words, allowed)?;
    }
    Some(is_met)
}

fn all_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut is_met = one(words, allowed)?;
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        is_met &= one(words, allowed)?;
    }
    Some(is_met)
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let is_met = any_of(words, allowed)?;
            *words = words.strip_prefix(&[")"])?;
            Some(is_met)
        }
        [licence, "WITH", exception, rest @ ..] => {
            *words = rest;
            Some(allowed.contains(&format!("{licence} WITH {exception}")))
        }
        [licence, rest @ ..] => {
            *words = rest;
            Some(allowed.contains(*licence))
        }
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> BTreeSet<String> {
        ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into()
    }

    #[test]
    fn one_allowed_branch_satisfies_an_expression() {
        for expression in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0 OR MIT AND Apache-2.0",
            "(MIT OR GPL-3.0) AND Apache-2.0",
            "MIT/Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(is_allowed(expression, &allowed()), "{expression}");
        }
    }

    #[test]
    fn unsatisfied_and_malformed_expressions_are_refused() {
        for expression in
            ["", "GPL-3.0", "MIT AND GPL-3.0", "MIT WITH Some-exception", "(MIT", "MIT)", "MIT Apache-2.0", "MIT OR"]
        {
            assert!(!is_allowed(expression, &allowed()), "{expression}");
        }
    }

    #[test]
    fn packages_are_refused_for_source_and_licence() {
        let package = |name: &str, license: Option<&str>, source: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            source: source.map(str::to_owned),
        };
        let packages = [
            package("seamline", None, None),
            package("good", Some("MIT"), Some(CRATES_IO)),
            package("elsewhere", Some("MIT"), Some("git+https://example.com")),
            package("silent", None, Some(CRATES_IO)),
            package("viral", Some("GPL-3.0"), Some(CRATES_IO)),
        ];
        assert_eq!(
            refusals(&packages, &allowed()),
            [
                "elsewhere 1.0.0 comes from git+https://example.com",
                "silent 1.0.0 states no licence",
                "viral 1.0.0 has licence `GPL-3.0`",
            ]
        );
    }

    #[test]
    fn a_crate_with_two_versions_is_listed() {
        let package = |version: &str| Package {
            name: "syn".to_owned(),
            version: version.to_owned(),
            license: None,
            source: None,
        };
        assert_eq!(duplicates(&[package("1.0.0"), package("2.0.0")]), ["syn comes in versions 1.0.0, 2.0.0"]);
    }
}
