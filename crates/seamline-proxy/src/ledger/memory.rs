//! The knowledge about calls and conversations beside the last request: signatures, rejected members and synthetic
//! results.
//!
//! It holds hashes, signatures, codes and words that a dialect defines, so it can be stored.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline::store::RejectedMembers;

use crate::identity::ConversationKey;
use crate::recent::Recent;
use crate::signatures::{CallMark, SignatureMemory};

/// The most conversations of which something is known.
const CONVERSATIONS_MAX: usize = 4096;

/// The most synthetic results of a conversation that are known.
pub(crate) const SYNTHETIC_MAX: usize = 256;

/// The knowledge about one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// The members that its provider rejected. Later requests with the same terms leave them out for a time.
    pub(crate) rejected: RejectedMembers,
    /// When the provider rejected the last one, in milliseconds since 1970.
    pub(crate) rejected_at: u64,
    /// The calls that were answered by a synthetic result, with the rule and the action that made it.
    pub(crate) synthetic: BTreeMap<CallMark, String>,
}

/// The memory of a ledger beside the last requests.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) signatures: SignatureMemory,
    known: Mutex<Recent<ConversationKey, Known>>,
}

impl Memory {
    pub(crate) fn new(signature_bytes_max: usize) -> Self {
        Self { signatures: SignatureMemory::new(signature_bytes_max), known: Mutex::default() }
    }

    /// The knowledge about a conversation; `None` where there is none.
    pub(crate) fn known(&self, key: &ConversationKey) -> Option<Known> {
        self.lock().get(key).cloned()
    }

    /// Replaces the knowledge about a conversation. Returns whether it is new.
    pub(crate) fn learn(&self, key: ConversationKey, known: Known) -> bool {
        let mut all = self.lock();
        let is_new = all.get(&key) != Some(&mut known.clone());
        all.put(key, known);
        while all.len() > CONVERSATIONS_MAX {
            all.remove_oldest();
        }
        is_new
    }

    fn lock(&self) -> MutexGuard<'_, Recent<ConversationKey, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;

    use super::*;

    #[test]
    fn the_oldest_conversations_are_forgotten() {
        let memory = Memory::new(1024);
        let key = |number: usize| ConversationKey::of(&number.to_string(), None, &HeaderMap::new(), b"");
        let known = || Known { synthetic: BTreeMap::from([(CallMark::of("c"), String::new())]), ..Known::default() };
        for number in 0..=CONVERSATIONS_MAX {
            assert!(memory.learn(key(number), known()));
            assert!(!memory.learn(key(number), known()));
        }
        assert_eq!((memory.known(&key(0)), memory.known(&key(1))), (None, Some(known())));
    }
}
