//! The shapes on the wire, as views over borrowed JSON.
//!
//! A block is an object with one member, whose name is the type of the block.

use seamline_model::{
    BlockKind, Call, FactKind, IrregularityKind, MemberSort, Parts, ResultBlock, Role, ServerCall, ServerResult, Span,
    WireId,
};

use super::foreign;
use crate::ids::{CALL_ID_KEYS, INPUT_KEYS, RESULT_ID_KEYS};
use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::{emptiness, input, only_text_by, parts_by};

/// Reads one block. Only reasoning is signed here, and its own kind says so.
pub(super) fn block(value: Value<'_, '_>, role: Role, reader: &mut Reader<'_>) -> (BlockKind, bool) {
    let mut kind = BlockKind::Opaque;
    let mut is_unknown = false;
    for (key, member) in value.members() {
        match (&*key.name(), member.kind()) {
            ("text", Kind::String) => kind = BlockKind::Text(emptiness(member)),
            ("text", kind) if kind != Kind::Null => reader.wordless(member),
            ("toolUse", Kind::Object) => return (call(member, reader), false),
            ("toolResult", Kind::Object) => return (result(member, role, reader), false),
            ("reasoningContent", _) => {
                note_signature(member, reader);
                kind = BlockKind::Reasoning { signed: is_signed(member) };
            }
            ("cachePoint", _) => reader.fact(FactKind::CachePoint, ""),
            ("document", _) => {
                let format = member.object().and_then(|document| document.get("format")).and_then(Value::str);
                reader.fact(FactKind::Document, &format.unwrap_or_default());
                kind = BlockKind::Media;
            }
            ("image" | "video" | "audio" | "searchResult", _) => kind = BlockKind::Media,
            _ => is_unknown |= member.is(Kind::Object),
        }
    }
    if matches!(kind, BlockKind::Opaque)
        && let Some((own, kind)) = foreign::pair(value, reader)
    {
        reader.note(IrregularityKind::ForeignPair { own }, value.span());
        return (kind, false);
    }
    if is_unknown && matches!(kind, BlockKind::Opaque) {
        reader.unknown_block(value);
    }
    (kind, false)
}

/// The text of a part of a result.
pub(super) fn part_text<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    part.object()?.get("text").filter(|text| text.is(Kind::String))
}

/// Whether a part of a result is JSON that is not an object.
pub(super) fn is_bare_json(part: Value<'_, '_>) -> bool {
    part.object().and_then(|part| part.get("json")).is_some_and(|json| !json.is(Kind::Object))
}

/// Notes the signature of reasoning, which only the model that gave it accepts.
fn note_signature(reasoning: Value<'_, '_>, reader: &mut Reader<'_>) {
    let Some(text) = reasoning.object().and_then(|members| members.get("reasoningText")) else { return };
    for (_, signature) in text.members().filter(|(key, _)| key.name() == "signature") {
        reader.member(signature, MemberSort::Signature, "");
    }
}

fn is_signed(reasoning: Value<'_, '_>) -> bool {
    let get = |value: Value<'_, '_>, key| value.object().and_then(|members| members.get(key)).is_some();
    let text = reasoning.object().and_then(|members| members.get("reasoningText"));
    get(reasoning, "redactedContent") || text.is_some_and(|text| get(text, "signature"))
}

/// The members of a call or result that matter here.
#[derive(Default)]
struct WireFields<'d, 'a> {
    id: Option<Value<'d, 'a>>,
    /// An id under a key of another program or dialect.
    foreign_id: Option<Value<'d, 'a>>,
    name: Option<Value<'d, 'a>>,
    input: Option<Value<'d, 'a>>,
    /// An input under a key of another program or dialect.
    foreign_input: Option<Value<'d, 'a>>,
    content: Option<Value<'d, 'a>>,
    status: Option<Value<'d, 'a>>,
    kind: Option<Value<'d, 'a>>,
    /// Whether there are other members.
    has_more: bool,
}

impl<'d, 'a> WireFields<'d, 'a> {
    fn read(value: Value<'d, 'a>, reader: &mut Reader<'_>) -> Self {
        let mut fields = Self::default();
        for (key, member) in value.members() {
            match &*key.name() {
                "toolUseId" => reader.set(&mut fields.id, member),
                "name" => reader.set(&mut fields.name, member),
                "input" => reader.set(&mut fields.input, member),
                "content" => reader.set(&mut fields.content, member),
                "status" => reader.set(&mut fields.status, member),
                "type" => reader.set(&mut fields.kind, member),
                other if CALL_ID_KEYS.contains(&other) || RESULT_ID_KEYS.contains(&other) => {
                    reader.set(&mut fields.foreign_id, member);
                }
                other if INPUT_KEYS.contains(&other) => {
                    reader.set(&mut fields.foreign_input, member);
                    fields.has_more = true;
                }
                _ => fields.has_more = true,
            }
        }
        fields
    }
}

fn call(value: Value<'_, '_>, reader: &mut Reader<'_>) -> BlockKind {
    let fields = WireFields::read(value, reader);
    let held = reader.own_or_foreign(fields.input, fields.foreign_input, "input");
    let id = reader.own_or_foreign_id(fields.id, fields.foreign_id, "toolUseId");
    let name = reader.tool_name(fields.name);
    let call = Call::new(id.as_deref(), name.as_deref(), input(held), &mut reader.transcript.tools);
    if !fields.kind.is_some_and(|kind| kind.says("server_tool_use")) {
        return BlockKind::Call(call);
    }
    let family = name.unwrap_or_default().into_owned();
    BlockKind::ServerCall(Box::new(ServerCall { call, must_be_answered: false, family }))
}

fn result(value: Value<'_, '_>, role: Role, reader: &mut Reader<'_>) -> BlockKind {
    let fields = WireFields::read(value, reader);
    let id = reader.own_or_foreign_id(fields.id, fields.foreign_id, "toolUseId");
    if role == Role::Assistant && id.as_deref().is_some_and(|id| is_of_server(id, reader)) {
        return BlockKind::ServerResult(Box::new(ServerResult {
            id: id.as_deref().map(WireId::from),
            kind: "toolResult".to_owned(),
        }));
    }
    let is_success = fields.status.is_some_and(|status| !status.says("error"));
    let plain = fields.content.filter(|_| !fields.has_more && !is_success);
    BlockKind::Result(ResultBlock {
        id: id.as_deref().map(WireId::from),
        tool: None,
        synthetic: reader.synthetic(fields.content, plain.and_then(|content| only_text_by(content, part_text))),
        failed: fields.status.is_some_and(|status| status.says("error")),
        has_more: fields.has_more,
        parts: fields.content.map_or(Parts::Missing, output),
        content: fields.content.map_or(Span::default(), Value::span),
    })
}

fn output(content: Value<'_, '_>) -> Parts {
    if content.elements().any(is_bare_json) { Parts::Unreadable } else { parts_by(content, part_text) }
}

/// Whether the message being read calls one of the provider's own tools under this id.
fn is_of_server(id: &str, reader: &Reader<'_>) -> bool {
    let message = reader.transcript.messages.len();
    let blocks = reader.transcript.blocks.iter().rev().take_while(|block| block.message.get() == message);
    blocks.into_iter().any(|block| match &block.kind {
        BlockKind::ServerCall(server) => server.call.id.as_deref() == Some(id),
        _ => false,
    })
}
