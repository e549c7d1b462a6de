//! What a rule finds, and what it proposes.

use crate::{BlockIndex, Edit, MessageIndex, Span};

/// One violation at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's code, such as `PAIR001`.
    pub code: &'static str,
    /// The rule's name, such as `unanswered-call`.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one clause.
    pub message: String,
    /// Where.
    pub place: Place,
    /// The call it is about.
    pub call_id: Option<String>,
    /// Other blocks that take part, such as the call of a displaced result.
    pub related: Vec<BlockIndex>,
    /// The error the provider would answer with.
    pub predicts: Option<String>,
    /// What would put it right.
    pub fix: Option<Fix>,
}

/// Where a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The message.
    pub message: Option<MessageIndex>,
    /// The block.
    pub block: Option<BlockIndex>,
    /// The bytes.
    pub span: Span,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing: a call that may still be answered.
    Info,
    /// Accepted, but harmful.
    Warning,
    /// The provider rejects the request.
    Error,
}

impl Severity {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a finding proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in one clause in the imperative.
    pub title: String,
    /// What it may cost.
    pub safety: Safety,
    /// When its turn comes.
    pub stage: Stage,
    /// The edits; none when the fix is only shown.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// Whether its edits change bytes without a look at messages and blocks.
    pub fn is_bytes(&self) -> bool {
        self.edits.iter().all(Edit::is_bytes)
    }

    /// Whether only some of its edits do, which cannot be written at once.
    pub fn is_mixed(&self) -> bool {
        !self.is_bytes() && self.edits.iter().any(Edit::is_bytes)
    }
}

/// What applying a fix may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Safety {
    /// Nothing anyone said is lost or altered; what is added is marked synthetic.
    Safe,
    /// Content is dropped, altered or guessed.
    Unsafe,
    /// Shown, never applied.
    DisplayOnly,
}

impl Safety {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::DisplayOnly => "display_only",
        }
    }
}

/// When a fix's turn comes. The order is fixed: whatever can drop, convert or re-role
/// a message runs before pairing, and what depends on settled pairs runs after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Bytes that no reader agrees on.
    Bytes,
    /// Fields, roles and calls that are not in their proper form.
    Form,
    /// Calls and results.
    Pairing,
    /// Empty blocks and messages, ids and names, order inside messages.
    Finish,
    /// Roles in a row, first and last message.
    Roles,
}
