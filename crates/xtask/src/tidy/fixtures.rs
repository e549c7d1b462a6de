//! Every case of a rule has a description and an input.

use std::collections::BTreeSet;

use super::{Complaint, Subject};

const RULES: &str = "fixtures/rules/";
const NEEDED: [&str; 2] = ["case.toml", "input.json"];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut cases = BTreeSet::new();
    for path in subject.tree.paths().filter(|path| path.starts_with(RULES)) {
        // <group>/<rule>/<case>/<file>
        let names: Vec<&str> = path[RULES.len()..].split('/').collect();
        if let [group, rule, case, _] = names.as_slice() {
            cases.insert(format!("{RULES}{group}/{rule}/{case}"));
        } else {
            let message = "a case's file is at <group>/<rule>/<case>/<file>";
            complaints.push(Complaint::new(path, message));
        }
    }
    for case in cases {
        let missing = NEEDED
            .iter()
            .filter(|name| !subject.tree.contains(&format!("{case}/{name}")))
            .map(|name| Complaint::new(&case, format!("{name} is missing")));
        complaints.extend(missing);
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_needs_both_files_at_the_right_depth() {
        let files = [
            ("fixtures/rules/pairing/orphan-result/clean/case.toml", ""),
            ("fixtures/rules/pairing/orphan-result/clean/input.json", ""),
            ("fixtures/rules/pairing/orphan-result/example/case.toml", ""),
            ("fixtures/rules/pairing/stray.json", ""),
            ("fixtures/streams/a/b/input.bin", ""),
        ];
        assert_eq!(
            Subject::complaints(&files, check),
            [
                "error: fixtures/rules/pairing/stray.json: \
                 a case's file is at <group>/<rule>/<case>/<file>",
                "error: fixtures/rules/pairing/orphan-result/example: input.json is missing",
            ]
        );
    }
}
