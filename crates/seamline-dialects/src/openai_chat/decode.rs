//! Reads messages into a transcript.

use std::borrow::Cow;

use seamline_model::{BlockKind, Body, Field, IrregularityKind, Role, Slot};

use super::foreign;
use super::wire::{self, WireMessage};
use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::emptiness;
use crate::rewriting::holds;

/// A block that is its whole message, or a field of it.
const WHOLE: Slot = Slot { field: Field::Whole, index: 0 };

/// Reads one message.
pub(super) fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>) {
    reader.begin();
    let wire = WireMessage::read(value, reader);
    let role = wire.role.map_or(Role::Unknown, wire::role);
    let role = reader.role(role, wire.role, value, wire::called);
    let has_foreign_pairs = foreign::has_pairs(role, &wire);
    if has_foreign_pairs {
        reader.note(IrregularityKind::ForeignPairs, value.span());
    }
    let first = reader.next_block();
    // The calls of these results are known once each result has its own message.
    let is_result = role == Role::Tool && !has_foreign_pairs;
    let body = blocks(reader, is_result, value, &wire);
    reader.end(value, first, role, body);
}

fn blocks<'a>(reader: &mut Reader<'a>, is_result: bool, value: Value<'_, 'a>, wire: &WireMessage<'_, 'a>) -> Body {
    if is_result {
        if let Some(calls) = wire.calls {
            call_list(reader, calls);
        }
        reader.begin_block();
        let result = wire::result(wire, reader);
        reader.block(value, WHOLE, BlockKind::Result(result));
        return body(wire.content);
    }
    for &reasoning in &wire.reasoning {
        reader.block(reasoning, WHOLE, BlockKind::Reasoning { signed: false });
    }
    content(reader, wire.content);
    for &field in &wire.instead {
        reader.block(field, WHOLE, BlockKind::Opaque);
    }
    if let Some(call) = wire.legacy_call {
        note(reader, IrregularityKind::LegacyCall, call);
        let legacy = wire::legacy_call(call, reader);
        reader.block(call, WHOLE, BlockKind::Call(legacy));
    }
    if let Some(calls) = wire.calls {
        call_list(reader, calls);
    }
    body(wire.content)
}

fn content<'a>(reader: &mut Reader<'a>, content: Option<Value<'_, 'a>>) {
    let Some(content) = content else { return };
    match content.kind() {
        Kind::String => reader.block(content, WHOLE, BlockKind::Text(emptiness(content))),
        Kind::Array => {
            for (index, element) in content.elements().enumerate() {
                let slot = Slot { field: Field::Content, index: index as u32 };
                note_unreadable(reader, element);
                wire::note_members(element, reader);
                let part = wire::part(element, reader);
                reader.block(element, slot, part);
            }
        }
        _ => {}
    }
}

fn call_list<'a>(reader: &mut Reader<'a>, calls: Value<'_, 'a>) {
    match calls.kind() {
        Kind::Array => {
            let mut empty = true;
            for (index, element) in calls.elements().enumerate() {
                empty = false;
                let slot = Slot { field: Field::Calls, index: index as u32 };
                if note_unreadable(reader, element) {
                    reader.block(element, slot, BlockKind::Opaque);
                    continue;
                }
                let call = wire::call(element, reader);
                reader.block(element, slot, BlockKind::Call(call));
            }
            if empty {
                reader.note(IrregularityKind::EmptyCallList, calls.span());
            }
        }
        _ => odd_calls(reader, calls),
    }
}

/// Notes a list of calls in another form. It stays a block, so that its message does not count as empty.
fn odd_calls<'a>(reader: &mut Reader<'a>, calls: Value<'_, 'a>) {
    let list = match calls.kind() {
        Kind::Object => Some(format!("[{}]", calls.raw())),
        _ => calls.str().map(Cow::into_owned).filter(|list| holds(list, Kind::Array)),
    };
    let kind = match list {
        Some(list) => IrregularityKind::CallListAsText { list },
        None => IrregularityKind::UnreadableCallList { found: calls.kind().as_str() },
    };
    note(reader, kind, calls);
    reader.block(calls, WHOLE, BlockKind::Opaque);
}

/// Notes an element that is not an object.
fn note_unreadable<'a>(reader: &mut Reader<'a>, element: Value<'_, 'a>) -> bool {
    reader.begin_block();
    let found = element.kind();
    if found != Kind::Object {
        reader.note(IrregularityKind::UnreadableBlock { found: found.as_str() }, element.span());
    }
    found != Kind::Object
}

fn note<'a>(reader: &mut Reader<'a>, kind: IrregularityKind, value: Value<'_, 'a>) {
    reader.begin_block();
    reader.note(kind, value.span());
}

fn body(content: Option<Value<'_, '_>>) -> Body {
    match content.map(Value::kind) {
        Some(Kind::String) => Body::Text,
        Some(Kind::Array) => Body::Blocks,
        Some(Kind::Null) => Body::Null,
        Some(_) => Body::Unreadable,
        None => Body::Missing,
    }
}
