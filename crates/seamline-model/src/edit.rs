//! The smallest changes to a transcript.

use std::ops::Range;

use crate::{BlockIndex, MessageIndex, Role, Source, Span};

/// The smallest change to a transcript. An edit says what should be true; the dialect decides how to write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Replaces the bytes of `span` with `text`. Only for bytes below the level of blocks.
    Patch {
        /// The bytes to replace.
        span: Span,
        /// The replacement text.
        text: String,
    },
    /// Removes a member from an object. Only for members that are not blocks.
    DropMember {
        /// The bytes to cut so that the object stays well-formed.
        cut: Span,
        /// The bytes of the member.
        member: Span,
        /// Whether content of the conversation goes with it.
        lost: bool,
    },
    /// Answers a call with a synthetic result.
    Synthesize {
        /// The unanswered call.
        call: BlockIndex,
        /// The result's text.
        text: String,
    },
    /// Moves a result, and the media beside it, to the results of the message that made its call.
    Relocate {
        /// The result to move.
        result: BlockIndex,
        /// The call it answers.
        call: BlockIndex,
        /// Media that move with it.
        media: Vec<BlockIndex>,
    },
    /// Changes the call id that a result names.
    Readdress {
        /// The result to change.
        result: BlockIndex,
        /// The call it answers.
        call: BlockIndex,
        /// The id it should name.
        id: String,
    },
    /// Keeps the content of a block as plain text, between the marks of a [`Fence`](crate::Fence).
    Demote {
        /// The block to demote.
        block: BlockIndex,
        /// The words that say what the block was.
        heading: String,
    },
    /// Rebuilds the call of a result, in a message of its own before the result's.
    ReconstructCall {
        /// The result without a call.
        result: BlockIndex,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// Removes a block.
    Remove {
        /// The block to remove.
        block: BlockIndex,
    },
    /// Removes a message.
    RemoveMessage {
        /// The message to remove.
        message: MessageIndex,
    },
    /// Removes the provider's id from an item.
    RemoveItemId {
        /// The message that is the item.
        message: MessageIndex,
    },
    /// Gives a call another id.
    SetCallId {
        /// The call to change.
        call: BlockIndex,
        /// Its new id.
        id: String,
    },
    /// Gives the tool of a call or result another name.
    SetToolName {
        /// The call or result.
        block: BlockIndex,
        /// The new name.
        name: String,
    },
    /// Marks the last message, an assistant message, for continuation.
    Continue {
        /// The message to continue.
        message: MessageIndex,
    },
    /// Adds synthetic reasoning to a message.
    AddReasoning {
        /// The message to change.
        message: MessageIndex,
        /// The member to add.
        field: &'static str,
        /// The reasoning text.
        text: NewText,
    },
    /// Writes the parts of a result as one string.
    FlattenResult {
        /// The result to change.
        result: BlockIndex,
    },
    /// Writes a call's input in the form the dialect demands, without changing its meaning.
    SetInput {
        /// The call to change.
        call: BlockIndex,
    },
    /// Writes a message's content in the form the dialect demands, without changing its meaning.
    SetContent {
        /// The message to change.
        message: MessageIndex,
    },
    /// Puts a signature on a call.
    Sign {
        /// The call to sign.
        call: BlockIndex,
        /// The signature that the provider gave the call, or the provider's documented replacement for a lost one.
        signature: String,
    },
    /// Declares tools that the request does not declare.
    DeclareTools {
        /// The tools' names.
        names: Vec<String>,
    },
    /// Moves a call from a retired field into its present field.
    AdoptLegacyCall {
        /// The call to move.
        call: BlockIndex,
    },
    /// Removes the empty list of calls from a message.
    RemoveCallList {
        /// The message to change.
        message: MessageIndex,
    },
    /// Moves every block into a message of a role that may hold it.
    Regroup {
        /// The message to split.
        message: MessageIndex,
    },
    /// Gives a message another role.
    SetRole {
        /// The message to change.
        message: MessageIndex,
        /// Its new role.
        role: Role,
    },
    /// Puts results before everything else in their message.
    ResultsFirst {
        /// The message to reorder.
        message: MessageIndex,
    },
    /// Moves everything but results out of a message, into a new message after it.
    SplitResults {
        /// The message to split.
        message: MessageIndex,
    },
    /// Fills a message with synthetic content.
    FillMessage {
        /// The message to fill.
        message: MessageIndex,
        /// The synthetic text.
        text: NewText,
    },
    /// Turns the members of a message that the provider does not read into text.
    KeepMembers {
        /// The message to change.
        message: MessageIndex,
    },
    /// Rewrites a message in the form of the dialect, with the calls and results in its content.
    Restate {
        /// The message to rewrite.
        message: MessageIndex,
    },
    /// Makes a message of unknown role a user message, between the marks of a [`Fence`](crate::Fence).
    TakeIn {
        /// The message to change.
        message: MessageIndex,
        /// The words that say what the message was.
        heading: String,
    },
    /// Removes empty text from a result, or fills the result if nothing is left.
    FillResult {
        /// The result to change.
        result: BlockIndex,
        /// The text if nothing is left.
        text: NewText,
    },
    /// Moves everything but text out of a result, into a user message after the results.
    HoistMedia {
        /// The result to change.
        result: BlockIndex,
        /// The text that stays if nothing else does.
        text: NewText,
    },
    /// Answers a call of the provider's own tools with a result that says it is unavailable.
    CloseServerCall {
        /// The unanswered call.
        call: BlockIndex,
    },
    /// Moves a result of the provider's own tools to the place right after its call, or into a message of its own after
    /// the results of the calls that the tool made.
    RejoinServerResult {
        /// The result to move.
        result: BlockIndex,
        /// The call it answers, or the last result of a call that the tool made.
        call: BlockIndex,
    },
    /// Inserts a message before another one, or at the end.
    InsertMessage {
        /// The message after the new one; one past the last means the end.
        before: MessageIndex,
        /// The new message's role.
        role: Role,
        /// The new message's text.
        text: NewText,
    },
    /// Joins a message to the one before it.
    JoinPrevious {
        /// The message to join.
        message: MessageIndex,
    },
}

