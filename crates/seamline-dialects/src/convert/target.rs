//! For whom a conversation is rendered, and what comes of it.

use seamline_model::conversation::Lost;
use seamline_model::{IdDemand, NameDemand};

use super::Converter;

/// For whom a conversation is rendered.
#[derive(Debug, Clone)]
pub struct Target<'t> {
    /// The provider, by name, where one is known.
    pub provider: Option<&'t str>,
    /// The model; that of the conversation when there is none.
    pub model: Option<&'t str>,
    /// What a call's id may look like.
    pub call_id: IdDemand,
    /// What a tool's name may look like.
    pub tool_name: NameDemand,
    /// What the result of a call says that has none.
    pub missing: &'t str,
    /// Texts of results that are made up, beside those that are known everywhere.
    pub made_up: &'t [String],
    /// What becomes of reasoning that the target's models do not take.
    pub foreign_reasoning: ForeignReasoning,
    /// A body whose layout is followed.
    pub layout: &'t [u8],
}

impl Target<'_> {
    /// The target that a dialect itself is, with nothing more known.
    pub fn of(converter: &Converter) -> Self {
        Self {
            provider: None,
            model: None,
            call_id: converter.call_id,
            tool_name: converter.tool_name,
            missing: seamline_model::NO_RESULT_CONVERTED,
            made_up: &[],
            foreign_reasoning: ForeignReasoning::Drop,
            layout: b"{}",
        }
    }
}

/// What becomes of reasoning that the target's models do not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForeignReasoning {
    /// It is left out.
    #[default]
    Drop,
    /// What can be read of it is kept as text of the assistant.
    Text,
}

/// A conversation in another dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The body.
    pub body: String,
    /// What it does not say as it was said.
    pub lost: Vec<Lost>,
    /// The ids of calls that are others now, in order.
    pub ids: Vec<Renamed>,
    /// The names of tools that are others now, in order.
    pub tools: Vec<Renamed>,
}

/// Something that has another name now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// What it was called.
    pub from: String,
    /// What it is called.
    pub to: String,
}
