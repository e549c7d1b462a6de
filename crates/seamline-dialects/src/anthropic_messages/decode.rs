//! Wire to transcript.

use seamline_model::{BlockKind, Body, Field, IrregularityKind, Role, Slot};

use super::wire::{self, WireMessage};
use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::{emptiness, unreadable};

/// Reads one message.
pub(super) fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>) {
    reader.begin();
    let wire = WireMessage::read(value, reader);
    let role = wire.role.map_or(Role::Unknown, wire::role);
    if role == Role::Unknown {
        let found = unreadable(value, wire.role);
        reader.note(IrregularityKind::UnreadableMessage { found }, value.span());
    }
    let first = reader.next_block();
    let body = wire.content.map_or(Body::Missing, |content| blocks(reader, content));
    reader.end(value, first, role, body);
}

fn blocks<'a>(reader: &mut Reader<'a>, content: Value<'_, 'a>) -> Body {
    match content.kind() {
        Kind::String => {
            let slot = Slot { field: Field::Whole, index: 0 };
            reader.block(content, slot, BlockKind::Text(emptiness(content)));
            Body::Text
        }
        Kind::Array => {
            for (index, element) in content.elements().enumerate() {
                reader.begin_block();
                let kind = wire::block(element, reader);
                if !element.is(Kind::Object) {
                    let found = element.kind().as_str();
                    reader.note(IrregularityKind::UnreadableBlock { found }, element.span());
                }
                reader.block(element, Slot { field: Field::Content, index: index as u32 }, kind);
            }
            Body::Blocks
        }
        Kind::Null => Body::Null,
        _ => Body::Unreadable,
    }
}
