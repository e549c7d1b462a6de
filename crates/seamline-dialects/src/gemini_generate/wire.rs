//! The shapes on the wire, as views over borrowed JSON.
//!
//! A part is an object whose member names its type, in the spelling of the API or of its SDKs. Ids are optional: the
//! name of the tool replaces the id of a call and of its result.

use std::borrow::Cow;

use seamline_model::{BlockKind, Call, Envelope, IrregularityKind, Parts, ResultBlock, Role, Span, WireId};

use crate::ids::{CALL_ID_KEYS, INPUT_KEYS, RESULT_ID_KEYS};
use crate::json::{Kind, Object, Value};
use crate::reader::Reader;
use crate::reading::{emptiness, input, short};
use crate::roles;

/// Reads the facts around the contents. The provider holds cached contents, which precede those of the request.
pub(super) fn envelope(root: Value<'_, '_>) -> Envelope {
    let cache = root.object().and_then(|body| body.get("cachedContent").or_else(|| body.get("cached_content")));
    let is_named = cache.and_then(Value::str).is_some_and(|name| !name.is_empty());
    Envelope { chained: is_named, ..Envelope::default() }
}

/// Reads a role. A content without a role is the user's, and so is one with only results.
pub(super) fn role(value: Option<Value<'_, '_>>) -> Role {
    let Some(value) = value else { return Role::User };
    match value.str().as_deref() {
        Some("user" | "function") => Role::User,
        Some("model") => Role::Assistant,
        _ => Role::Unknown,
    }
}

/// Finds the role that another program calls by this name, and its name in this dialect. The dialect has only two roles:
/// system texts are not among the contents, and results belong to the user.
pub(super) fn called(name: &str) -> Option<(Role, &'static str)> {
    match roles::known(name) {
        Some(Role::Assistant) => Some((Role::Assistant, "model")),
        Some(_) => Some((Role::User, "user")),
        None => name.eq_ignore_ascii_case("tool").then_some((Role::User, "user")),
    }
}

/// The members of a part that matter here.
#[derive(Default)]
struct WirePart<'d, 'a> {
    text: Option<Value<'d, 'a>>,
    thought: bool,
    signed: bool,
    call: Option<Value<'d, 'a>>,
    result: Option<Value<'d, 'a>>,
    media: bool,
    /// The number of members that each make a part.
    data: u32,
}

/// Reads one part, and whether it is signed.
pub(super) fn block(value: Value<'_, '_>, _role: Role, reader: &mut Reader<'_>) -> (BlockKind, bool) {
    let mut part = WirePart::default();
    for (key, member) in value.members() {
        part.data += u32::from(is_data(&key.name(), member));
        match &*key.name() {
            "text" => reader.set(&mut part.text, member),
            "functionCall" | "function_call" => reader.set(&mut part.call, member),
            "functionResponse" | "function_response" => reader.set(&mut part.result, member),
            "thought" => part.thought = member.is(Kind::True),
            "thoughtSignature" | "thought_signature" => part.signed = !member.raw_str().is_empty(),
            "inlineData" | "inline_data" | "fileData" | "file_data" => part.media = true,
            _ => {}
        }
    }
    if value.is(Kind::Object) && value.members().next().is_none() {
        reader.note(IrregularityKind::UnreadableBlock { found: "an empty object" }, value.span());
    }
    if part.data > 1 {
        reader.note(IrregularityKind::CrowdedBlock { blocks: apart(value) }, value.span());
    }
    let kind = part.judge(reader);
    if part.data == 0 && matches!(kind, BlockKind::Opaque) {
        reader.unknown_block(value);
        reader.unknown_tools(value);
    }
    (kind, part.signed)
}

/// Whether a member names the type of a part (GEM-1: a part has one such member).
fn is_data(key: &str, value: Value<'_, '_>) -> bool {
    let named = matches!(
        key,
        "text"
            | "functionCall"
            | "function_call"
            | "functionResponse"
            | "function_response"
            | "inlineData"
            | "inline_data"
            | "fileData"
            | "file_data"
            | "executableCode"
            | "executable_code"
            | "codeExecutionResult"
            | "code_execution_result"
            | "toolCall"
            | "toolResponse"
    );
    named && !value.is(Kind::Null)
}

/// Splits a part with several such members. Its other members go with its call, or with the first of them.
fn apart(part: Value<'_, '_>) -> String {
    let written = |(key, value): (Value<'_, '_>, Value<'_, '_>)| format!("{}: {}", key.raw(), value.raw());
    let (data, beside): (Vec<_>, Vec<_>) = part.members().partition(|(key, value)| is_data(&key.name(), *value));
    let owner = data.iter().position(|(key, _)| matches!(&*key.name(), "functionCall" | "function_call"));
    let parts = data.into_iter().enumerate().map(|(index, member)| {
        let mut members = vec![written(member)];
        if index == owner.unwrap_or(0) {
            members.extend(beside.iter().copied().map(written));
        }
        format!("{{{}}}", members.join(", "))
    });
    parts.collect::<Vec<_>>().join(", ")
}

