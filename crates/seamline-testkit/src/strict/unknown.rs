//! Content that the strict check does not know: calls and results whose other half is of an unknown kind, and responses
//! whose content may be under an unknown name.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Violation, ViolationKind};
use crate::Dialect;
use crate::dialect::Fields;

/// The members that hold the id of a call or result in any dialect. The name of a tool replaces its id in some.
const IDS: [&str; 6] = ["id", "call_id", "tool_use_id", "tool_call_id", "toolUseId", "name"];

/// Removes the violations of calls and results that something unknown in the body may answer or have made. Which kinds a
/// provider adds next is not known, so the check does not call such a body wrong.
pub(super) fn excuse(dialect: Dialect, messages: &[Value], violations: &mut Vec<Violation>) {
    violations.retain(|violation| {
        let message = messages.get(violation.message);
        violation.kind != ViolationKind::BadContent || !message.is_some_and(|message| may_say(dialect, message))
    });
    let is_about_pairs = |violation: &Violation| halves(violation.kind).is_some();
    if !violations.iter().any(is_about_pairs) {
        return;
    }
    let unknown: BTreeSet<String> = messages.iter().flat_map(|message| unknown_ids(dialect, message)).collect();
    for (index, message) in messages.iter().enumerate().filter(|_| !unknown.is_empty()) {
        for half in [Half::Call, Half::Result] {
            let mut excused = half.ids(dialect, message).iter().filter(|id| unknown.contains(*id)).count();
            violations.retain(|violation| {
                let is_excused = excused > 0 && violation.message == index && halves(violation.kind) == Some(half);
                excused -= usize::from(is_excused);
                !is_excused
            });
        }
    }
}

/// Whether a response without content has another member that is an object: the provider may have added a form of content,
/// as it did with `audio`.
fn may_say(dialect: Dialect, message: &Value) -> bool {
    let is_response = matches!(message.get("role").and_then(Value::as_str), Some("assistant" | "model"));
    let has_content = ["content", "parts"].iter().any(|key| message.get(key).is_some());
    let members = || message.as_object().into_iter().flatten();
    // A call in its older form is not content, and not unknown.
    let is_known = |key: &str| dialect == Dialect::OpenAiChat && key == "function_call";
    is_response && !has_content && members().any(|(key, member)| member.is_object() && !is_known(key))
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

impl Half {
    /// The ids of the calls or results of a message.
    fn ids(self, dialect: Dialect, message: &Value) -> Vec<String> {
        let mut body = json!({dialect.list_key(): [message]});
        let id = |fields: &Fields, key: &str| {
            let id = fields.get(key).or_else(|| fields.get("name").filter(|_| dialect.row().has_optional_ids));
            id.and_then(Value::as_str).map(str::to_owned)
        };
        match self {
            Self::Call => {
                let calls = (dialect.row().calls)(&mut body);
                calls.into_iter().filter_map(|call| id(call, dialect.row().call_id_key)).collect()
            }
            Self::Result => {
                let results = (dialect.row().results)(&mut body);
                results.into_iter().filter_map(|result| id(result, dialect.row().result_id_key)).collect()
            }
        }
    }
}

/// The ids in a message that belong neither to a call nor to a result.
fn unknown_ids(dialect: Dialect, message: &Value) -> Vec<String> {
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
    let mut ids = Vec::new();
    collect(&body, &mut ids);
    ids
}

fn collect(value: &Value, ids: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member.as_str().filter(|_| IDS.contains(&key.as_str())) {
                    Some(id) => ids.push(id.to_owned()),
                    None => collect(member, ids),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, ids)),
        _ => {}
    }
}
