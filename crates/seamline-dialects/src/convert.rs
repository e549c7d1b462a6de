//! Converts between dialects: each dialect lifts its body into a [`Conversation`] and renders one as a body.
//! No dialect knows another.

mod bend;
mod draft;
pub(crate) mod failure;
mod format;
pub(crate) mod lifting;
mod media;
mod noting;
mod rename;
pub(crate) mod rendering;
mod target;
mod tools;

pub(crate) use draft::{Draft, Room};
pub(crate) use format::schema_members;
use lifting::Lifting;
pub use lifting::sources;
pub(crate) use media::{data_url, extension, file_name, linked, mime, mime_of_extension};
pub(crate) use rendering::{Entries, Members, write_body};
pub use target::{ForeignReasoning, Renamed, Rendered, Target};

use seamline_model::conversation::Conversation;
use seamline_model::{IdDemand, NameDemand};

use crate::json::quoted;
use crate::rewriting::set_member;
use crate::{Dialect, Error};

impl Dialect {
    /// Reads a body into a conversation.
    ///
    /// # Errors
    ///
    /// When the body is not UTF-8, not JSON or not this dialect's envelope.
    pub fn lift(&self, body: &[u8]) -> Result<Conversation, Error> {
        (self.lift)(body)
    }

    /// Writes a conversation as a body.
    pub fn render(&self, conversation: Conversation, target: &Target<'_>) -> Rendered {
        (self.render)(Draft::of(conversation, target, self.room), target)
    }

    /// The member of the body that is the list of messages.
    pub const fn list(&self) -> &'static str {
        self.form.list
    }

    /// Whether the model is named in the body, not in its address.
    pub const fn names_model(&self) -> bool {
        self.room.names_model
    }

    /// The member of the body that is the system prompt, if the prompt is not a message.
    pub const fn prompt(&self) -> Option<&'static str> {
        self.room.prompt
    }

    /// The demands on the id of a call that every provider of the dialect meets.
    pub fn call_id(&self) -> IdDemand {
        self.room.narrow.map_or(self.constraints.call_id, |(id, _)| id)
    }

    /// The demands on the name of a tool that every provider of the dialect meets.
    pub fn tool_name(&self) -> NameDemand {
        self.room.narrow.map_or(self.constraints.tool_name, |(_, name)| name)
    }

    /// Whether the settings of a request hold a list of messages too.
    pub fn holds_list(&self, envelope: &str) -> bool {
        let document = Lifting::document(envelope.as_bytes()).ok();
        document.is_some_and(|document| document.root().object().is_some_and(|body| body.get(self.form.list).is_some()))
    }

    /// Writes another model into a body. Returns nothing if bodies of the dialect do not name the model.
    pub fn with_model(&self, body: &[u8], model: &str) -> Option<Vec<u8>> {
        let document = Lifting::document(body).ok()?;
        let is_there = lifting::member(document.root(), self.form.model).is_some();
        if !is_there && !self.room.names_model {
            return None;
        }
        let (span, json) = set_member(document.root(), self.form.model, &quoted(model))?;
        let (before, after) = (body.get(..span.start as usize)?, body.get(span.end as usize..)?);
        Some([before, json.as_bytes(), after].concat())
    }
}
