//! A message of the carrier: the Chat Completions form in which a history is checked and repaired.

use crate::json::{Object, elements, quoted, string};

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl Role {
    fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    fn of(name: &str) -> Option<Self> {
        match name {
            "system" | "developer" => Some(Self::System),
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            "tool" => Some(Self::Tool),
            _ => None,
        }
    }
}

/// A message as the carrier holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    /// The id of the call that a tool message answers.
    pub(crate) call_id: Option<String>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    /// The arguments as JSON text.
    pub(crate) arguments: String,
    /// The index of the call in the list of its entry; nothing for a call of a repair.
    pub(crate) index: Option<usize>,
}

impl Message {
    pub(crate) fn said(role: Role, text: String) -> Self {
        Self { role, text, calls: Vec::new(), call_id: None }
    }

    /// Writes the message for the carrier.
    pub(crate) fn carried(&self) -> String {
        let role = self.role.as_str();
        let content =
            if self.text.is_empty() && !self.calls.is_empty() { "null".to_owned() } else { quoted(&self.text) };
        let call_id = self.call_id.as_ref().map(|id| format!(r#","tool_call_id":{}"#, quoted(id))).unwrap_or_default();
        let calls: Vec<String> = self.calls.iter().map(Call::carried).collect();
        let calls = if calls.is_empty() { String::new() } else { format!(r#","tool_calls":[{}]"#, calls.join(",")) };
        format!(r#"{{"role":"{role}","content":{content}{call_id}{calls}}}"#)
    }

    /// Reads a message of the carrier; nothing if it has a form that a history cannot hold.
    pub(crate) fn of_carrier(text: &str) -> Option<Self> {
        let object = Object::of(text)?;
        let role = Role::of(&object.string("role")?)?;
        let calls = object.list("tool_calls").into_iter().map(Call::of_carrier).collect::<Option<_>>()?;
        let text = match object.get("content") {
            None | Some("null") => String::new(),
            Some(content) => string(content).or_else(|| parts(content))?,
        };
        Some(Self { role, text, calls, call_id: object.string("tool_call_id") })
    }
}

/// The text of a list of text parts.
fn parts(content: &str) -> Option<String> {
    let texts = elements(content)?.into_iter().map(|part| Object::of(part)?.string("text"));
    Some(texts.collect::<Option<Vec<_>>>()?.join("\n"))
}

impl Call {
    fn carried(&self) -> String {
        let id = self.id.as_ref().map(|id| format!(r#""id":{},"#, quoted(id))).unwrap_or_default();
        let name = self.name.as_ref().map(|name| format!(r#""name":{},"#, quoted(name))).unwrap_or_default();
        format!(r#"{{{id}"type":"function","function":{{{name}"arguments":{}}}}}"#, quoted(&self.arguments))
    }

    fn of_carrier(text: &str) -> Option<Self> {
        let call = Object::of(text)?;
        let function = Object::of(call.get("function")?)?;
        let arguments = function.get("arguments").map_or_else(String::new, |raw| string(raw).unwrap_or(raw.to_owned()));
        Some(Self { id: call.string("id"), name: function.string("name"), arguments, index: None })
    }

    /// Whether both say the same, wherever they are.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        (&self.id, &self.name, &self.arguments) == (&other.id, &other.name, &other.arguments)
    }
}

/// Gives the calls of a changed message the places that they had before: by id and name, else by order.
pub(crate) fn align(before: &[Call], after: &mut [Call]) {
    let mut is_taken = vec![false; before.len()];
    let is_same = |old: &Call, new: &Call| old.id == new.id && old.name == new.name;
    for call in after.iter_mut() {
        let found = before.iter().enumerate().find(|(at, old)| !is_taken[*at] && is_same(old, call));
        if let Some((at, old)) = found {
            is_taken[at] = true;
            call.index = old.index;
        }
    }
    if before.len() != after.len() {
        return;
    }
    for (at, call) in after.iter_mut().enumerate() {
        if call.index.is_none() && !is_taken[at] {
            is_taken[at] = true;
            call.index = before[at].index;
        }
    }
}
