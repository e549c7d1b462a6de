//! Values that are not messages, and the tests that tell messages of one dialect from others.

use std::fmt;

use crate::json::{Document, Kind, Object, Value};
use crate::{ALL, Dialect, by_name};

/// The tests that tell messages, responses and tool calls of one dialect from others.
#[derive(Debug, Clone, Copy)]
pub struct Shapes {
    /// Whether an object is a whole response.
    pub(crate) is_response: fn(Object<'_, '_>) -> bool,
    /// The path of the message in a response, as a jq filter.
    pub(crate) message: &'static str,
    /// Whether an object is a message that has neither a role nor a type.
    pub(crate) is_bare: fn(Object<'_, '_>) -> bool,
    /// Whether a block is a call or a result as this dialect writes it.
    pub(crate) is_pair: fn(Object<'_, '_>) -> bool,
    /// Whether a message makes or answers calls as this dialect writes it.
    pub(crate) has_pairs: fn(Object<'_, '_>) -> bool,
    /// Whether a message does so in the form of another dialect that this dialect reads as well.
    pub(crate) restates: fn(Object<'_, '_>) -> bool,
}

/// The kind of a value that is not a message.
///
/// ```
/// use seamline_dialects::NoMessage;
///
/// let body = r#"{"model":"m","messages":[]}"#;
/// assert_eq!(NoMessage::of(None, body), Some(NoMessage::Request { list: "messages" }));
/// assert_eq!(NoMessage::of(None, r#"{"role":"user","content":"hello"}"#), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoMessage {
    /// A value that is not a JSON object.
    NoObject,
    /// A whole request body.
    Request {
        /// The member that holds its messages.
        list: &'static str,
    },
    /// A whole response.
    Response {
        /// The path of the message in it, as a jq filter.
        message: &'static str,
    },
    /// An error of a provider.
    Error,
    /// A message with tool calls or results in the form of another dialect, which this dialect does not read.
    Foreign {
        /// The dialect that has this form.
        dialect: &'static str,
    },
    /// An object that has neither a role nor a type.
    Unknown,
}

impl NoMessage {
    /// Finds what a value is, if it is certainly not a message. Messages that only look odd are left to the rules. With
    /// a dialect, its own messages are looked at more exactly.
    pub fn of(dialect: Option<&str>, value: &str) -> Option<Self> {
        if !value.trim_ascii_start().starts_with('{') {
            return Some(Self::NoObject);
        }
        // A value that is too large or too deep to be read is still an object.
        let document = Document::read(value).ok()?;
        let object = document.root().object()?;
        let has = |name: &str| object.get(name).is_some();
        let is_list = |name: &str| object.get(name).is_some_and(|value| value.is(Kind::Array));
        let lists = || ALL.iter().map(|dialect| dialect.list());
        if !has_role(object)
            && let Some(list) = lists().find(|list| is_list(list))
        {
            return Some(Self::Request { list });
        }
        if let Some(answered) = ALL.iter().map(|dialect| dialect.shapes()).find(|shapes| (shapes.is_response)(object)) {
            return Some(Self::Response { message: answered.message });
        }
        if has("error") && (!has_role(object) || object.get("type").is_some_and(|kind| kind.says("error"))) {
            return Some(Self::Error);
        }
        let named = dialect.and_then(by_name);
        let is_bare = || match named {
            Some(dialect) => (dialect.shapes().is_bare)(object),
            None => ALL.iter().any(|dialect| (dialect.shapes().is_bare)(object)),
        };
        // The rules handle a message without a role.
        let is_message = has_role(object) || has("parts") || has("content") || is_bare();
        match named.and_then(|dialect| foreign(dialect, object)) {
            Some(dialect) => Some(Self::Foreign { dialect }),
            None => (!is_message).then_some(Self::Unknown),
        }
    }

    /// Says what to give instead.
    pub fn hint(&self) -> String {
        match self {
            Self::NoObject | Self::Unknown => "give a JSON object with a `role` and content".to_owned(),
            Self::Request { list } => format!("give the messages in its `{list}` one by one"),
            Self::Response { message } => format!("give the message in it: `{message}`"),
            Self::Error => "`seamline explain --error` says what it means".to_owned(),
            Self::Foreign { .. } => {
                "write it in the dialect of this conversation; `seamline convert` converts whole conversations"
                    .to_owned()
            }
        }
    }
}

/// Finds the dialect whose calls or results a message holds, if this dialect does not read them.
fn foreign(dialect: &Dialect, message: Object<'_, '_>) -> Option<&'static str> {
    let own = dialect.shapes();
    if (own.has_pairs)(message) || (own.restates)(message) {
        return None;
    }
    ALL.iter().find(|other| (other.shapes().has_pairs)(message)).map(|other| other.name())
}

/// Whether a block is a tool call or tool result of any dialect.
pub(crate) fn is_foreign_pair(block: Value<'_, '_>) -> bool {
    block.object().is_some_and(|block| ALL.iter().any(|dialect| (dialect.shapes().is_pair)(block)))
}

/// Whether a list of blocks holds one that passes this test.
pub(crate) fn holds(message: Object<'_, '_>, list: &str, is: fn(Object<'_, '_>) -> bool) -> bool {
    message.get(list).into_iter().flat_map(Value::elements).filter_map(Value::object).any(is)
}

/// Whether a block is of one of these types.
pub(crate) fn is_typed(block: Object<'_, '_>, kinds: &[&str]) -> bool {
    block.get("type").is_some_and(|kind| kinds.iter().any(|name| kind.says(name)))
}

/// Whether a block holds an object under one of these names.
pub(crate) fn is_named(block: Object<'_, '_>, names: &[&str]) -> bool {
    names.iter().any(|name| block.get(name).is_some_and(|held| held.is(Kind::Object)))
}

/// Whether an object has a role or a type.
pub(crate) fn has_role(object: Object<'_, '_>) -> bool {
    object.get("role").is_some() || object.get("type").is_some()
}

impl fmt::Display for NoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject => f.write_str("is not a JSON object"),
            Self::Request { list } => write!(f, "is a whole request body: it has `{list}`"),
            Self::Response { .. } => f.write_str("is a whole response, not a message"),
            Self::Error => f.write_str("is a provider's error, not a message"),
            Self::Foreign { dialect } => {
                write!(f, "is a message of `{dialect}`; its tool calls and results would not be read here")
            }
            Self::Unknown => f.write_str("is not a message: it has neither `role` nor `type`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_the_dialect_reads_is_not_foreign() {
        let of = |dialect: &str, message: &str| NoMessage::of(Some(dialect), message);
        let chat = Some(NoMessage::Foreign { dialect: "openai_chat" });
        assert_eq!(of("anthropic_messages", r#"{"role":"tool","content":"x"}"#), chat);
        assert_eq!(of("gemini_generate", r#"{"role":"function","content":"x"}"#), chat);
        // Some clients of Gemini write this role.
        let response = r#"{"role":"function","parts":[{"functionResponse":{"name":"f","response":{}}}]}"#;
        assert_eq!(of("gemini_generate", response), None);
        for nothing in
            [r#"{"role":"user","content":"x","tool_calls":[]}"#, r#"{"role":"user","content":"x","tool_calls":null}"#]
        {
            assert_eq!(of("anthropic_messages", nothing), None, "{nothing}");
        }
        let both = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"}],"tool_calls":[{"id":"a"}]}"#;
        assert_eq!(of("anthropic_messages", both), None);
        assert_eq!(of("openai_responses", r#"{"type":"my_own_call"}"#), None);
        assert_eq!(NoMessage::of(None, r#"{"role":"tool","content":"x"}"#), None);
    }
}
