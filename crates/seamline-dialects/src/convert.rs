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
pub(crate) use rendering::{Members, write_body};
pub use target::{ForeignReasoning, Renamed, Rendered, Target};

use seamline_model::conversation::Conversation;
use seamline_model::{Alphabet, ErrorText, IdDemand, NameDemand};

use crate::Error;
use crate::json::quoted;
use crate::rewriting::set_member;

/// The functions that convert requests from and to other dialects.
#[derive(Debug, Clone, Copy)]
pub struct Converter {
    /// The member of the body that is the list of messages.
    pub list: &'static str,
    /// The member of the body that names the model.
    pub model: &'static str,
    /// Whether the model is named in the body, not in its address.
    pub names_model: bool,
    /// The member of the body that is the system prompt, if it is not a message.
    pub prompt: Option<&'static str>,
    /// Reads a body into a conversation.
    pub lift: fn(&[u8]) -> Result<Conversation, Error>,
    /// Writes a conversation as a body.
    pub render: fn(&Conversation, &Target<'_>) -> Rendered,
    /// The demands on the id of a call, if no provider has its own.
    pub call_id: IdDemand,
    /// The demands on the name of a tool, if no provider has its own.
    pub tool_name: NameDemand,
}

impl Converter {
    /// Whether the settings of a request hold a list of messages too.
    pub fn holds_list(&self, envelope: &str) -> bool {
        let document = Lifting::document(envelope.as_bytes()).ok();
        document.is_some_and(|document| document.root().object().is_some_and(|body| body.get(self.list).is_some()))
    }

    /// Writes another model into a body. Returns nothing if bodies of the dialect do not name the model.
    pub fn with_model(&self, body: &[u8], model: &str) -> Option<Vec<u8>> {
        let document = Lifting::document(body).ok()?;
        let is_there = lifting::member(document.root(), self.model).is_some();
        if !is_there && !self.names_model {
            return None;
        }
        let (span, json) = set_member(document.root(), self.model, &quoted(model))?;
        let (before, after) = (body.get(..span.start as usize)?, body.get(span.end as usize..)?);
        Some([before, json.as_bytes(), after].concat())
    }
}

/// The demands on ids of these characters, for a dialect without a known provider.
pub(crate) const fn ids(alphabet: Alphabet, length_max: usize, prefix: &'static str) -> IdDemand {
    IdDemand {
        alphabet,
        alphabet_error: ErrorText(""),
        length_max,
        length_error: ErrorText(""),
        demanded: true,
        prefix,
    }
}

/// The demands on names of this length, for a dialect without a known provider.
pub(crate) const fn names(length_max: usize) -> NameDemand {
    NameDemand { length_max, ..NameDemand::WORD }
}
