//! What is known of messages in dialects where every message is an item with a type and,
//! when the provider made it, an id of its own.

use crate::{CallId, Span};

/// What a message is as an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is to the rules.
    pub kind: ItemKind,
    /// What is known of its type.
    pub of: &'static ItemType,
    /// The id the provider gave it. An id that is no text counts as empty.
    pub id: Option<CallId>,
    /// Where its type stands in the source; empty when it has none.
    pub type_span: Span,
    /// Whether it is reasoning that says something a reader can understand.
    pub readable: bool,
}

/// What is known of a type of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemType {
    /// What errors call a call of this type, and its result; nothing for other items.
    pub words: &'static str,
    /// How ids of its items start; nothing when that is not known.
    pub id_start: &'static str,
    /// The type of a result; of a call, the type its result must have. Nothing when any will do.
    pub result_type: &'static str,
    /// Whether that result is an id and an output and nothing else, as those of other types are.
    pub plain_result: bool,
    /// Whether that result is a list, and never a string.
    pub listed_result: bool,
    /// Whether that result is a picture, and never a string or a list.
    pub shown_result: bool,
}

/// What an item is to the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Something the model made: a message, a call, a call of the provider's own tools.
    Made,
    /// The model's reasoning, which belongs to the item after it.
    Reasoning,
    /// Something the client made.
    Given,
    /// Only the id of an item that the provider keeps.
    Reference,
    /// Something of a type nobody here knows.
    Unknown,
    /// A request to the provider that must be the last item.
    Trigger,
}

/// What the body around the messages says that matters to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The conversation goes on from messages that the provider keeps.
    pub chained: bool,
    /// The provider keeps nothing of this request.
    pub stateless: bool,
    /// There is no list of messages, and none is needed.
    pub unlisted: bool,
}
