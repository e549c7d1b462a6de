//! Everything that is known of providers is checked, or there is a reason why not; and
//! everything they demand is listed in words.

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

/// Marks that nothing names and that have no reason, and reasons for marks that are not.
fn unnamed(subject: &Subject, book: &Book) -> Vec<Complaint> {
    let named: BTreeSet<String> = book::named(subject.tree.rust());
    let mut complaints = Vec::new();
    for (prefix, family) in &book.families {
        if !subject.tree.contains(&format!("{DIALECTS}/{}", family.dialect)) {
            continue;
        }
        for number in 1..=family.count {
            let mark = format!("{prefix}-{number}");
            if !named.contains(&mark) && book.reason(prefix, number).is_none() {
                let message = format!("no constraint or rule names {mark}, and there is no reason why not");
                complaints.push(Complaint::new(BOOK, message));
            }
        }
        for (mark, _) in book.unchecked(prefix).filter(|(mark, _)| named.contains(mark)) {
            let message = format!("{mark} is named by a constraint or rule; its reason can go");
            complaints.push(Complaint::new(BOOK, message));
        }
        for (mark, _) in book.partly(prefix).filter(|(mark, _)| !named.contains(mark)) {
            let message = format!("{mark} is checked in part, it says, but no constraint or rule names it");
            complaints.push(Complaint::new(BOOK, message));
        }
        let is_known = |number: &String| number.parse().is_ok_and(|number| (1..=family.count).contains(&number));
        for number in family.listed().filter(|number| !is_known(number)) {
            complaints.push(Complaint::new(BOOK, format!("there is no {prefix}-{number}")));
        }
    }
    complaints
}

/// Constraints that a provider has of its own, and that are known from nowhere.
fn unsourced(subject: &Subject) -> Vec<Complaint> {
    let folder = format!("{DIALECTS}/providers/");
    let files = subject.tree.rust().filter(|(path, _)| path.starts_with(&folder));
    let mut complaints = Vec::new();
    for (path, text) in files {
        let sets = sources::sets(text).into_values();
        let fields =
            sets.flat_map(|set| set.fields.into_iter().filter(|(name, said)| !name.contains('.') && said.is_empty()));
        // A field that holds several demands says of each where it is known from.
        let is_group = |name: &str| matches!(name, "reasoning" | "tools" | "limits" | "item_id" | "constraints");
        for (name, _) in fields.filter(|(name, _)| !is_group(name)) {
            complaints.push(Complaint::new(path, format!("no comment says where `{name}` is known from")));
        }
    }
    complaints
}

/// Fields of the constraints that are not put into words.
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
        .map(|name| Complaint::new(LISTING, format!("the demand `{name}` is not put into words")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "answers = 'later'\n[families.ANT]\nname = 'A'\ncount = 3\ndialect = 'a'\nproviders = []\n\
        answers = [1, 3, 9]\n";

    #[test]
    fn a_mark_without_a_place_or_a_reason_is_refused() {
        let files = [
            (BOOK, TOML),
            (
                "crates/seamline-dialects/src/a/constraints.rs",
                "pub const C: Constraints = Constraints {\n    // ANT-1, observed.\n    a: b,\n};\n",
            ),
        ];
        assert_eq!(
            Subject::said(&files, check),
            [
                format!("error: {BOOK}: no constraint or rule names ANT-2, and there is no reason why not"),
                format!("error: {BOOK}: ANT-1 is named by a constraint or rule; its reason can go"),
                format!("error: {BOOK}: there is no ANT-9"),
            ]
        );
    }

    #[test]
    fn a_dialect_that_is_not_there_is_not_asked_after() {
        assert_eq!(Subject::said(&[(BOOK, TOML)], check), Vec::<String>::new());
    }

    #[test]
    fn a_demand_without_words_is_refused() {
        let constraints = "pub struct Constraints {\n    /// A.\n    pub one: bool,\n    pub two: bool,\n}\n";
        let files = [(CONSTRAINTS, constraints), (LISTING, "demands.one\n")];
        let said = format!("error: {LISTING}: the demand `two` is not put into words");
        assert_eq!(Subject::said(&files, check), [said]);
    }
}
