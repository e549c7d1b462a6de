//! The calls and results of a body in any dialect, in their order.

use serde_json::{Value, json};

use crate::Dialect;

/// A call, a result, or something else in a conversation.
#[derive(Debug)]
pub enum Event {
    /// The model calls a tool.
    Call {
        /// The place among the events of the body.
        at: usize,
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The input of the call, as JSON.
        input: Value,
    },
    /// A tool result.
    Result {
        /// The id of the call that it answers.
        id: String,
        /// The text of the result.
        output: String,
        /// Whether the tool failed.
        failed: bool,
    },
    /// Anything that must not come between a call and its result.
    Other,
}

impl Event {
    /// A call, whose input may be JSON in a string.
    pub(crate) fn call(id: &Value, name: &Value, input: &Value) -> Self {
        let input = input.as_str().map_or(input.clone(), |text| serde_json::from_str(text).unwrap_or(json!(text)));
        Self::Call { at: 0, id: text(id), name: text(name), input }
    }

    /// A result with a flag for failure.
    pub(crate) fn result(id: &Value, output: String, failed: bool) -> Self {
        Self::Result { id: text(id), output, failed }
    }

    /// A result whose failure is a mark in its text.
    pub(crate) fn marked_result(id: &Value, content: &Value) -> Self {
        let said = said(content);
        let synthetic = said.starts_with("[synthetic] No result");
        match said.strip_prefix("[tool error] ") {
            Some(output) => Self::result(id, output.to_owned(), true),
            None => Self::result(id, said, synthetic),
        }
    }
}

/// The events of a body.
pub fn events(dialect: Dialect, body: &Value) -> Vec<Event> {
    let mut events = Vec::new();
    for message in body[dialect.list_key()].as_array().into_iter().flatten() {
        (dialect.row().events)(message, &mut events);
    }
    for (place, event) in events.iter_mut().enumerate() {
        if let Event::Call { at, .. } = event {
            *at = place;
        }
    }
    events
}

/// Reads a message that is a list of blocks, where results come before all other blocks of a user message.
pub(crate) fn of_blocks(list: &Value, read: fn(&Value) -> Event, events: &mut Vec<Event>) {
    let mut others = 0;
    let mut found = Vec::new();
    for block in list.as_array().into_iter().flatten() {
        match read(block) {
            Event::Other => others += 1,
            event => found.push(event),
        }
    }
    let asks = found.iter().any(|event| matches!(event, Event::Call { .. }));
    if list.is_string() || (asks && others > 0) || found.is_empty() {
        events.push(Event::Other);
    }
    let answers = found.iter().any(|event| matches!(event, Event::Result { .. }));
    events.extend(found);
    if answers && others > 0 {
        events.push(Event::Other);
    }
}

/// A text, or other JSON as it is written.
pub(crate) fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The texts of a content.
pub(crate) fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let said = |part: &Value| part.get("text").or_else(|| part.get("json")).map(words);
            parts.iter().filter_map(said).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
