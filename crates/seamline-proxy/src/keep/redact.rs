//! Takes the texts out of a request body and keeps its structure.

use seamline::words::{id_prefix, is_word};

/// The members whose values choose from a list of words. Words that a dialect defines stay.
const CHOICES: &[&str] = &[
    "caller",
    "dialect",
    "finish_reason",
    "function",
    "mimeType",
    "mime_type",
    "object",
    "phase",
    "role",
    "status",
    "stop_reason",
    "tool_choice",
    "type",
];

/// The members that name a call, a tool or an item. Equal values stay equal.
const LABELS: &[&str] = &[
    "call_id",
    "id",
    "item_id",
    "name",
    "previous_interaction_id",
    "previous_response_id",
    "toolUseId",
    "tool_call_id",
    "tool_use_id",
];

/// The members of the body that name the model.
const MODELS: &[&str] = &["model", "modelId"];

/// The members whose whole value comes from a model, a tool or a user. Nothing in them stays but the shape.
const FREE: &[&str] = &[
    "args",
    "arguments",
    "extra_body",
    "input",
    "inputSchema",
    "input_schema",
    "json",
    "labels",
    "metadata",
    "output",
    "parameters",
    "parametersJsonSchema",
    "requestMetadata",
    "responseJsonSchema",
    "responseSchema",
    "response",
    "schema",
];

/// The longest name of a model.
const MODEL_BYTES_MAX: usize = 96;

/// Replaces every text of a body by its length and a keyed hash. Braces, brackets, words that a dialect defines, the name
/// of the model and short numbers stay. The body may be cut or damaged: the function reads bytes, not a tree, and is
/// linear.
pub fn redact(body: &[u8], key: &[u8; 32]) -> Vec<u8> {
    let mut redaction =
        Redaction { body, at: 0, out: Vec::with_capacity(body.len() / 2 + 64), stack: Vec::new(), key: *key };
    while redaction.at < body.len() {
        redaction.step();
    }
    redaction.out
}

struct Redaction<'b> {
    body: &'b [u8],
    at: usize,
    out: Vec<u8>,
    stack: Vec<Container>,
    key: [u8; 32],
}

/// An open object or list.
#[derive(Default)]
struct Container {
    is_object: bool,
    /// Whether the next string of the object names a member.
    expects_name: bool,
    /// The kind of the value that follows.
    member: Member,
    /// Whether everything inside comes from a model, a tool or a user.
    is_free: bool,
}

/// The kind of a member's value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Member {
    /// Texts are replaced; objects and lists keep their structure.
    #[default]
    Structure,
    /// A word from a list.
    Choice,
    /// The name of a call, a tool or an item.
    Label,
    /// The name of the model.
    Model,
    /// The history of the Responses API has the name that the free input of a call has elsewhere.
    History,
    /// Everything inside is replaced.
    Free,
}

impl Member {
    /// The kind of a member that a dialect defines. `is_outermost` tells whether the body itself has it.
    fn of(name: &str, is_outermost: bool) -> Self {
        match name {
            "input" if is_outermost => Self::History,
            _ if FREE.contains(&name) => Self::Free,
            _ if CHOICES.contains(&name) => Self::Choice,
            _ if LABELS.contains(&name) => Self::Label,
            _ if MODELS.contains(&name) && is_outermost => Self::Model,
            _ => Self::Structure,
        }
    }
}

