//! Remembers the signatures of tool calls, so that a client that lost them gets them back.
//!
//! Gemini signs tool calls and rejects a request whose calls lost their signature. Signatures are kept by the id of the
//! call and not by conversation: a session that a client resumes has the same calls under another identity.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The longest signature that is kept.
const SIGNATURE_BYTES_MAX: usize = 256 * 1024;

/// A bounded memory of signatures. The least recently used ones go first.
#[derive(Debug)]
pub struct SignatureMemory {
    bytes_max: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_call: HashMap<String, (u64, String)>,
    by_use: BTreeMap<u64, String>,
    uses: u64,
    bytes: usize,
}

impl SignatureMemory {
    /// An empty memory that keeps at most so many bytes of ids and signatures.
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, kept: Mutex::default() }
    }

    /// Remembers the signatures of a response. `message` is the response without streaming, as
    /// [`Response::message`](seamline::stream::Response) holds it. Returns how many signatures it has.
    pub fn learn(&self, dialect: &str, message: &[u8]) -> usize {
        let signatures = signatures_of(dialect, message);
        for (id, signature) in &signatures {
            self.keep(id, signature);
        }
        signatures.len()
    }

    /// The known signatures of calls that a request makes without one. It looks only at bodies of a dialect with
    /// signatures, and reads nothing while the memory is empty.
    pub fn lost(&self, dialect: &str, body: &[u8]) -> seamline::Signatures {
        if !has_signatures(dialect) || self.lock().by_call.is_empty() {
            return seamline::Signatures::default();
        }
        let Ok(body) = serde_json::from_slice::<Value>(body) else { return seamline::Signatures::default() };
        let calls = calls_of(dialect, &body, Side::Request);
        let unsigned = calls.into_iter().filter(|call| call.signature.is_none_or(str::is_empty));
        unsigned.filter_map(|call| Some((call.id.to_owned(), self.get(call.id)?))).collect()
    }

    fn get(&self, call_id: &str) -> Option<String> {
        let mut kept = self.lock();
        let (used, signature) = kept.by_call.get(call_id)?;
        let (used, signature) = (*used, signature.clone());
        kept.touch(call_id, used);
        Some(signature)
    }

    /// Remembers one signature.
    pub fn keep(&self, call_id: &str, signature: &str) {
        if call_id.is_empty() || signature.is_empty() || signature.len() > SIGNATURE_BYTES_MAX {
            return;
        }
        let mut kept = self.lock();
        kept.remove(call_id);
        kept.uses += 1;
        let used = kept.uses;
        kept.bytes += call_id.len() + signature.len();
        kept.by_call.insert(call_id.to_owned(), (used, signature.to_owned()));
        kept.by_use.insert(used, call_id.to_owned());
        while kept.bytes > self.bytes_max {
            let Some((_, oldest)) = kept.by_use.pop_first() else { break };
            kept.remove(&oldest);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn touch(&mut self, call_id: &str, used: u64) {
        self.uses += 1;
        let now = self.uses;
        self.by_use.remove(&used);
        self.by_use.insert(now, call_id.to_owned());
        if let Some(kept) = self.by_call.get_mut(call_id) {
            kept.0 = now;
        }
    }

    fn remove(&mut self, call_id: &str) {
        if let Some((used, signature)) = self.by_call.remove(call_id) {
            self.by_use.remove(&used);
            self.bytes -= call_id.len() + signature.len();
        }
    }
}

/// The ids and signatures of the calls of a response.
pub(crate) fn signatures_of(dialect: &str, message: &[u8]) -> Vec<(String, String)> {
    if !has_signatures(dialect) {
        return Vec::new();
    }
    let Ok(message) = serde_json::from_slice::<Value>(message) else { return Vec::new() };
    let calls = calls_of(dialect, &message, Side::Response);
    calls.iter().filter_map(|call| Some((call.id.to_owned(), call.signature?.to_owned()))).collect()
}

/// Whether the calls of a dialect can have signatures.
pub(crate) fn has_signatures(dialect: &str) -> bool {
    matches!(dialect, "gemini_generate" | "openai_chat")
}

/// Whether a document is a request or a response.
#[derive(Clone, Copy)]
enum Side {
    Request,
    Response,
}

/// A call with its signature.
struct SignedCall<'v> {
    id: &'v str,
    signature: Option<&'v str>,
}

