//! Damage to files that are one JSON value with the records in a list.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Damage, Damaged, Numbers, collect};

/// The records of a document, and the text around them.
struct Document {
    before: String,
    separator: String,
    records: Vec<String>,
    after: String,
}

impl Document {
    fn of(file: &str) -> Option<Self> {
        let spans = spans(file).filter(|spans| spans.len() > 1)?;
        Some(Self {
            before: file[..spans[0].start].to_owned(),
            separator: file[spans[0].end..spans[1].start].to_owned(),
            records: spans.iter().map(|span| file[span.clone()].to_owned()).collect(),
            after: file[spans[spans.len() - 1].end..].to_owned(),
        })
    }

    fn text(&self) -> String {
        format!("{}{}{}", self.before, self.records.join(&self.separator), self.after)
    }

    /// The places of the records whose text has one of these words and none of those.
    fn places(&self, words: &[&str], others: &[&str]) -> Vec<usize> {
        let has = |record: &String, words: &[&str]| words.iter().any(|word| record.contains(word));
        (0..self.records.len())
            .filter(|at| has(&self.records[*at], words) && !has(&self.records[*at], others))
            .collect()
    }
}

/// The spans of the records: the elements of the value, or of one of its members.
fn spans(file: &str) -> Option<Vec<Range<usize>>> {
    let list = serde_json::from_str::<Vec<&RawValue>>(file).ok().or_else(|| {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(file).ok()?;
        let list = ["messages", "history"].iter().find_map(|name| members.get(*name))?;
        serde_json::from_str(list.get()).ok()
    })?;
    let span = |record: &&RawValue| {
        let start = record.get().as_ptr().addr() - file.as_ptr().addr();
        start..start + record.get().len()
    };
    Some(list.iter().map(span).collect())
}

const RESULTS: [&str; 5] = ["\"tool_result\"", "\"tool\"", "functionResponse", "output-available", "\"completed\""];
const CALLS: [&str; 3] = ["\"tool_use\"", "tool_calls", "functionCall\""];

pub(super) fn damage(file: &str, kind: Damage, numbers: &mut Numbers) -> Option<Damaged> {
    let mut document = Document::of(file)?;
    // A file whose first record is cut does not tell its program.
    let at = 1 + numbers.below(document.records.len() - 1);
    let next = (at + 1).min(document.records.len() - 1);
    let mut text = None;
    match kind {
        Damage::Drop => {
            document.records.remove(at);
        }
        Damage::Duplicate => document.records.insert(at, document.records[at].clone()),
        Damage::Reorder => document.records.swap(at, next),
        Damage::Interleave => {
            let tail: Vec<String> = document.records[at..(at + 3).min(document.records.len())].to_vec();
            let into = at + numbers.below(document.records.len() - at);
            for (offset, record) in tail.into_iter().enumerate() {
                document.records.insert((into + 2 * offset).min(document.records.len()), record);
            }
        }
        Damage::LoseResult => {
            let found = document.places(&RESULTS, &[]);
            let at = *found.get(numbers.below(found.len()))?;
            match without_result(&document.records[at]) {
                Some(record) => document.records[at] = record,
                None => {
                    document.records.remove(at);
                }
            }
        }
        Damage::LoseCall => {
            let found = document.places(&CALLS, &RESULTS);
            document.records.remove(*found.get(numbers.below(found.len()))?);
        }
        Damage::LoseParent => return None,
        Damage::Tear => {
            let first = document.before.len() + document.records[0].len();
            let whole = document.text();
            let mut end = first + numbers.below(whole.len() - first - 1);
            while !whole.is_char_boundary(end) {
                end -= 1;
            }
            let lengths: Vec<usize> =
                document.records.iter().map(|record| record.len() + document.separator.len()).collect();
            let mut stop = document.before.len();
            let fits = |length: &usize| {
                stop += length;
                stop - document.separator.len() <= end
            };
            let complete = lengths.iter().copied().take_while(fits).count();
            document.records.truncate(complete);
            text = Some(whole[..end].to_owned());
        }
        Damage::Glue | Damage::Splice | Damage::Nul => text = Some(between(&mut document, kind, at, numbers)),
    }
    let mut words = BTreeSet::new();
    for record in &document.records {
        collect(&serde_json::from_str(record).unwrap(), &mut words);
    }
    let text = text.unwrap_or_else(|| document.text());
    Some(Damaged { bytes: text.into_bytes(), words })
}

/// Damages the text between two records. Leaves the complete records in the document.
fn between(document: &mut Document, kind: Damage, at: usize, numbers: &mut Numbers) -> String {
    let mut text = document.before.clone();
    let last = document.records.len() - 1;
    for (index, record) in document.records.iter().enumerate() {
        let is_here = index == at;
        if is_here && kind == Damage::Nul {
            text.push_str(&"\0".repeat(1 + numbers.below(700)));
        }
        if is_here && kind == Damage::Splice && index < last {
            let mut end = 1 + numbers.below(record.len() - 1);
            // Behind these signs the next record would be a value of the cut one.
            while !record.is_char_boundary(end) || record[..end].trim_end().ends_with(['[', ':', ',']) {
                end -= 1;
            }
            text.push_str(&record[..end]);
            continue;
        }
        text.push_str(record);
        if index < last && !(is_here && kind == Damage::Glue) {
            text.push_str(&document.separator);
        }
    }
    text.push_str(&document.after);
    if kind == Damage::Splice && at < last {
        document.records.remove(at);
    }
    text
}

/// A record with a call that has no result yet, for programs that keep both in one record; nothing for other records.
pub(super) fn without_result(record: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(record).unwrap();
    let mut is_changed = false;
    if let Some(calls) = value["toolCalls"].as_array_mut() {
        let call = calls.iter_mut().find(|call| !call["result"].is_null())?;
        (call["result"], call["status"]) = (Value::Null, "executing".into());
        is_changed = true;
    }
    for part in value["parts"].as_array_mut().into_iter().flatten() {
        if part["state"] == "output-available" {
            part["state"] = "input-available".into();
            part.as_object_mut().unwrap().remove("output");
            is_changed = true;
        } else if part["state"]["status"] == "completed" {
            part["state"]["status"] = "running".into();
            part["state"].as_object_mut().unwrap().remove("output");
            is_changed = true;
        }
    }
    is_changed.then(|| value.to_string())
}

/// The words in a document after its repair.
pub(super) fn words(file: &[u8]) -> Result<BTreeSet<String>, String> {
    let value: Value =
        serde_json::from_slice(file).map_err(|error| format!("the repaired file is not JSON: {error}"))?;
    let mut words = BTreeSet::new();
    collect(&value, &mut words);
    Ok(words)
}
