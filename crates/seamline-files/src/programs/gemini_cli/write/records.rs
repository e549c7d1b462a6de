//! The records of a session while messages are replaced, removed and added.

use std::collections::BTreeMap;

use super::super::fold::Place;
use crate::json::{Object, elements, members, relisted};
use crate::session::NewRecord;

/// The text of the message at a place.
pub(super) fn text_at<'r>(records: &[&'r str], place: Place) -> Option<&'r str> {
    let record = *records.get(place.record)?;
    match place.element {
        None => Some(record),
        Some(element) => list(record)?.get(element).copied(),
    }
}

/// The messages that a record holds in a list: the header of a session, or a patch of it.
fn list(record: &str) -> Option<Vec<&str>> {
    let [patch, messages] = members(record, &["$set", "messages"]).ok()?;
    let messages = match patch {
        Some(patch) => members(patch, &["messages"]).ok()?[0],
        None => messages,
    };
    messages.and_then(elements)
}

/// Changes to one record, or to one element of its list.
#[derive(Default)]
struct Change {
    /// The new text of the message.
    text: Option<String>,
    is_removed: bool,
    /// The messages that are added before and behind it.
    before: Vec<String>,
    behind: Vec<String>,
}

/// The records with the changes to them.
pub(super) struct Records<'r> {
    records: &'r [&'r str],
    /// The changes by record and element. A change to a whole record has no element.
    changes: BTreeMap<(usize, Option<usize>), Change>,
}

impl<'r> Records<'r> {
    pub(super) fn of(records: &'r [&'r str]) -> Self {
        Self { records, changes: BTreeMap::new() }
    }

    fn at(&mut self, place: Place) -> &mut Change {
        self.changes.entry((place.record, place.element)).or_default()
    }

    pub(super) fn replace(&mut self, place: Place, text: String) {
        self.at(place).text = Some(text);
    }

    pub(super) fn remove(&mut self, place: Place) {
        self.at(place).is_removed = true;
    }

    /// Adds a message behind another one, or before it.
    pub(super) fn add(&mut self, place: Place, is_behind: bool, text: String) {
        let change = self.at(place);
        if is_behind { &mut change.behind } else { &mut change.before }.push(text);
    }

    pub(super) fn finish(mut self) -> Option<Vec<NewRecord>> {
        let mut out = Vec::with_capacity(self.records.len());
        for (index, record) in self.records.iter().enumerate() {
            let whole = self.changes.remove(&(index, None)).unwrap_or_default();
            let elements = self.changes.range((index, None)..(index + 1, None)).next().is_some();
            let new = |text: String| NewRecord { origin: None, text };
            out.extend(whole.before.into_iter().map(new));
            if !whole.is_removed {
                let text = match whole.text {
                    Some(text) => text,
                    None if elements => self.relist(index)?,
                    None => (*record).to_owned(),
                };
                out.push(NewRecord { origin: Some(index), text });
            }
            out.extend(whole.behind.into_iter().map(new));
        }
        Some(out)
    }

    /// Writes a record with changes to the messages in its list.
    fn relist(&mut self, index: usize) -> Option<String> {
        let record = self.records[index];
        let mut pieces = Vec::new();
        for (element, message) in list(record)?.into_iter().enumerate() {
            let change = self.changes.remove(&(index, Some(element))).unwrap_or_default();
            pieces.extend(change.before);
            pieces.extend((!change.is_removed).then(|| change.text.unwrap_or_else(|| message.to_owned())));
            pieces.extend(change.behind);
        }
        let object = Object::of(record)?;
        let with_list =
            |object: &Object<'_>| Some(object.with(&[("messages", Some(relisted(object.get("messages")?, &pieces)))]));
        match object.get("$set") {
            Some(patch) => Some(object.with(&[("$set", Some(with_list(&Object::of(patch)?)?))])),
            None => with_list(&object),
        }
    }
}
