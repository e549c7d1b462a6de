//! Remembers the signatures of tool calls, so that a client that lost them gets them back.
//!
//! Gemini signs tool calls and rejects a request whose calls lost their signature. Signatures are kept by the id, the
//! tool and the input of the call and not by conversation: a session that a client resumes has the same calls under
//! another identity. The id alone is not enough, because some servers count it from zero in every conversation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline::signatures::SignableCall;
use seamline::{Signatures, signatures};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::recent::Recent;

/// The longest signature that is kept.
const SIGNATURE_BYTES_MAX: usize = 64 * 1024;

/// The bytes that an entry takes beside its signature.
const ENTRY_BYTES: usize = size_of::<CallMark>();

/// The mark of a tool call: a hash of its id, or of its id, its tool and its input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CallMark([u8; 16]);

impl CallMark {
    /// The mark of the call with this id.
    pub fn of(id: &str) -> Self {
        let mut mark = [0; 16];
        mark.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..16]);
        Self(mark)
    }

    /// The mark of a call that can be signed. How a client writes the same input makes no difference.
    pub fn of_call(call: &SignableCall) -> Self {
        let mut hasher = blake3::Hasher::new();
        let input = serde_json::from_str::<Value>(&call.input).map_or_else(|_| call.input.clone(), sorted);
        for part in [&call.id, &call.tool, &input] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut mark = [0; 16];
        mark.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(mark)
    }
}

/// A value with the members of every object in the order of their names.
fn sorted(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

impl fmt::Display for CallMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for CallMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallMark({self})")
    }
}

impl From<CallMark> for String {
    fn from(mark: CallMark) -> Self {
        mark.to_string()
    }
}

impl TryFrom<String> for CallMark {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text, 16).map(|number| Self(number.to_be_bytes()))
    }
}

/// A bounded memory of signatures. The least recently used ones are removed first.
#[derive(Debug)]
pub struct SignatureMemory {
    bytes_max: AtomicUsize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_call: Recent<CallMark, String>,
    bytes: usize,
}

