//! What is no message.

use std::fmt;

use crate::json::{Document, Kind, Object, Value};
use crate::{ALL, Dialect, by_name};

/// What one dialect's messages and answers are told by.
#[derive(Debug, Clone, Copy)]
pub struct Shapes {
    /// Whether an object is a whole response.
    pub(crate) is_response: fn(Object<'_, '_>) -> bool,
    /// Where the message is in a response, as a filter of jq.
    pub(crate) message: &'static str,
    /// Whether an object is a message that says neither who speaks nor what it is.
    pub(crate) is_bare: fn(Object<'_, '_>) -> bool,
    /// Whether a block is a call or a result as this dialect writes it.
    pub(crate) is_pair: fn(Object<'_, '_>) -> bool,
    /// Whether a message makes or answers calls as this dialect writes it.
    pub(crate) has_pairs: fn(Object<'_, '_>) -> bool,
    /// Whether a message does so as another one writes it, and is read all the same.
    pub(crate) restates: fn(Object<'_, '_>) -> bool,
}

/// What a value is that is no message.
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
    /// No JSON object.
    NoObject,
    /// A whole request body.
    Request {
        /// The member that has its messages.
        list: &'static str,
    },
    /// A whole response.
    Response {
        /// Where the message is in it, as a filter of jq.
        message: &'static str,
    },
    /// An error of a provider.
    Error,
    /// A message that makes or answers calls as another dialect writes it, so that nobody would see them.
    Foreign {
        /// The dialect.
        dialect: &'static str,
    },
    /// An object that says neither who speaks nor what it is.
    Unknown,
}

impl NoMessage {
    /// What a value is, where it is no message as far as can be told without judging it: what only looks odd is for the
    /// rules. Of one dialect it is asked more exactly.
    pub fn of(dialect: Option<&str>, value: &str) -> Option<Self> {
        if !value.trim_ascii_start().starts_with('{') {
            return Some(Self::NoObject);
        }
        // What is too large or too deep to be looked at is no less an object.
        let document = Document::read(value).ok()?;
        let object = document.root().object()?;
        let has = |name: &str| object.get(name).is_some();
        let is_list = |name: &str| object.get(name).is_some_and(|value| value.is(Kind::Array));
        let lists = || ALL.iter().map(|dialect| dialect.converter().list);
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
        // What it says without saying who is for the rules.
        let is_message = has_role(object) || has("parts") || has("content") || is_bare();
        match named.and_then(|dialect| foreign(dialect, object)) {
            Some(dialect) => Some(Self::Foreign { dialect }),
            None => (!is_message).then_some(Self::Unknown),
        }
    }

    /// What to give instead.
    pub fn hint(&self) -> String {
        match self {
            Self::NoObject | Self::Unknown => "a message is a JSON object that says who speaks and what".to_owned(),
            Self::Request { list } => format!("give the messages in its `{list}` one by one"),
            Self::Response { message } => format!("give the message in it: `{message}`"),
            Self::Error => "nobody said it: `classify` tells what it means".to_owned(),
            Self::Foreign { .. } => {
                "give it as this conversation's dialect writes it; `convert` takes whole conversations from one to another"
                    .to_owned()
            }
        }
    }
}

/// The dialect whose calls or results a message holds, where they are not to be seen in this one.
fn foreign(dialect: &dyn Dialect, message: Object<'_, '_>) -> Option<&'static str> {
    let own = dialect.shapes();
    if (own.has_pairs)(message) || (own.restates)(message) {
        return None;
    }
    ALL.iter().find(|other| (other.shapes().has_pairs)(message)).map(|other| other.name())
}

/// Whether a block that its own dialect does not know is a call or a result of another one.
pub(crate) fn is_foreign_pair(block: Value<'_, '_>) -> bool {
    block.object().is_some_and(|block| ALL.iter().any(|dialect| (dialect.shapes().is_pair)(block)))
}

/// Whether a list of blocks holds one like this.
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

/// Whether an object says who speaks, or what it is.
pub(crate) fn has_role(object: Object<'_, '_>) -> bool {
    object.get("role").is_some() || object.get("type").is_some()
}

impl fmt::Display for NoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject => f.write_str("is no JSON object"),
            Self::Request { list } => write!(f, "is a whole request body: it has `{list}`"),
            Self::Response { .. } => f.write_str("is a whole response, not a message"),
            Self::Error => f.write_str("is a provider's error, not a message"),
            Self::Foreign { dialect } => {
                write!(f, "is written as `{dialect}` writes messages, and nobody would see all of it here")
            }
            Self::Unknown => f.write_str("is no message: it has neither `role` nor `type`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_read_is_no_foreign_one() {
        let of = |dialect: &str, message: &str| NoMessage::of(Some(dialect), message);
        let chat = Some(NoMessage::Foreign { dialect: "openai_chat" });
        assert_eq!(of("anthropic_messages", r#"{"role":"tool","content":"x"}"#), chat);
        assert_eq!(of("gemini_generate", r#"{"role":"function","content":"x"}"#), chat);
        // Some clients of Gemini say so who answers.
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
