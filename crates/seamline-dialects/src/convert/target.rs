//! The target of a conversion, and its outcome.

use seamline_model::conversation::Lost;
use seamline_model::{IdDemand, NameDemand};

/// The target of a conversion.
#[derive(Debug, Clone)]
pub struct Target<'t> {
    /// The name of the provider, if one is known.
    pub provider: Option<&'t str>,
    /// The model, if it differs from that of the conversation.
    pub model: Option<&'t str>,
    /// The demands on the id of a call.
    pub call_id: IdDemand,
    /// The demands on the name of a tool.
    pub tool_name: NameDemand,
    /// The text of the result for a call without one. Without a text, such a call stays open.
    pub missing: Option<&'t str>,
    /// Texts of synthetic results, beside those that are always known.
    pub made_up: &'t [String],
    /// The treatment of reasoning that the target's models do not accept.
    pub foreign_reasoning: ForeignReasoning,
    /// A body whose layout the new body follows.
    pub layout: &'t [u8],
}

/// The treatment of reasoning that the target's models do not accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForeignReasoning {
    /// It is left out.
    #[default]
    Drop,
    /// Its readable text is kept as text of the assistant.
    Text,
}

/// A conversation in another dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The new body.
    pub body: String,
    /// The losses and changes.
    pub lost: Vec<Lost>,
    /// The renamed ids of calls, in order.
    pub ids: Vec<Renamed>,
    /// The renamed tools, in order.
    pub tools: Vec<Renamed>,
}

/// A renamed id or tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
}
