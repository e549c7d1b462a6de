//! The shapes on the wire, as views over borrowed JSON.

use std::borrow::Cow;

use seamline_model::{BlockKind, Call, Input, Parts, ResultBlock, Role, ServerCall, Span, is_synthetic};

use crate::ids::{CALL_ID_KEYS, RESULT_ID_KEYS};
use crate::json::{Kind, Value};
use crate::reading::{Keys, emptiness, is_media_type, only_text, parts};

/// The members of a message that matter here.
#[derive(Default)]
pub(super) struct WireMessage<'d, 'a> {
    pub(super) role: Option<Value<'d, 'a>>,
    pub(super) content: Option<Value<'d, 'a>>,
}

impl<'d, 'a> WireMessage<'d, 'a> {
    pub(super) fn read(value: Value<'d, 'a>, keys: &mut Keys) -> Self {
        let mut message = Self::default();
        for (key, member) in value.members() {
            match &*key.name() {
                "role" => keys.set(&mut message.role, member),
                "content" => keys.set(&mut message.content, member),
                _ => {}
            }
        }
        message
    }
}

pub(super) fn role(value: Value<'_, '_>) -> Role {
    match value.str().as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Unknown,
    }
}

/// The members of a block that matter here.
#[derive(Default)]
struct WireBlock<'d, 'a> {
    kind: Option<Value<'d, 'a>>,
    /// The block's own id, or the one it names.
    id: Option<Value<'d, 'a>>,
    name: Option<Value<'d, 'a>>,
    input: Option<Value<'d, 'a>>,
    text: Option<Value<'d, 'a>>,
    content: Option<Value<'d, 'a>>,
    signature: Option<Value<'d, 'a>>,
}

/// Reads one block of a message's content.
pub(super) fn block<'a>(value: Value<'_, 'a>, keys: &mut Keys) -> BlockKind<'a> {
    let mut block = WireBlock::default();
    for (key, member) in value.members() {
        match &*key.name() {
            "type" => keys.set(&mut block.kind, member),
            "name" => keys.set(&mut block.name, member),
            "input" => keys.set(&mut block.input, member),
            "text" => keys.set(&mut block.text, member),
            "content" => keys.set(&mut block.content, member),
            "signature" => keys.set(&mut block.signature, member),
            "id" | "tool_use_id" => keys.set_id(&mut block.id, member, true),
            other if CALL_ID_KEYS.contains(&other) || RESULT_ID_KEYS.contains(&other) => {
                keys.set_id(&mut block.id, member, false);
            }
            _ => {}
        }
    }
    block.judge(keys)
}

impl<'a> WireBlock<'_, 'a> {
    fn judge(&self, keys: &mut Keys) -> BlockKind<'a> {
        let kind = self.kind.and_then(Value::str).unwrap_or(Cow::Borrowed(""));
        match &*kind {
            "text" => match self.text {
                Some(text) if text.is(Kind::String) => BlockKind::Text(emptiness(text)),
                _ => BlockKind::Opaque,
            },
            "tool_use" => {
                self.note_foreign_id("id", keys);
                BlockKind::Call(self.call())
            }
            "tool_result" => {
                self.note_foreign_id("tool_use_id", keys);
                BlockKind::Result(self.result())
            }
            "server_tool_use" | "mcp_tool_use" => BlockKind::ServerCall(self.server_call(&kind)),
            "thinking" => {
                BlockKind::Reasoning { signed: self.signature.is_some_and(|value| !value.raw_str().is_empty()) }
            }
            "redacted_thinking" => BlockKind::Reasoning { signed: true },
            other if other.ends_with("_tool_result") => BlockKind::ServerResult { id: self.id(), kind },
            other if is_media_type(other) => BlockKind::Media,
            _ => BlockKind::Opaque,
        }
    }

    fn id(&self) -> Option<Cow<'a, str>> {
        self.id.and_then(Value::str)
    }

    fn call(&self) -> Call<'a> {
        Call::new(self.id(), self.name.and_then(Value::str), input(self.input))
    }

    fn server_call(&self, kind: &str) -> ServerCall<'a> {
        let call = self.call();
        let family = match call.name.as_deref() {
            Some(name) if name.starts_with("tool_search_tool") => Cow::Borrowed("tool_search"),
            _ => call.name.clone().unwrap_or_default(),
        };
        ServerCall { call, must_be_answered: kind == "server_tool_use", family }
    }

    fn result(&self) -> ResultBlock<'a> {
        let parts = self.content.map_or(Parts::Missing, parts);
        let synthetic = self.content.and_then(only_text).is_some_and(|text| is_synthetic(&text));
        let content = self.content.map_or(Span::default(), Value::span);
        ResultBlock { id: self.id(), name: None, synthetic, parts, content }
    }

    fn note_foreign_id(&self, expected: &'static str, keys: &mut Keys) {
        if let Some(id) = self.id
            && !id.key().says(expected)
        {
            keys.foreign(id.key().span(), expected);
        }
    }
}

fn input(value: Option<Value<'_, '_>>) -> Input {
    match value.map(Value::kind) {
        Some(Kind::Object) => Input::Object,
        Some(Kind::String) => Input::Text,
        Some(Kind::Null) => Input::Null,
        Some(_) => Input::Other,
        None => Input::Missing,
    }
}
