//! Demands of a provider on members, reasoning, declared tools and counts.
//!
//! These are parts of [`Constraints`](crate::Constraints). Each has a `NONE` for dialects and providers without known
//! demands of that kind.

use crate::{ErrorText, Models, NameStart, Role};

/// The required form of the text of a call's input, where input is written as text.
#[derive(Debug, Clone, Copy)]
pub enum Arguments {
    /// Any text is accepted.
    Any,
    /// Any JSON value.
    Json {
        /// Whether empty text counts as no arguments.
        empty: bool,
        /// The provider's error text.
        error: ErrorText,
    },
    /// A JSON object.
    Object {
        /// Whether empty text counts as no arguments.
        empty: bool,
        /// The provider's error text.
        error: ErrorText,
    },
}

/// How members of messages and blocks that the dialect does not define are treated.
#[derive(Debug, Clone, Copy)]
pub enum Members {
    /// The provider ignores them, or its behaviour is unknown.
    Open,
    /// The provider rejects them, except those in `known`.
    Closed {
        /// Keys this provider accepts in addition to the dialect's.
        known: &'static [&'static str],
        /// Error for a member of a message; `{kind}` is the role, `{id}` the key.
        error: ErrorText,
        /// Error for a member of a block; `{kind}` is the block's type, `{id}` the key.
        in_block: ErrorText,
    },
}

/// Pairs of roles that must not follow each other.
#[derive(Debug, Clone, Copy)]
pub struct RoleOrder {
    /// Pairs of roles; the second must not come right after the first.
    pub never: &'static [(Role, Role)],
    /// The error text; `{id}` is the first role, `{kind}` the second.
    pub error: ErrorText,
}

/// Where system messages inside a conversation are allowed: after a user or system message, and before an assistant
/// message or at the end.
#[derive(Debug, Clone, Copy)]
pub struct SystemPlace {
    /// The models that accept such messages and are known to demand this.
    pub models: Models,
    /// Error for a system message elsewhere.
    pub error: ErrorText,
}

/// Demands of a provider on calls and results, beyond those of every provider.
#[derive(Debug, Clone, Copy)]
pub struct PairDemands {
    /// Error for other items between adjacent calls and their results, in dialects where results are items.
    pub adjacent: Option<ErrorText>,
    /// Whether a result may name a tool instead of a call: the client reports something that it was not asked for.
    pub unaddressed: bool,
    /// Error for other blocks beside the results of calls that a server tool made.
    pub program_results_alone: Option<ErrorText>,
    /// Error for a document in a message with results.
    pub documents_apart: Option<ErrorText>,
    /// Error for open calls that a server tool made, in a request that does not name its container.
    pub container: Option<ErrorText>,
}

impl PairDemands {
    /// No known demands.
    pub const NONE: Self = Self {
        adjacent: None,
        unaddressed: false,
        program_results_alone: None,
        documents_apart: None,
        container: None,
    };
}

/// Where a signed summary of earlier messages is allowed: at the start of the conversation, and once.
#[derive(Debug, Clone, Copy)]
pub struct CompactionDemand {
    /// Error for a summary elsewhere.
    pub misplaced: ErrorText,
    /// Error for a second summary.
    pub ambiguous: ErrorText,
}

/// Demands of a provider on reasoning that is sent back.
#[derive(Debug, Clone, Copy)]
pub struct ReasoningDemands {
    /// Whether reasoning must or must not be sent back.
    pub echo: Echo,
    /// Error for reasoning without the provider's signature.
    pub unsigned: Option<ErrorText>,
    /// Error for a turn with calls that does not start with reasoning while thinking is on.
    pub leading: Option<ErrorText>,
    /// Error for signed reasoning, where the provider does not accept signatures.
    pub signed: Option<ErrorText>,
    /// Error for reasoning in a last assistant message while thinking is off.
    pub ending: Option<ErrorText>,
}

impl ReasoningDemands {
    /// No known demands.
    pub const NONE: Self = Self { echo: Echo::Free, unsigned: None, leading: None, signed: None, ending: None };
}

/// Whether reasoning must be sent back in a member of the message.
#[derive(Debug, Clone, Copy)]
pub enum Echo {
    /// It may be sent back; the provider reads or ignores it.
    Free,
    /// It must be sent back with every message that makes calls.
    Required {
        /// The member that holds it.
        field: &'static str,
        /// The models that think by default; other models only if the request switches thinking on.
        models: Models,
        /// The provider's error text.
        error: ErrorText,
    },
    /// It must not be sent back.
    Refused {
        /// The members that must not hold it.
        fields: &'static [&'static str],
        /// The members that some models refuse, and those models.
        partly: &'static [(&'static str, Models)],
        /// The member that may hold it.
        instead: Option<&'static str>,
        /// The error text; `{kind}` is the member.
        error: ErrorText,
    },
}

/// Demands of a provider on the tools that a request declares.
#[derive(Debug, Clone, Copy)]
pub struct ToolDemands {
    /// Error for calls or results in a request that declares no tools.
    pub none_declared: Option<ErrorText>,
    /// Whether a name and a schema that accepts anything are enough to declare a tool, so that a repair can do it.
    pub declared_by_name: bool,
    /// Error for an empty list of tools.
    pub empty_list: Option<ErrorText>,
    /// Error for two tools with one name.
    pub repeated: Option<ErrorText>,
    /// Error for a cache mark in the list of tools.
    pub cache_mark: Option<ErrorText>,
    /// Error for a forced tool that is not declared.
    pub unknown_choice: Option<ErrorText>,
    /// Error for a message that adds or removes a tool that is not declared.
    pub unknown_reference: Option<ErrorText>,
    /// Error for a declared name that is not a legal tool name.
    pub name: Option<ErrorText>,
    /// Which first character a declared name may have, in addition to the demand on names in calls.
    pub start: NameStart,
    /// Characters that are not allowed in a declared name, although they are in calls.
    pub never: &'static str,
}

impl ToolDemands {
    /// No known demands.
    pub const NONE: Self = Self {
        none_declared: None,
        declared_by_name: false,
        empty_list: None,
        repeated: None,
        cache_mark: None,
        unknown_choice: None,
        unknown_reference: None,
        name: None,
        start: NameStart::Any,
        never: "",
    };
}

/// The provider's limits on counts.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many cache marks are allowed.
    pub cache_marks: Option<Limit>,
}

impl Limits {
    /// No known limits.
    pub const NONE: Self = Self { cache_marks: None };
}

/// The highest allowed number of something.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The highest allowed count.
    pub max: usize,
    /// Error for a higher count; `{length}` is the count found.
    pub error: ErrorText,
}
