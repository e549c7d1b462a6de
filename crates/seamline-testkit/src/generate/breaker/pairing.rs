//! Breaks between calls and results.

use serde_json::json;

use super::place::{call_mut, insert, is_call, is_result, pick, pick_block, result_mut, take_result};
use crate::{
    render::TOOL_NAMES,
    transcript::{Block, CallResult, Input, Message, Role},
};

/// The output of the second of two results.
pub(super) enum Repeat {
    Same,
    Differing,
}

pub(super) fn drop_assistant(messages: &mut Vec<Message>, place: usize) -> Option<()> {
    let at = pick(messages, place, |message| message.role == Role::Assistant)?;
    messages.remove(at);
    // At least one message must remain.
    if messages.is_empty() {
        messages.push(Message::text(Role::User, "still here"));
    }
    Some(())
}

pub(super) fn repeat_result(messages: &mut [Message], place: usize, repeat: Repeat) -> Option<()> {
    let (at, index) = pick_block(messages, place, is_result)?;
    let mut copy = messages[at].blocks[index].clone();
    if let (Repeat::Differing, Block::Result(result)) = (repeat, &mut copy) {
        result.output = format!("again-{place}: another output.");
    }
    messages[at].blocks.insert(index + 1, copy);
    Some(())
}

pub(super) fn move_later(messages: &mut Vec<Message>, place: usize) -> Option<()> {
    let (from, result) = take_result(messages, place)?;
    let to = from + 1 + place % 3;
    insert(messages, to, Message::result(result));
    Some(())
}

pub(super) fn move_earlier(messages: &mut Vec<Message>, place: usize) -> Option<()> {
    let (from, result) = take_result(messages, place)?;
    insert(messages, place % from.max(1), Message::result(result));
    Some(())
}

pub(super) fn move_before_call(messages: &mut Vec<Message>, place: usize) -> Option<()> {
    let (from, result) = take_result(messages, place)?;
    let calls_it = |message: &Message| message.calls().any(|call| call.id == result.id);
    let to = messages.iter().take(from).rposition(calls_it).unwrap_or(0);
    insert(messages, to, Message::result(result));
    Some(())
}

pub(super) fn swap_result_id(messages: &mut [Message], place: usize) -> Option<()> {
    let (at, index) = pick_block(messages, place, is_result)?;
    let mut others: Vec<&mut CallResult> = messages[at].blocks.iter_mut().skip(index).filter_map(result_mut).collect();
    match others.as_mut_slice() {
        [first, second, ..] if place.is_multiple_of(2) => {
            std::mem::swap(&mut first.id, &mut second.id);
        }
        [first, ..] => first.id = Some(format!("stranger_{place}")),
        [] => {}
    }
    Some(())
}

pub(super) fn reuse_call_id(messages: &mut [Message], place: usize) -> Option<()> {
    let at = pick(messages, place, |message| message.calls().next().is_some())?;
    let ids: Vec<Option<String>> = messages[at].calls().map(|call| call.id.clone()).collect();
    name_results(messages, at);
    let first = ids.first()?.clone();
    let Some(second) = ids.get(1) else {
        let mut copy = messages[at].blocks.iter().find(|block| is_call(block))?.clone();
        if let Some(call) = call_mut(&mut copy) {
            call.input = Input::Object(json!({"step": format!("call-r{place}:")}));
            if place.is_multiple_of(2) {
                TOOL_NAMES[1].clone_into(&mut call.name);
            }
        }
        messages[at].blocks.push(copy);
        return Some(());
    };
    let answers = messages.get_mut(at + 1).into_iter().flat_map(|next| next.blocks.iter_mut().filter_map(result_mut));
    answers.filter(|result| result.id == *second).for_each(|result| result.id.clone_from(&first));
    let calls = messages[at].blocks.iter_mut().filter_map(call_mut);
    calls.filter(|call| call.id == *second).for_each(|call| call.id.clone_from(&first));
    Some(())
}

/// Gives the results in the next message the names of their tools, as long as ids still tell them apart.
fn name_results(messages: &mut [Message], at: usize) {
    let tools: Vec<_> = messages[at].calls().map(|call| (call.id.clone(), call.name.clone())).collect();
    let Some(next) = messages.get_mut(at + 1) else { return };
    for result in next.blocks.iter_mut().filter_map(result_mut).filter(|result| result.name.is_none()) {
        let mut calls = tools.iter().filter(|(id, _)| *id == result.id);
        result.name = calls.next().filter(|_| calls.next().is_none()).map(|(_, name)| name.clone());
    }
}

pub(super) fn steer(messages: &mut Vec<Message>, place: usize) -> Option<()> {
    let at = pick(messages, place, |message| message.calls().next().is_some())?;
    insert(messages, at + 1, Message::text(Role::User, format!("steer-{place}: wait.")));
    Some(())
}

pub(super) fn split_results(messages: &mut Vec<Message>, place: usize) -> Option<()> {
    let at = pick(messages, place, |message| message.results().count() > 1)?;
    let message = messages.remove(at);
    let alone = message.blocks.into_iter().map(|block| Message::new(message.role, vec![block]));
    messages.splice(at..at, alone);
    Some(())
}

pub(super) fn text_before_results(messages: &mut [Message], place: usize) -> Option<()> {
    let at = pick(messages, place, |message| message.results().next().is_some())?;
    messages[at].blocks.insert(0, Block::Text(format!("before-{place}: note.")));
    Some(())
}

pub(super) fn result_in_wrong_role(messages: &mut [Message], place: usize) -> Option<()> {
    let at = pick(messages, place, |message| message.results().next().is_some())?;
    messages[at].role = Role::Assistant;
    Some(())
}
