//! Reads messages into a transcript.

use std::borrow::Cow;

use seamline_model::{BlockKind, ContentForm, Field, IrregularityKind, Role, Slot};

use super::foreign;
use super::wire::{self, WireMessage};
use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::{body_of, content};
use crate::rewriting::holds;
use crate::roles;

/// A block that is its whole message, or a field of it.
const WHOLE: Slot = Slot { field: Field::Whole, index: 0 };

/// Reads one message.
pub(super) fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>) {
    reader.begin();
    let wire = WireMessage::read(value, reader);
    let role = reader.role(roles::named(wire.role), wire.role, value, roles::called);
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

fn blocks<'a>(
    reader: &mut Reader<'a>,
    is_result: bool,
    value: Value<'_, 'a>,
    wire: &WireMessage<'_, 'a>,
) -> ContentForm {
    if is_result {
        if let Some(calls) = wire.calls {
            call_list(reader, calls);
        }
        reader.begin_block();
        let result = wire::result(wire, reader);
        reader.block(value, WHOLE, BlockKind::Result(result));
        return body_of(wire.content);
    }
    for &reasoning in &wire.reasoning {
        reader.block(reasoning, WHOLE, BlockKind::Reasoning { signed: false });
    }
    let body = content(reader, wire.content, |reader, part| {
        wire::note_members(part, reader);
        (wire::part(part, reader), false)
    });
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
    body
}

fn call_list<'a>(reader: &mut Reader<'a>, calls: Value<'_, 'a>) {
    match calls.kind() {
        Kind::Array => {
            let mut empty = true;
            for (index, element) in calls.elements().enumerate() {
                empty = false;
                let slot = Slot { field: Field::Calls, index: index as u32 };
                reader.begin_block();
                let (kind, is_signed) = match element.kind() {
                    Kind::Object if wire::is_unknown_call(element) => {
                        reader.unknown_block(element);
                        (BlockKind::Opaque, false)
                    }
                    Kind::Object => {
                        let (call, is_signed) = wire::call(element, reader);
                        (BlockKind::Call(call), is_signed)
                    }
                    found => {
                        let found = found.as_str();
                        reader.note(IrregularityKind::UnreadableBlock { found }, element.span());
                        (BlockKind::Opaque, false)
                    }
                };
                reader.signed_block(element, slot, kind, is_signed);
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

fn note<'a>(reader: &mut Reader<'a>, kind: IrregularityKind, value: Value<'_, 'a>) {
    reader.begin_block();
    reader.note(kind, value.span());
}
