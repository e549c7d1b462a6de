//! The identity of a conversation: which requests belong together.
//!
//! Some clients name their session in a header or in the body; others name nothing, and the start of the conversation
//! identifies it. A named session also holds side calls (a title, a summary, a sub-agent). They have another first
//! message, so the first message is always a part of the key.

use std::fmt;

use hyper::HeaderMap;
use seamline::providers::message_lists;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::members::{Elements, LastMembers, Members, string};

/// The headers in which clients name a session, the most specific first.
const SESSION_HEADERS: &[&str] = &[
    "x-seamline-session",
    "x-claude-code-session-id",
    "thread-id",
    "session-id",
    "session_id",
    "conversation_id",
    "agent-session-id",
    "x-session-id",
    "x-session-affinity",
];

/// The headers that select what the provider accepts: the version of its API, its features and the account.
const TERMS_HEADERS: &[&str] = &[
    "anthropic-version",
    "anthropic-beta",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
];

/// The longest name of a session that counts.
const NAME_BYTES_MAX: usize = 512;

/// The number of bytes of the first message that identify a conversation.
const OPENING_BYTES_MAX: usize = 4096;

/// The largest first message that is read; of a larger one the first bytes count.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// How many entries of a list can precede the first message of the user.
const ENTRIES_MAX: usize = 16;

/// The key of a conversation. It is a hash: it shows nothing of the conversation and can be written to a log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ConversationKey([u8; 16]);

impl ConversationKey {
    /// The key of the conversation that a request belongs to.
    ///
    /// `upstream` is the name of the upstream, and `model` the model of the URL, if it names one.
    pub fn of(upstream: &str, model: Option<&str>, headers: &HeaderMap, body: &[u8]) -> Self {
        let found = Found::of(headers, body);
        let mut hasher = blake3::Hasher::new();
        let body_model = found.model.unwrap_or_default();
        for part in [upstream.as_bytes(), model.unwrap_or_default().as_bytes(), body_model, found.session.as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.update(found.opening.map(opening).unwrap_or_default().as_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(key)
    }

    /// The key of what is known about the conversation only for requests with the same terms: the version and the
    /// features of the API that the headers select, and the account. What the provider rejects under other terms is
    /// valid here.
    #[must_use]
    pub fn under_terms(self, headers: &HeaderMap) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        for name in TERMS_HEADERS {
            for value in headers.get_all(*name) {
                let value = account(value.as_bytes());
                hasher.update(name.as_bytes());
                hasher.update(&(value.len() as u64).to_le_bytes());
                hasher.update(value);
            }
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(key)
    }
}

/// The part of a credential that stays the same from request to request. A signature of AWS is new for each request;
/// what precedes the date names the account.
fn account(credential: &[u8]) -> &[u8] {
    if !credential.starts_with(b"AWS4-") {
        return credential;
    }
    let end = credential.iter().position(|byte| *byte == b'/');
    end.map_or(credential, |end| &credential[..end])
}

/// The model that a body names.
pub(crate) fn model_of(body: &[u8]) -> Option<String> {
    text(Found::of(&HeaderMap::new(), body).model?)
}

impl fmt::Display for ConversationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl From<ConversationKey> for String {
    fn from(key: ConversationKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for ConversationKey {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text, 16).map(|number| Self(number.to_be_bytes()))
    }
}

impl fmt::Debug for ConversationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConversationKey({self})")
    }
}

/// The marks that identify a conversation.
#[derive(Default)]
struct Found<'b> {
    /// The name of the session; empty where the client gives none.
    session: String,
    /// The model that the body names, as raw JSON.
    model: Option<&'b [u8]>,
    /// The first message of the user, as raw JSON.
    opening: Option<&'b [u8]>,
}

impl<'b> Found<'b> {
    fn of(headers: &HeaderMap, body: &'b [u8]) -> Self {
        let named = SESSION_HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
        let named = named.filter(|name| !name.is_empty() && name.len() <= NAME_BYTES_MAX);
        let mut found = Self { session: named.unwrap_or_default().to_owned(), ..Self::default() };
        // The list of messages can be megabytes long. What comes before it is read forwards, what comes behind it
        // backwards.
        let mut members = Members::of(body);
        let list = loop {
            match members.next_value() {
                Some((key, list)) if message_lists().iter().any(|name| name.as_bytes() == key) => break list,
                Some(_) => {}
                None => return found,
            }
            let Some((key, value)) = members.next() else { return found };
            found.take(key, value);
        };
        found.opening = first_of_user(&body[list..]);
        LastMembers::of(body, list).for_each(|(key, value)| found.take(key, value));
        found
    }

