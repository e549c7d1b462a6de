//! Messages of dialects that the tests of sessions do not write by hand. The test kit writes them, so that a new dialect
//! needs no line here.

use seamline_testkit::transcript::{Block, Call, CallResult, Input, Message, Role, Transcript};
use seamline_testkit::{Dialect, render};
use serde_json::{Value, json};

/// A message with one text.
pub(super) fn text(dialect: &str, role: Role, text: &str) -> String {
    messages(dialect, Message::text(role, text)).remove(0)
}

/// A message of the user.
pub(super) fn user(dialect: &str, text: &str) -> String {
    self::text(dialect, Role::User, text)
}

/// A turn that calls a tool under these ids.
pub(super) fn calls(dialect: &str, name: &str, ids: &[&str]) -> Vec<String> {
    calls_of(dialect, &ids.iter().map(|id| (name.to_owned(), *id)).collect::<Vec<_>>())
}

/// A turn that calls these tools, each under its id.
pub(super) fn calls_of(dialect: &str, calls: &[(String, &str)]) -> Vec<String> {
    let call = |(name, id): &(String, &str)| {
        Block::Call(Call { id: Some((*id).to_owned()), name: name.clone(), input: Input::Object(json!({})) })
    };
    messages(dialect, Message::new(Role::Assistant, calls.iter().map(call).collect()))
}

/// A result of a call of this tool.
pub(super) fn result(dialect: &str, name: &str, id: &str, output: &str) -> String {
    let result = CallResult { name: Some(name.to_owned()), ..CallResult::new(id, output) };
    messages(dialect, Message::result(result)).remove(0)
}

/// The smallest request around messages of the dialect.
pub(super) fn envelope(dialect: &str) -> &'static str {
    known(dialect).envelope()
}

fn known(dialect: &str) -> Dialect {
    Dialect::by_name(dialect).unwrap_or_else(|| panic!("the test kit has no row for {dialect}"))
}

fn messages(dialect: &str, message: Message) -> Vec<String> {
    let dialect = known(dialect);
    let body = render::body(dialect, &Transcript { system: None, messages: vec![message] });
    body[dialect.list_key()].as_array().into_iter().flatten().map(Value::to_string).collect()
}
