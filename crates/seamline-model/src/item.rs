//! Items: messages in dialects where every message has a type and, if the provider made it, an id.

use crate::{Span, WireId};

/// A message seen as an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The kind that rules distinguish.
    pub kind: ItemKind,
    /// The properties of its type.
    pub of: &'static ItemType,
    /// The provider's id. An id that is not a string counts as empty.
    pub id: Option<WireId>,
    /// The bytes of its type in the source; empty if it has none.
    pub type_span: Span,
    /// Whether it is reasoning with readable text.
    pub readable: bool,
}

/// The properties of an item type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemType {
    /// The name of such a call and its result in error texts; empty for other items.
    pub words: &'static str,
    /// The prefix of ids of this type; empty if unknown.
    pub id_start: &'static str,
    /// For a result, its type; for a call, the type its result must have. Empty if any type is accepted.
    pub result_type: &'static str,
    /// Whether that result has only an id and an output, like results of other types.
    pub plain_result: bool,
    /// Whether that result is always a list.
    pub listed_result: bool,
    /// Whether that result is always an image.
    pub shown_result: bool,
}

/// The kind of item that rules distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Made by the model: a message, a call, a call of the provider's own tools.
    Made,
    /// The model's reasoning, which belongs to the next item.
    Reasoning,
    /// Made by the client.
    Given,
    /// Only the id of an item that the provider stores.
    Reference,
    /// An item of unknown type.
    Unknown,
    /// An instruction to the provider that must be the last item.
    Trigger,
}

/// Facts in the body around the messages that affect them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Envelope {
    /// Whether the conversation continues messages that the provider stores.
    pub chained: bool,
    /// Whether the provider stores nothing of this request.
    pub stateless: bool,
    /// Whether the list of messages is absent and not needed.
    pub unlisted: bool,
}
