//! Wire to transcript.

use seamline_model::{
    Block, BlockIndex, BlockKind, Body, Field, IrregularityKind, Message, MessageIndex, Role, Slot, Transcript,
};

use super::NAME;
use super::wire::{self, WireMessage};
use crate::json::{Kind, Value};
use crate::reading::{Keys, emptiness, messages, note_irregularities, unreadable};
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
        let body = self.content(index, wire.content);
        self.transcript.messages.push(Message {
            role,
            span: value.span(),
            first_block,
            end_block: self.transcript.blocks.len() as u32,
            body,
            wire: value.node,
        });
    }

    fn content(&mut self, message: MessageIndex, content: Option<Value<'_, 'a>>) -> Body {
        let Some(content) = content else {
            return Body::Missing;
        };
        match content.kind() {
            Kind::String => {
                let slot = Slot { field: Field::Whole, index: 0 };
                self.block(message, content, slot, BlockKind::Text(emptiness(content)));
                Body::Text
            }
            Kind::Array => {
                for (index, element) in content.elements().enumerate() {
                    let block = BlockIndex(self.transcript.blocks.len() as u32);
                    self.keys.enter(message, Some(block));
                    let kind = wire::block(element, &mut self.keys);
                    if !element.is(Kind::Object) {
                        let found = element.kind().as_str();
                        self.keys.note(IrregularityKind::UnreadableBlock { found }, element.span());
                    }
                    self.block(message, element, Slot { field: Field::Content, index: index as u32 }, kind);
                }
                Body::Blocks
            }
            Kind::Null => Body::Null,
            _ => Body::Unreadable,
        }
    }

    fn block(&mut self, message: MessageIndex, value: Value<'_, 'a>, slot: Slot, kind: BlockKind<'a>) {
        self.transcript.has.note(&kind);
        self.transcript.blocks.push(Block { message, span: value.span(), slot, kind, wire: value.node });
    }
}