impl Redaction<'_> {
    fn step(&mut self) {
        let byte = self.body[self.at];
        match byte {
            b'"' => self.string(),
            b'{' | b'[' => self.open(byte == b'{'),
            b'}' | b']' => {
                self.stack.pop();
                self.copy();
            }
            b',' => {
                if let Some(container) = self.stack.last_mut() {
                    container.expects_name = container.is_object;
                }
                self.copy();
            }
            b':' | b' ' | b'\n' | b'\r' | b'\t' => self.copy(),
            _ => self.word(),
        }
    }

    fn copy(&mut self) {
        self.out.push(self.body[self.at]);
        self.at += 1;
    }

    fn open(&mut self, is_object: bool) {
        let is_free = self.stack.last().is_some_and(|parent| match parent.member {
            Member::Free => true,
            Member::History => is_object,
            Member::Structure | Member::Choice | Member::Label | Member::Model => parent.is_free,
        });
        self.stack.push(Container { is_object, expects_name: is_object, is_free, ..Container::default() });
        self.copy();
    }

    fn string(&mut self) {
        let start = self.at;
        let end = end_of_string(self.body, start);
        let inside = &self.body[start + 1..end];
        self.at = (end + 1).min(self.body.len());
        let text = std::str::from_utf8(inside).unwrap_or_default();
        let is_outermost = self.stack.len() == 1;
        let Some(container) = self.stack.last_mut() else { return self.replace("text", start + 1, end) };
        let is_kept = if container.expects_name {
            container.expects_name = false;
            let is_known = is_word(text) && !container.is_free;
            container.member = if is_known { Member::of(text, is_outermost) } else { Member::Free };
            if !is_known {
                return self.replace("member", start + 1, end);
            }
            true
        } else {
            match container.member {
                _ if container.is_free || !container.is_object => false,
                Member::Choice => is_word(text),
                Member::Model => is_model(inside),
                Member::Label => return self.replace_label(text, start + 1, end),
                Member::Structure | Member::History | Member::Free => false,
            }
        };
        if is_kept {
            return self.out.extend_from_slice(&self.body[start..self.at]);
        }
        self.replace("text", start + 1, end);
    }

    /// Replaces an id or a name. The prefix of a provider stays, and whether it has only the characters that all
    /// providers take.
    fn replace_label(&mut self, text: &str, start: usize, end: usize) {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let plain = if !text.is_empty() && text.bytes().all(is_plain) { "plain " } else { "" };
        let prefix = id_prefix(text);
        let gap = if prefix.is_empty() { "" } else { " " };
        self.replace(&format!("{plain}name{gap}{prefix}"), start, end);
    }

    /// Writes the length and the hash of a part of the body in its place.
    fn replace(&mut self, what: &str, start: usize, end: usize) {
        let inside = &self.body[start..end];
        let hash = blake3::keyed_hash(&self.key, inside).to_hex();
        let mark = if has_half_surrogate(inside) { " half surrogate" } else { "" };
        let cut = if end >= self.body.len() { " cut" } else { "" };
        let text = format!("\"[{what} bytes={} hash={}{mark}{cut}]\"", inside.len(), &hash[..8]);
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A number, `true`, `false`, `null`, or bytes that are not JSON.
    fn word(&mut self) {
        let start = self.at;
        let is_end = |byte: &u8| b"\"{}[],: \n\r\t".contains(byte);
        let end = self.body[start..].iter().position(is_end).map_or(self.body.len(), |length| start + length);
        let word = &self.body[start..end];
        self.at = end;
        let is_free = self.stack.last().is_some_and(|container| container.is_free || container.member == Member::Free);
        let is_number = word.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
        match word {
            b"true" | b"false" | b"null" => self.out.extend_from_slice(word),
            _ if is_number && is_free => self.out.push(b'0'),
            _ if is_number && word.len() <= NUMBER_BYTES_MAX && word.iter().copied().all(is_of_number) => {
                self.out.extend_from_slice(word);
            }
            _ => self.replace("bytes", start, end),
        }
    }
}

/// The longest number that stays: settings, not accounts.
const NUMBER_BYTES_MAX: usize = 8;

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.eE".contains(&byte)
}

/// Where the closing quote of a string is; the end of the body if it has none.
fn end_of_string(body: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < body.len() && body[at] != b'"' {
        at += if body[at] == b'\\' { 2 } else { 1 };
    }
    at.min(body.len())
}

fn is_model(text: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.:/@".contains(byte);
    text.len() <= MODEL_BYTES_MAX && text.iter().all(is_letter)
}

/// Whether a JSON string escapes one half of a surrogate pair without the other.
fn has_half_surrogate(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        rest = &rest[at..];
        match half(rest) {
            Some(Half::High) if half(&rest[6..]) == Some(Half::Low) => rest = &rest[12..],
            Some(_) => return true,
            None => rest = rest.get(2..).unwrap_or_default(),
        }
    }
    false
}

#[derive(PartialEq, Eq)]
enum Half {
    High,
    Low,
}

