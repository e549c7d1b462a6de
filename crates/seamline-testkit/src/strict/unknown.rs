//! Content that the strict check does not know: calls and results whose other half is of an unknown kind, and responses
//! whose content may be under an unknown name.

use std::collections::BTreeSet;

use serde_json::{Value, json};

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

/// Objects that a message of some dialect or program is known to have. None of them is a new form of content.
const KNOWN: [&str; 44] = [
    "additional_kwargs",
    "annotations",
    "attachments",
    "audio",
    "cachePoint",
    "cache_control",
    "content",
    "error",
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
    "message",
    "metadata",
    "output",
    "parsed",
    "parts",
    "providerMetadata",
    "providerOptions",
    "provider_specific_fields",
    "reasoning",
    "reasoningContent",
    "reasoning_content",
    "refusal",
    "response",
    "response_metadata",
    "result",
    "text",
    "thinking",
    "toolResult",
    "toolUse",
    "toolUseResult",
    "tool_calls",
    "tool_result",
    "tool_use",
    "usage",
    "usage_metadata",
    "video",
];

/// Whether a response without content has another member that is an object, under a name that no dialect has: the provider
/// may have added a form of content, as `OpenAI` did with `audio`. Null as content is known to be rejected.
pub(super) fn may_say(message: &Value) -> bool {
    let is_response = matches!(message.get("role").and_then(Value::as_str), Some("assistant" | "model"));
    let has_content = ["content", "parts"].iter().any(|key| message.get(key).is_some());
    let members = || message.as_object().into_iter().flatten();
    is_response && !has_content && members().any(|(key, member)| member.is_object() && !KNOWN.contains(&key.as_str()))
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
            Value::Object(members) => {
                let has_id = IDS.iter().any(|key| members.get(*key).is_some_and(Value::is_string));
                for (key, member) in members {
                    match member.as_str() {
                        Some(id) if IDS.contains(&key.as_str()) => _ = self.ids.insert(id.to_owned()),
                        Some(tool) if key == "name" => {
                            self.tools.insert(tool.to_owned());
                            self.ids.extend((!has_id).then(|| tool.to_owned()));
                        }
                        _ => self.collect(member),
                    }
                }
            }
            Value::Array(elements) => elements.iter().for_each(|element| self.collect(element)),
            _ => {}
        }
    }
}
