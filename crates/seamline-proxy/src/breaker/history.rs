//! The tool calls in the history of a request, with their results.

use std::ops::Range;

use seamline::guards::ToolSchemas;
use seamline::outline::{OutlineBlock, OutlineKind, OutlineMessage, Role};
use seamline::{Error, Options, outline};
use serde_json::Value;

use crate::members::Members;

/// The members with the arguments of a call, in any dialect.
const ARGUMENTS: &[&str] =
    &["/function/arguments", "/arguments", "/functionCall/args", "/function_call/args", "/toolUse/input", "/input"];

/// The members with the free text of a call of a custom tool.
const FREE_INPUT: &[&str] = &["/custom/input"];

/// The paths of the content of a result, in any dialect.
const CONTENTS: &[&[&str]] = &[
    &["functionResponse", "response"],
    &["function_response", "response"],
    &["toolResult", "content"],
    &["output"],
    &["content"],
];

/// The start of a text in which an error announces itself, in bytes.
const HEAD_BYTES: usize = 120;

/// Words at the start of a text that announce an error, where the dialect has no mark for it.
const FAILURE_WORDS: &[&str] = &["error", "invalid", "failed", "missing", "exception"];

/// The calls of a conversation, by the message that makes them.
pub(super) struct History<'b> {
    body: &'b [u8],
    pub(super) rounds: Vec<Round>,
}

/// The calls of one message.
pub(super) struct Round {
    /// Whether a message of the user precedes it.
    pub(super) begins_turn: bool,
    pub(super) calls: Vec<CallOfHistory>,
}

/// A call with its result.
pub(super) struct CallOfHistory {
    id: Option<String>,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Whether the arguments are free text.
    pub(super) free: bool,
    pub(super) result: Option<ResultOfHistory>,
}

/// The result of a call.
pub(super) struct ResultOfHistory {
    /// The bytes of the content in the body.
    content: Range<usize>,
    pub(super) text: String,
    pub(super) failed: bool,
}

impl<'b> History<'b> {
    pub(super) fn of(body: &'b [u8], options: &Options) -> Result<Self, Error> {
        let mut rounds: Vec<Round> = Vec::new();
        let mut begins_turn = true;
        for OutlineMessage { role, blocks, .. } in outline(body, options, 0..usize::MAX)? {
            let calls: Vec<_> = of_kind(&blocks, OutlineKind::Call).map(|block| call(body, block)).collect();
            if !calls.is_empty() {
                // Parallel calls are one round, also where each is an item of its own.
                match rounds.last_mut().filter(|round| !begins_turn && round.is_open()) {
                    Some(round) => round.calls.extend(calls),
                    None => rounds.push(Round { begins_turn, calls }),
                }
                begins_turn = false;
            }
            for block in of_kind(&blocks, OutlineKind::Result) {
                if let Some(round) = rounds.last_mut() {
                    round.answer(body, block);
                }
            }
            begins_turn |= role == Role::User && of_kind(&blocks, OutlineKind::Text).next().is_some();
        }
        Ok(Self { body, rounds })
    }

    /// The tools of the request. A tool that is called and not declared takes any arguments: the client may have
    /// declared it in an earlier request.
    pub(super) fn tools(&self) -> ToolSchemas {
        let mut tools = ToolSchemas::new();
        // A schema that cannot be used leaves the tool without one.
        for name in self.rounds.iter().flat_map(|round| &round.calls).map(|call| &call.name) {
            let _ = tools.add(name, None);
        }
        for (name, schema) in declared(self.body) {
            let _ = tools.add(&name, schema.map(|schema| schema.to_string()).as_deref());
        }
        tools
    }
}

impl Round {
    /// Whether no call has a result yet.
    fn is_open(&self) -> bool {
        self.calls.iter().all(|call| call.result.is_none())
    }

    /// Gives the call that a result names its result; a result without an id answers the first open call of its tool.
    fn answer(&mut self, body: &[u8], block: &OutlineBlock) {
        let is_answered = |call: &CallOfHistory| match (&block.id, &call.id) {
            (Some(result), Some(call)) => result == call,
            _ => block.name.as_ref().is_none_or(|name| *name == call.name),
        };
        if let Some(call) = self.calls.iter_mut().find(|call| call.result.is_none() && is_answered(call)) {
            call.result = result(body, block);
        }
    }
}

