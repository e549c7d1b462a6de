//! Breaks inside one message or one pair.

use serde_json::{Value, json};

use super::place::{call_mut, insert, is_call, pick, pick_block, result_mut};
use crate::transcript::{Block, Call, CallList, Input, Message, Role, Shape};

pub(super) fn empty_text(messages: &mut [Message], place: usize) -> Option<()> {
    let at = pick(messages, place, |_| true)?;
    let blank = if place.is_multiple_of(2) { "" } else { " \n" };
    let end = messages[at].blocks.len();
    messages[at].blocks.insert(place % (end + 1), Block::Text(blank.into()));
    Some(())
}

pub(super) fn empty_message(messages: &mut Vec<Message>, place: usize) {
    let role = if place.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let mut empty = Message::new(role, Vec::new());
    empty.shape = if place.is_multiple_of(3) { Shape::Blocks } else { Shape::Text };
    let to = place % (messages.len() + 1);
    insert(messages, to, empty);
}

pub(super) fn empty_call_list(messages: &mut [Message], place: usize) -> Option<()> {
    let makes_none = |message: &Message| message.role == Role::Assistant && message.calls().next().is_none();
    let at = pick(messages, place, makes_none)?;
    messages[at].call_list = CallList::Always;
    Some(())
}

pub(super) fn call_in_wrong_role(messages: &mut [Message], place: usize) -> Option<()> {
    let at = pick(messages, place, |message| message.role == Role::User && message.results().next().is_none())?;
    let input = Input::Object(json!({"step": format!("call-u{place}:")}));
    messages[at].blocks.push(Block::Call(Call { id: Some(format!("user_{place}")), name: "search".into(), input }));
    Some(())
}

pub(super) fn orphan_server_result(messages: &mut [Message], place: usize) -> Option<()> {
    let at = pick(messages, place, |message| message.role == Role::Assistant)?;
    messages[at].blocks.insert(0, Block::ServerResult(format!("srvtoolu_gone{place}")));
    Some(())
}

/// Changes the id of a call and of its results in the next message.
pub(super) fn rename(messages: &mut [Message], place: usize, id: impl Fn(usize) -> String) -> Option<()> {
    let (at, index) = pick_block(messages, place, is_call)?;
    let call = messages[at].blocks.get_mut(index).and_then(call_mut)?;
    let old = call.id.replace(id(place));
    let next = messages.get_mut(at + 1)?;
    let results = next.blocks.iter_mut().filter_map(result_mut).filter(|result| result.id == old);
    results.for_each(|result| result.id = Some(id(place)));
    Some(())
}

pub(super) fn wrong_input(place: usize) -> Value {
    match place % 4 {
        0 => Value::Null,
        1 => json!([1, 2]),
        2 => json!("{\"path\": \"cut"),
        _ => json!(7),
    }
}
