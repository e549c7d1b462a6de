//! What is no message.

use std::fmt;

use serde_json::value::RawValue;

/// What a value is that is no message.
///
/// ```
/// use seamline::session::NoMessage;
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
    /// An object that says neither who speaks nor what it is.
    Unknown,
}

impl NoMessage {
    /// What a value is, where it is no message as far as can be told without judging it: what only looks odd is for the
    /// rules. Of one dialect it is asked more exactly.
    pub fn of(dialect: Option<&str>, value: &str) -> Option<Self> {
        let Some(members) = members(value) else { return Some(Self::NoObject) };
        let get = |name: &str| members.iter().find(|(member, _)| member == name).map(|(_, value)| value.get());
        let has = |name: &str| get(name).is_some();
        let is_list = |name: &str| get(name).is_some_and(|value| value.starts_with('['));
        let is_bare = !has("role") && !has("type");
        let response = |message| Some(Self::Response { message });
        if is_bare && let Some(list) = ["messages", "contents", "input"].into_iter().find(|list| is_list(list)) {
            return Some(Self::Request { list });
        }
        match () {
            () if is_bare && has("choices") => response(".choices[0].message"),
            () if is_bare && has("candidates") => response(".candidates[0].content"),
            () if is_bare && is_list("output") => response(".output[]"),
            () if is_bare && has("output") => response(".output.message"),
            () if has("role") && has("stop_reason") => response("{role, content}"),
            () if has("error") && (is_bare || get("type") == Some("\"error\"")) => Some(Self::Error),
            () if !is_bare || has("parts") || has("content") => None,
            // An item that only names another one.
            () if has("id") && dialect.is_none_or(|dialect| dialect == "openai_responses") => None,
            () => Some(Self::Unknown),
        }
    }

    /// What to give instead.
    pub fn hint(&self) -> String {
        match self {
            Self::NoObject | Self::Unknown => "a message is a JSON object that says who speaks and what".to_owned(),
            Self::Request { list } => format!("give the messages in its `{list}` one by one"),
            Self::Response { message } => format!("give the message in it: `{message}`"),
            Self::Error => "nobody said it: `classify` tells what it means".to_owned(),
        }
    }
}

impl fmt::Display for NoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject => f.write_str("is no JSON object"),
            Self::Request { list } => write!(f, "is a whole request body: it has `{list}`"),
            Self::Response { .. } => f.write_str("is a whole response, not a message"),
            Self::Error => f.write_str("is a provider's error, not a message"),
            Self::Unknown => f.write_str("is no message: it has neither `role` nor `type`"),
        }
    }
}

/// An object's members, where a text is an object.
pub(super) fn members(text: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;

    impl<'de> serde::de::Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    serde::Deserializer::deserialize_map(&mut serde_json::Deserializer::from_str(text), Members).ok()
}