impl SignatureMemory {
    /// An empty memory that keeps at most so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max: AtomicUsize::new(bytes_max), kept: Mutex::default() }
    }

    /// Changes the most bytes. The next signature that is kept applies them.
    pub fn set_bytes_max(&self, bytes_max: usize) {
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// Remembers the signatures of a response. `message` is the response without streaming, as
    /// [`Response::message`](seamline::stream::Response) holds it. Returns those that are new.
    pub fn learn(&self, dialect: &str, message: &[u8]) -> Vec<(CallMark, String)> {
        let signed = signatures::of_response(dialect, message).into_iter();
        let marked = signed.map(|call| (CallMark::of_call(&call), call.signature));
        marked.filter(|(call, signature)| self.keep(*call, signature)).collect()
    }

    /// The known signatures of calls that a request makes without one, and whether one of them is not known. It looks
    /// only at bodies of a dialect with signatures.
    pub fn lost(&self, dialect: &str, body: &[u8]) -> (Signatures, bool) {
        let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
        for call in signatures::unsigned_calls(dialect, body) {
            let signature = self.get(CallMark::of_call(&call));
            let first = known.entry(call.id).or_insert_with(|| signature.clone());
            // A signature is given to an id, so calls that share one and have others get none.
            if *first != signature {
                *first = None;
            }
        }
        let is_missing = known.values().any(Option::is_none);
        (known.into_iter().filter_map(|(id, signature)| Some((id, signature?))).collect(), is_missing)
    }

    /// Whether no signature is known.
    pub fn is_empty(&self) -> bool {
        self.lock().bytes == 0
    }

    fn get(&self, call: CallMark) -> Option<String> {
        self.lock().by_call.get(&call).cloned()
    }

    /// Remembers one signature. Returns whether it is new.
    pub fn keep(&self, call: CallMark, signature: &str) -> bool {
        if signature.is_empty() || signature.len() > SIGNATURE_BYTES_MAX {
            return false;
        }
        let mut kept = self.lock();
        if kept.by_call.get(&call).is_some_and(|known| known == signature) {
            return false;
        }
        kept.bytes += ENTRY_BYTES + signature.len();
        let before = kept.by_call.put(call, signature.to_owned());
        kept.bytes -= before.map_or(0, |before| ENTRY_BYTES + before.len());
        while kept.bytes > self.bytes_max.load(Ordering::Relaxed) {
            let Some(oldest) = kept.by_call.remove_oldest() else { break };
            kept.bytes -= ENTRY_BYTES + oldest.len();
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        let lost = |dialect: &str, signature: &str| {
            let (known, is_missing) = memory.lost(dialect, request(signature).as_bytes());
            (known.get("c1").map(str::to_owned), is_missing)
        };
        assert_eq!(lost("gemini_generate", ""), (None, true));
        let learnt = memory.learn("gemini_generate", RESPONSE);
        assert_eq!(learnt.len(), 1);
        assert_eq!(memory.learn("gemini_generate", RESPONSE), []);
        for unsigned in ["", r#","thoughtSignature":"skip_thought_signature_validator""#] {
            assert_eq!(lost("gemini_generate", unsigned), (Some("c2ln".to_owned()), false));
        }
        assert_eq!(lost("gemini_generate", r#","thoughtSignature":"b3du""#), (None, false));
        assert_eq!(lost("anthropic_messages", ""), (None, false));
    }

    #[test]
    fn another_call_with_the_same_id_gets_no_signature() {
        let memory = SignatureMemory::new(1024);
        memory.learn("gemini_generate", RESPONSE);
        let body = |calls: &[(&str, &str)]| {
            let part = |(name, args): &(&str, &str)| {
                format!(r#"{{"functionCall":{{"id":"c1","name":"{name}","args":{args}}}}}"#)
            };
            let parts = calls.iter().map(part).collect::<Vec<_>>().join(",");
            format!(r#"{{"contents":[{{"role":"model","parts":[{parts}]}}]}}"#)
        };
        let known =
            |calls: &[(&str, &str)]| memory.lost("gemini_generate", body(calls).as_bytes()).0.get("c1").is_some();
        assert!(known(&[("ls", "{ }")]));
        assert!(!known(&[("rm", "{}")]) && !known(&[("ls", r#"{"a":1}"#)]) && !known(&[("ls", "{}"), ("rm", "{}")]));
        let call =
            |input: &str| CallMark::of_call(&SignableCall { input: input.to_owned(), ..SignableCall::default() });
        assert_eq!(call(r#"{"a":{"x":1,"y":2},"b":3}"#), call(r#"{"b": 3, "a": {"y": 2, "x": 1}}"#));
    }

    #[test]
    fn the_least_recently_used_signatures_go_first() {
        let memory = SignatureMemory::new(3 * (ENTRY_BYTES + 9));
        let mark = CallMark::of;
        for id in ["a", "b", "c"] {
            assert!(memory.keep(mark(id), "123456789") && !memory.keep(mark(id), "123456789"));
        }
        assert_eq!(memory.get(mark("a")).as_deref(), Some("123456789"));
        memory.keep(mark("d"), "123456789");
        let known = |id: &str| memory.get(mark(id)).is_some();
        assert_eq!([known("a"), known("b"), known("c"), known("d")], [true, false, true, true]);
        memory.keep(mark("a"), "new");
        assert_eq!(memory.get(mark("a")).as_deref(), Some("new"));
        assert_eq!(memory.lock().bytes, 3 * ENTRY_BYTES + 21);
        memory.keep(mark("big"), &"x".repeat(200));
        let kept = memory.lock();
        assert_eq!((kept.bytes, kept.by_call.len()), (0, 0), "one that is too large leaves nothing");
    }

    #[test]
    fn a_mark_is_read_back() {
        let mark = CallMark::of("c1");
        let text = serde_json::to_string(&mark).unwrap();
        assert_eq!((serde_json::from_str::<CallMark>(&text).unwrap(), text.len()), (mark, 34));
    }
}