    /// Takes a member beside the messages.
    fn take(&mut self, key: &[u8], value: &'b [u8]) {
        match key {
            b"model" => self.model = Some(value),
            b"prompt_cache_key" if self.session.is_empty() => self.session = text(value).unwrap_or_default(),
            b"metadata" if self.session.is_empty() => self.session = session_of_user(value).unwrap_or_default(),
            _ => {}
        }
    }
}

/// The session in `metadata.user_id`: Claude Code writes a JSON object with `session_id` into the text, older versions
/// `user_…_session_ID`. Any other user id names a user and not a session.
fn session_of_user(metadata: &[u8]) -> Option<String> {
    let user = text(Members::get(metadata, "user_id")?)?;
    let in_object = Members::get(user.as_bytes(), "session_id").and_then(text);
    in_object.or_else(|| user.rsplit_once("_session_").map(|(_, session)| session.to_owned()))
}

/// The text of a short JSON string.
fn text(value: &[u8]) -> Option<String> {
    if value.len() > NAME_BYTES_MAX {
        return None;
    }
    serde_json::from_slice::<String>(value).ok()
}

/// Finds the first entry of the user in a list; returns the value itself if it is a text.
fn first_of_user(list: &[u8]) -> Option<&[u8]> {
    if list.first() == Some(&b'"') {
        return string(list);
    }
    let is_of_user = |entry: &&[u8]| match Members::get(entry, "role") {
        Some(role) => role == br#""user""#,
        // Gemini reads a message without a role as the user's; items of Responses have a type.
        None => Members::get(entry, "type").is_none(),
    };
    Elements::of(list).take(ENTRIES_MAX).find(is_of_user)
}

/// The texts of a message, without marks that move from message to message, such as `cache_control`.
fn opening(message: &[u8]) -> String {
    if message.len() > MESSAGE_BYTES_MAX {
        return String::from_utf8_lossy(&message[..OPENING_BYTES_MAX]).into_owned();
    }
    let mut texts = String::new();
    if let Ok(message) = serde_json::from_slice::<Value>(message) {
        collect(&message, &mut texts);
    }
    let end = texts.floor_char_boundary(OPENING_BYTES_MAX);
    texts.truncate(end);
    texts
}

