//! Which calls of a turn are to be run.

use std::collections::{HashMap, HashSet, VecDeque};

use seamline_model::conversation::{Call, Conversation, Says};

/// Why a call must not be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotRun {
    /// It says no tool.
    Nameless,
    /// Part of it did not come.
    Cut,
    /// What it is called with is nothing that every reader takes for the same.
    Unreadable,
}

impl NotRun {
    /// Why a call must not be run, if so: as it is for the calls of a stream.
    pub(super) fn of(call: &Call) -> Option<Self> {
        if call.name.trim().is_empty() {
            return Some(Self::Nameless);
        }
        if !call.whole {
            return Some(Self::Cut);
        }
        let is_readable = call.free.is_some() || seamline_assemble::is_plain_object(&call.input);
        (!is_readable).then_some(Self::Unreadable)
    }

    /// In words, behind "it did not run:".
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Nameless => "it names no tool",
            Self::Cut => "it did not arrive whole, or its input is no JSON object",
            Self::Unreadable => "its input is no JSON that every reader takes for the same",
        }
    }
}

/// Takes the results out of what a turn says, and the calls that they answer: these are not run again.
pub(super) fn without_answered(conversation: &mut Conversation) {
    let mut open: HashMap<String, VecDeque<(usize, usize)>> = HashMap::new();
    let mut gone = HashSet::new();
    for (at, message) in conversation.messages.iter().enumerate() {
        for (place, block) in message.blocks.iter().enumerate() {
            match &block.says {
                Says::Call(call) => open.entry(call.id.clone()).or_default().push_back((at, place)),
                Says::Result(answer) => {
                    gone.insert((at, place));
                    gone.extend(open.get_mut(&answer.id).and_then(VecDeque::pop_front));
                }
                _ => {}
            }
        }
    }
    if gone.is_empty() {
        return;
    }
    for (at, message) in conversation.messages.iter_mut().enumerate() {
        let mut place = 0..;
        message.blocks.retain(|_| place.next().is_none_or(|place| !gone.contains(&(at, place))));
    }
    conversation.messages.retain(|message| !message.blocks.is_empty());
}
