//! Breaks of fields: additional, repeated and escaped ones.

use serde_json::{Value, json};

use super::{
    WireBreaker,
    place::{self, Fields, is_role},
};
use crate::{
    Dialect,
    text::{REPEATED, SPELT_OUT},
};

/// Adds a field with a text. All but the unknown one are fields of `OpenAI`'s dialect.
pub(super) fn beside(breaker: WireBreaker, dialect: Dialect, body: &mut Value, place: usize) -> Option<String> {
    let everywhere = matches!(breaker, WireBreaker::Stranger | WireBreaker::StrangerBesideResult);
    if !dialect.row().has_chat_fields && !everywhere {
        return None;
    }
    let said = format!("aside-{place}: {breaker:?}.");
    let (key, held) = match breaker {
        WireBreaker::RefusalBesideResult | WireBreaker::Refusal => ("refusal", json!(said)),
        WireBreaker::FunctionCallBesideResult => {
            ("function_call", json!({"name": "search", "arguments": json!({"query": said}).to_string()}))
        }
        WireBreaker::ReasoningBesideResult => ("reasoning_content", json!(said)),
        _ => ("x_note", json!({"by": "host", "note": said})),
    };
    let fields = match breaker {
        WireBreaker::Refusal => place::message(body, place, |message| is_role(message, dialect.assistant_role())),
        WireBreaker::Stranger => place::message(body, place, |_| true),
        _ => place::result(dialect, body, place, |_| true),
    }?;
    fields.insert(key.into(), held);
    Some(said)
}

/// Adds the name of the call's tool, or of another, to a result.
pub(super) fn name_beside_result(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let result = place::result(dialect, body, place, |_| true)?;
    let name = if place.is_multiple_of(3) { "another_tool" } else { "read_file" };
    result.insert("name".into(), json!(name));
    Some(())
}

/// Readers take the last of two members, so the real content stays last.
pub(super) fn repeated_content(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let key = dialect.content_key();
    let message = place::message(body, place, |message| message.contains_key(key))?;
    repeat(message, key, json!(format!("ignored-{place}: draft.")))
}

pub(super) fn repeated_result_id(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let key = dialect.row().result_id_key;
    let result = place::result(dialect, body, place, |result| result.contains_key(key))?;
    repeat(result, key, json!(format!("ignored_{place}")))
}

pub(super) fn repeated_role(body: &mut Value, place: usize) -> Option<()> {
    let message = place::message(body, place, |message| message.contains_key("role"))?;
    repeat(message, "role", json!("user"))
}

fn repeat(fields: &mut Fields, key: &str, ignored: Value) -> Option<()> {
    let held = fields.insert(key.into(), ignored)?;
    fields.insert(format!("{key}{REPEATED}"), held);
    Some(())
}

pub(super) fn escaped_keys(body: &mut Value, place: usize) -> Option<()> {
    let message = place::message(body, place, |_| true)?;
    *message = std::mem::take(message).into_iter().map(|(key, held)| (format!("{SPELT_OUT}{key}"), held)).collect();
    Some(())
}

/// Keeps the role, under the name that another program uses.
pub(super) fn foreign_role(dialect: Dialect, body: &mut Value, place: usize) -> Option<()> {
    let assistant = dialect.assistant_role();
    let message = place::message(body, place, |message| is_role(message, "user") || is_role(message, assistant))?;
    let names = if is_role(message, "user") { ["human", "User"] } else { ["ai", "bot"] };
    message.insert("role".into(), json!(names[place % 2]));
    Some(())
}

pub(super) fn many_members(body: &mut Value, place: usize) -> Option<()> {
    let message = place::message(body, place, |_| true)?;
    message.extend((0..40).map(|at| (format!("x_{at}"), json!(""))));
    Some(())
}