fn half(text: &[u8]) -> Option<Half> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    match u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const KEY: [u8; 32] = [7; 32];

    fn redacted(body: &str) -> String {
        String::from_utf8(redact(body.as_bytes(), &KEY)).unwrap()
    }

    #[test]
    fn texts_go_and_the_structure_stays() {
        let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": [
            {"role": "user", "content": "my name is Ada Lovelace"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "~/ada.key", "pin": 1234, "id": "ada"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "my name is Ada Lovelace", "is_error": false}]}]});
        let out = redacted(&body.to_string());
        let read: Value = serde_json::from_str(&out).unwrap();
        for secret in ["Ada", "ada", ".key", "1234", "pin", "path"] {
            assert!(!out.contains(secret), "{secret} in {out}");
        }
        assert_eq!((&read["model"], &read["max_tokens"]), (&json!("claude-sonnet-4-5"), &json!(64)));
        let call = &read["messages"][1]["content"][0];
        assert_eq!(call["type"], json!("tool_use"));
        assert!(call["id"].as_str().unwrap().starts_with("[plain name toolu_ bytes=7 hash="), "{out}");
        assert_eq!(call["id"], read["messages"][2]["content"][0]["tool_use_id"]);
        assert_eq!(call["input"].as_object().unwrap().len(), 3);
        // Equal texts are recognised.
        assert_eq!(read["messages"][0]["content"], read["messages"][2]["content"][0]["content"]);
        assert!(read["messages"][0]["content"].as_str().unwrap().starts_with("[text bytes=23 hash="));
        assert_ne!(redact(body.to_string().as_bytes(), &[8; 32]), out.into_bytes());
    }

    #[test]
    fn a_history_called_input_keeps_its_structure() {
        let out = redacted(r#"{"input":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"}]}"#);
        assert!(out.contains(r#"{"input":[{"type":"function_call","call_id":"[plain name bytes=2 "#), "{out}");
        assert!(out.contains(r#"]","arguments":"[text bytes=9 "#), "{out}");
        assert!(redacted(r#"{"input":"secret words"}"#).starts_with(r#"{"input":"[text bytes=12 "#));
    }

    #[test]
    fn only_words_of_a_dialect_stay() {
        let body = json!({"model": "m", "hunter2": {"type": "text", "role": 7}, "messages": [
            {"role": "hunter2", "type": "user", "hunter2": "user", "hunter3": 123, "content": [
                {"type": "tool_use", "id": "hunter2", "name": "hunter2", "input": {"type": "user", "id": 5}}]}],
            "tools": [{"name": "hunter2", "input_schema": {"type": "object", "properties": {"hunter2": {}}}}],
            "metadata": {"user_id": "hunter2"}, "stop_sequences": ["hunter2"], "tool_choice": "hunter2"});
        let out = redacted(&body.to_string());
        assert!(!out.contains("hunter") && !out.contains("123"), "{out}");
        let read: Value = serde_json::from_str(&out).unwrap();
        let (message, tool) = (&read["messages"][0], &read["tools"][0]);
        assert_eq!(
            (message["type"].as_str(), message["content"][0]["type"].as_str()),
            (Some("user"), Some("tool_use"))
        );
        assert_eq!(message["content"][0]["name"], tool["name"], "a tool is recognised by its name");
        for free in [&message["content"][0]["input"], &tool["input_schema"], &read["metadata"]] {
            let is_hashed = |name: &String| name.starts_with("[member bytes=");
            assert!(free.as_object().unwrap().keys().all(is_hashed), "{free}");
        }
    }

    #[test]
    fn damage_is_kept_and_shows_no_text() {
        assert!(redacted(r#"{"content":"secret \ud83d"}"#).contains("half surrogate]"));
        assert!(!redacted(r#"{"content":"fine \ud83d\ude00"}"#).contains("half surrogate"));
        let cut = redacted(r#"{"messages":[{"role":"user","content":"secret wor"#);
        assert!(
            cut.starts_with(r#"{"messages":[{"role":"user","content":"[text "#) && cut.ends_with(r#" cut]""#),
            "{cut}"
        );
        assert!(!redacted("password: hunter2 {\"a\":hunter2}").contains("hunter2"));
        assert_eq!(
            redacted(r#"{"role":"user","role":"user" , "content" : [ 1, true ]}"#),
            r#"{"role":"user","role":"user" , "content" : [ 1, true ]}"#
        );
        assert!(!redacted(r#"{"role":"Ada Lovelace","id":"a b","n":49170123456}"#).contains("Ada"));
    }

    proptest! {
        #[test]
        fn no_body_shows_its_texts_or_breaks_the_redaction(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            redact(&bytes, &KEY);
            let body = json!({"messages": [{"content": String::from_utf8_lossy(&bytes)}]}).to_string();
            let read: Value = serde_json::from_slice(&redact(body.as_bytes(), &KEY)).unwrap();
            prop_assert!(read["messages"][0]["content"].as_str().unwrap().starts_with("[text bytes="));
        }
    }
}
