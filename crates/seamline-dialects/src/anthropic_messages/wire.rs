//! The shapes on the wire, as views over borrowed JSON.

use std::borrow::Cow;

use seamline_model::{
    BlockKind, Call, FactKind, IrregularityKind, Parts, ResultBlock, Role, ServerCall, ServerResult, Span, WireId,
};

use super::members;
use crate::ids::{CALL_ID_KEYS, INPUT_KEYS, RESULT_ID_KEYS, TOOL_NAME_KEYS};
use crate::json::{Kind, Value};
use crate::members::is_hollow;
use crate::reader::Reader;
use crate::reading::{emptiness, input, is_media_type, only_text, parts};

/// Types of blocks that only other dialects and programs have, and that have no counterpart.
const FOREIGN_TYPES: &[&str] = &["refusal", "reasoning", "step-start", "tool-error"];

/// Types of results of the provider's own tools, and of connected MCP servers (the SDK's types). A result of another type
/// may belong to a tool that the client runs.
const SERVER_RESULTS: &[&str] = &[
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "mcp_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
];

/// Finds the type of this dialect for a type of another dialect or program.
fn own_type(kind: &str) -> Option<&'static str> {
    match kind {
        "tool-call" | "function_call" => Some("tool_use"),
        "tool-result" | "function_call_output" => Some("tool_result"),
        _ => None,
    }
}

/// The members of a block that matter here.
#[derive(Default)]
struct WireBlock<'d, 'a> {
    kind: Option<Value<'d, 'a>>,
    /// The block's own id.
    id: Option<Value<'d, 'a>>,
    /// The id of the call it answers.
    call_id: Option<Value<'d, 'a>>,
    /// An id under a key of another program or dialect.
    foreign_id: Option<Value<'d, 'a>>,
    is_error: Option<Value<'d, 'a>>,
    /// Whether there are other members.
    has_more: bool,
    /// Whether it is a text in an irregular form. Its other members are kept with it.
    is_odd_text: bool,
    name: Option<Value<'d, 'a>>,
    input: Option<Value<'d, 'a>>,
    text: Option<Value<'d, 'a>>,
    content: Option<Value<'d, 'a>>,
    /// The tool's name, an input and an output under keys of other programs or dialects.
    foreign_name: Option<Value<'d, 'a>>,
    foreign_input: Option<Value<'d, 'a>>,
    foreign_output: Option<Value<'d, 'a>>,
    signature: Option<Value<'d, 'a>>,
    /// The server tool that made a call.
    caller: Option<Value<'d, 'a>>,
    /// The tool that the message adds or removes.
    tool: Option<Value<'d, 'a>>,
}

/// Reads one block of a message. Only reasoning is signed here, and its own kind says so.
pub(super) fn block(value: Value<'_, '_>, _role: Role, reader: &mut Reader<'_>) -> (BlockKind, bool) {
    let mut block = WireBlock::default();
    let mut rare = false;
    for (key, member) in value.members() {
        match &*key.name() {
            "type" => reader.set(&mut block.kind, member),
            "name" => reader.set(&mut block.name, member),
            "input" => reader.set(&mut block.input, member),
            "text" => reader.set(&mut block.text, member),
            "content" => reader.set(&mut block.content, member),
            "signature" => reader.set(&mut block.signature, member),
            "id" => reader.set(&mut block.id, member),
            "tool_use_id" => reader.set(&mut block.call_id, member),
            "is_error" => reader.set(&mut block.is_error, member),
            other if CALL_ID_KEYS.contains(&other) || RESULT_ID_KEYS.contains(&other) => {
                reader.set(&mut block.foreign_id, member);
            }
            "thinking" | "data" => block.has_more = true,
            "cache_control" => rare = true,
            "caller" => {
                (block.has_more, rare) = (true, true);
                reader.set(&mut block.caller, member);
            }
            "tool" if member.is(Kind::Object) => {
                (block.has_more, rare) = (true, true);
                reader.set(&mut block.tool, member);
            }
            other => {
                (block.has_more, rare) = (true, true);
                block.elsewhere(other, member);
            }
        }
    }
    let kind = block.judge(value, reader);
    if !block.is_odd_text && (rare || block.is_odd(&kind)) {
        let read = match kind {
            BlockKind::Call(_) => [block.name, block.input],
            BlockKind::Result(_) => [block.content, None],
            _ => [None, None],
        };
        members::note(value, block.kind, read, reader);
    }
    (kind, false)
}

impl<'d, 'a> WireBlock<'d, 'a> {
    /// Keeps a member under the name of another program or dialect.
    fn elsewhere(&mut self, name: &str, member: Value<'d, 'a>) {
        let slot = match name {
            name if TOOL_NAME_KEYS.contains(&name) => &mut self.foreign_name,
            name if INPUT_KEYS.contains(&name) => &mut self.foreign_input,
            "result" | "output" => &mut self.foreign_output,
            _ => return,
        };
        slot.get_or_insert(member);
    }

    /// Whether it holds members that only blocks of another type have.
    fn is_odd(&self, kind: &BlockKind) -> bool {
        let Self { id, call_id, foreign_id, is_error, name, input, text, content, signature, .. } = self;
        let call = id.is_some() || name.is_some() || input.is_some();
        let result = call_id.is_some() || is_error.is_some() || content.is_some();
        match kind {
            BlockKind::Text(_) => call || result || foreign_id.is_some() || signature.is_some(),
            BlockKind::Call(_) => result || text.is_some() || signature.is_some(),
            BlockKind::Result(_) => call || text.is_some() || signature.is_some(),
            BlockKind::Reasoning { .. } => call || result || foreign_id.is_some() || text.is_some(),
            _ => false,
        }
    }

