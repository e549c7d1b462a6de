//! A message assembled from the events of a stream, independent of the dialect.

use std::collections::HashSet;

use crate::{IdDemand, Piece, Stop, Unreadable};

/// A message assembled from a stream, independent of the dialect. The dialect of the stream writes it in the shape of a
/// response that was not streamed.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// How the message ended.
    pub ending: Ending,
    /// Why the provider stopped, and the provider's word for it.
    pub stop: Option<(Stop, String)>,
    /// Its blocks, in order.
    pub blocks: Vec<AssembledBlock>,
    /// The calls without a tool name, in order. They are not part of the message.
    pub nameless: Vec<AssembledBlock>,
    /// Members of the response around the message, with their JSON values.
    pub members: Vec<(String, String)>,
    /// Token usage, as members of an object with their JSON values.
    pub usage: Vec<(String, String)>,
    /// The provider's error text, if the request failed.
    pub failure: Option<String>,
    /// Defects of the stream, and how each was handled.
    pub flaws: Vec<LocatedFlaw>,
}

/// One block of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct AssembledBlock {
    /// The place the stream gave the block.
    pub place: u32,
    /// The type of block.
    pub piece: Piece,
    /// The JSON object the block began with; empty if there is none.
    pub base: String,
    /// The block as the provider itself assembled it, as JSON.
    pub whole: Option<String>,
    /// The content that was assembled.
    pub content: Content,
    /// Further members, with their JSON values.
    pub members: Vec<(String, String)>,
    /// Whether the stream closed the block.
    pub closed: bool,
    /// Whether the block is left out of the message because the provider would reject it: reasoning that was cut before
    /// its signature.
    pub left_out: bool,
}

/// The content of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text, a refusal or reasoning.
    Text(Text),
    /// A call that the client or the provider runs.
    Call(AssembledCall),
    /// Everything is in the block's base and members.
    Opaque,
}

/// A text and the provider's signature of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text itself.
    pub text: String,
    /// The provider's signature, if there is one.
    pub signature: Option<String>,
}

/// A tool call assembled from a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssembledCall {
    /// The call id; empty if the stream gave none.
    pub id: String,
    /// Whether a call of this kind needs an id, in dialects that have ids.
    pub needs_id: bool,
    /// The name of the tool.
    pub name: String,
    /// The text of the input.
    pub arguments: String,
    /// Whether the input is free text instead of JSON.
    pub free: bool,
    /// The provider's signature of the call, if there is one.
    pub signature: Option<String>,
    /// Whether the client may run the call: nothing of it is missing, and it has a name and an input that is a JSON
    /// object (or free text, for a free call).
    pub executable: bool,
}

/// How a message ended. The ending is decided once. Only [`Complete`](Self::Complete) means that nothing is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The provider finished the message and said so.
    Complete,
    /// The output limit was reached outside a call.
    Length,
    /// The output limit was reached inside a call.
    CutCall,
    /// The client steered the model while it responded. Another response follows.
    Steered,
    /// The stream stopped before its final event.
    Truncated,
    /// The provider filtered the request or the response, or the model refused.
    Filtered,
    /// The provider reported an error, or sent data that could not be read.
    Failed,
    /// The stream sent nothing for too long.
    Stalled,
    /// The caller aborted the request.
    Aborted,
}

impl Ending {
    /// The name in output. All truncated endings share one name; [`cut`](Self::cut) tells them apart.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Length | Self::CutCall | Self::Steered | Self::Truncated => "truncated",
            Self::Filtered => "filtered",
            Self::Failed => "failed",
            Self::Stalled => "stalled",
            Self::Aborted => "aborted",
        }
    }

    /// The cause that cut the message short: the output limit (`length`), that limit inside a call (`call`), the client
    /// that steered the model (`steered`), or the end of the stream (`stream`).
    pub fn cut(self) -> Option<&'static str> {
        match self {
            Self::Length => Some("length"),
            Self::CutCall => Some("call"),
            Self::Steered => Some("steered"),
            Self::Truncated => Some("stream"),
            Self::Complete | Self::Filtered | Self::Failed | Self::Stalled | Self::Aborted => None,
        }
    }
}

