//! The smallest changes to a transcript.

use std::ops::Range;

use crate::{BlockIndex, MessageIndex, Role, Source, Span};

/// The smallest change to a transcript. An edit says what should be true; how that is
/// written is the dialect's affair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Write `text` where `span` stands. Only for bytes below the level of blocks.
    Patch {
        /// What is replaced.
        span: Span,
        /// What replaces it.
        text: String,
    },
    /// Take a member out of an object. Only for members that are no block.
    DropMember {
        /// What is cut, so that the object stays well-formed.
        cut: Span,
        /// The member.
        member: Span,
        /// Whether something goes with it that was worth keeping.
        lost: bool,
    },
    /// Answer a call with a result that a repair made up.
    Synthesize {
        /// The call.
        call: BlockIndex,
        /// The result's text.
        text: String,
    },
    /// Move a result, and the media beside it, to the answer of the message that made its call.
    Relocate {
        /// The result.
        result: BlockIndex,
        /// The call it answers.
        call: BlockIndex,
        /// Media that travel with it.
        media: Vec<BlockIndex>,
    },
    /// Let a result answer another id.
    Readdress {
        /// The result.
        result: BlockIndex,
        /// The call it answers.
        call: BlockIndex,
        /// The id it should name.
        id: String,
    },
    /// Keep what a block holds as plain text, under a line that says what it was.
    Demote {
        /// The block.
        block: BlockIndex,
        /// The line.
        heading: String,
    },
    /// Rebuild the call of a result, in a message of its own before the result's.
    ReconstructCall {
        /// The result.
        result: BlockIndex,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// Take a block out.
    Remove {
        /// The block.
        block: BlockIndex,
    },
    /// Take a message out.
    RemoveMessage {
        /// The message.
        message: MessageIndex,
    },
    /// Take the id that the provider gave an item out of it.
    RemoveItemId {
        /// The item.
        message: MessageIndex,
    },
    /// Give a call another id.
    SetCallId {
        /// The call.
        call: BlockIndex,
        /// Its id.
        id: String,
    },
    /// Give the tool of a call or result another name.
    SetToolName {
        /// The call or result.
        block: BlockIndex,
        /// The name.
        name: String,
    },
    /// Say that the last message, which is the assistant's, is to be continued.
    Continue {
        /// The message.
        message: MessageIndex,
    },
    /// Put reasoning that a repair made up into a message.
    AddReasoning {
        /// The message.
        message: MessageIndex,
        /// The member it goes into.
        field: &'static str,
        /// The text.
        text: NewText,
    },
    /// Write the parts of a result as one string.
    FlattenResult {
        /// The result.
        result: BlockIndex,
    },
    /// Write a call's input in the form the dialect wants, keeping what it says.
    SetInput {
        /// The call.
        call: BlockIndex,
    },
    /// Write a message's content in the form the dialect wants, keeping what it says.
    SetContent {
        /// The message.
        message: MessageIndex,
    },
    /// Put the mark on a call that stands for a signature nobody has.
    Sign {
        /// The call.
        call: BlockIndex,
    },
    /// Declare tools that the request does not declare.
    DeclareTools {
        /// Their names.
        names: Vec<String>,
    },
    /// Put a call from a field the dialect no longer has into the one it has now.
    AdoptLegacyCall {
        /// The call.
        call: BlockIndex,
    },
    /// Take the empty list of calls out of a message.
    RemoveCallList {
        /// The message.
        message: MessageIndex,
    },
    /// Let every block stand in a message of the role that may hold it.
    Regroup {
        /// The message.
        message: MessageIndex,
    },
    /// Give a message another role.
    SetRole {
        /// The message.
        message: MessageIndex,
        /// Its role.
        role: Role,
    },
    /// Put results before everything else in their message.
    ResultsFirst {
        /// The message.
        message: MessageIndex,
    },
    /// Put what stands beside results in their message into one after it.
    SplitResults {
        /// The message.
        message: MessageIndex,
    },
    /// Give a message content that a repair made up.
    FillMessage {
        /// The message.
        message: MessageIndex,
        /// The text.
        text: NewText,
    },
    /// Keep the members of a message that nobody reads as its text.
    KeepMembers {
        /// The message.
        message: MessageIndex,
    },
    /// Write a message, calls and results in its content among them, in the form of the dialect.
    Restate {
        /// The message.
        message: MessageIndex,
    },
    /// Let a message of nobody known be the user's, under a line that says what it was.
    TakeIn {
        /// The message.
        message: MessageIndex,
        /// The line.
        heading: String,
    },
    /// Take empty text out of a result, or put a text there when nothing is left.
    FillResult {
        /// The result.
        result: BlockIndex,
        /// The text when nothing is left.
        text: NewText,
    },
    /// Move what is not text out of a result into a user message after the answer.
    HoistMedia {
        /// The result.
        result: BlockIndex,
        /// The text that stays when nothing else does.
        text: NewText,
    },
    /// Answer a call of the provider's own tools with a result that says it is unavailable.
    CloseServerCall {
        /// The call.
        call: BlockIndex,
    },
    /// Put a message in before another one, or at the end.
    InsertMessage {
        /// The message it stands before; one past the last means the end.
        before: MessageIndex,
        /// Its role.
        role: Role,
        /// Its text.
        text: NewText,
    },
    /// Join a message to the one before it.
    JoinPrevious {
        /// The message.
        message: MessageIndex,
    },
}