impl Edit {
    /// Whether it changes bytes independently of messages and blocks.
    pub fn is_bytes(&self) -> bool {
        matches!(self, Self::Patch { .. } | Self::DropMember { .. })
    }
}

/// A synthetic text.
pub type NewText = &'static str;

/// A body with edits applied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The new body as ranges of the [`Source`]; adjacent ranges are merged.
    pub pieces: Vec<Range<usize>>,
    /// The bytes after the body in the source: the output of earlier edits, then of these.
    pub written: Vec<u8>,
    /// For each new message, the message it comes from; `None` for an inserted one.
    pub origins: Vec<Option<MessageIndex>>,
    /// The bytes of each new message, if a dialect wrote them.
    pub spans: Vec<Span>,
    /// For each new message, whether it was copied unchanged.
    pub copied: Vec<bool>,
    /// The bytes between the messages.
    pub layout: Layout,
    /// For each edit, the new message that holds its output, if there is one.
    pub landed: Vec<Option<MessageIndex>>,
}

impl Encoded {
    /// A body to be written from another body's bytes, with capacity for `messages` messages.
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

    /// The source that the pieces point into; `body` must be the original body.
    pub fn source<'a>(&'a self, body: &'a [u8]) -> Source<'a> {
        Source { body, written: &self.written, pieces: &self.pieces }
    }

    /// The consecutive original messages that were copied to position `at` and after it; `None` if message `at` was not
    /// copied.
    pub fn copied_run(&self, at: usize) -> Option<Range<usize>> {
        let origins = self.origins.get(at..)?;
        let first = origins.first().copied().flatten().filter(|_| self.copied[at])?;
        let follows = |(index, (origin, copied)): (usize, (&Option<MessageIndex>, &bool))| {
            *copied && origin.is_some_and(|origin| origin.get() == first.get() + index)
        };
        let count = origins.iter().zip(&self.copied[at..]).enumerate().take_while(|&pair| follows(pair)).count();
        Some(first.get()..first.get() + count)
    }

    /// Adds a range of the source of `body`.
    pub fn push(&mut self, piece: Range<usize>, body: &[u8]) {
        match self.pieces.last_mut() {
            // New text lies after the body but is always a separate piece.
            Some(last) if last.end == piece.start && piece.start != body.len() => last.end = piece.end,
            _ if piece.is_empty() => {}
            _ => self.pieces.push(piece),
        }
    }

    /// Writes a text, and returns its span in the source of `body`.
    pub fn write(&mut self, text: &str, body: &[u8]) -> Span {
        let start = self.written.len();
        self.written.extend_from_slice(text.as_bytes());
        self.note_written(start, body)
    }

    /// Adds the text that was written from `start` on, and returns its span in the source of `body`.
    pub fn note_written(&mut self, start: usize, body: &[u8]) -> Span {
        let piece = body.len() + start..body.len() + self.written.len();
        self.push(piece.clone(), body);
        Span::new(piece.start, piece.end)
    }
}

/// The bytes between messages that are not adjacent in the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// For each message, the bytes before it.
    pub leads: Vec<Span>,
    /// The bytes between the last message and the end of the list.
    pub closing: Span,
}