fn of_kind(blocks: &[OutlineBlock], kind: OutlineKind) -> impl Iterator<Item = &OutlineBlock> {
    blocks.iter().filter(move |block| block.kind == kind)
}

fn call(body: &[u8], block: &OutlineBlock) -> CallOfHistory {
    let value: Value = serde_json::from_slice(&body[block.span.clone()]).unwrap_or_default();
    let at = |paths: &[&str]| paths.iter().find_map(|path| value.pointer(path)).map(text_or_source);
    let is_custom = value.get("type").and_then(Value::as_str) == Some("custom_tool_call");
    let free = at(FREE_INPUT);
    CallOfHistory {
        id: block.id.clone(),
        name: block.name.clone().unwrap_or_default(),
        free: free.is_some() || is_custom,
        arguments: free.or_else(|| at(ARGUMENTS)).unwrap_or_default(),
        result: None,
    }
}

fn result(body: &[u8], block: &OutlineBlock) -> Option<ResultOfHistory> {
    let source = &body[block.span.clone()];
    let content =
        CONTENTS.iter().find_map(|path| path.iter().try_fold(source, |value, key| Members::get(value, key)))?;
    // The content is a part of the body.
    let start = content.as_ptr().addr() - body.as_ptr().addr();
    let value: Value = serde_json::from_slice(source).ok()?;
    let content_value: Value = serde_json::from_slice(content).ok()?;
    let text = said(&content_value);
    let marked = value.get("is_error").and_then(Value::as_bool).or_else(|| {
        let status = value.pointer("/toolResult/status").and_then(Value::as_str)?;
        Some(status == "error")
    });
    let failed = match marked {
        Some(marked) => marked,
        None => content_value.get("error").is_some_and(|error| !error.is_null()) || announces_error(&text),
    };
    Some(ResultOfHistory { content: start..start + content.len(), text, failed })
}

fn announces_error(text: &str) -> bool {
    let head = text[..text.floor_char_boundary(HEAD_BYTES)].to_ascii_lowercase();
    FAILURE_WORDS.iter().any(|word| head.contains(word))
}

fn text_or_source(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The text of the content of a result.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")).filter_map(Value::as_str);
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

impl ResultOfHistory {
    /// The edit that puts a text before the content of a failed result. A result that did not fail is left alone.
    pub(super) fn escalate(&self, body: &[u8], text: &str) -> Option<(Range<usize>, String)> {
        if !self.failed {
            return None;
        }
        let start = self.content.start;
        let quoted = |text: &str| Value::from(text).to_string();
        let is_empty = |close: u8| body[start + 1..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&close);
        let comma = |close: u8| if is_empty(close) { "" } else { "," };
        let added = match body.get(start)? {
            b'"' => {
                let text = quoted(&format!("{text}\n\n"));
                text.get(1..text.len() - 1)?.to_owned()
            }
            b'[' => {
                let has_types = body.get(self.content.clone())?.windows(6).any(|bytes| bytes == b"\"type\"");
                let kind = if has_types { r#""type":"text","# } else { "" };
                format!(r#"{{{kind}"text":{}}}{}"#, quoted(text), comma(b']'))
            }
            b'{' => format!(r#""instruction":{}{}"#, quoted(text), comma(b'}')),
            _ => return None,
        };
        Some((start + 1..start + 1, added))
    }
}

/// The tools that a request declares, with their schemas.
fn declared(body: &[u8]) -> Vec<(String, Option<Value>)> {
    let tools = Members::get(body, "tools").or_else(|| Members::get(Members::get(body, "toolConfig")?, "tools"));
    let Some(Value::Array(tools)) = tools.and_then(|tools| serde_json::from_slice(tools).ok()) else {
        return Vec::new();
    };
    let declared = |tool: &Value| {
        let name = tool.get("name")?.as_str()?.to_owned();
        let schemas = ["/input_schema", "/parameters", "/parametersJsonSchema", "/inputSchema/json"];
        Some((name, schemas.iter().find_map(|path| tool.pointer(path)).cloned()))
    };
    let list = |tool: &Value| {
        let functions = tool.get("functionDeclarations").or_else(|| tool.get("function_declarations"));
        if let Some(Value::Array(functions)) = functions {
            return functions.iter().filter_map(declared).collect::<Vec<_>>();
        }
        let held = ["function", "toolSpec"].iter().find_map(|key| tool.get(*key)).unwrap_or(tool);
        declared(held).into_iter().collect()
    };
    tools.iter().flat_map(list).collect()
}
