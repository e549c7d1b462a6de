//! Content that the strict check does not know: calls and results whose other half is of an unknown kind, and responses
//! whose content may be under an unknown name.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Violation, ViolationKind};
use crate::Dialect;
use crate::dialect::Fields;

/// The members that hold the id of a call or result in any dialect. The name of a tool replaces its id in some.
const IDS: [&str; 5] = ["id", "call_id", "tool_use_id", "tool_call_id", "toolUseId"];

/// Removes the violations of calls and results that something unknown in the body may answer or have made. Which kinds a
/// provider adds next is not known, so the check does not call such a body wrong.
pub(super) fn excuse(dialect: Dialect, messages: &[Value], violations: &mut Vec<Violation>) {
    violations.retain(|violation| {
        let message = messages.get(violation.message);
        violation.kind != ViolationKind::BadContent || !message.is_some_and(may_say)
    });
    let is_about_pairs = |violation: &Violation| halves(violation.kind).is_some();
    if !violations.iter().any(is_about_pairs) {
        return;
    }
    let mut unknown = Unknown::default();
    for message in messages {
        unknown.add(dialect, message);
    }
    for (index, message) in messages.iter().enumerate().filter(|_| !unknown.ids.is_empty()) {
        for half in [Half::Call, Half::Result] {
            let mut excused = half.names(dialect, message).iter().filter(|name| unknown.has(half, name)).count();
            violations.retain(|violation| {
                let is_excused = excused > 0 && violation.message == index && halves(violation.kind) == Some(half);
                excused -= usize::from(is_excused);
                !is_excused
            });
        }
    }
}

/// The roles that some dialect or program is known to have.
const ROLES: &[&str] = &["ai", "assistant", "bot", "developer", "function", "human", "model", "system", "tool", "user"];

/// Objects that a message of some dialect or program is known to have. None of them is a new form of content.
const KNOWN: &[&str] = &[
    "additional_kwargs",
    "annotations",
    "args",
    "arguments",
    "attachments",
    "author",
    "audio",
    "cachePoint",
    "cache_control",
    "caller",
    "citations",
    "content",
    "context_management",
    "cost",
    "data",
    "display",
    "error",
    "experimental_attachments",
    "extra_content",
    "file",
    "files",
    "function",
    "functionCall",
    "functionResponse",
    "function_call",
    "image",
    "images",
    "input",
    "invalid_tool_calls",
    "logprobs",
    "message",
    "metadata",
    "output",
    "output_config",
    "parameters",
    "parsed",
    "parsed_arguments",
    "parsed_output",
    "parts",
    "providerMetadata",
    "providerOptions",
    "provider_specific_fields",
    "reasoning",
    "reasoningContent",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "response",
    "response_metadata",
    "result",
    "summary",
    "text",
    "thinking",
    "toolInvocations",
    "toolResult",
    "toolUse",
    "toolUseResult",
    "tool_call_chunks",
    "tool_calls",
    "tool_result",
    "tool_results",
    "tool_use",
    "usage",
    "usageMetadata",
    "usage_metadata",
    "video",
    "videos",
];

/// The types of blocks and items that some dialect is known to have, and the members by which those without a type are
/// known. Their ids are those of their own kind: a search of the provider answers no call of the client.
const KNOWN_KINDS: &[&str] = &[
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "cachePoint",
    "code_execution_tool_result",
    "codeExecutionResult",
    "code_interpreter_call",
    "compaction",
    "container_upload",
    "document",
    "executableCode",
    "file",
    "fileData",
    "file_search_call",
    "guardContent",
    "image",
    "image_generation_call",
    "image_url",
    "inlineData",
    "input_audio",
    "input_file",
    "input_image",
    "input_text",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "mcp_tool_result",
    "mcp_tool_use",
    "output_text",
    "reasoning",
    "reasoningContent",
    "redacted_thinking",
    "refusal",
    "search_result",
    "server_tool_use",
    "text",
    "text_editor_code_execution_tool_result",
    "thinking",
    "tool_search_tool_result",
    "video",
    "web_fetch_tool_result",
    "web_search_call",
    "web_search_tool_result",
];

/// Whether an object is a block or an item of a known kind.
fn is_known(members: &Map<String, Value>) -> bool {
    match members.get("type").and_then(Value::as_str) {
        Some(kind) => KNOWN_KINDS.contains(&kind),
        None => members.len() == 1 && members.keys().any(|key| KNOWN_KINDS.contains(&key.as_str())),
    }
}

/// Whether a message without content has another member that is an object, under a name that no dialect has: the provider
/// may have added a form of content, as `OpenAI` did with `audio`. Null as content is known to be rejected.
pub(super) fn may_say(message: &Value) -> bool {
    let is_message = message.get("role").is_none_or(|role| role != "tool" && role != "function");
    let has_content = ["content", "parts"].iter().any(|key| message.get(key).is_some());
    let members = || message.as_object().into_iter().flatten();
    is_message && !has_content && members().any(|(key, member)| member.is_object() && !KNOWN.contains(&key.as_str()))
}

/// One half of a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Call,
    Result,
}

