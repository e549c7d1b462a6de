//! Reads messages into a transcript.

use seamline_model::{BlockKind, Body, Field, IrregularityKind, Role, Slot};

use crate::json::{Kind, Value};
use crate::no_message::is_foreign_pair;
use crate::reader::Reader;
use crate::reading::{Elsewhere, emptiness};

/// The functions with which a dialect reads a message.
pub(crate) struct Shape {
    /// The member that is the list of blocks.
    pub(crate) content: &'static str,
    /// Reads the role of a message, or its absence.
    pub(crate) role: fn(Option<Value<'_, '_>>) -> Role,
    /// Finds the role that another program calls by this name, and its name in this dialect.
    pub(crate) called: fn(&str) -> Option<(Role, &'static str)>,
    /// Reads one block of a message with this role, and whether the provider signed it.
    pub(crate) block: for<'d, 'a, 'r> fn(Value<'d, 'a>, Role, &mut Reader<'r>) -> (BlockKind, bool),
}

/// Reads one message.
pub(crate) fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>, shape: &Shape) {
    reader.begin();
    let (mut said_role, mut content, mut elsewhere) = (None, None, Elsewhere::default());
    for (key, member) in value.members() {
        match &*key.name() {
            "role" => reader.set(&mut said_role, member),
            name if name == shape.content => reader.set(&mut content, member),
            name if elsewhere.takes(name, member) => {}
            _ => reader.foreign_member(member),
        }
    }
    let content = elsewhere.or(content, shape.content, reader);
    let role = if value.is(Kind::Object) { (shape.role)(said_role) } else { Role::Unknown };
    let role = reader.role(role, said_role, value, shape.called);
    let first = reader.next_block();
    let body = content.map_or(Body::Missing, |content| blocks(reader, content, role, shape));
    reader.end(value, first, role, body);
}

fn blocks<'a>(reader: &mut Reader<'a>, content: Value<'_, 'a>, role: Role, shape: &Shape) -> Body {
    match content.kind() {
        Kind::String => {
            let slot = Slot { field: Field::Whole, index: 0 };
            reader.block(content, slot, BlockKind::Text(emptiness(content)));
            Body::Text
        }
        Kind::Array => {
            for (index, element) in content.elements().enumerate() {
                reader.begin_block();
                let (kind, signed) = (shape.block)(element, role, reader);
                if !element.is(Kind::Object) {
                    let found = element.kind().as_str();
                    reader.note(IrregularityKind::UnreadableBlock { found }, element.span());
                } else if matches!(kind, BlockKind::Opaque) && is_foreign_pair(element) {
                    reader.note(IrregularityKind::ForeignBlock, element.span());
                }
                let slot = Slot { field: Field::Content, index: index as u32 };
                reader.signed_block(element, slot, kind, signed);
            }
            Body::Blocks
        }
        Kind::Null => Body::Null,
        _ => Body::Unreadable,
    }
}
