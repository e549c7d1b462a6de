//! The entries of a ledger in a store.

use std::collections::BTreeMap;

use seamline::store::{self, IncidentKind, IncidentSeverity, Raw, RejectedMembers};
use seamline::words::is_word;
use serde::{Deserialize, Serialize};

use super::memory::{Known, Memory};
use crate::identity::ConversationKey;
use crate::signatures::CallMark;

/// One entry: hashes, signatures, codes and words of a dialect, and nothing that a user, a model or a tool wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// The signature of a call.
    Signature { call: CallMark, signature: String },
    /// The knowledge about a conversation.
    Conversation {
        key: ConversationKey,
        #[serde(default, skip_serializing_if = "RejectedMembers::is_empty")]
        rejected: RejectedMembers,
        #[serde(default, skip_serializing_if = "is_never")]
        rejected_at: u64,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        synthetic: BTreeMap<CallMark, String>,
    },
}

impl Entry {
    /// The entry about a conversation. A rejected member whose name is not a word of a dialect is left out, because the
    /// name may come from a user; its provider rejects it again.
    pub(super) fn of_conversation(key: ConversationKey, known: &Known) -> Self {
        let RejectedMembers { names, paths, reasoning, proved } = &known.rejected;
        let is_index = |part: &String| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_free_of_content = |path: &&Vec<String>| path.iter().all(|part| is_word(part) || is_index(part));
        let rejected = RejectedMembers {
            names: names.iter().filter(|name| is_word(name)).cloned().collect(),
            paths: paths.iter().filter(is_free_of_content).cloned().collect(),
            reasoning: reasoning.clone(),
            proved: proved.clone(),
        };
        Self::Conversation { key, rejected, rejected_at: known.rejected_at, synthetic: known.synthetic.clone() }
    }

    /// The entry as a session stores it.
    pub(super) fn to_record(&self, at: u64) -> store::Incident {
        let detail = match self {
            Self::Signature { .. } => "the signature of a call",
            Self::Conversation { .. } => "the repairs of a conversation",
        };
        let mut record = store::Incident::new(at, IncidentKind::Other, IncidentSeverity::Info, detail);
        record.exchange = Raw::of(self).ok();
        record
    }

    /// Reads a stored entry; `None` where it is something else.
    pub(super) fn of_record(record: &store::Incident) -> Option<Self> {
        serde_json::from_str(record.exchange.as_ref()?.as_str()).ok()
    }

    /// The size of the entry in the store, about.
    pub(super) fn bytes(&self) -> u64 {
        const AROUND: usize = 256;
        let bytes = match self {
            Self::Signature { signature, .. } => signature.len(),
            Self::Conversation { rejected, synthetic, .. } => {
                let words = rejected.paths.iter().flatten().chain(&rejected.names).chain(&rejected.reasoning);
                let paths = words.map(|word| word.len() + 4).sum::<usize>();
                paths + synthetic.values().map(|action| action.len() + 40).sum::<usize>()
            }
        };
        (bytes + AROUND) as u64
    }

    /// Puts the entry into the memory. What this proxy knows itself wins over an older entry.
    pub(super) fn learn(self, memory: &Memory) {
        match self {
            Self::Signature { call, signature } => {
                memory.signatures.keep(call, &signature);
            }
            Self::Conversation { key, rejected, rejected_at, synthetic } => {
                let mut known = Known { rejected, rejected_at, synthetic };
                if let Some(before) = memory.known(&key) {
                    known.rejected.extend(&before.rejected);
                    known.rejected_at = known.rejected_at.max(before.rejected_at);
                }
                memory.learn(key, known);
            }
        }
    }
}

/// Whether no member was rejected.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_never(at: &u64) -> bool {
    *at == 0
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;

    use super::*;

    #[test]
    fn an_entry_has_no_names_of_a_user_and_is_read_back() {
        let key = ConversationKey::of("openai", None, &HeaderMap::new(), b"");
        let owned = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let known = Known {
            rejected: RejectedMembers {
                names: owned(&["hunter2", "refusal"]),
                paths: vec![owned(&["messages", "0", "refusal"]), owned(&["messages", "0", "hunter2"])],
                ..RejectedMembers::default()
            },
            rejected_at: 7,
            synthetic: BTreeMap::from([(CallMark::of("hunter2"), "PAIR001 synthesize".to_owned())]),
        };
        let entry = Entry::of_conversation(key, &known);
        let record = entry.to_record(7);
        let text = serde_json::to_string(&record).unwrap();
        assert!(!text.contains("hunter2") && text.contains(r#"["messages","0","refusal"]"#), "{text}");
        assert_eq!(Entry::of_record(&record), Some(entry));
    }
}
