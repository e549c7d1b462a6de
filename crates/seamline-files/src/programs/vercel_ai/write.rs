//! Writes a repaired conversation as UI messages: an unanswered call gets its error in the same part.

use std::collections::HashMap;

use super::read::{Tool, result_of};
use crate::json::{Object, quoted, relisted};
use crate::session::{NewRecord, RecordRepair};

/// Only new results can be written: everything else of a UI message is made by the program that shows it.
pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let mut results: HashMap<String, String> = HashMap::new();
    for message in repair.messages {
        match message.origin {
            Some(origin) if repair.reading.messages[origin].text == message.text => {}
            Some(_) => return None,
            None => {
                let (id, text) = result_of(message.text)?;
                results.insert(id, text);
            }
        }
    }
    if repair.messages.iter().filter(|message| message.origin.is_some()).count() != repair.reading.messages.len() {
        return None;
    }
    let record = |(index, record): (usize, &&str)| {
        let text = with_results(record, &results).unwrap_or_else(|| (*record).to_owned());
        NewRecord { origin: Some(index), text }
    };
    Some(repair.records.iter().enumerate().map(record).collect())
}

fn with_results(record: &str, results: &HashMap<String, String>) -> Option<String> {
    let object = Object::of(record)?;
    let list = object.get("parts")?;
    let mut is_changed = false;
    let parts: Vec<String> = object
        .list("parts")
        .into_iter()
        .map(|part| {
            let result = Tool::of(part).and_then(|tool| results.get(&tool.id));
            match result.and_then(|text| Some((Object::of(part)?, text))) {
                None => part.to_owned(),
                Some((part, text)) => {
                    is_changed = true;
                    part.with(&[("state", Some(quoted("output-error"))), ("errorText", Some(quoted(text)))])
                }
            }
        })
        .collect();
    is_changed.then(|| object.with(&[("parts", Some(relisted(list, &parts)))]))
}