impl WirePart<'_, '_> {
    fn judge(&self, reader: &mut Reader<'_>) -> BlockKind {
        if let Some(call) = self.call.filter(|call| call.is(Kind::Object)) {
            return BlockKind::Call(read_call(call, reader));
        }
        if let Some(result) = self.result.filter(|result| result.is(Kind::Object)) {
            return BlockKind::Result(read_result(result, reader));
        }
        match self.text.filter(|text| text.is(Kind::String)) {
            Some(_) if self.thought => BlockKind::Reasoning { signed: self.signed },
            Some(text) => BlockKind::Text(emptiness(text)),
            None if self.media => BlockKind::Media,
            None if self.text.is_some_and(|text| !text.is(Kind::Null)) => {
                self.text.into_iter().for_each(|text| reader.wordless(text));
                BlockKind::Opaque
            }
            None => BlockKind::Opaque,
        }
    }
}

/// The members of a call or result that matter here.
#[derive(Default)]
struct WireFields<'d, 'a> {
    id: Option<Value<'d, 'a>>,
    /// An id under a key of another program or dialect.
    foreign_id: Option<Value<'d, 'a>>,
    name: Option<Value<'d, 'a>>,
    /// `args` or `response`.
    held: Option<Value<'d, 'a>>,
    /// An input under a key of another program or dialect.
    foreign_input: Option<Value<'d, 'a>>,
    /// Whether there are other members.
    has_more: bool,
}

impl<'d, 'a> WireFields<'d, 'a> {
    fn read(value: Value<'d, 'a>, reader: &mut Reader<'_>) -> Self {
        let mut fields = Self::default();
        for (key, member) in value.members() {
            match &*key.name() {
                "id" => reader.set(&mut fields.id, member),
                "name" => reader.set(&mut fields.name, member),
                "args" | "response" => reader.set(&mut fields.held, member),
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

    /// The id, or the name that replaces it.
    fn read_id(&self, reader: &mut Reader<'_>) -> Option<Cow<'a, str>> {
        let id = reader.own_or_foreign_id(self.id, self.foreign_id, "id");
        id.filter(|id| !id.is_empty()).or_else(|| self.name?.str())
    }
}

fn read_call(value: Value<'_, '_>, reader: &mut Reader<'_>) -> Call {
    let fields = WireFields::read(value, reader);
    let held = reader.own_or_foreign(fields.held, fields.foreign_input, "args");
    let id = fields.read_id(reader);
    let name = reader.tool_name(fields.name);
    Call::new(id.as_deref(), name.as_deref(), input(held), &mut reader.transcript.tools)
}

fn read_result(value: Value<'_, '_>, reader: &mut Reader<'_>) -> ResultBlock {
    let fields = WireFields::read(value, reader);
    let id = fields.read_id(reader);
    let name = reader.tool_name(fields.name).filter(|name| !name.is_empty());
    ResultBlock {
        id: id.as_deref().map(WireId::from),
        tool: name.map(|name| reader.transcript.tools.add(&name)),
        synthetic: reader
            .synthetic(fields.held, fields.held.filter(|_| !fields.has_more).and_then(only_member).and_then(short)),
        failed: fields.held.and_then(Value::object).is_some_and(|held| held.get("error").is_some()),
        has_more: fields.has_more,
        parts: match fields.held.map(Value::kind) {
            Some(Kind::Object) => Parts::Text,
            Some(Kind::Null) | None => Parts::Missing,
            Some(_) => Parts::Unreadable,
        },
        content: fields.held.map_or(Span::default(), Value::span),
    }
}

/// Whether more of a call is to come.
pub(super) fn continues(call: Object<'_, '_>) -> bool {
    call.get("willContinue").is_some_and(|value| value.is(Kind::True))
}

/// The members under which clients and repairs put the whole output of a tool. Any other key is a part of the output.
const OUTPUT_KEYS: [&str; 4] = ["output", "result", "content", "error"];

/// Finds the text of a response that holds exactly one text, the output.
pub(super) fn only_member<'d, 'a>(response: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let mut members = response.members();
    let (key, first) = members.next().filter(|_| members.next().is_none())?;
    (first.is(Kind::String) && OUTPUT_KEYS.contains(&&*key.name())).then_some(first)
}