impl Edit {
    /// Whether it changes bytes without a look at messages and blocks.
    pub fn is_bytes(&self) -> bool {
        matches!(self, Self::Patch { .. } | Self::DropMember { .. })
    }
}

/// Text that a repair made up.
pub type NewText = &'static str;

/// A body with edits applied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The new body, in pieces of the [`Source`]; those that touch are one.
    pub pieces: Vec<Range<usize>>,
    /// What stands behind the body in the source: what earlier edits wrote, and these.
    pub written: Vec<u8>,
    /// For each of its messages, the message it stems from; nothing for a new one.
    pub origins: Vec<Option<MessageIndex>>,
    /// Where each of its messages stands, when a dialect wrote them.
    pub spans: Vec<Span>,
    /// For each of its messages, whether it was copied as it stood.
    pub copied: Vec<bool>,
    /// What stands between its messages.
    pub layout: Layout,
    /// For each edit, the new message it ended up in, if it is in one.
    pub landed: Vec<Option<MessageIndex>>,
}

impl Encoded {
    /// A body to be written from the bytes of another one, with room for so many messages.
    pub fn of(source: Source<'_>, messages: usize) -> Self {
        Self {
            written: source.written.to_vec(),
            origins: Vec::with_capacity(messages),
            spans: Vec::with_capacity(messages),
            copied: Vec::with_capacity(messages),
            layout: Layout { leads: Vec::with_capacity(messages), closing: Span::default() },
            ..Self::default()
        }
    }

    /// The bytes it points into, when this is the body it was made of.
    pub fn source<'a>(&'a self, body: &'a [u8]) -> Source<'a> {
        Source { body, written: &self.written, pieces: &self.pieces }
    }

    /// The messages of the body before that were copied from its message `at` on, one after
    /// the other; nothing when that one was not copied.
    pub fn copied_run(&self, at: usize) -> Option<Range<usize>> {
        let origins = self.origins.get(at..)?;
        let first = origins.first().copied().flatten().filter(|_| self.copied[at])?;
        let follows = |(index, (origin, copied)): (usize, (&Option<MessageIndex>, &bool))| {
            *copied && origin.is_some_and(|origin| origin.get() == first.get() + index)
        };
        let count = origins.iter().zip(&self.copied[at..]).enumerate().take_while(|&pair| follows(pair)).count();
        Some(first.get()..first.get() + count)
    }

    /// Adds a piece of the source of `body`.
    pub fn push(&mut self, piece: Range<usize>, body: &[u8]) {
        match self.pieces.last_mut() {
            // What was written stands behind the body and is still another piece.
            Some(last) if last.end == piece.start && piece.start != body.len() => last.end = piece.end,
            _ if piece.is_empty() => {}
            _ => self.pieces.push(piece),
        }
    }

    /// Writes a text, and says where it stands in the source of `body`.
    pub fn write(&mut self, text: &str, body: &[u8]) -> Span {
        let start = body.len() + self.written.len();
        self.written.extend_from_slice(text.as_bytes());
        let piece = start..start + text.len();
        self.push(piece.clone(), body);
        Span::new(piece.start, piece.end)
    }
}

/// What stands between messages that do not stand side by side in the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// For each message, what stands before it.
    pub leads: Vec<Span>,
    /// What stands between the last message and the end of the list.
    pub closing: Span,
}
