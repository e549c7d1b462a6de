//! Defects of a file's records, and the edits that remove them.

use super::{DefectKind, NewRecord};
use crate::json::Object;

/// A defect of a file's records. Damaged lines and violations of the conversation are found elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// The kind of the defect.
    pub kind: &'static DefectKind,
    /// The index of the record that has it.
    pub record: usize,
    /// A description in one clause.
    pub message: String,
    /// The edits that remove it; none if it cannot be removed.
    pub edits: Vec<RecordEdit>,
}

/// A change to one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordEdit {
    /// Removes the record.
    Remove {
        /// The index of the record.
        record: usize,
    },
    /// Gives a member of the record another value.
    Set {
        /// The index of the record.
        record: usize,
        /// The name of the member.
        member: &'static str,
        /// The value as JSON; nothing removes the member.
        value: Option<String>,
    },
    /// Adds a record.
    Insert {
        /// The index of the record before it.
        after: usize,
        /// The new record as JSON.
        text: String,
    },
    /// Adds a record before all others.
    Prepend {
        /// The new record as JSON.
        text: String,
    },
    /// Puts the record elsewhere. Records that move behind the same one keep the order of their edits.
    Move {
        /// The index of the record.
        record: usize,
        /// The index of the record that it goes behind, which stays; nothing puts it before all others.
        after: Option<usize>,
    },
}

/// Applies edits to records.
pub fn apply(records: &[&str], edits: &[RecordEdit]) -> Vec<NewRecord> {
    let mut plans: Vec<Plan<'_>> = (0..records.len()).map(|_| Plan::default()).collect();
    let mut front = Plan::default();
    for edit in edits {
        match edit {
            RecordEdit::Remove { record } => change(&mut plans, *record, |plan| plan.is_removed = true),
            RecordEdit::Set { record, member, value } => {
                change(&mut plans, *record, |plan| plan.members.push((member, value.clone())));
            }
            RecordEdit::Insert { after, text } => change(&mut plans, *after, |plan| plan.added.push(text)),
            RecordEdit::Prepend { text } => front.added.push(text),
            RecordEdit::Move { record, after } => {
                change(&mut plans, *record, |plan| plan.is_moved = true);
                match after {
                    Some(after) => change(&mut plans, *after, |plan| plan.moved.push(*record)),
                    None => front.moved.push(*record),
                }
            }
        }
    }
    let mut out = Vec::with_capacity(records.len());
    let place = |index: usize, out: &mut Vec<NewRecord>| {
        let (record, plan) = (records[index], &plans[index]);
        if plan.is_removed {
            return;
        }
        let text = match Object::of(record).filter(|_| !plan.members.is_empty()) {
            Some(object) => object.with(&plan.members),
            None => record.to_owned(),
        };
        out.push(NewRecord { origin: Some(index), text });
    };
    let place_new = |plan: &Plan<'_>, out: &mut Vec<NewRecord>| {
        plan.moved.iter().filter(|moved| **moved < records.len()).for_each(|moved| place(*moved, out));
        out.extend(plan.added.iter().map(|text| NewRecord { origin: None, text: (*text).to_owned() }));
    };
    place_new(&front, &mut out);
    for (index, plan) in plans.iter().enumerate() {
        if !plan.is_moved {
            place(index, &mut out);
        }
        place_new(plan, &mut out);
    }
    out
}

/// The edits of one record.
#[derive(Default)]
struct Plan<'e> {
    is_removed: bool,
    is_moved: bool,
    members: Vec<(&'static str, Option<String>)>,
    /// The records that move behind it, and the new ones behind those.
    moved: Vec<usize>,
    added: Vec<&'e str>,
}

/// Adds to the plan of a record, if there is one.
fn change<'e>(plans: &mut [Plan<'e>], record: usize, add: impl FnOnce(&mut Plan<'e>)) {
    if let Some(plan) = plans.get_mut(record) {
        add(plan);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_change_remove_and_add_records() {
        let records = [r#"{"id":1,"parent":0}"#, r#"{"id":2}"#, r#"{"id":3}"#];
        let edits = [
            RecordEdit::Remove { record: 1 },
            RecordEdit::Set { record: 0, member: "parent", value: Some("null".to_owned()) },
            RecordEdit::Insert { after: 2, text: "{}".to_owned() },
        ];
        let texts: Vec<_> = apply(&records, &edits).into_iter().map(|record| (record.origin, record.text)).collect();
        let expected = [(Some(0), r#"{"id":1,"parent":null}"#), (Some(2), r#"{"id":3}"#), (None, "{}")];
        assert_eq!(texts, expected.map(|(origin, text)| (origin, text.to_owned())));
    }

    #[test]
    fn records_move_and_new_ones_go_to_the_front() {
        let edits = [
            RecordEdit::Move { record: 0, after: Some(2) },
            RecordEdit::Move { record: 3, after: None },
            RecordEdit::Move { record: 1, after: Some(2) },
            RecordEdit::Prepend { text: "{}".to_owned() },
        ];
        let texts: Vec<_> =
            apply(&["[0]", "[1]", "[2]", "[3]"], &edits).into_iter().map(|record| record.text).collect();
        assert_eq!(texts, ["[3]", "{}", "[2]", "[0]", "[1]"]);
    }
}
