//! A message that was put together from what a stream says, with the dialect taken out.

use std::collections::HashSet;

use crate::{IdDemand, Piece, Stop, Unreadable};

/// A message that was put together, with the dialect taken out; the dialect it came in writes
/// it in the shape of an answer that was not streamed.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// How it ended.
    pub ending: Ending,
    /// Why the provider stopped, and its word for it.
    pub stop: Option<(Stop, String)>,
    /// Its blocks, in order.
    pub blocks: Vec<AssembledBlock>,
    /// Members of the response around it, as JSON.
    pub members: Vec<(String, String)>,
    /// How much was used, as members of an object with their JSON.
    pub usage: Vec<(String, String)>,
    /// What the provider said when it failed.
    pub failure: Option<String>,
    /// What was wrong with the stream, and what was made of it.
    pub flaws: Vec<Noted>,
}

/// One block of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct AssembledBlock {
    /// The place the stream gave it.
    pub place: u32,
    /// What it is.
    pub piece: Piece,
    /// The object it began with, as JSON; empty when there is none.
    pub base: String,
    /// The block as the provider itself put it together, as JSON.
    pub whole: Option<String>,
    /// What was assembled.
    pub content: Content,
    /// Further members, as JSON.
    pub members: Vec<(String, String)>,
    /// Whether the stream said that nothing more comes for it.
    pub closed: bool,
    /// Whether it cannot be sent back, so that it is no part of the message: reasoning that was
    /// cut before it was signed.
    pub left_out: bool,
}

/// What a block says.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text, a refusal or reasoning.
    Text(Text),
    /// A call of the client or of the provider.
    Call(AssembledCall),
    /// Whatever stands in its base and its members.
    Opaque,
}

/// A text and what the provider signed it with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The signature, if there is one.
    pub signature: Option<String>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssembledCall {
    /// Its id; empty when the stream gave none.
    pub id: String,
    /// Whether it is of a kind that has an id, where the dialect has ids at all.
    pub needs_id: bool,
    /// The tool.
    pub name: String,
    /// The text of its input.
    pub arguments: String,
    /// Whether its input is text of any kind, and no JSON.
    pub free: bool,
    /// What the provider signed it with, if anything.
    pub signature: Option<String>,
    /// Whether it may be run: the message is whole as far as it goes, and the call has a name
    /// and an input that is a JSON object, unless it is a free one.
    pub executable: bool,
}

/// How a message ended. Decided once, and only [`Complete`](Self::Complete) is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The provider said all it wanted and said so.
    Complete,
    /// The limit of the answer was reached, between two thoughts or in the middle of a text.
    Length,
    /// The limit of the answer was reached while a call was being written.
    CutCall,
    /// The stream stopped before it said that it was done.
    Truncated,
    /// What was said, or asked, was filtered, or the model refused.
    Filtered,
    /// The provider said that it failed, or sent what could not be read.
    Failed,
    /// Nothing came for too long.
    Stalled,
    /// Whoever asked did not want it any more.
    Aborted,
}

impl Ending {
    /// Its name in output. Whatever is cut short is called so; [`cut`](Self::cut) says how.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Length | Self::CutCall | Self::Truncated => "truncated",
            Self::Filtered => "filtered",
            Self::Failed => "failed",
            Self::Stalled => "stalled",
            Self::Aborted => "aborted",
        }
    }

    /// What cut it short: the limit of the answer (`length`), that limit inside a call (`call`),
    /// or the end of the stream (`stream`).
    pub fn cut(self) -> Option<&'static str> {
        match self {
            Self::Length => Some("length"),
            Self::CutCall => Some("call"),
            Self::Truncated => Some("stream"),
            Self::Complete | Self::Filtered | Self::Failed | Self::Stalled | Self::Aborted => None,
        }
    }
}

/// A flaw, and where in the stream it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// What was wrong.
    pub flaw: Flaw,
    /// The frame it was seen in, counted from one; none where only the whole message shows it.
    pub frame: Option<u64>,
}

/// Something that was wrong with a stream, which was made the best of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// Something could not be understood and was passed over.
    Unreadable(Unreadable),
    /// The input of a call came twice, at its start, in pieces or at its end, and they differ.
    TwoInputs {
        /// The block.
        place: u32,
    },
    /// The text that came in pieces is not the one that the provider repeated at the end, which
    /// counts.
    TwoTexts {
        /// The block.
        place: u32,
    },
    /// The input of a call is not a JSON object.
    BrokenInput {
        /// The block.
        place: u32,
    },
    /// A call of an answer that is whole is not whole itself: the provider says so, or something
    /// that could not be read came while it was coming.
    Unfinished {
        /// The block.
        place: u32,
    },
    /// A call without a name was left out.
    Nameless {
        /// The block.
        place: u32,
        /// What its input said.
        arguments: String,
    },
    /// A call of the client has no id.
    NoId {
        /// The block.
        place: u32,
    },
    /// A second id, name or block was given where there was one.
    Repeated {
        /// The block.
        place: u32,
    },
    /// Reasoning of a message that is not whole came without the signature it needs, and is left
    /// out of the message.
    Unsigned {
        /// The block.
        place: u32,
    },
    /// The text or the input of a block came again and again, each time with more, and was taken
    /// once.
    Snapshots {
        /// The block.
        place: u32,
    },
    /// The message began again from its start, and what came before was replaced.
    BegunAgain,
    /// The provider stopped with a word nobody here knows.
    UnknownStop,
    /// Half a character came without its other half.
    Half {
        /// The block.
        place: u32,
    },
    /// The message is longer than the limit, and the rest was not kept.
    TooLong,
    /// Something that is copied is JSON that many readers refuse, and was written otherwise.
    Rewritten,
}

impl AssembledBlock {
    /// The call, if it is one that the client answers.
    pub fn call(&self) -> Option<&AssembledCall> {
        match &self.content {
            Content::Call(call) if self.piece == Piece::Call => Some(call),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(&text.text),
            _ => None,
        }
    }
}

impl Assembled {
    /// Gives each call that came without an id one that the provider takes. It is made of the
    /// place, the tool and the input of the call, which are there as soon as it may be run:
    /// whatever follows, it stays the same.
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

    /// The calls that may be run.
    pub fn executable(&self) -> impl Iterator<Item = &AssembledCall> {
        self.blocks.iter().filter_map(AssembledBlock::call).filter(|call| call.executable)
    }
}
