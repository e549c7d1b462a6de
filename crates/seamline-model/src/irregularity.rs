//! What a dialect could read only by being tolerant.

use crate::{BlockIndex, MessageIndex, Span};

/// One thing a dialect could read only by being tolerant.
///
/// Dialects report these without judging them; rules turn them into findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Irregularity {
    /// What it is.
    pub kind: IrregularityKind,
    /// Where it stands in the source.
    pub span: Span,
    /// The message it is in.
    pub message: Option<MessageIndex>,
    /// The block it is in.
    pub block: Option<BlockIndex>,
}

/// The kinds of irregularity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IrregularityKind {
    /// The text starts with a byte order mark.
    ByteOrderMark,
    /// A string holds one half of a surrogate pair.
    LoneSurrogate,
    /// An object has the same key twice; the span is the member that readers ignore.
    DuplicateKey {
        /// The key.
        key: String,
        /// The span to cut so that the object stays well-formed.
        cut: Span,
    },
    /// A field has the name another program or dialect gives it; the span is the key.
    ForeignKey {
        /// The name this dialect gives it.
        expected: &'static str,
    },
    /// The list of calls is written as a string that holds JSON; the span is that string.
    CallListAsText {
        /// The list itself.
        list: String,
    },
    /// A call in a field that the dialect no longer has.
    LegacyCall,
    /// The list of calls is there but empty.
    EmptyCallList,
    /// A message that is not an object or has no readable role.
    UnreadableMessage {
        /// What was found instead.
        found: &'static str,
    },
    /// A block or call that is not an object.
    UnreadableBlock {
        /// What was found instead.
        found: &'static str,
    },
    /// A list of calls that is not a list.
    UnreadableCallList {
        /// What was found instead.
        found: &'static str,
    },
    /// A part whose type belongs to another role; the span is the type.
    PartOfOtherRole {
        /// The type that says the same in this role, if there is one.
        expected: Option<&'static str>,
    },
    /// One block that says several things, of which each is a block of its own; the span is the block.
    CrowdedBlock {
        /// The blocks, as they stand in a list.
        blocks: String,
    },
    /// An id that is written without quotes, as a number.
    UnquotedId,
    /// A role under the name that another program or dialect gives it; the span is the role.
    ForeignRole {
        /// The name this dialect gives it.
        expected: &'static str,
    },
    /// A block of a type that goes by another name here; the span is the type.
    ForeignType {
        /// The name this dialect gives it.
        expected: &'static str,
    },
    /// A message whose content holds calls or results in the form of another dialect.
    ForeignPairs,
    /// A block of a type that this dialect does not have.
    ForeignBlock,
    /// A block of text that does not say it is one, or whose text is no string.
    WordlessText {
        /// What makes it a text that says the same, if that is known.
        patch: Option<(Span, String)>,
        /// Whether nothing is in it.
        empty: bool,
    },
}
