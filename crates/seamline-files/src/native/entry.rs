//! One entry of a history that a program keeps as a record of its own.

use super::message::{Message, align};
use super::shape::{Kept, New, Shape};
use crate::json::Object;

impl Shape {
    /// The message of an entry that holds at most one; nothing for an entry that the program does not send.
    pub(crate) fn message_of(&self, entry: &Object<'_>) -> Option<Message> {
        (self.show)(entry).into_iter().next().map(|part| part.message)
    }

    /// Writes an entry again with a message of the carrier. What the carrier does not show stays.
    pub(crate) fn with_message(&self, entry: &Object<'_>, carried: &str) -> Option<String> {
        let before = self.message_of(entry)?;
        let mut after = Message::of_carrier(carried)?;
        align(&before.calls, &mut after.calls);
        let kept = Kept { before: &before, block: None, after: Some(after), owns_rest: true };
        Some((self.rewrite)(entry, &[kept]))
    }

    /// Writes an entry for a new message of the carrier. `tool` is the name of the tool whose call it answers.
    pub(crate) fn new_entry(&self, carried: &str, tool: Option<&str>, beside: Option<&Object<'_>>) -> Option<String> {
        let message = Message::of_carrier(carried)?;
        Some((self.write)(&New { message: &message, tool, beside }))
    }
}
