//! A result and its content.

use crate::{CallId, Span, Synthetic, Tool};

/// A tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultBlock {
    /// The id of the call it answers.
    pub id: Option<CallId>,
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

/// What a list of parts holds. One enum instead of three flags, because results take most of the memory of a long
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
}

impl Listed {
    /// The value for a list with these parts.
    pub fn of(has_blanks: bool, has_texts: bool, has_media: bool) -> Self {
        match (has_media, has_texts, has_blanks) {
            (true, _, false) => Self::Media,
            (true, _, true) => Self::MediaAndBlanks,
            (false, true, false) => Self::Texts,
            (false, true, true) => Self::TextsAndBlanks,
            (false, false, true) => Self::Blanks,
            (false, false, false) => Self::Nothing,
        }
    }

    /// Whether one of the parts is a blank text.
    pub fn has_blanks(self) -> bool {
        matches!(self, Self::Blanks | Self::TextsAndBlanks | Self::MediaAndBlanks)
    }

    /// Whether one of the parts is not text.
    pub fn has_media(self) -> bool {
        matches!(self, Self::Media | Self::MediaAndBlanks)
    }

    /// Whether no part has content.
    pub fn is_blank(self) -> bool {
        matches!(self, Self::Nothing | Self::Blanks)
    }
}