/// A flaw, and the frame in which it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedFlaw {
    /// The flaw itself.
    pub flaw: StreamFlaw,
    /// The frame, counted from one; none if only the whole message shows the flaw.
    pub frame: Option<u64>,
}

/// A defect of a stream that did not stop the assembly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamFlaw {
    /// Something could not be read and was skipped.
    Unreadable(Unreadable),
    /// A call's input arrived more than once (at its start, in deltas or at its end), and the versions differ.
    TwoInputs {
        /// The place of the block.
        place: u32,
    },
    /// The text from the deltas differs from the text that the provider repeated at the end. The repeated text is used.
    TwoTexts {
        /// The place of the block.
        place: u32,
    },
    /// The input of a call is not a JSON object.
    BrokenInput {
        /// The place of the block.
        place: u32,
    },
    /// The message is complete, but one of its calls is not: the provider says so, or something unreadable arrived in
    /// the middle of the call.
    Unfinished {
        /// The place of the block.
        place: u32,
    },
    /// A call without a tool name was left out.
    Nameless {
        /// The place of the block.
        place: u32,
        /// The text of the call's input.
        arguments: String,
    },
    /// A call of the client has no id.
    NoId {
        /// The place of the block.
        place: u32,
    },
    /// The stream gave a second id, name or block where one was already set.
    Repeated {
        /// The place of the block.
        place: u32,
    },
    /// Reasoning in a message that is not complete arrived without the signature it needs, and was left out.
    Unsigned {
        /// The place of the block.
        place: u32,
    },
    /// The text or the input of a block arrived as growing snapshots instead of deltas, and was taken once.
    Snapshots {
        /// The place of the block.
        place: u32,
    },
    /// The message began again from its start, and replaced what came before.
    BegunAgain,
    /// The provider stopped with an unknown stop reason.
    UnknownStop,
    /// Half a surrogate pair arrived without its other half.
    Half {
        /// The place of the block.
        place: u32,
    },
    /// The message is longer than the limit, and the rest was not kept.
    TooLong,
    /// No event began the block, so the members of that event are missing.
    Unbegun {
        /// The place of the block.
        place: u32,
    },
    /// A copied JSON value has a form that many parsers reject, and was rewritten.
    Rewritten,
}

impl AssembledBlock {
    /// The call, if this is a call that the client answers.
    pub fn call(&self) -> Option<&AssembledCall> {
        match &self.content {
            Content::Call(call) if self.piece == Piece::Call => Some(call),
            _ => None,
        }
    }

    /// The text, if this block has one.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(&text.text),
            _ => None,
        }
    }
}

impl Assembled {
    /// Gives each call without an id an id that the provider accepts. The id is made from the place, the tool and the
    /// input of the call. All three are known when the call may be run, so later events never change the id.
    pub fn make_ids(&mut self, demand: &IdDemand) {
        let calls = self.blocks.iter().filter_map(AssembledBlock::call);
        let mut taken: HashSet<String> = calls.map(|call| call.id.clone()).collect();
        for block in self.blocks.iter_mut().filter(|block| block.piece == Piece::Call) {
            let Content::Call(call) = &mut block.content else { continue };
            if call.needs_id && call.id.trim().is_empty() {
                let seed = format!("{}\n{}\n{}", block.place, call.name, call.arguments);
                call.id = demand.made(&seed, |id| taken.contains(id));
                taken.insert(call.id.clone());
            }
        }
    }

    /// The calls that the client may run.
    pub fn executable(&self) -> impl Iterator<Item = &AssembledCall> {
        self.blocks.iter().filter_map(AssembledBlock::call).filter(|call| call.executable)
    }
}
