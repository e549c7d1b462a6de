//! The numbers of the records. Each record has the next one; Codex does not continue a session whose numbers have a gap.

use std::collections::HashMap;

use crate::json::{Object, members};
use crate::session::catalogue::{FILE009, FILE011};
use crate::session::{Defect, KeptTexts, NewRecord, RecordEdit, longest_rising};

/// The numbers of the records of a file.
#[derive(Default)]
pub(super) struct Ordinals {
    marks: Vec<Mark>,
    /// The number of the first record where the description of the session asks for numbers.
    start: Option<u64>,
    /// The number of the first record of a sub-agent's own, with the payload of the description that has it.
    own: Option<(u64, String)>,
}

struct Mark {
    ordinal: Option<u64>,
    /// The hash of the record, to recognise copies. Records without a number have none.
    hash: u64,
}

impl Ordinals {
    /// Adds a record.
    pub(super) fn push(&mut self, ordinal: Option<u64>, text: &str, content: KeptTexts) {
        // Without a first number there are no defects, and a long file has many records.
        if self.marks.is_empty() || self.first().is_some() {
            self.marks.push(Mark { ordinal, hash: ordinal.map_or(0, |_| content.digest(text)) });
        }
    }

    /// Notes that the description of the session asks for numbers.
    pub(super) fn start_at(&mut self, start: u64) {
        self.start = Some(start);
    }

    /// Notes where the own records of a sub-agent begin.
    pub(super) fn own_start(&mut self, start: u64, payload: &str) {
        self.own = Some((start, payload.to_owned()));
    }

    /// The number that the first record has or should have; nothing if the records have no numbers.
    fn first(&self) -> Option<u64> {
        self.marks.first().and_then(|mark| mark.ordinal).or(self.start)
    }

    /// The defects of the numbers, with the edits that number the records again.
    pub(super) fn defects(&self) -> Vec<Defect> {
        let Some(first) = self.first() else { return Vec::new() };
        let copies = self.copies();
        if !copies.is_empty() {
            // Without the copies the numbers may be right.
            return copies;
        }
        let moved = self.moved();
        if moved.is_empty() { self.gaps(first) } else { moved }
    }

    /// Records that are in the file twice.
    fn copies(&self) -> Vec<Defect> {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut copies = Vec::new();
        for (record, mark) in self.marks.iter().enumerate() {
            let Some(ordinal) = mark.ordinal else { continue };
            let earlier = *seen.entry(ordinal).or_insert(record);
            if earlier != record && self.marks[earlier].hash == mark.hash {
                let message = "the same record is in the file before".to_owned();
                copies.push(Defect { kind: &FILE009, record, message, edits: vec![RecordEdit::Remove { record }] });
            }
        }
        copies
    }

    /// Records that are not at the place of their number. Where two records have one number, or a record has none, the
    /// order of the file is the better guess.
    fn moved(&self) -> Vec<Defect> {
        let Some(numbers) =
            self.marks.iter().map(|mark| mark.ordinal.map(|ordinal| ordinal as usize)).collect::<Option<Vec<_>>>()
        else {
            return Vec::new();
        };
        if numbers.is_sorted() {
            return Vec::new();
        }
        let places: HashMap<usize, usize> =
            numbers.iter().enumerate().map(|(record, number)| (*number, record)).collect();
        if places.len() < numbers.len() {
            return Vec::new();
        }
        let mut stay = longest_rising(&numbers);
        stay.reverse();
        let mut moved: Vec<(usize, usize)> = numbers
            .iter()
            .enumerate()
            .filter(|(_, number)| stay.binary_search(number).is_err())
            .map(|(record, number)| (*number, record))
            .collect();
        moved.sort_unstable();
        let defect = |(number, record): (usize, usize)| {
            let before = stay.partition_point(|staying| *staying < number).checked_sub(1).map(|at| stay[at]);
            let after = before.and_then(|before| places.get(&before)).copied();
            let message = format!("the record has ordinal {number} and is not at its place");
            Defect { kind: &FILE011, record, message, edits: vec![RecordEdit::Move { record, after }] }
        };
        moved.into_iter().map(defect).collect()
    }

    /// Records whose number is not the next one. The edits of each also number the records behind it again.
    fn gaps(&self, first: u64) -> Vec<Defect> {
        let mut defects: Vec<Defect> = Vec::new();
        let mut shift = Some(0);
        for (record, mark) in self.marks.iter().enumerate() {
            let due = first.saturating_add(record as u64);
            let found = mark.ordinal.map(|ordinal| i128::from(ordinal) - i128::from(due));
            if found != shift {
                let message = match mark.ordinal {
                    Some(ordinal) => format!("the record has ordinal {ordinal}, the one before it leads to another"),
                    None => "the record has no ordinal".to_owned(),
                };
                // A record without a number leaves the others as they were.
                shift = found.or(shift);
                defects.push(Defect { kind: &FILE011, record, message, edits: Vec::new() });
            }
            if mark.ordinal != Some(due)
                && let Some(defect) = defects.last_mut()
            {
                defect.edits.push(RecordEdit::Set { record, member: "ordinal", value: Some(due.to_string()) });
            }
        }
        self.move_own_start(first, &mut defects);
        defects
    }

    /// Changes the number of the first record of a sub-agent's own together with the records.
    fn move_own_start(&self, first: u64, defects: &mut [Defect]) {
        let (Some((start, payload)), Some(defect)) = (&self.own, defects.last_mut()) else { return };
        let old = self.marks.iter().map(|mark| mark.ordinal);
        if let Some(payload) = with_own_start(payload, *start, first, old) {
            defect.edits.push(RecordEdit::Set { record: 0, member: "payload", value: Some(payload) });
        }
    }
}

