//! Events of a stream, independent of the dialect.
//!
//! A dialect turns frames into events; `seamline-assemble` turns events into a message. Events borrow from the frame
//! they were read from. Text in them is unescaped; JSON is kept as it was written.

use crate::Stop;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'e> {
    /// A member of the response around the message, such as its id. If a name repeats, the last value counts.
    Member {
        /// The name in the response.
        name: &'e str,
        /// Its value as JSON.
        json: &'e str,
    },
    /// Token usage so far. If a name repeats, the last value that is not null counts.
    Usage {
        /// The name of the counter.
        name: &'e str,
        /// Its value as JSON.
        json: &'e str,
    },
    /// A block begins.
    Begin {
        /// Its place: the assembled message orders blocks by place. Places may have gaps.
        place: u32,
        /// The type of block.
        piece: Piece,
        /// The JSON object the block began with; assembled content is written into it. Empty if there is none.
        base: &'e str,
    },
    /// Something is added to a block.
    Add {
        /// The place of the block.
        place: u32,
        /// The added data.
        addition: Addition<'e>,
    },
    /// A block is closed: it gets no further additions.
    End {
        /// The place of the block.
        place: u32,
    },
    /// The message begins again from its start; all its blocks are sent again.
    Again,
    /// The provider says why it stopped. If there are several reasons, the last of the most severe is used.
    Stop {
        /// The meaning of the reason.
        stop: Stop,
        /// The provider's word for it.
        word: &'e str,
    },
    /// The provider reports that the request failed.
    Failed {
        /// The provider's error, as it was written.
        said: &'e str,
    },
    /// The terminal event that the dialect demands has arrived.
    Done,
    /// Something could not be read and is skipped.
    Unreadable {
        /// The kind of problem.
        what: Unreadable,
    },
}

/// The type of a streamed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// The model's text.
    Text,
    /// The model's refusal text.
    Refusal,
    /// The model's reasoning.
    Reasoning,
    /// A call that the client answers.
    Call,
    /// A call that the provider answers itself.
    ServerCall,
    /// Anything else; kept unchanged.
    Opaque,
}

impl Piece {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Refusal => "refusal",
            Self::Reasoning => "reasoning",
            Self::Call => "call",
            Self::ServerCall => "server call",
            Self::Opaque => "other",
        }
    }
}

/// Data added to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addition<'e> {
    /// More of its text.
    Text(&'e str),
    /// Half of a surrogate pair in its text or input, as a UTF-16 code unit. The other half is in the addition before
    /// or after it.
    Half(u16),
    /// The complete text, as the provider repeats it at the end.
    WholeText(&'e str),
    /// The id of a call. The first non-empty id counts, unless a later id is part of the [`Whole`](Self::Whole) before
    /// it.
    Id(&'e str),
    /// The name of a call's tool; the same rule applies.
    Name(&'e str),
    /// The input of a call as given where the call began, as JSON.
    StartInput(&'e str),
    /// More of the text of its input.
    Arguments(&'e str),
    /// The complete text of its input, as the provider repeats it at the end.
    WholeArguments(&'e str),
    /// The input of the call is free text instead of JSON.
    FreeInput,
    /// The call is of a kind that has no id.
    WithoutId,
    /// The provider itself says that the call is incomplete, so it must not be run.
    Unfinished,
    /// The provider answered the call itself, although it looked like a call of the client.
    AnsweredByServer,
    /// No event began the block: its first addition did.
    Unbegun,
    /// The block can be sent back only with a signature.
    NeedsSignature,
    /// The provider's signature; the last one counts.
    Signature(&'e str),
    /// A member of the block, as JSON; the last one counts.
    Member(&'e str, &'e str),
    /// A further element of a list member, as JSON.
    Element(&'e str, &'e str),
    /// The block as the provider itself assembled it, as JSON; it overrides everything else.
    Whole(&'e str),
    /// The provider repeats part of a block that it assembled before; the two should be equal.
    Recalled(Recalled, &'e str),
}

/// The part of a block that is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recalled {
    /// The id of a call.
    Id,
    /// The name of its tool.
    Name,
    /// The text of its input.
    Arguments,
    /// The text of a block.
    Text,
}

/// A problem that makes part of a stream unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// A frame that is not JSON.
    NotJson,
    /// A frame whose shape the dialect does not define.
    Shape,
    /// An addition to a block that has not begun or is closed.
    Stray,
    /// A second message begins in the same stream.
    SecondMessage,
    /// The end of the stream lists a different number of blocks than arrived.
    Count,
}
