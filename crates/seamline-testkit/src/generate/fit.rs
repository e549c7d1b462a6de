//! Adapts good conversations to the demands of one provider.

use crate::{
    Dialect,
    transcript::{Block, Message, Role, Transcript},
};

/// The conversation as this dialect demands it. Where roles must alternate, neighbours of one role are joined.
pub fn fit(dialect: Dialect, transcript: Transcript) -> Transcript {
    if !dialect.must_take_turns() {
        return transcript;
    }
    let mut messages: Vec<Message> = Vec::new();
    for mut message in transcript.messages {
        if message.role == Role::System {
            message.role = Role::User;
        }
        match messages.last_mut() {
            Some(last) if last.role == message.role => join(last, message),
            _ => messages.push(message),
        }
    }
    Transcript { messages, ..transcript }
}

fn join(last: &mut Message, message: Message) {
    last.blocks.extend(message.blocks);
    last.blocks.sort_by_key(|block| !matches!(block, Block::Result(_)));
}
