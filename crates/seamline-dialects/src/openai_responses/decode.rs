//! Reads messages into a transcript.

use seamline_model::{BlockKind, ContentForm, Envelope, Field, IrregularityKind, ItemKind, Role, Slot, Transcript};

use super::item::{self, Form, Known};
use super::wire::{self, PartFit, WireItem};
use crate::Error;
use crate::foreign_result::OwnResults;
use crate::json::{self, Document, Kind, Value};
use crate::reader::{self, Form as Reading, Reader};
use crate::reading::content;
use crate::roles;

/// Reads a body. `input` may be a single text, or be absent where the provider keeps the conversation; such a body has no
/// messages to read.
pub(super) fn body(body: &[u8], form: Reading) -> Result<Transcript<'_>, Error> {
    match reader::decode(body, form) {
        Err(error @ Error::Envelope { .. }) => unlisted(body).ok_or(error),
        other => other,
    }
}

pub(super) fn envelope(root: Value<'_, '_>) -> Envelope {
    let holds = |key| member(root, key).is_some_and(|value| !value.is(Kind::Null));
    Envelope {
        chained: holds("previous_response_id") || holds("conversation") || is_steering(root),
        stateless: member(root, "store").is_some_and(|store| store.is(Kind::False)),
        unlisted: false,
    }
}

/// Whether the body is a frame that steers a running response, whose conversation the provider keeps.
fn is_steering(root: Value<'_, '_>) -> bool {
    member(root, "type").is_some_and(|kind| kind.says("response.steer"))
}

fn member<'d, 'a>(root: Value<'d, 'a>, key: &str) -> Option<Value<'d, 'a>> {
    root.object().and_then(|body| body.get(key))
}

fn unlisted(body: &[u8]) -> Option<Transcript<'_>> {
    let text = std::str::from_utf8(body).ok()?;
    let document = Document::read(text).ok()?;
    let root = document.root();
    let around = envelope(root);
    match member(root, "input") {
        Some(input) if input.is(Kind::String) => {}
        None if around.chained || member(root, "prompt").is_some() => {}
        _ => return None,
    }
    let mut reader = Reader::new(Transcript::new(body));
    reader.transcript.model = member(root, "model").and_then(Value::str);
    reader.transcript.request = crate::envelope::request(root);
    reader.transcript.envelope = Envelope { unlisted: true, ..around };
    Some(reader.finish(&document.lone_surrogates, document.byte_order_mark))
}

/// OAR-1: results are items, and no message has the role of a tool.
const RESULTS: OwnResults = OwnResults {
    is_result: |_| false,
    write: |id, output| vec![json::member("type", "function_call_output"), (wire::PAIR_ID, id), ("output", output)],
};

/// Reads one item.
pub(super) fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>) {
    reader.begin();
    let wire = WireItem::read(value, reader);
    let kind = match (wire.kind.and_then(Value::str), wire.kind) {
        (Some(name), _) => wire.known(value, &name, reader),
        (None, _) if wire.is_reference() => item::of("item_reference"),
        (None, None) => &item::MESSAGE,
        (None, Some(_)) => item::of(""),
    };
    let role = if kind.form == Form::Message { wire::role(wire.role) } else { kind.role };
    let foreign = wire
        .role
        .filter(|_| kind.form == Form::Message)
        .and_then(|said| reader.foreign_result(value, Some(said), &RESULTS));
    let role = foreign.unwrap_or_else(|| reader.role(role, wire.role, value, roles::called));
    let first = reader.next_block();
    let body = blocks(reader, (role, kind), value, &wire);
    reader.end(value, first, role, body);
    reader.transcript.items.push(wire.facts(kind, role, value));
}

fn blocks<'a>(
    reader: &mut Reader<'a>,
    (role, kind): (Role, &Known),
    value: Value<'_, 'a>,
    wire: &WireItem<'_, 'a>,
) -> ContentForm {
    if kind.form == Form::Message {
        return content(reader, wire.content, |reader, part| {
            let kind = wire::part_type(part);
            part_type(reader, role, kind);
            let block = wire::part(part, kind);
            reader.foreign_pair(&block, part);
            (block, false)
        });
    }
    reader.begin_block();
    let block = match kind.form {
        Form::NamedCall(_) | Form::TypedCall(_) => BlockKind::Call(wire.call(kind.form, reader)),
        Form::Output => {
            part_types(reader, role, wire.output);
            BlockKind::Result(wire.result(kind, reader))
        }
        Form::Reasoning => BlockKind::Reasoning { signed: wire.is_sealed() },
        Form::Opaque | Form::Message => {
            if kind.kind == ItemKind::Unknown {
                reader.unknown_block(value);
            }
            BlockKind::Opaque
        }
    };
    reader.block(value, Slot { field: Field::Item, index: 0 }, block);
    ContentForm::Blocks
}

fn part_types<'a>(reader: &mut Reader<'a>, role: Role, parts: Option<Value<'_, 'a>>) {
    for part in parts.into_iter().flat_map(Value::elements) {
        part_type(reader, role, wire::part_type(part));
    }
}

/// Notes a part of a type that belongs to another role.
fn part_type<'a>(reader: &mut Reader<'a>, role: Role, kind: Option<Value<'_, 'a>>) {
    let Some(kind) = kind else { return };
    let expected = match wire::part_fit(role, &kind.name()) {
        PartFit::Right => return,
        PartFit::Called(name) => Some(name),
        PartFit::Foreign => None,
    };
    reader.note(IrregularityKind::PartOfOtherRole { expected }, kind.span());
}
