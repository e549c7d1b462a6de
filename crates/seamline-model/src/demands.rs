//! What a provider demands of members, reasoning, declared tools and sizes.
//!
//! Parts of [`Constraints`](crate::Constraints) that belong together; each has a `NONE` for
//! dialects and providers that are not known to demand any of it.

use crate::{ErrorText, Models, NameStart, Role};

/// What the text of a call's input must hold, where input is written as text.
#[derive(Debug, Clone, Copy)]
pub enum Arguments {
    /// Anything.
    Any,
    /// A JSON object, or anything else that is JSON.
    Json {
        /// Whether text with nothing in it counts as no arguments.
        empty: bool,
        /// The error text.
        error: ErrorText,
    },
    /// A JSON object.
    Object {
        /// Whether text with nothing in it counts as no arguments.
        empty: bool,
        /// The error text.
        error: ErrorText,
    },
}

/// Members of messages and blocks that the dialect itself does not have.
#[derive(Debug, Clone, Copy)]
pub enum Members {
    /// Are ignored, or nothing is known.
    Open,
    /// Are rejected, unless they are among these.
    Closed {
        /// Keys this provider takes beside those of the dialect.
        known: &'static [&'static str],
        /// One of a message; `{kind}` is the message's role, `{id}` the key.
        error: ErrorText,
        /// One of a block; `{kind}` is the block's type, `{id}` the key.
        in_block: ErrorText,
    },
}

/// Two roles that must not follow each other.
#[derive(Debug, Clone, Copy)]
pub struct RoleOrder {
    /// Roles, each with one that must not come right after it.
    pub never: &'static [(Role, Role)],
    /// The error text; `{id}` is the first role, `{kind}` the second.
    pub error: ErrorText,
}

/// Where system messages inside a conversation may stand: after a user's or another one,
/// and last or before the assistant.
#[derive(Debug, Clone, Copy)]
pub struct SystemPlace {
    /// The models that take such messages and are known to want this.
    pub models: Models,
    /// One that stands elsewhere.
    pub error: ErrorText,
}

/// What a provider wants of the model's reasoning when it is sent back.
#[derive(Debug, Clone, Copy)]
pub struct ReasoningDemands {
    /// Whether reasoning comes back at all.
    pub echo: Echo,
    /// Reasoning without the signature that the provider gave it.
    pub unsigned: Option<ErrorText>,
    /// A turn with calls that does not start with reasoning, while thinking is switched on.
    pub leading: Option<ErrorText>,
    /// Reasoning with a signature, which the provider does not know.
    pub signed: Option<ErrorText>,
    /// Reasoning in a last message of the assistant, while thinking is switched off.
    pub ending: Option<ErrorText>,
}

impl ReasoningDemands {
    /// No demand is known.
    pub const NONE: Self = Self { echo: Echo::Free, unsigned: None, leading: None, signed: None, ending: None };
}

/// Whether reasoning comes back in a member of the message.
#[derive(Debug, Clone, Copy)]
pub enum Echo {
    /// It may, and is read or ignored.
    Free,
    /// It must, with every message that makes calls.
    Required {
        /// The member it stands in.
        field: &'static str,
        /// The models that think unless told otherwise; others only when the request switches
        /// thinking on.
        models: Models,
        /// The error text.
        error: ErrorText,
    },
    /// It must not.
    Refused {
        /// The members it must not stand in.
        fields: &'static [&'static str],
        /// The member that it may stand in.
        instead: Option<&'static str>,
        /// The error text; `{kind}` is the member.
        error: ErrorText,
    },
}

/// What a provider wants of the tools that a request declares.
#[derive(Debug, Clone, Copy)]
pub struct ToolDemands {
    /// Calls or results in a request that declares no tools.
    pub none_declared: Option<ErrorText>,
    /// A tool can be declared by its name and a schema that takes anything, so that a repair can
    /// do it.
    pub declared_by_name: bool,
    /// A list of tools with nothing in it.
    pub empty_list: Option<ErrorText>,
    /// Two tools of one name.
    pub repeated: Option<ErrorText>,
    /// A mark among the tools up to which they are cached.
    pub cache_mark: Option<ErrorText>,
    /// A forced tool that is not declared.
    pub unknown_choice: Option<ErrorText>,
    /// A declared name that is not what a tool's name may look like.
    pub name: Option<ErrorText>,
    /// Which character a declared name may start with, beside what names in calls may.
    pub start: NameStart,
    /// Characters that a declared name must not hold, although names in calls may.
    pub never: &'static str,
}

impl ToolDemands {
    /// No demand is known.
    pub const NONE: Self = Self {
        none_declared: None,
        declared_by_name: false,
        empty_list: None,
        repeated: None,
        cache_mark: None,
        unknown_choice: None,
        name: None,
        start: NameStart::Any,
        never: "",
    };
}

/// How much a provider takes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Marks up to which a prompt is cached.
    pub cache_marks: Option<Limit>,
}

impl Limits {
    /// No limit is known.
    pub const NONE: Self = Self { cache_marks: None };
}

/// The most there may be of something.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// How many.
    pub max: usize,
    /// More than that; `{length}` is how many there are.
    pub error: ErrorText,
}