fn calls_of<'v>(dialect: &str, document: &'v Value, side: Side) -> Vec<SignedCall<'v>> {
    let messages: Vec<&Value> = match (dialect, side) {
        ("gemini_generate", Side::Request) => list(document, "contents").collect(),
        ("gemini_generate", Side::Response) => {
            list(document, "candidates").filter_map(|it| it.get("content")).collect()
        }
        (_, Side::Request) => list(document, "messages").collect(),
        (_, Side::Response) => list(document, "choices").filter_map(|it| it.get("message")).collect(),
    };
    let read = if dialect == "gemini_generate" { gemini_calls } else { chat_calls };
    messages.into_iter().flat_map(read).collect()
}

fn gemini_calls(content: &Value) -> Vec<SignedCall<'_>> {
    list(content, "parts")
        .filter_map(|part| {
            let call = part.get("functionCall").or_else(|| part.get("function_call"))?;
            let signature = part.get("thoughtSignature").or_else(|| part.get("thought_signature"));
            Some(SignedCall { id: call.get("id")?.as_str()?, signature: signature.and_then(Value::as_str) })
        })
        .collect()
}

fn chat_calls(message: &Value) -> Vec<SignedCall<'_>> {
    list(message, "tool_calls")
        .filter_map(|call| {
            let signature = call.pointer("/extra_content/google/thought_signature");
            Some(SignedCall { id: call.get("id")?.as_str()?, signature: signature.and_then(Value::as_str) })
        })
        .collect()
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESPONSE: &[u8] = br#"{"candidates":[{"content":{"role":"model","parts":[
        {"functionCall":{"id":"c1","name":"ls","args":{}},"thoughtSignature":"c2ln"},
        {"functionCall":{"id":"c2","name":"ls","args":{}}}]}}]}"#;

    fn request(signature: &str) -> String {
        format!(
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}},
            {{"role":"model","parts":[{{"functionCall":{{"id":"c1","name":"ls","args":{{}}}}{signature}}}]}}]}}"#
        )
    }

    #[test]
    fn a_lost_signature_is_found_by_the_id_of_its_call() {
        let memory = SignatureMemory::new(1024);
        assert!(memory.lost("gemini_generate", request("").as_bytes()).is_empty());
        assert_eq!(memory.learn("gemini_generate", RESPONSE), 1);
        assert_eq!(memory.lost("gemini_generate", request("").as_bytes()).get("c1"), Some("c2ln"));
        let own = request(r#","thoughtSignature":"b3du""#);
        assert!(memory.lost("gemini_generate", own.as_bytes()).is_empty());
        assert!(memory.lost("anthropic_messages", request("").as_bytes()).is_empty());
    }

    #[test]
    fn signatures_in_chats_are_found_too() {
        let memory = SignatureMemory::new(1024);
        let call = |extra: &str| {
            format!(r#"{{"id":"a","type":"function","function":{{"name":"n","arguments":"{{}}"}}{extra}}}"#)
        };
        let signed = call(r#","extra_content":{"google":{"thought_signature":"c2ln"}}"#);
        let response = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{signed}]}}}}]}}"#);
        assert_eq!(memory.learn("openai_chat", response.as_bytes()), 1);
        let request = |call: &str| format!(r#"{{"messages":[{{"role":"assistant","tool_calls":[{call}]}}]}}"#);
        assert_eq!(memory.lost("openai_chat", request(&call("")).as_bytes()).get("a"), Some("c2ln"));
        assert!(memory.lost("openai_chat", request(&signed).as_bytes()).is_empty());
    }

    #[test]
    fn the_least_recently_used_signatures_go_first() {
        let memory = SignatureMemory::new(30);
        for id in ["a", "b", "c"] {
            memory.keep(id, "123456789");
        }
        assert_eq!(memory.get("a").as_deref(), Some("123456789"));
        memory.keep("d", "123456789");
        let known = |id: &str| memory.get(id).is_some();
        assert_eq!([known("a"), known("b"), known("c"), known("d")], [true, false, true, true]);
        memory.keep("a", "new");
        assert_eq!(memory.get("a").as_deref(), Some("new"));
        assert_eq!(memory.lock().bytes, 24);
        memory.keep("big", &"x".repeat(100));
        let kept = memory.lock();
        assert_eq!((kept.bytes, kept.by_use.len()), (0, 0), "one that is too large leaves nothing");
    }
}
