//! Findings of rules, and the fixes they propose.

use crate::{BlockIndex, Edit, MessageIndex, Span};

/// One violation at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFinding {
    /// The rule's code, such as `PAIR001`.
    pub code: &'static str,
    /// The rule's name, such as `unanswered-call`.
    pub name: &'static str,
    /// How severe it is.
    pub severity: Severity,
    /// The violation, in one clause.
    pub message: String,
    /// The position of the violation.
    pub place: Place,
    /// The id of the call it is about.
    pub call_id: Option<String>,
    /// Other blocks that are involved, such as the call of a displaced result.
    pub related: Vec<BlockIndex>,
    /// The error the provider would return.
    pub predicts: Option<String>,
    /// The edits that would repair it.
    pub fix: Option<Fix>,
    /// How many more findings of the same rule and severity there are that are not listed. Only the last listed one
    /// says it.
    pub more: u32,
}

/// The position of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The message, if there is one.
    pub message: Option<MessageIndex>,
    /// The block, if there is one.
    pub block: Option<BlockIndex>,
    /// The bytes in the source.
    pub span: Span,
}

/// How severe a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// For information: a call that may still be answered.
    Info,
    /// The provider accepts it, but it does harm.
    Warning,
    /// The provider rejects the request.
    Error,
}

impl Severity {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The repair that a finding proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The effect, as one clause in the imperative.
    pub title: String,
    /// The risk of the fix.
    pub safety: Safety,
    /// When the fix is applied.
    pub stage: Stage,
    /// The edits; none if the fix is only displayed.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// Whether all its edits change bytes independently of messages and blocks.
    pub fn is_bytes(&self) -> bool {
        self.edits.iter().all(Edit::is_bytes)
    }

    /// Whether only some of its edits do; such a fix cannot be written in one pass.
    pub fn is_mixed(&self) -> bool {
        !self.is_bytes() && self.edits.iter().any(Edit::is_bytes)
    }
}

/// The risk of applying a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Safety {
    /// Loses and alters no content; everything added is marked synthetic.
    Safe,
    /// Drops, alters or guesses content.
    Unsafe,
    /// Changes something that no dialect or program is known to have, and that the provider may accept. Only the caller
    /// can ask for it: no preset does.
    Unknown,
    /// Is displayed, never applied.
    DisplayOnly,
}

impl Safety {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Unknown => "unknown",
            Self::DisplayOnly => "display_only",
        }
    }
}

/// When a fix is applied. The order is fixed: fixes that can drop or convert a message or change its role run before
/// pairing; fixes that depend on correct pairs run after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Bytes that parsers read differently.
    Bytes,
    /// Fields, roles and calls in a wrong form.
    Form,
    /// Calls and results.
    Pairing,
    /// Empty blocks and messages, ids and names, order inside messages.
    Finish,
    /// Adjacent roles, first and last message.
    Roles,
}
