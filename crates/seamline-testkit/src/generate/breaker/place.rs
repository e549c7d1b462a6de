//! Finds and changes one place of a conversation.

use crate::transcript::{Block, Call, CallResult, Message};

/// The place of a block: its message, and its index in the message.
pub(super) type BlockPlace = (usize, usize);

/// Removes a result, and its message if it holds nothing else.
pub(super) fn take_result(messages: &mut Vec<Message>, place: usize) -> Option<(usize, CallResult)> {
    let (at, index) = pick_block(messages, place, is_result)?;
    let block = messages[at].blocks.remove(index);
    if messages[at].blocks.is_empty() && messages.len() > 1 {
        messages.remove(at);
    }
    let Block::Result(result) = block else {
        return None;
    };
    Some((at, result))
}

pub(super) fn edit_result(messages: &mut [Message], place: usize, edit: impl Fn(&mut CallResult)) -> Option<()> {
    let (at, index) = pick_block(messages, place, is_result)?;
    messages[at].blocks.get_mut(index).and_then(result_mut).map(edit)
}

pub(super) fn edit_call(messages: &mut [Message], place: usize, edit: impl Fn(&mut Call)) -> Option<()> {
    let (at, index) = pick_block(messages, place, is_call)?;
    messages[at].blocks.get_mut(index).and_then(call_mut).map(edit)
}

pub(super) fn insert(messages: &mut Vec<Message>, to: usize, message: Message) {
    messages.insert(to.min(messages.len()), message);
}

pub(super) fn pick(messages: &[Message], place: usize, fits: impl Fn(&Message) -> bool) -> Option<usize> {
    let fitting: Vec<usize> = (0..messages.len()).filter(|at| fits(&messages[*at])).collect();
    fitting.get(place.checked_rem(fitting.len())?).copied()
}

pub(super) fn pick_block(messages: &[Message], place: usize, fits: impl Fn(&Block) -> bool) -> Option<BlockPlace> {
    let places = |(at, message): (usize, &Message)| (0..message.blocks.len()).map(move |index| (at, index));
    let all = messages.iter().enumerate().flat_map(places);
    let fitting: Vec<BlockPlace> = all.filter(|(at, index)| fits(&messages[*at].blocks[*index])).collect();
    fitting.get(place.checked_rem(fitting.len())?).copied()
}

pub(super) fn is_call(block: &Block) -> bool {
    matches!(block, Block::Call(_))
}

pub(super) fn is_result(block: &Block) -> bool {
    matches!(block, Block::Result(_))
}

pub(super) fn call_mut(block: &mut Block) -> Option<&mut Call> {
    if let Block::Call(call) = block { Some(call) } else { None }
}

pub(super) fn result_mut(block: &mut Block) -> Option<&mut CallResult> {
    if let Block::Result(result) = block { Some(result) } else { None }
}
