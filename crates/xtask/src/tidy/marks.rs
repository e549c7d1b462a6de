//! Every known demand of a provider is checked, or has a reason why not. Every constraint has a description.

use std::collections::BTreeSet;

use super::{Complaint, Subject};
use crate::book::{self, BOOK, Book, DIALECTS};
use crate::sources;

const CONSTRAINTS: &str = "crates/seamline-model/src/constraints.rs";
const LISTING: &str = "crates/seamline-model/src/listing.rs";

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = unlisted(subject);
    complaints.extend(unsourced(subject));
    let Some(text) = subject.tree.text(BOOK) else {
        return complaints;
    };
    match Book::read(text) {
        Ok(book) => complaints.extend(unnamed(subject, &book)),
        Err(error) => complaints.push(Complaint::new(BOOK, format!("{error:#}"))),
    }
    complaints
}

/// Marks that are neither checked nor explained, and explanations for unknown or checked marks.
fn unnamed(subject: &Subject, book: &Book) -> Vec<Complaint> {
    let named: BTreeSet<String> = book::named_marks(subject.tree.rust());
    let mut complaints = Vec::new();
    for (prefix, family) in &book.families {
        if !subject.tree.contains(&format!("{DIALECTS}/{}", family.dialect)) {
            continue;
        }
        for number in 1..=family.count {
            let mark = format!("{prefix}-{number}");
            if !named.contains(&mark) && book.reason(prefix, number).is_none() {
                let message = format!("{mark} is not checked by a constraint or rule, and has no reason why not");
                complaints.push(Complaint::new(BOOK, message));
            }
        }
        for (mark, _) in book.unchecked(prefix).filter(|(mark, _)| named.contains(mark)) {
            let message = format!("a constraint or rule names {mark}; remove its reason");
            complaints.push(Complaint::new(BOOK, message));
        }
        for (mark, _) in book.partly(prefix).filter(|(mark, _)| !named.contains(mark)) {
            let message = format!("{mark} is listed as checked in part, but no constraint or rule names it");
            complaints.push(Complaint::new(BOOK, message));
        }
        let is_known = |number: &String| number.parse().is_ok_and(|number| (1..=family.count).contains(&number));
        for number in family.listed().filter(|number| !is_known(number)) {
            complaints.push(Complaint::new(BOOK, format!("unknown mark {prefix}-{number}")));
        }
    }
    complaints
}

/// Constraints of a provider without a source.
fn unsourced(subject: &Subject) -> Vec<Complaint> {
    let folder = format!("{DIALECTS}/providers/");
    let files = subject.tree.rust().filter(|(path, _)| path.starts_with(&folder));
    let mut complaints = Vec::new();
    for (path, text) in files {
        let sets = sources::sets(text).into_values();
        let fields =
            sets.flat_map(|set| set.fields.into_iter().filter(|(name, said)| !name.contains('.') && said.is_empty()));
        // A field that holds several demands gives the source of each one.
        let is_group = |name: &str| matches!(name, "reasoning" | "tools" | "limits" | "item_id" | "constraints");
        for (name, _) in fields.filter(|(name, _)| !is_group(name)) {
            complaints.push(Complaint::new(path, format!("`{name}` has no comment with its source")));
        }
    }
    complaints
}

/// Fields of the constraints without a description.
fn unlisted(subject: &Subject) -> Vec<Complaint> {
    let (Some(constraints), Some(listing)) = (subject.tree.text(CONSTRAINTS), subject.tree.text(LISTING)) else {
        return Vec::new();
    };
    let fields = constraints.lines().skip_while(|line| *line != "pub struct Constraints {").skip(1);
    let fields = fields.take_while(|line| *line != "}").filter_map(|line| {
        let (name, _) = line.trim().strip_prefix("pub ")?.split_once(':')?;
        Some(name)
    });
    let is_listed = |name: &&str| [".", "self."].iter().any(|of| listing.contains(&format!("{of}{name}")));
    fields
        .filter(|name| !is_listed(name))
        .map(|name| Complaint::new(LISTING, format!("the demand `{name}` has no description")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "responses = 'later'\n[families.ANT]\nname = 'A'\ncount = 3\ndialect = 'a'\nproviders = []\n\
        responses = [1, 3, 9]\n";

    #[test]
    fn a_mark_needs_a_constraint_a_rule_or_a_reason() {
        let files = [
            (BOOK, TOML),
            (
                "crates/seamline-dialects/src/a/constraints.rs",
                "pub const C: Constraints = Constraints {\n    // ANT-1, observed.\n    a: b,\n};\n",
            ),
        ];
        assert_eq!(
            Subject::complaints(&files, check),
            [
                format!("error: {BOOK}: ANT-2 is not checked by a constraint or rule, and has no reason why not"),
                format!("error: {BOOK}: a constraint or rule names ANT-1; remove its reason"),
                format!("error: {BOOK}: unknown mark ANT-9"),
            ]
        );
    }

    #[test]
    fn marks_of_a_missing_dialect_are_skipped() {
        assert_eq!(Subject::complaints(&[(BOOK, TOML)], check), Vec::<String>::new());
    }

    #[test]
    fn a_demand_without_a_description_is_refused() {
        let constraints = "pub struct Constraints {\n    /// A.\n    pub one: bool,\n    pub two: bool,\n}\n";
        let files = [(CONSTRAINTS, constraints), (LISTING, "demands.one\n")];
        let said = format!("error: {LISTING}: the demand `two` has no description");
        assert_eq!(Subject::complaints(&files, check), [said]);
    }
}
