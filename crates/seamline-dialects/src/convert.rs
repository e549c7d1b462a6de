//! From one dialect into another: each dialect lifts its body into a
//! [`Conversation`] and renders one as a body.
//! No dialect knows another.

mod bend;
mod draft;
pub(crate) mod failure;
pub(crate) mod lifting;
mod media;
mod rename;
pub(crate) mod rendering;
mod target;

pub(crate) use draft::{Draft, Room};
pub use lifting::sources;
pub(crate) use media::{data_url, extension, file_name, linked, mime, mime_of_extension};
pub(crate) use rendering::{Members, rendered};
pub use target::{ForeignReasoning, Renamed, Rendered, Target};

use seamline_model::conversation::Conversation;
use seamline_model::{Alphabet, ErrorText, IdDemand, NameDemand};

use crate::{Error, anthropic_messages, bedrock_converse, gemini_generate, openai_chat, openai_responses};

/// What one dialect can do for a conversion.
#[derive(Debug, Clone, Copy)]
pub struct Converter {
    /// The dialect's name.
    pub dialect: &'static str,
    /// The member of the body that is the list of messages.
    pub list: &'static str,
    /// Reads a body.
    pub lift: fn(&[u8]) -> Result<Conversation, Error>,
    /// Writes a conversation.
    pub render: fn(&Conversation, &Target<'_>) -> Rendered,
    /// What a call's id may look like, where no provider says otherwise.
    pub call_id: IdDemand,
    /// What a tool's name may look like, where no provider says otherwise.
    pub tool_name: NameDemand,
}

/// Every dialect that can be converted from and into.
pub const CONVERTERS: &[Converter] = &[
    Converter {
        dialect: anthropic_messages::NAME,
        list: "messages",
        lift: anthropic_messages::lift::lift,
        render: anthropic_messages::render::render,
        call_id: anthropic_messages::CONSTRAINTS.call_id,
        tool_name: anthropic_messages::CONSTRAINTS.tool_name,
    },
    Converter {
        dialect: openai_chat::NAME,
        list: "messages",
        lift: openai_chat::lift::lift,
        render: openai_chat::render::render,
        call_id: openai_chat::CONSTRAINTS.call_id,
        tool_name: openai_chat::CONSTRAINTS.tool_name,
    },
    Converter {
        dialect: openai_responses::NAME,
        list: "input",
        lift: openai_responses::lift::lift,
        render: openai_responses::render::render,
        // OAR-13: only the length is looked at.
        call_id: ids(Alphabet::Any, 64, "call_"),
        tool_name: names(64),
    },
    Converter {
        dialect: gemini_generate::NAME,
        list: "contents",
        lift: gemini_generate::lift::lift,
        render: gemini_generate::render::render,
        // GEM-8: what models of other makers behind the same dialect want.
        call_id: ids(Alphabet::Word, 64, "call_"),
        tool_name: names(64),
    },
    Converter {
        dialect: bedrock_converse::NAME,
        list: "messages",
        lift: bedrock_converse::lift::lift,
        render: bedrock_converse::render::render,
        // BED-2: what every model behind it takes.
        call_id: ids(Alphabet::Word, 64, "tooluse_"),
        tool_name: names(64),
    },
];

/// What a dialect can do for a conversion.
pub fn converter(dialect: &str) -> Option<&'static Converter> {
    CONVERTERS.iter().find(|converter| converter.dialect == dialect)
}

const fn ids(alphabet: Alphabet, length_max: usize, prefix: &'static str) -> IdDemand {
    IdDemand {
        alphabet,
        alphabet_error: ErrorText(""),
        length_max,
        length_error: ErrorText(""),
        demanded: true,
        prefix,
    }
}

const fn names(length_max: usize) -> NameDemand {
    NameDemand { also: "", length_max, error: ErrorText("") }
}
