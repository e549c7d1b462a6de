//! Writes a repaired conversation as records of goose.

use super::message::SHAPE;
use crate::json::elements;
use crate::native::{History, Order, Returned};
use crate::session::{NewRecord, RecordRepair};

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let list = format!("[{}]", repair.records.join(","));
    let history = History::read(&list, &SHAPE, Some(Order::OldestFirst)).ok()?;
    if history.messages() != repair.reading.messages.len() {
        return None;
    }
    let messages: Vec<Returned<'_>> =
        repair.messages.iter().map(|message| Returned { origin: message.origin, text: message.text }).collect();
    let given = history.give_back(&messages)?;
    let records = elements(&given.text)?;
    let origins = given.origins.into_iter();
    Some(records.into_iter().zip(origins).map(|(text, origin)| NewRecord { origin, text: text.to_owned() }).collect())
}
