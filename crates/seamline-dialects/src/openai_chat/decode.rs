//! Wire to transcript.

use std::borrow::Cow;

use seamline_model::{
    Block, BlockIndex, BlockKind, Body, Field, IrregularityKind, Message, MessageIndex, Role, Slot, Transcript,
};

use super::NAME;
use super::wire::{self, WireMessage};
use crate::json::{Kind, Value};
use crate::reading::{Keys, emptiness, messages, note_irregularities, unreadable};
use crate::rewriting::holds;
use crate::{Document, Error};

pub(super) fn decode<'a>(document: &Document<'a>) -> Result<Transcript<'a>, Error> {
    let list = messages(document, NAME)?;
    let mut reader = Reader { transcript: Transcript::new(document.text(), document.len()), keys: Keys::default() };
    for message in list.elements() {
        reader.message(message);
    }
    let Reader { mut transcript, keys } = reader;
    transcript.model = document.root().object().and_then(|body| body.get("model")).and_then(Value::str);
    note_irregularities(&mut transcript, document, keys);
    Ok(transcript)
}

struct Reader<'a> {
    transcript: Transcript<'a>,
    keys: Keys,
}

/// A block that is its whole message, or a field of it.
const WHOLE: Slot = Slot { field: Field::Whole, index: 0 };

impl<'a> Reader<'a> {
    fn message(&mut self, value: Value<'_, 'a>) {
        let index = MessageIndex(self.transcript.messages.len() as u32);
        self.keys.enter(index, None);
        let wire = WireMessage::read(value, &mut self.keys);
        let role = wire.role.map_or(Role::Unknown, wire::role);
        if role == Role::Unknown {
            let found = unreadable(value, wire.role);
            self.keys.note(IrregularityKind::UnreadableMessage { found }, value.span());
        }
        let first_block = self.transcript.blocks.len() as u32;
        let body = self.blocks(index, role, value, &wire);
        self.transcript.messages.push(Message {
            role,
            span: value.span(),
            first_block,
            end_block: self.transcript.blocks.len() as u32,
            body,
            wire: value.node,
        });
    }

    fn blocks(&mut self, index: MessageIndex, role: Role, value: Value<'_, 'a>, wire: &WireMessage<'_, 'a>) -> Body {
        if role == Role::Tool {
            if let Some(calls) = wire.calls {
                self.calls(index, calls);
            }
            self.keys.enter(index, Some(BlockIndex(self.transcript.blocks.len() as u32)));
            let result = wire::result(wire, &mut self.keys);
            self.block(index, value, WHOLE, BlockKind::Result(result));
            return body(wire.content);
        }
        if let Some(reasoning) = wire.reasoning {
            self.block(index, reasoning, WHOLE, BlockKind::Reasoning { signed: false });
        }
        self.content(index, wire.content);
        if let Some(field) = wire.instead {
            self.block(index, field, WHOLE, BlockKind::Opaque);
        }
        if let Some(call) = wire.legacy_call {
            self.note(index, IrregularityKind::LegacyCall, call);
            self.block(index, call, WHOLE, BlockKind::Call(wire::legacy_call(call)));
        }
        if let Some(calls) = wire.calls {
            self.calls(index, calls);
        }
        body(wire.content)
    }

    fn content(&mut self, message: MessageIndex, content: Option<Value<'_, 'a>>) {
        let Some(content) = content else { return };
        match content.kind() {
            Kind::String => self.block(message, content, WHOLE, BlockKind::Text(emptiness(content))),
            Kind::Array => {
                for (index, element) in content.elements().enumerate() {
                    let slot = Slot { field: Field::Content, index: index as u32 };
                    self.note_unreadable(message, element);
                    self.block(message, element, slot, wire::part(element));
                }
            }
            _ => {}
        }
    }

    fn calls(&mut self, message: MessageIndex, calls: Value<'_, 'a>) {
        match calls.kind() {
            Kind::Array => {
                let mut empty = true;
                for (index, element) in calls.elements().enumerate() {
                    empty = false;
                    let slot = Slot { field: Field::Calls, index: index as u32 };
                    if self.note_unreadable(message, element) {
                        self.block(message, element, slot, BlockKind::Opaque);
                        continue;
                    }
                    let call = wire::call(element, &mut self.keys);
                    self.block(message, element, slot, BlockKind::Call(call));
                }
                if empty {
                    self.keys.note(IrregularityKind::EmptyCallList, calls.span());
                }
            }
            _ => self.odd_calls(message, calls),
        }
    }

    /// Notes a list of calls that is written as something else. It stays in sight as a
    /// block, so that its message does not count as empty.
    fn odd_calls(&mut self, message: MessageIndex, calls: Value<'_, 'a>) {
        let list = match calls.kind() {
            Kind::Object => Some(format!("[{}]", calls.raw())),
            _ => calls.str().map(Cow::into_owned).filter(|list| holds(list, Kind::Array)),
        };
        let kind = match list {
            Some(list) => IrregularityKind::CallListAsText { list },
            None => IrregularityKind::UnreadableCallList { found: calls.kind().as_str() },
        };
        self.note(message, kind, calls);
        self.block(message, calls, WHOLE, BlockKind::Opaque);
    }

    /// Notes an element that is not an object.
    fn note_unreadable(&mut self, message: MessageIndex, element: Value<'_, 'a>) -> bool {
        self.keys.enter(message, Some(BlockIndex(self.transcript.blocks.len() as u32)));
        let found = element.kind();
        if found != Kind::Object {
            self.keys.note(IrregularityKind::UnreadableBlock { found: found.as_str() }, element.span());
        }
        found != Kind::Object
    }

    fn note(&mut self, message: MessageIndex, kind: IrregularityKind, value: Value<'_, 'a>) {
        self.keys.enter(message, Some(BlockIndex(self.transcript.blocks.len() as u32)));
        self.keys.note(kind, value.span());
    }

    fn block(&mut self, message: MessageIndex, value: Value<'_, 'a>, slot: Slot, kind: BlockKind<'a>) {
        self.transcript.has.note(&kind);
        self.transcript.blocks.push(Block { message, span: value.span(), slot, kind, wire: value.node });
    }
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
