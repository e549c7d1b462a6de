//! A result and what it holds.

use crate::{CallId, Span, Synthetic, Tool};

/// A result: the answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultBlock {
    /// The id of the call it answers.
    pub id: Option<CallId>,
    /// The tool, in dialects that repeat its name.
    pub tool: Option<Tool>,
    /// Whether it was made up by a repair, ours or another program's.
    pub synthetic: Synthetic,
    /// Whether it says that the tool failed, in dialects that have a sign for it.
    pub failed: bool,
    /// Whether it holds members that nobody reads.
    pub has_more: bool,
    /// What it holds.
    pub parts: Parts,
    /// Where its content stands in the source; empty when there is none.
    pub content: Span,
}

/// What a result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Nothing.
    Missing,
    /// A string.
    Text,
    /// A list of parts.
    List(Listed),
    /// Something no dialect allows.
    Unreadable,
}

/// What a list of parts holds. One word and not three flags, because results are most of what
/// a long conversation takes in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// No part.
    Nothing,
    /// Texts, none of which says anything.
    Blanks,
    /// Texts that all say something.
    Texts,
    /// Texts, some of which say something.
    TextsAndBlanks,
    /// Something that is not text, and texts that all say something.
    Media,
    /// Something that is not text, and texts that do not all say something.
    MediaAndBlanks,
}

impl Listed {
    /// A list with these parts.
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

    /// Whether one of the parts is a text with nothing in it.
    pub fn has_blanks(self) -> bool {
        matches!(self, Self::Blanks | Self::TextsAndBlanks | Self::MediaAndBlanks)
    }

    /// Whether one of the parts is not text.
    pub fn has_media(self) -> bool {
        matches!(self, Self::Media | Self::MediaAndBlanks)
    }

    /// Whether nothing in it says anything.
    pub fn is_blank(self) -> bool {
        matches!(self, Self::Nothing | Self::Blanks)
    }
}
