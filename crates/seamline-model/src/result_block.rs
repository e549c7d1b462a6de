//! A result and its content.

use crate::{Span, Synthetic, Tool, WireId};

/// A tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultBlock {
    /// The id of the call it answers.
    pub id: Option<WireId>,
    /// The tool, in dialects that repeat its name.
    pub tool: Option<Tool>,
    /// Whether a repair made it, by Seamline or another program.
    pub synthetic: Synthetic,
    /// Whether it says that the tool failed, in dialects with a flag for it.
    pub failed: bool,
    /// Whether it holds members that the dialect does not read.
    pub has_more: bool,
    /// The form of its content.
    pub parts: Parts,
    /// The bytes of its content in the source; empty if there is none.
    pub content: Span,
}

/// The form of a result's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// No content at all.
    Missing,
    /// A JSON string.
    Text,
    /// A list of parts.
    List(Listed),
    /// A value that no dialect allows.
    Unreadable,
}

/// The kind of a part that is not text. Media outweigh parts of unknown kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BesideText {
    /// A kind that the dialect does not know.
    Unknown,
    /// A picture, a document or other media.
    Media,
}

/// The kinds of parts in a list. One enum instead of three flags, because results take most of the memory of a long
/// conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// An empty list.
    Nothing,
    /// Only blank texts.
    Blanks,
    /// Only texts with content.
    Texts,
    /// Texts with content and blank texts.
    TextsAndBlanks,
    /// Media, and no blank text.
    Media,
    /// Media and at least one blank text.
    MediaAndBlanks,
    /// Parts of unknown kinds, no media and no blank text.
    Others,
    /// Parts of unknown kinds, no media and at least one blank text.
    OthersAndBlanks,
}

impl Listed {
    /// The value for a list with these parts.
    pub fn of(has_blanks: bool, has_texts: bool, beside_text: Option<BesideText>) -> Self {
        match (beside_text, has_texts, has_blanks) {
            (Some(BesideText::Media), _, false) => Self::Media,
            (Some(BesideText::Media), _, true) => Self::MediaAndBlanks,
            (Some(BesideText::Unknown), _, false) => Self::Others,
            (Some(BesideText::Unknown), _, true) => Self::OthersAndBlanks,
            (None, true, false) => Self::Texts,
            (None, true, true) => Self::TextsAndBlanks,
            (None, false, true) => Self::Blanks,
            (None, false, false) => Self::Nothing,
        }
    }

    /// Whether one of the parts is a blank text.
    pub fn has_blanks(self) -> bool {
        matches!(self, Self::Blanks | Self::TextsAndBlanks | Self::MediaAndBlanks | Self::OthersAndBlanks)
    }

    /// Whether one of the parts is known to be media.
    pub fn has_media(self) -> bool {
        matches!(self, Self::Media | Self::MediaAndBlanks)
    }

    /// Whether all parts are text.
    pub fn is_text(self) -> bool {
        !self.has_media() && !matches!(self, Self::Others | Self::OthersAndBlanks)
    }

    /// Whether no part has content.
    pub fn is_blank(self) -> bool {
        matches!(self, Self::Nothing | Self::Blanks)
    }
}
