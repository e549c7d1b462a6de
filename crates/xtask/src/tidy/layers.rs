//! Rules name no dialect, dialects name no rule, and crates below rank 3 do no I/O.

use std::collections::BTreeSet;

use super::{Complaint, Subject};
use crate::manifest::Manifest;
use crate::source;
use crate::tree::Tree;

const RULES: &str = "crates/seamline-rules/src/";
const DIALECTS: &str = "crates/seamline-dialects/src/";
/// Crates of this rank and above may read clocks, files and the environment.
const IO_RANK_MIN: i64 = 3;
const SWITCH: &str = "#![deny(clippy::disallowed_methods)]";
/// The crate that logs are written with.
const LOGGER: &str = "tracing";
const SWITCHED_LINT: &str = "clippy::disallowed_methods";

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = dialects_in_rules(&subject.tree);
    complaints.extend(rules_in_dialects(&subject.tree));
    complaints.extend(without_switch(subject));
    complaints.extend(logging(subject));
    complaints
}

fn dialects_in_rules(tree: &Tree) -> Vec<Complaint> {
    let dialects = dialects(tree);
    in_code(tree, RULES, |line| {
        if matches_on_dialect(line) {
            return Some("a rule must not match on the dialect; read constraints".to_owned());
        }
        let name = source::words(line).find(|word| dialects.contains(*word))?;
        Some(format!("`{name}`: rules name no dialect; read constraints"))
    })
}

fn rules_in_dialects(tree: &Tree) -> Vec<Complaint> {
    let prefixes = code_prefixes(tree);
    in_code(tree, DIALECTS, |line| {
        let code =
            source::words(line).find(|word| source::split_code(word).is_some_and(|(p, _)| prefixes.contains(p)))?;
        Some(format!("`{code}`: dialects name no rule"))
    })
}

fn in_code(tree: &Tree, folder: &str, complaint: impl Fn(&str) -> Option<String>) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| path.starts_with(folder)) {
        for (number, line) in source::code(text) {
            complaints.extend(complaint(line).map(|message| Complaint::at(path, number, message)));
        }
    }
    complaints
}

/// The names of the dialects, as modules and as types.
fn dialects(tree: &Tree) -> BTreeSet<String> {
    let folders = tree
        .paths()
        .filter_map(|path| path.strip_prefix(DIALECTS)?.strip_suffix("/constraints.rs"))
        .filter(|folder| !folder.contains('/'));
    folders.flat_map(|folder| [folder.to_owned(), source::type_name(folder)]).collect()
}

fn matches_on_dialect(line: &str) -> bool {
    let mut words = source::words(line).skip_while(|word| *word != "match");
    words.any(|word| word.eq_ignore_ascii_case("dialect"))
}

/// The prefixes of the codes that rules have: the `PAIR` of `PAIR001`.
fn code_prefixes(tree: &Tree) -> BTreeSet<&str> {
    let files = tree.rust().filter(|(path, _)| path.starts_with(RULES));
    files
        .flat_map(|(_, text)| source::code(text))
        .filter_map(|(_, line)| source::declared_code(line))
        .map(|(prefix, _)| prefix)
        .collect()
}

/// Crates below rank 3 whose lib.rs does not turn on the list of disallowed methods.
fn without_switch(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for manifest in &subject.crates {
        let is_low = manifest.rank.is_some_and(|rank| rank < IO_RANK_MIN);
        let face = format!("crates/{}/src/lib.rs", manifest.folder);
        let text = subject.tree.text(&face).unwrap_or_default();
        let is_switched = text.lines().any(|line| line.starts_with("#![deny(") && line.contains(SWITCHED_LINT));
        if is_low && !is_switched {
            complaints.push(Complaint::new(&face, format!("add `{SWITCH}` at the top")));
        }
    }
    complaints
}

/// Crates below rank 3 that log: their callers decide what to log.
fn logging(subject: &Subject) -> Vec<Complaint> {
    let is_low = |manifest: &&Manifest| manifest.rank.is_some_and(|rank| rank < IO_RANK_MIN);
    let logs = |manifest: &&Manifest| manifest.dependencies.iter().any(|dependency| dependency.name == LOGGER);
    let low = subject.crates.iter().filter(is_low).filter(logs);
    low.map(|manifest| Complaint::new(&manifest.path, format!("`{LOGGER}`: crates below rank 3 do not log"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSTRAINTS: &str = "crates/seamline-dialects/src/openai_chat/constraints.rs";
    const RULE: &str = "crates/seamline-rules/src/rules/pairing/orphan_result.rs";

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        Subject::complaints(files, check)
    }

    #[test]
    fn a_rule_may_name_a_dialect_only_in_its_documentation() {
        let rule = "/// Seen with openai_chat.\nlet a = OpenaiChat;\n\
            match transcript.dialect() {\nlet b = \"openai_chat\";\n\
            #[cfg(test)]\nmod tests {\n    use openai_chat;\n}\n";
        assert_eq!(
            complaints(&[(CONSTRAINTS, ""), (RULE, rule)]),
            [
                format!("error: {RULE}:2: `OpenaiChat`: rules name no dialect; read constraints"),
                format!("error: {RULE}:3: a rule must not match on the dialect; read constraints"),
                format!("error: {RULE}:4: `openai_chat`: rules name no dialect; read constraints"),
            ]
        );
    }

    #[test]
    fn a_dialect_may_not_name_the_code_of_a_rule() {
        let rule = "    PAIR001 \"orphan-result\" in Pairing, Error, Safe\n";
        let dialect = "let a = \"PAIR002\";\nlet b = SHA256;\n// as PAIR001 says\n";
        assert_eq!(
            complaints(&[(CONSTRAINTS, dialect), (RULE, rule)]),
            [format!("error: {CONSTRAINTS}:1: `PAIR002`: dialects name no rule")]
        );
    }

    #[test]
    fn a_low_crate_does_not_log() {
        let manifest = |name: &str, rank: u32| {
            let package = format!("[package]\nname = \"{name}\"\n[package.metadata.seamline]\nrank = {rank}\n");
            (format!("crates/{name}/Cargo.toml"), package + "[dependencies]\ntracing.workspace = true\n")
        };
        let (low, high) = (manifest("seamline-store-sqlite", 2), manifest("seamline", 3));
        let face = ("crates/seamline-store-sqlite/src/lib.rs", SWITCH);
        assert_eq!(
            complaints(&[(&low.0, &low.1), (&high.0, &high.1), face]),
            [format!("error: {}: `tracing`: crates below rank 3 do not log", low.0)]
        );
    }

    #[test]
    fn a_crate_below_rank_3_denies_disallowed_methods() {
        let low = "[package]\nname = \"seamline-model\"\n[package.metadata.seamline]\nrank = 0\n";
        let high = "[package]\nname = \"seamline\"\n[package.metadata.seamline]\nrank = 3\n";
        let face = "crates/seamline-model/src/lib.rs";
        let with = |text| {
            complaints(&[
                ("crates/seamline-model/Cargo.toml", low),
                (face, text),
                ("crates/seamline/Cargo.toml", high),
                ("crates/seamline/src/lib.rs", ""),
            ])
        };
        assert_eq!(with("//! Words.\n#![deny(clippy::disallowed_methods)]\n"), Vec::<String>::new());
        assert_eq!(
            with("//! Words.\n"),
            [format!("error: {face}: add `#![deny(clippy::disallowed_methods)]` at the top")]
        );
    }
}