/// The member of a description that names the first record of a sub-agent's own.
const OWN_START: &str = "subagent_history_start_ordinal";

/// A description with the new number of the first record of a sub-agent's own; nothing if it stays.
fn with_own_start(
    payload: &str,
    start: u64,
    first: u64,
    old: impl ExactSizeIterator<Item = Option<u64>>,
) -> Option<String> {
    let count = old.len();
    let index = old.into_iter().position(|ordinal| ordinal.is_some_and(|ordinal| ordinal >= start)).unwrap_or(count);
    let due = first.saturating_add(index as u64);
    (due != start).then(|| Object::of(payload).map(|payload| payload.with(&[(OWN_START, Some(due.to_string()))])))?
}

/// Numbers the records of a repaired file, if they have numbers. New records have the number of the record before them.
pub(super) fn renumber(records: &mut [NewRecord]) {
    let ordinals: Vec<Option<u64>> = records.iter().map(|record| ordinal(&record.text)).collect();
    let Some(Some(first)) = ordinals.first().copied() else { return };
    let head = Object::of(&records[0].text).and_then(|head| {
        let payload = head.get("payload")?;
        let start = members(payload, &[OWN_START]).ok()?[0]?.parse().ok()?;
        let payload = with_own_start(payload, start, first, ordinals.iter().copied())?;
        Some(head.with(&[("payload", Some(payload))]))
    });
    if let Some(head) = head {
        records[0].text = head;
    }
    for (index, (record, ordinal)) in records.iter_mut().zip(&ordinals).enumerate() {
        let due = first.saturating_add(index as u64);
        if *ordinal != Some(due)
            && let Some(text) =
                Object::of(&record.text).map(|object| object.with(&[("ordinal", Some(due.to_string()))]))
        {
            record.text = text;
        }
    }
}

/// The number of a record.
pub(super) fn ordinal(record: &str) -> Option<u64> {
    members(record, &["ordinal"]).ok()?[0]?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::apply;

    fn ordinals(numbers: &[Option<u64>]) -> Ordinals {
        let mut ordinals = Ordinals::default();
        for (index, number) in numbers.iter().enumerate() {
            ordinals.push(*number, &index.to_string(), KeptTexts::Whole);
        }
        ordinals
    }

    /// The numbers after the repair, and the records with a defect.
    fn repaired(numbers: &[Option<u64>]) -> (Vec<Option<u64>>, Vec<usize>) {
        let defects = ordinals(numbers).defects();
        let texts: Vec<String> = numbers
            .iter()
            .map(|number| number.map_or("{}".to_owned(), |number| format!("{{\"ordinal\":{number}}}")))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let edits: Vec<_> = defects.iter().flat_map(|defect| defect.edits.clone()).collect();
        let after = apply(&texts, &edits).iter().map(|record| ordinal(&record.text)).collect();
        (after, defects.iter().map(|defect| defect.record).collect())
    }

    #[test]
    fn a_gap_is_one_defect_and_all_records_behind_it_are_numbered_again() {
        let five = Some(5);
        assert_eq!(repaired(&[five, Some(6), Some(7)]), (vec![five, Some(6), Some(7)], vec![]));
        assert_eq!(repaired(&[five, Some(8), Some(9)]), (vec![five, Some(6), Some(7)], vec![1]));
        assert_eq!(repaired(&[five, Some(6), Some(6), Some(7)]), (vec![five, Some(6), Some(7), Some(8)], vec![2]));
        assert_eq!(repaired(&[five, None, Some(6)]), (vec![five, Some(6), Some(7)], vec![1, 2]));
        assert_eq!(repaired(&[None, None]), (vec![None, None], vec![]));
    }

    #[test]
    fn records_go_back_to_the_place_of_their_number() {
        let numbers = [0, 1, 4, 2, 3, 5].map(Some);
        let (after, records) = repaired(&numbers);
        assert_eq!((after, records), ((0..6).map(Some).collect(), vec![2]));
        assert_eq!(repaired(&[3, 0, 1].map(Some)).0, [0, 1, 3].map(Some));
    }

    #[test]
    fn a_copy_is_removed() {
        let mut ordinals = Ordinals::default();
        for text in ["a", "b", "b", "c"] {
            ordinals.push(Some(u64::from(text.as_bytes()[0])), text, KeptTexts::Whole);
        }
        let defects = ordinals.defects();
        assert_eq!((defects.len(), defects[0].kind.code, defects[0].record), (1, "FILE009", 2));
    }

    #[test]
    fn the_start_of_a_sub_agents_own_records_moves_with_them() {
        let texts = [
            r#"{"ordinal":0,"payload":{"subagent_history_start_ordinal":2}}"#,
            r#"{"ordinal":1}"#,
            r#"{"ordinal":1,"new":true}"#,
            r#"{"ordinal":2}"#,
        ];
        let mut records: Vec<_> =
            texts.iter().map(|text| NewRecord { origin: None, text: (*text).to_owned() }).collect();
        renumber(&mut records);
        let texts: Vec<_> = records.into_iter().map(|record| record.text).collect();
        let expected = [
            r#"{"ordinal":0,"payload":{"subagent_history_start_ordinal":3}}"#,
            r#"{"ordinal":1}"#,
            r#"{"ordinal":2,"new":true}"#,
            r#"{"ordinal":3}"#,
        ];
        assert_eq!(texts, expected);

        let mut gap = ordinals(&[Some(0), Some(1), Some(5), Some(6)]);
        gap.own_start(5, r#"{"subagent_history_start_ordinal":5}"#);
        let edits = gap.defects().remove(0).edits;
        let payload = r#"{"subagent_history_start_ordinal":2}"#.to_owned();
        assert_eq!(edits.last(), Some(&RecordEdit::Set { record: 0, member: "payload", value: Some(payload) }));
    }
}
