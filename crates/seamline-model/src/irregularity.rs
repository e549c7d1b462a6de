//! Input that a dialect could read only with tolerance.

use crate::{BlockIndex, MessageIndex, Span};

/// Something that a dialect could read only with tolerance.
///
/// Dialects report irregularities without judging them; rules turn them into findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Irregularity {
    /// The kind of irregularity.
    pub kind: IrregularityKind,
    /// Its bytes in the source.
    pub span: Span,
    /// The message it is in.
    pub message: Option<MessageIndex>,
    /// The block it is in.
    pub block: Option<BlockIndex>,
    /// How many more of its kind the body has after it that were not noted.
    pub more: u32,
}

impl Irregularity {
    /// An irregularity at a place.
    pub fn new(kind: IrregularityKind, span: Span, message: Option<MessageIndex>, block: Option<BlockIndex>) -> Self {
        Self { kind, span, message, block, more: 0 }
    }
}

/// The kinds of irregularity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IrregularityKind {
    /// The body starts with a byte order mark.
    ByteOrderMark,
    /// A string holds half of a surrogate pair.
    LoneSurrogate,
    /// An object has the same key twice; the span is the member that parsers ignore.
    DuplicateKey {
        /// The repeated key.
        key: String,
        /// The bytes to cut so that the object stays well-formed.
        cut: Span,
    },
    /// A field has the name that another program or dialect uses; the span is the key.
    ForeignKey {
        /// The name in this dialect.
        expected: &'static str,
    },
    /// The list of calls is a string that holds JSON; the span is that string.
    CallListAsText {
        /// The list itself.
        list: String,
    },
    /// A call is in a retired field of the dialect.
    LegacyCall,
    /// The list of calls is present but empty.
    EmptyCallList,
    /// A message is not an object or has no readable role.
    UnreadableMessage {
        /// The value in place of a message.
        found: UnreadableEntry,
    },
    /// A block or call is not an object.
    UnreadableBlock {
        /// The kind of value found.
        found: &'static str,
    },
    /// The list of calls is not a list.
    UnreadableCallList {
        /// The kind of value found.
        found: &'static str,
    },
    /// A part has a type that belongs to another role; the span is the type.
    PartOfOtherRole {
        /// The equivalent type for this role, if there is one.
        expected: Option<&'static str>,
    },
    /// One block holds several things that must each be a block; the span is the block.
    CrowdedBlock {
        /// The separate blocks, as list elements.
        blocks: String,
    },
    /// An id is a number instead of a string.
    UnquotedId,
    /// A role has the name that another program or dialect uses; the span is the role.
    ForeignRole {
        /// The name in this dialect.
        expected: &'static str,
    },
    /// A block type has another name in this dialect; the span is the type.
    ForeignType {
        /// The name in this dialect.
        expected: &'static str,
    },
    /// A message's content holds calls or results in the form of another dialect.
    ForeignPairs,
    /// A call or result is in the form of another dialect; the span is the block.
    ForeignPair {
        /// The block in the form of this dialect.
        own: String,
    },
    /// A block has a type that this dialect does not define.
    ForeignBlock,
    /// A text block has no type, or its text is not a string.
    WordlessText {
        /// The patch that makes it an equivalent text block, if there is one.
        patch: Option<(Span, String)>,
        /// Whether it holds no content.
        empty: bool,
    },
}

/// A value in the list of messages that cannot be read as a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableEntry {
    /// A message with a role that the dialect does not know. The provider may have added it.
    UnknownRole,
    /// An item of a kind that the dialect does not know. The provider may have added it.
    UnknownKind,
    /// A message with the role of a tool that names no call, in a dialect without that role.
    ToolRole,
    /// A message without a role.
    NoRole,
    /// A value of this kind, which is not an object.
    Value(&'static str),
}

impl UnreadableEntry {
    /// Whether a provider may have added the entry.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::UnknownRole | Self::UnknownKind)
    }

    /// The words for it in a message of a finding.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownRole => "an unknown role",
            Self::UnknownKind => "an unknown kind",
            Self::ToolRole => "the role of a tool, which this dialect does not have",
            Self::NoRole => "no role",
            Self::Value(kind) => kind,
        }
    }
}
