//! Remembers the signatures of tool calls, so that a client that lost them gets them back.
//!
//! Gemini signs tool calls and rejects a request whose calls lost their signature. Signatures are kept by the id of the
//! call and not by conversation: a session that a client resumes has the same calls under another identity.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline::{Signatures, signatures};
use serde::{Deserialize, Serialize};

use crate::recent::Recent;

/// The longest signature that is kept.
const SIGNATURE_BYTES_MAX: usize = 64 * 1024;

/// The bytes that an entry takes beside its signature.
const ENTRY_BYTES: usize = size_of::<CallMark>();

/// The mark of a tool call: a hash of its id.
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

/// A bounded memory of signatures. The least recently used ones go first.
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
        let marked = signed.map(|(id, signature)| (CallMark::of(&id), signature));
        marked.filter(|(call, signature)| self.keep(*call, signature)).collect()
    }

    /// The known signatures of calls that a request makes without one, and whether one of them is not known. It looks
    /// only at bodies of a dialect with signatures.
    pub fn lost(&self, dialect: &str, body: &[u8]) -> (Signatures, bool) {
        let mut is_missing = false;
        let known = signatures::unsigned_calls(dialect, body).into_iter().filter_map(|id| {
            let signature = self.get(CallMark::of(&id));
            is_missing |= signature.is_none();
            Some((id, signature?))
        });
        (known.collect(), is_missing)
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
        assert_eq!(learnt, [(CallMark::of("c1"), "c2ln".to_owned())]);
        assert_eq!(memory.learn("gemini_generate", RESPONSE), []);
        for unsigned in ["", r#","thoughtSignature":"skip_thought_signature_validator""#] {
            assert_eq!(lost("gemini_generate", unsigned), (Some("c2ln".to_owned()), false));
        }
        assert_eq!(lost("gemini_generate", r#","thoughtSignature":"b3du""#), (None, false));
        assert_eq!(lost("anthropic_messages", ""), (None, false));
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
