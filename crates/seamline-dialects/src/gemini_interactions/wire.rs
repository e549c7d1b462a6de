//! The shapes on the wire, as views over borrowed JSON.

use seamline_model::{BlockKind, Call, Parts, ResultBlock, Role, Span, WireId};

use super::step::{self, Form, Known};
use crate::ids::{CALL_ID_KEYS, INPUT_KEYS, RESULT_ID_KEYS};
use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::{Elsewhere, emptiness, input, is_media_type, only_text, part_text, parts};
use crate::roles;

/// The id of a call.
pub(super) const CALL_ID: &str = "id";
/// The member of a result that names the id of its call.
pub(super) const RESULT_ID: &str = "call_id";
/// The input of a call.
pub(super) const INPUT: &str = "arguments";
/// The output of a result.
pub(super) const OUTPUT: &str = "result";

/// The members of a step with content.
const SPEECH_KEYS: &[&str] = &["type", "role", "content", "error"];
/// The members of a result.
const RESULT_KEYS: &[&str] = &["type", RESULT_ID, "name", OUTPUT, "is_error", "signature"];

/// The members of a step that matter here.
#[derive(Default)]
pub(super) struct WireStep<'d, 'a> {
    kind: Option<Value<'d, 'a>>,
    pub(super) role: Option<Value<'d, 'a>>,
    pub(super) content: Option<Value<'d, 'a>>,
    id: Option<Value<'d, 'a>>,
    call_id: Option<Value<'d, 'a>>,
    name: Option<Value<'d, 'a>>,
    arguments: Option<Value<'d, 'a>>,
    result: Option<Value<'d, 'a>>,
    is_error: Option<Value<'d, 'a>>,
    signature: Option<Value<'d, 'a>>,
    /// An id, an input and an output under keys of other programs or dialects.
    foreign_id: Option<Value<'d, 'a>>,
    foreign_input: Option<Value<'d, 'a>>,
    foreign_output: Option<Value<'d, 'a>>,
}

impl<'d, 'a> WireStep<'d, 'a> {
    pub(super) fn read(value: Value<'d, 'a>, reader: &mut Reader<'_>) -> Self {
        let mut step = Self::default();
        let mut elsewhere = Elsewhere::default();
        for (key, member) in value.members() {
            match &*key.name() {
                "type" => reader.set(&mut step.kind, member),
                "role" => reader.set(&mut step.role, member),
                "content" => reader.set(&mut step.content, member),
                INPUT => reader.set(&mut step.arguments, member),
                OUTPUT => reader.set(&mut step.result, member),
                _ if member.is(Kind::Null) => {}
                CALL_ID => reader.set(&mut step.id, member),
                RESULT_ID => reader.set(&mut step.call_id, member),
                "name" => reader.set(&mut step.name, member),
                "is_error" => reader.set(&mut step.is_error, member),
                "signature" => reader.set(&mut step.signature, member),
                "output" | "response" => reader.set_one_of(&mut step.foreign_output, member, false),
                other if CALL_ID_KEYS.contains(&other) || RESULT_ID_KEYS.contains(&other) => {
                    reader.set_one_of(&mut step.foreign_id, member, false);
                }
                other if INPUT_KEYS.contains(&other) => reader.set_one_of(&mut step.foreign_input, member, false),
                other => {
                    elsewhere.takes(other, member);
                }
            }
        }
        if matches!(step.known().form, Form::Speech | Form::Turn) {
            step.content = elsewhere.or(step.content, "content", reader);
            step.note_members(value, reader);
        }
        step
    }

    /// The properties of its type.
    pub(super) fn known(&self) -> Known {
        self.kind.and_then(Value::str).map_or(step::TURN, |name| step::of(&name))
    }

    /// Whether only this API has a step of its type.
    pub(super) fn is_own(&self) -> bool {
        self.kind.and_then(Value::str).is_some_and(|name| step::is_own(&name))
    }

    /// Notes the members of a step with content that this dialect does not have.
    fn note_members(&self, value: Value<'_, '_>, reader: &mut Reader<'_>) {
        for (key, member) in value.members() {
            let is_content = self.content.is_some_and(|content| content.span() == member.span());
            if !is_content && !SPEECH_KEYS.contains(&&*key.name()) {
                reader.foreign_member(member);
            }
        }
    }

    /// Whether the provider signed it.
    pub(super) fn is_signed(&self) -> bool {
        self.signature.is_some_and(|signature| !signature.raw_str().is_empty())
    }

    /// Reads a call.
    pub(super) fn call(&self, reader: &mut Reader<'_>) -> Call {
        let id = reader.named_id(self.id.or(self.call_id).or(self.foreign_id), CALL_ID);
        let held = reader.named(self.arguments.or(self.foreign_input), INPUT);
        let name = reader.tool_name(self.name);
        Call::new(id.as_deref(), name.as_deref(), input(held), &mut reader.transcript.tools)
    }

    /// Reads a result.
    pub(super) fn result(&self, value: Value<'_, '_>, reader: &mut Reader<'_>) -> ResultBlock {
        let id = reader.named_id(self.call_id.or(self.foreign_id).or(self.id), RESULT_ID);
        let output = reader.named(self.result.or(self.foreign_output), OUTPUT);
        let name = reader.tool_name(self.name).filter(|name| !name.is_empty());
        let is_more = |(key, member): (Value<'_, '_>, Value<'_, '_>)| {
            !RESULT_KEYS.contains(&&*key.name()) && !RESULT_ID_KEYS.contains(&&*key.name()) && !member.is(Kind::Null)
        };
        let has_more = value.members().any(is_more);
        let is_success = self.is_error.is_some_and(|failed| failed.is(Kind::False));
        ResultBlock {
            id: id.as_deref().map(WireId::from),
            tool: name.map(|name| reader.transcript.tools.add(&name)),
            synthetic: reader.synthetic(output, output.filter(|_| !has_more && !is_success).and_then(only_text)),
            failed: self.is_error.is_some_and(|failed| failed.is(Kind::True)),
            has_more,
            parts: match output {
                Some(output) if output.is(Kind::Object) => Parts::Text,
                Some(output) => parts(output),
                None => Parts::Missing,
            },
            content: output.map_or(Span::default(), Value::span),
        }
    }
}

/// Reads the role of a turn.
pub(super) fn role(value: Option<Value<'_, '_>>) -> Role {
    match value.and_then(Value::str).as_deref() {
        Some("user") => Role::User,
        Some("model") => Role::Assistant,
        _ => Role::Unknown,
    }
}

/// Finds the role that another program calls by this name, and its name in this dialect.
pub(super) fn called(name: &str) -> Option<(Role, &'static str)> {
    match roles::known(name)? {
        Role::Assistant => Some((Role::Assistant, "model")),
        _ => Some((Role::User, "user")),
    }
}

/// Reads one content.
pub(super) fn part(value: Value<'_, '_>, reader: &mut Reader<'_>) -> BlockKind {
    if let Some(text) = part_text(value) {
        return BlockKind::Text(emptiness(text));
    }
    let kind = value.object().and_then(|part| part.get("type"));
    if kind.is_some_and(|kind| is_media_type(&kind.name())) {
        return BlockKind::Media;
    }
    let block = reader.odd_text(value).unwrap_or(BlockKind::Opaque);
    reader.foreign_pair(&block, value);
    block
}