/// Collects the texts of a value. The depth is bounded: `serde_json` refuses deeper values.
fn collect(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => texts.push_str(text),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(members) => {
            for key in ["content", "parts", "text", "data"] {
                members.get(key).into_iter().for_each(|value| collect(value, texts));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect::<HeaderMap>()
    }

    fn key(pairs: &[(&'static str, &str)], body: &str) -> ConversationKey {
        ConversationKey::of("up", None, &headers(pairs), body.as_bytes())
    }

    fn chat(first: &str, more: &str) -> String {
        format!(
            r#"{{"model":"m","messages":[{{"role":"system","content":"s"}},{{"role":"user","content":"{first}"}}{more}]}}"#
        )
    }

    const ANSWER: &str = r#",{"role":"assistant","content":"yes"},{"role":"user","content":"go on"}"#;

    #[test]
    fn requests_that_start_alike_share_a_key() {
        assert_eq!(key(&[], &chat("hello", "")), key(&[], &chat("hello", ANSWER)));
        assert_ne!(key(&[], &chat("hello", "")), key(&[], &chat("other", "")));
        let gemini = |more: &str| format!(r#"{{"contents":[{{"parts":[{{"text":"a"}}]}}{more}]}}"#);
        assert_eq!(key(&[], &gemini("")), key(&[], &gemini(r#",{"role":"model","parts":[{"text":"b"}]}"#)));
    }

    #[test]
    fn a_moved_cache_mark_does_not_change_the_key() {
        let body = |mark: &str| {
            format!(r#"{{"messages":[{{"role":"user","content":[{{"type":"text","text":"hi"{mark}}}]}}]}}"#)
        };
        assert_eq!(key(&[], &body(r#","cache_control":{"type":"ephemeral"}"#)), key(&[], &body("")));
        assert_eq!(key(&[], &body("")), key(&[], r#"{"messages":[{"role":"user","content":"hi"}]}"#));
    }

    #[test]
    fn the_names_of_sessions_separate_equal_openings() {
        let body = chat("hello", "");
        let named = |name: &'static str, value: &str| key(&[(name, value)], &body);
        for name in SESSION_HEADERS {
            assert_ne!(named(name, "a"), named(name, "b"), "{name}");
            assert_eq!(named(name, "a"), named(name, "a"), "{name}");
        }
        let with = |member: &str| body.replacen('{', &format!("{{{member},"), 1);
        assert_ne!(key(&[], &with(r#""prompt_cache_key":"a""#)), key(&[], &with(r#""prompt_cache_key":"b""#)));
        let user = |id: &str| with(&format!(r#""metadata":{{"user_id":{}}}"#, serde_json::json!(id)));
        assert_ne!(key(&[], &user(r#"{"session_id":"a"}"#)), key(&[], &user(r#"{"session_id":"b"}"#)));
        assert_ne!(key(&[], &user("user_1_account__session_a")), key(&[], &user("user_1_account__session_b")));
        assert_eq!(key(&[], &user("user-1")), key(&[], &user("user-2")), "a user is not a session");
    }

    #[test]
    fn the_terms_of_a_request_are_its_features_and_its_account() {
        let under = |pairs: &[(&'static str, &str)]| key(&[], "{}").under_terms(&headers(pairs));
        let plain = under(&[("x-api-key", "a")]);
        assert_eq!(plain, under(&[("x-api-key", "a"), ("user-agent", "x")]));
        assert_ne!(plain, under(&[("x-api-key", "b")]));
        assert_ne!(plain, under(&[("x-api-key", "a"), ("anthropic-beta", "context-management-2025-06-27")]));
        let signed = |account: &str, signature: &str| {
            let text = format!("AWS4-HMAC-SHA256 Credential={account}/20261119/us-east-1, Signature={signature}");
            under(&[("authorization", &text)])
        };
        assert_eq!(signed("A", "1"), signed("A", "2"));
        assert_ne!(signed("A", "1"), signed("B", "1"));
    }

    #[test]
    fn side_calls_of_a_session_do_not_share_its_key() {
        let session = [("x-claude-code-session-id", "s1")];
        let main = chat("hello", ANSWER);
        let title = chat("Write a title for: hello", "");
        let small = main.replace(r#""model":"m""#, r#""model":"small""#);
        assert_ne!(key(&session, &main), key(&session, &title));
        assert_ne!(key(&session, &main), key(&session, &small));
        assert_eq!(key(&session, &main), key(&session, &chat("hello", "")));
    }

    #[test]
    fn the_order_of_members_and_a_long_list_do_not_change_the_key() {
        let members =
            [r#""model":"m""#, r#""metadata":{"user_id":"user_1_session_a"}"#, r#""tools":[{"name":"x\"]}"}]"#];
        let list = |more: usize| {
            let more = r#",{"role":"assistant","content":"]}\\"}"#.repeat(more);
            format!(r#""messages":[{{"role":"user","content":"hello"}}{more}]"#)
        };
        let expected = key(&[], &format!("{{{},{}}}", members.join(","), list(0)));
        for at in 0..=members.len() {
            for more in [0, 1, 5000] {
                let (before, behind) = members.split_at(at);
                let mut all = before.to_vec();
                let list = list(more);
                all.push(&list);
                all.extend(behind);
                assert_eq!(key(&[], &format!("{{ {} }}\n", all.join(" , "))), expected, "{at} {more}");
            }
        }
        assert_ne!(key(&[], &format!("{{{}}}", list(0))), expected);
    }

    #[test]
    fn a_body_of_any_kind_has_a_key() {
        for body in ["", "[]", "{", r#"{"input":"text"}"#, r#"{"messages":[[]]}"#, r#"{"messages":{"a":1}}"#] {
            assert_eq!(key(&[], body).to_string().len(), 32);
        }
        assert_ne!(key(&[], r#"{"input":"a"}"#), key(&[], r#"{"input":"b"}"#));
        let long = chat(&"x".repeat(MESSAGE_BYTES_MAX), "");
        assert_eq!(key(&[], &long), key(&[], &long));
    }
}
