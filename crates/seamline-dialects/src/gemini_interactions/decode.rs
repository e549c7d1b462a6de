//! Reads steps into a transcript.

use seamline_model::{BlockKind, ContentForm, Envelope, Field, Role, Slot, Transcript};

use super::step::Form;
use super::wire::{self, WireStep};
use crate::Error;
use crate::json::{Document, Kind, Value};
use crate::reader::{self, Form as Reading, Reader};
use crate::reading::content;

/// Reads a body. `input` may be a text or one content, or be absent where the provider holds the conversation; such a
/// body has no steps to read.
pub(super) fn body(body: &[u8], form: Reading) -> Result<Transcript<'_>, Error> {
    match reader::decode(body, form) {
        Err(error @ Error::Envelope { .. }) => unlisted(body).ok_or(error),
        other => other,
    }
}

pub(super) fn envelope(root: Value<'_, '_>) -> Envelope {
    Envelope {
        chained: is_held(root),
        stateless: member(root, "store").is_some_and(|store| store.is(Kind::False)),
        unlisted: false,
    }
}

/// Whether the provider holds earlier steps of the conversation.
fn is_held(root: Value<'_, '_>) -> bool {
    member(root, "previous_interaction_id").is_some_and(|id| !id.is(Kind::Null))
}

fn member<'d, 'a>(root: Value<'d, 'a>, key: &str) -> Option<Value<'d, 'a>> {
    root.object().and_then(|body| body.get(key))
}

fn unlisted(body: &[u8]) -> Option<Transcript<'_>> {
    let text = std::str::from_utf8(body).ok()?;
    let document = Document::read(text).ok()?;
    let root = document.root();
    match member(root, "input").map(Value::kind) {
        Some(Kind::String | Kind::Object) => {}
        None | Some(Kind::Null) if is_held(root) || member(root, "continuation_token").is_some() => {}
        _ => return None,
    }
    let mut reader = Reader::new(Transcript::new(body));
    reader.transcript.model = member(root, "model").and_then(Value::str);
    reader.transcript.request = crate::envelope::request(root);
    reader.transcript.envelope = Envelope { unlisted: true, ..envelope(root) };
    Some(reader.finish(&document.lone_surrogates, document.byte_order_mark))
}

/// Reads one element of the input.
pub(super) fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>) {
    reader.begin();
    let wire = WireStep::read(value, reader);
    let known = wire.known();
    let role = match known.form {
        Form::Turn => reader.role(wire::role(wire.role), wire.role, value, wire::called),
        _ => known.role,
    };
    let first = reader.next_block();
    let body = blocks(reader, (known.form, role), value, &wire);
    reader.end(value, first, role, body);
}

fn blocks<'a>(
    reader: &mut Reader<'a>,
    (form, role): (Form, Role),
    value: Value<'_, 'a>,
    wire: &WireStep<'_, 'a>,
) -> ContentForm {
    if matches!(form, Form::Speech | Form::Turn) {
        let body = content(reader, wire.content, |reader, part| (wire::part(part, reader), false));
        // Content is optional. A value that is not a message at all is a matter of its own.
        let is_empty = matches!(body, ContentForm::Null | ContentForm::Missing) && role != Role::Unknown;
        return if is_empty { ContentForm::Blocks } else { body };
    }
    reader.begin_block();
    let block = match form {
        Form::Call => BlockKind::Call(wire.call(reader)),
        Form::Result => BlockKind::Result(wire.result(value, reader)),
        Form::Thought => BlockKind::Reasoning { signed: wire.is_signed() },
        Form::Content => wire::part(value, reader),
        Form::Speech | Form::Turn | Form::Opaque => {
            if !wire.is_own() {
                reader.unknown_block(value);
            }
            BlockKind::Opaque
        }
    };
    reader.block(value, Slot { field: Field::Item, index: 0 }, block);
    ContentForm::Blocks
}
