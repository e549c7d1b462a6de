//! Ways to break a good conversation.

mod pairing;
mod place;
mod shape;

use self::{
    pairing::Repeat,
    place::{edit_call, edit_result, take_result},
};
use crate::transcript::{Input, Message, Transcript};

/// One way to break a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Breaker {
    /// A result is missing.
    DropResult,
    /// An assistant message with its calls is missing.
    DropAssistant,
    /// A result occurs twice with the same output.
    RepeatResult,
    /// A result occurs twice with different outputs.
    RepeatResultDiffering,
    /// A result comes some messages too late.
    MoveResultLater,
    /// A result comes some messages too early.
    MoveResultEarlier,
    /// A result comes directly before the message with its call.
    MoveResultBeforeCall,
    /// A result has the id of another result in its message, which has its id, or an id without a call.
    SwapResultId,
    /// A result has no id.
    DropResultId,
    /// A call has no id.
    DropCallId,
    /// Two calls of a message have one id, and so have their results.
    ReuseCallId,
    /// A user message comes between a call and its results.
    Steer,
    /// The results of a message are spread over messages.
    SplitResults,
    /// The user's text comes before the results in their message.
    TextBeforeResults,
    /// A message has a blank text.
    EmptyText,
    /// A message has no content.
    EmptyMessage,
    /// A call and its result have an id outside the alphabet.
    IllegalId,
    /// A call and its result have an id of 70 characters.
    LongId,
    /// A call has a tool name outside the alphabet.
    BadToolName,
    /// A call's input is not an object.
    NonObjectInput,
    /// A message that makes no call has a list of calls.
    EmptyCallList,
    /// A user message makes a call.
    CallInWrongRole,
    /// An assistant message holds a result.
    ResultInWrongRole,
    /// A server's result has no server call.
    OrphanServerResult,
}

impl Breaker {
    /// All ways to break a conversation, in a fixed order.
    pub const ALL: [Self; 24] = [
        Self::DropResult,
        Self::DropAssistant,
        Self::RepeatResult,
        Self::RepeatResultDiffering,
        Self::MoveResultLater,
        Self::MoveResultEarlier,
        Self::MoveResultBeforeCall,
        Self::SwapResultId,
        Self::DropResultId,
        Self::DropCallId,
        Self::ReuseCallId,
        Self::Steer,
        Self::SplitResults,
        Self::TextBeforeResults,
        Self::EmptyText,
        Self::EmptyMessage,
        Self::IllegalId,
        Self::LongId,
        Self::BadToolName,
        Self::NonObjectInput,
        Self::EmptyCallList,
        Self::CallInWrongRole,
        Self::ResultInWrongRole,
        Self::OrphanServerResult,
    ];

    /// Breaks `transcript` at `place`, counted among the places that can be broken so. Without such a place it does nothing.
    pub fn apply(self, transcript: &mut Transcript, place: usize) {
        // A conversation without a fitting place is left as it is.
        let _ = self.try_apply(&mut transcript.messages, place);
    }

    fn try_apply(self, messages: &mut Vec<Message>, place: usize) -> Option<()> {
        match self {
            Self::DropResult => take_result(messages, place).map(drop),
            Self::DropAssistant => pairing::drop_assistant(messages, place),
            Self::RepeatResult => pairing::repeat_result(messages, place, Repeat::Same),
            Self::RepeatResultDiffering => pairing::repeat_result(messages, place, Repeat::Differing),
            Self::MoveResultLater => pairing::move_later(messages, place),
            Self::MoveResultEarlier => pairing::move_earlier(messages, place),
            Self::MoveResultBeforeCall => pairing::move_before_call(messages, place),
            Self::SwapResultId => pairing::swap_result_id(messages, place),
            Self::DropResultId => edit_result(messages, place, |result| result.id = None),
            Self::DropCallId => edit_call(messages, place, |call| call.id = None),
            Self::ReuseCallId => pairing::reuse_call_id(messages, place),
            Self::Steer => pairing::steer(messages, place),
            Self::SplitResults => pairing::split_results(messages, place),
            Self::TextBeforeResults => pairing::text_before_results(messages, place),
            Self::EmptyText => shape::empty_text(messages, place),
            Self::EmptyMessage => {
                shape::empty_message(messages, place);
                Some(())
            }
            Self::IllegalId => shape::rename(messages, place, |place| format!("functions.f:{place}|é")),
            Self::LongId => shape::rename(messages, place, |place| format!("call_{place:065}")),
            Self::BadToolName => edit_call(messages, place, |call| call.name = "read file!".into()),
            Self::NonObjectInput => edit_call(messages, place, |call| {
                call.input = Input::Verbatim(shape::wrong_input(place));
            }),
            Self::EmptyCallList => shape::empty_call_list(messages, place),
            Self::CallInWrongRole => shape::call_in_wrong_role(messages, place),
            Self::ResultInWrongRole => pairing::result_in_wrong_role(messages, place),
            Self::OrphanServerResult => shape::orphan_server_result(messages, place),
        }
    }
}
