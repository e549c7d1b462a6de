//! A shape: how one program writes the messages of a history.

use std::fmt;

use super::message::Message;
use crate::json::Object;

/// How one program writes the messages of a history.
pub struct Shape {
    /// The name of the shape, as a caller gives it in place of a dialect.
    pub name: &'static str,
    /// The name of the program.
    pub program: &'static str,
    /// Whether the program stores the newest message first.
    pub newest_first: bool,
    /// The member with the tool calls of an entry.
    pub(crate) calls_in: &'static str,
    /// The sign of this shape in an entry, in words.
    pub(crate) sign: fn(&Object<'_>) -> Option<&'static str>,
    /// Reads an entry into parts: one message each. An entry that the program does not send, or that is unknown, has none.
    pub(crate) show: fn(&Object<'_>) -> Vec<Part>,
    /// Writes an entry again with some of its parts, which may have changed.
    pub(crate) rewrite: fn(&Object<'_>, &[Kept<'_>]) -> String,
    /// Writes a new entry.
    pub(crate) write: fn(&New<'_>) -> String,
}

/// One message in an entry.
pub(crate) struct Part {
    pub(crate) message: Message,
    /// The index of the block that is the whole message.
    pub(crate) block: Option<usize>,
}

impl From<Message> for Part {
    fn from(message: Message) -> Self {
        Self { message, block: None }
    }
}

/// A part of an entry that is still there after a repair.
pub(crate) struct Kept<'p> {
    pub(crate) before: &'p Message,
    pub(crate) block: Option<usize>,
    /// The message after the repair, if it changed.
    pub(crate) after: Option<Message>,
    /// Whether the entry keeps the blocks that the carrier does not show. Where the parts of an entry separate, only the
    /// first ones keep them.
    pub(crate) owns_rest: bool,
}

impl Kept<'_> {
    pub(crate) fn now(&self) -> &Message {
        self.after.as_ref().unwrap_or(self.before)
    }

    pub(crate) fn has_other_role(&self) -> bool {
        self.now().role != self.before.role
    }
}

/// A message that a repair wrote.
pub(crate) struct New<'m> {
    pub(crate) message: &'m Message,
    /// The name of the tool whose call it answers.
    pub(crate) tool: Option<&'m str>,
    /// The entry before it.
    pub(crate) beside: Option<&'m Object<'m>>,
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shape").field(&self.name).finish()
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Shape {}
