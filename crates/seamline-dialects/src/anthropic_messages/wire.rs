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
    /// The block's own id.
    id: Option<Value<'d, 'a>>,
    /// The id of the call it answers.
    answers: Option<Value<'d, 'a>>,
    /// An id under a key of another program or dialect.
    foreign_id: Option<Value<'d, 'a>>,
    is_error: Option<Value<'d, 'a>>,
    /// Whether there are members of other names.
    has_more: bool,
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
            "id" => keys.set(&mut block.id, member),
            "tool_use_id" => keys.set(&mut block.answers, member),
            "is_error" => keys.set(&mut block.is_error, member),
            other if CALL_ID_KEYS.contains(&other) || RESULT_ID_KEYS.contains(&other) => {
                keys.set(&mut block.foreign_id, member);
            }
            "cache_control" => {}
            _ => block.has_more = true,
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
            "tool_use" => BlockKind::Call(self.call(self.id_or_foreign(self.id, "id", keys))),
            "tool_result" => BlockKind::Result(self.result(self.id_or_foreign(self.answers, "tool_use_id", keys))),
            "server_tool_use" | "mcp_tool_use" => BlockKind::ServerCall(self.server_call(&kind)),
            "thinking" => {
                BlockKind::Reasoning { signed: self.signature.is_some_and(|value| !value.raw_str().is_empty()) }
            }
            "redacted_thinking" => BlockKind::Reasoning { signed: true },
            other if other.ends_with("_tool_result") => {
                BlockKind::ServerResult { id: self.answers.and_then(Value::str), kind }
            }
            other if is_media_type(other) => BlockKind::Media,
            _ => BlockKind::Opaque,
        }
    }

    /// The id under the key this dialect uses, else under another one, which is noted.
    fn id_or_foreign(
        &self,
        own: Option<Value<'_, 'a>>,
        expected: &'static str,
        keys: &mut Keys,
    ) -> Option<Cow<'a, str>> {
        if let (None, Some(id)) = (own, self.foreign_id) {
            keys.foreign(id.key().span(), expected);
        }
        own.or(self.foreign_id).and_then(|id| keys.id(id))
    }

    fn call(&self, id: Option<Cow<'a, str>>) -> Call<'a> {
        Call::new(id, self.name.and_then(Value::str), input(self.input))
    }

    fn server_call(&self, kind: &str) -> ServerCall<'a> {
        let call = self.call(self.id.and_then(Value::str));
        let family = match call.name.as_deref() {
            Some(name) if name.starts_with("tool_search_tool") => Cow::Borrowed("tool_search"),
            _ => call.name.clone().unwrap_or_default(),
        };
        ServerCall { call, must_be_answered: kind == "server_tool_use", family }
    }

    fn result(&self, id: Option<Cow<'a, str>>) -> ResultBlock<'a> {
        let parts = self.content.map_or(Parts::Missing, parts);
        let synthetic = self.content.and_then(only_text).is_some_and(|text| is_synthetic(&text));
        let content = self.content.map_or(Span::default(), Value::span);
        let failed = self.is_error.is_some_and(|value| value.is(Kind::True));
        ResultBlock { id, name: None, synthetic, failed, has_more: self.has_more, parts, content }
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