/// The half of a pair whose other half a violation reports as missing.
fn halves(kind: ViolationKind) -> Option<Half> {
    match kind {
        ViolationKind::UnansweredCall => Some(Half::Call),
        ViolationKind::OrphanResult => Some(Half::Result),
        _ => None,
    }
}

/// The id of a call or result, and the name of its tool where that may replace an id.
struct Name {
    id: Option<String>,
    tool: Option<String>,
}

impl Half {
    /// The names of the calls or results of a message.
    fn names(self, dialect: Dialect, message: &Value) -> Vec<Name> {
        let mut body = json!({dialect.list_key(): [message]});
        let row = dialect.row();
        let (held, key) = match self {
            Self::Call => ((row.calls)(&mut body), row.call_id_key),
            Self::Result => ((row.results)(&mut body), row.result_id_key),
        };
        let member = |fields: &Fields, key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = |fields: &mut Fields| Name {
            id: member(fields, key).filter(|id| !id.is_empty()),
            tool: member(fields, "name").filter(|_| row.has_optional_ids),
        };
        held.into_iter().map(name).collect()
    }
}

/// The names of everything unknown in a body.
#[derive(Default)]
struct Unknown {
    /// The ids, and the names of tools where there is no id.
    ids: BTreeSet<String>,
    /// The names of tools.
    tools: BTreeSet<String>,
}

impl Unknown {
    /// Whether something unknown may be the other half of a call or result.
    fn has(&self, half: Half, name: &Name) -> bool {
        let has_tool = |tools: &BTreeSet<String>| name.tool.as_ref().is_some_and(|tool| tools.contains(tool));
        let of_tool = match half {
            // A result without an id may answer any call of its tool, but one with an id answers the call that has it.
            Half::Call => has_tool(&self.ids),
            Half::Result => name.id.is_none() && has_tool(&self.tools),
        };
        of_tool || name.id.as_ref().is_some_and(|id| self.ids.contains(id))
    }

    /// Adds the names in a message that belong neither to a call nor to a result.
    fn add(&mut self, dialect: Dialect, message: &Value) {
        let mut body = json!({dialect.list_key(): [message]});
        // The content of a message of an unknown role is as unknown as the message.
        if message["role"].as_str().is_some_and(|role| !ROLES.contains(&role)) {
            self.collect(&body);
            return;
        }
        (dialect.row().calls)(&mut body).into_iter().for_each(Fields::clear);
        (dialect.row().results)(&mut body).into_iter().for_each(Fields::clear);
        // The members of a message with a role are its own, whatever they hold.
        if message.get("role").is_some() {
            let own = body.pointer_mut(&format!("/{}/0", dialect.list_key())).and_then(Value::as_object_mut);
            if let Some(own) = own {
                own.retain(|_, member| !member.is_string());
            }
        }
        self.collect(&body);
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Object(members) if is_known(members) => {}
            Value::Object(members) => {
                let has_id = IDS.iter().any(|key| members.get(*key).is_some_and(Value::is_string));
                for (key, member) in members {
                    match member.as_str() {
                        Some(id) if IDS.contains(&key.as_str()) => _ = self.ids.insert(id.to_owned()),
                        Some(tool) if key == "name" => {
                            self.tools.insert(tool.to_owned());
                            self.ids.extend((!has_id).then(|| tool.to_owned()));
                        }
                        _ => {
                            let listed = key.strip_suffix('s').is_some_and(|key| IDS.contains(&key));
                            let ids = member.as_array().filter(|_| listed).into_iter().flatten();
                            self.ids.extend(ids.filter_map(Value::as_str).map(str::to_owned));
                            self.collect(member);
                        }
                    }
                }
            }
            Value::Array(elements) => elements.iter().for_each(|element| self.collect(element)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{ViolationKind, check};
    use crate::Dialect;

    #[test]
    fn a_known_block_with_the_same_id_hides_no_orphan() {
        let body = |first: &str, second: &str| {
            json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [
                    {"type": first, "id": "srvtoolu_1", "name": "web_search", "input": {}},
                    {"type": second, "tool_use_id": "srvtoolu_1", "content": []},
                    {"type": "text", "text": "a"}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "srvtoolu_1", "content": "x"}]}]})
        };
        let kinds = |body| {
            check(Dialect::AnthropicMessages, &body).into_iter().map(|violation| violation.kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds(body("server_tool_use", "web_search_tool_result")), [ViolationKind::OrphanResult]);
        // A call of an unknown kind may be answered by any result.
        assert_eq!(kinds(body("memo_tool_use", "web_search_tool_result")), []);
    }

    #[test]
    fn a_list_of_ids_in_something_unknown_excuses_their_calls() {
        let body = |batch| {
            json!({"model": "gpt-5", "input": [
                {"role": "user", "content": "go"},
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"},
                batch]})
        };
        let count = |batch| check(Dialect::OpenAiResponses, &body(batch)).len();
        assert_eq!(count(json!({"type": "outputs", "call_ids": ["c1", "c2"]})), 0);
        assert_eq!(count(json!({"type": "outputs", "outputs": [{"call_id": "c1"}]})), 1);
    }
}