    fn judge(&mut self, value: Value<'d, 'a>, reader: &mut Reader<'_>) -> BlockKind {
        let said = self.kind.and_then(Value::str).unwrap_or(Cow::Borrowed(""));
        let kind = match (own_type(&said), self.kind) {
            (Some(expected), Some(kind)) => {
                reader.note(IrregularityKind::ForeignType { expected }, kind.span());
                Cow::Borrowed(expected)
            }
            _ => said,
        };
        match &*kind {
            "text" => match self.text {
                Some(text) if text.is(Kind::String) => BlockKind::Text(emptiness(text)),
                _ => self.odd_text(value, reader),
            },
            "" | "input_text" | "output_text" => self.odd_text(value, reader),
            "tool_use" => {
                let id = reader.own_or_foreign_id(self.id, self.foreign_id, "id");
                self.name = reader.own_or_foreign(self.name, self.foreign_name, "name");
                self.input = reader.own_or_foreign(self.input, self.foreign_input, "input");
                self.note_caller(reader);
                BlockKind::Call(self.call(id.as_deref(), reader))
            }
            "tool_result" => {
                self.content = reader.own_or_foreign(self.content, self.foreign_output, "content");
                let id = reader.own_or_foreign_id(self.call_id, self.foreign_id, "tool_use_id");
                BlockKind::Result(self.result(id.as_deref(), reader))
            }
            "server_tool_use" | "mcp_tool_use" => BlockKind::ServerCall(Box::new(self.server_call(&kind, reader))),
            "thinking" => {
                BlockKind::Reasoning { signed: self.signature.is_some_and(|value| !value.raw_str().is_empty()) }
            }
            "redacted_thinking" => BlockKind::Reasoning { signed: true },
            other if SERVER_RESULTS.contains(&other) => {
                let id = self.call_id.and_then(Value::str);
                BlockKind::ServerResult(Box::new(ServerResult {
                    id: id.as_deref().map(WireId::from),
                    kind: other.to_owned(),
                }))
            }
            other if is_media_type(other) => BlockKind::Media,
            "tool_addition" | "tool_removal" => {
                self.note_reference(reader);
                BlockKind::Opaque
            }
            "compaction" => {
                self.note_compaction(reader);
                BlockKind::Opaque
            }
            other => {
                if FOREIGN_TYPES.contains(&other) {
                    reader.note(IrregularityKind::ForeignBlock, value.span());
                } else {
                    reader.unknown_block(value);
                }
                BlockKind::Opaque
            }
        }
    }

    /// Notes the server tool that made the call (ANT-38).
    fn note_caller(&self, reader: &mut Reader<'_>) {
        if let Some(id) = member_text(self.caller, "tool_id") {
            reader.fact(FactKind::Caller, &id);
        }
    }

    /// Notes the name of a tool that the message adds or removes, as a declared tool or by its definition (ANT-43).
    fn note_reference(&self, reader: &mut Reader<'_>) {
        let held = self.tool.and_then(Value::object);
        let (kind, holder) = match member_text(self.tool, "type").as_deref() {
            Some("tool_reference") => (FactKind::ToolReference, self.tool),
            Some("tool_definition") => (FactKind::ToolDefinition, held.and_then(|tool| tool.get("definition"))),
            _ => return,
        };
        if let Some(name) = member_text(holder, "name") {
            reader.fact(kind, &name);
        }
    }

    /// Notes a signed summary. ANT-40: one without content is a failed one, which the provider ignores.
    fn note_compaction(&self, reader: &mut Reader<'_>) {
        let is_told = |value: Option<Value<'_, '_>>| value.is_some_and(|value| !is_hollow(value));
        if is_told(self.signature) && is_told(self.content) {
            reader.fact(FactKind::Compaction, "");
        }
    }

    fn odd_text(&mut self, value: Value<'d, 'a>, reader: &mut Reader<'_>) -> BlockKind {
        let kind = reader.odd_text(value);
        self.is_odd_text = kind.is_some();
        kind.unwrap_or(BlockKind::Opaque)
    }

    fn call(&self, id: Option<&str>, reader: &mut Reader<'_>) -> Call {
        let name = reader.tool_name(self.name);
        Call::new(id, name.as_deref(), input(self.input), &mut reader.transcript.tools)
    }

    fn server_call(&self, kind: &str, reader: &mut Reader<'_>) -> ServerCall {
        let call = self.call(self.id.and_then(Value::str).as_deref(), reader);
        let family = match self.name.and_then(Value::str).unwrap_or_default() {
            name if name.starts_with("tool_search_tool") => "tool_search".to_owned(),
            name => name.into_owned(),
        };
        ServerCall { call, must_be_answered: kind == "server_tool_use", family }
    }

    fn result(&self, id: Option<&str>, reader: &mut Reader<'_>) -> ResultBlock {
        let parts = self.content.map_or(Parts::Missing, parts);
        let is_success = self.is_error.is_some_and(|value| value.is(Kind::False));
        let text = self.content.filter(|_| !self.has_more && !is_success).and_then(only_text);
        let synthetic = reader.synthetic(self.content, text);
        let content = self.content.map_or(Span::default(), Value::span);
        let failed = self.is_error.is_some_and(|value| value.is(Kind::True));
        ResultBlock { id: id.map(WireId::from), tool: None, synthetic, failed, has_more: self.has_more, parts, content }
    }
}

/// Reads a text member of an object.
fn member_text<'a>(object: Option<Value<'_, 'a>>, key: &str) -> Option<Cow<'a, str>> {
    object?.object()?.get(key)?.str()
}
