//! What a stream says about the message it carries, with the dialect taken out.
//!
//! A dialect turns frames into events; what is made of them is somebody else's affair. Events
//! borrow from the frame they were read from. Text in them is unescaped, JSON is as it stood.

use crate::Stop;

/// One thing that a stream says.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'e> {
    /// A member of the response around the message, such as its id. Of one name the last counts.
    Member {
        /// What it is called in the response.
        name: &'e str,
        /// Its value.
        json: &'e str,
    },
    /// How much of something was used so far. Of one name the last counts, unless it is null.
    Usage {
        /// What it is called.
        name: &'e str,
        /// How much.
        json: &'e str,
    },
    /// A block begins.
    Begin {
        /// The place it has among the blocks: blocks come out in the order of their places,
        /// and there may be gaps.
        place: u32,
        /// What it is.
        piece: Piece,
        /// The object it began with, in which what is assembled is put; empty when there is none.
        base: &'e str,
    },
    /// Something is added to a block.
    Add {
        /// The block.
        place: u32,
        /// What is added.
        addition: Addition<'e>,
    },
    /// A block is closed: nothing more comes for it.
    End {
        /// The block.
        place: u32,
    },
    /// The message begins again from its start: all its blocks come once more.
    Again,
    /// The provider says why it stopped. Of several the last of the worst counts.
    Stop {
        /// What it means.
        stop: Stop,
        /// The provider's word for it.
        word: &'e str,
    },
    /// The provider says that the request failed.
    Failed {
        /// What it says, as it stood.
        said: &'e str,
    },
    /// The end that the dialect demands of a whole stream has come.
    Done,
    /// Something that could not be understood, which is passed over.
    Unreadable {
        /// What it is.
        what: Unreadable,
    },
}

/// What a block of a streamed message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Text that the model says.
    Text,
    /// Text with which it refuses.
    Refusal,
    /// Its reasoning.
    Reasoning,
    /// A call that the client answers.
    Call,
    /// A call that the provider answers itself.
    ServerCall,
    /// Anything else, which is kept as it is.
    Opaque,
}

/// What is added to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addition<'e> {
    /// More of its text.
    Text(&'e str),
    /// Half a character of its text or its input, as a UTF-16 code unit: the other half stands in
    /// the piece before or behind it.
    Half(u16),
    /// The whole of its text, as the provider repeats it at the end.
    WholeText(&'e str),
    /// The id of a call. Ids are set once: a second one, or an empty one, says nothing, unless
    /// it stands in the [`Whole`](Self::Whole) that came before it.
    Id(&'e str),
    /// The name of a call's tool, likewise.
    Name(&'e str),
    /// The input of a call as it stood where the call began, as JSON.
    StartInput(&'e str),
    /// More of the text of its input.
    Arguments(&'e str),
    /// The whole text of its input, as the provider repeats it at the end.
    WholeArguments(&'e str),
    /// The input of a call is text of any kind, and no JSON.
    FreeInput,
    /// A call of a kind that has no id, and needs none.
    WithoutId,
    /// The provider says itself that the call is not whole: it may not be run.
    Unfinished,
    /// The block can be sent back only with a signature.
    NeedsSignature,
    /// What the provider signed it with; the last one counts.
    Signature(&'e str),
    /// A member of the block, as JSON; the last one counts.
    Member(&'e str, &'e str),
    /// A further element of a member that is a list, as JSON.
    Element(&'e str, &'e str),
    /// The block as the provider itself puts it together, as JSON: it counts before all else.
    Whole(&'e str),
    /// What the provider says of a block once more that it put together before: it should be the
    /// same.
    Recalled(Recalled, &'e str),
}

/// What of a block is said once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recalled {
    /// The id of a call.
    Id,
    /// The name of its tool.
    Name,
    /// The text of its input.
    Arguments,
    /// The text of a block that has one.
    Text,
}

/// What could not be understood in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// A frame that is no JSON.
    NotJson,
    /// A frame of another shape than the dialect has.
    Shape,
    /// An addition to a block that has not begun, or is closed.
    Stray,
    /// A further message begins in the same stream.
    SecondMessage,
    /// The end of the stream lists another number of blocks than came.
    Count,
}
