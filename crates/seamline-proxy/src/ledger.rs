//! Memory between requests: the last request of each conversation, and the signatures of calls.
//!
//! Requests of a conversation extend each other. The ledger keeps what was read of the last one, so that only the new
//! messages of the next one are read and checked. The outcome never depends on the ledger: a repair of the same bytes
//! under the same options gives the same bytes. So repairs stay identical from request to request.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use seamline::repair::Repaired;
use seamline::requests::{Requests, Unread};
use seamline::{Error, Options};

use crate::identity::ConversationKey;
use crate::signatures::SignatureMemory;

/// The bounds of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerLimits {
    /// The most conversations that are remembered.
    pub conversations_max: usize,
    /// The most bytes that remembered conversations hold.
    pub bytes_max: usize,
    /// The most bytes of remembered signatures.
    pub signature_bytes_max: usize,
}

impl Default for LedgerLimits {
    fn default() -> Self {
        Self { conversations_max: 256, bytes_max: 32 << 20, signature_bytes_max: 8 << 20 }
    }
}

/// The memory of a proxy.
#[derive(Debug)]
pub struct Ledger {
    limits: LedgerLimits,
    signatures: SignatureMemory,
    conversations: Mutex<Conversations>,
}

/// The conversations of a ledger. The least recently used ones go first.
#[derive(Debug, Default)]
struct Conversations {
    by_key: HashMap<ConversationKey, Remembered>,
    by_use: BTreeMap<u64, ConversationKey>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Remembered {
    requests: Requests,
    bytes: usize,
    used: u64,
}

impl Ledger {
    /// An empty ledger.
    pub fn new(limits: LedgerLimits) -> Self {
        let signatures = SignatureMemory::new(limits.signature_bytes_max);
        Self { limits, signatures, conversations: Mutex::default() }
    }

    /// Repairs a request of a conversation, as [`seamline::repair`](fn@seamline::repair) does. A request that extends
    /// the last one of its conversation is read only from its first new message on. Calls that lost their signature get
    /// it back.
    ///
    /// # Errors
    /// As [`seamline::repair`](fn@seamline::repair).
    pub fn repair<'b>(
        &self,
        key: &ConversationKey,
        body: &'b Bytes,
        options: &Options,
    ) -> Result<(Repaired<'b>, Unread), Error> {
        // The conversation is taken out while it is in use. A second request at the same time starts without it.
        let mut requests = self.lock().take(key).unwrap_or_default();
        let mut repaired = requests.repair(body, options)?;
        let unread = requests.unread();
        if repaired.has_unsigned_calls() {
            let signatures = self.signatures.lost(repaired.dialect, body);
            if !signatures.is_empty() {
                repaired = requests.repair(body, &Options { signatures, ..options.clone() })?;
            }
        }
        self.lock().put(*key, requests, &self.limits);
        Ok((repaired, unread))
    }

    /// The signatures of calls.
    pub fn signatures(&self) -> &SignatureMemory {
        &self.signatures
    }

    /// The number of remembered conversations and the bytes that they hold.
    pub fn size(&self) -> (usize, usize) {
        let conversations = self.lock();
        (conversations.by_key.len(), conversations.bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Conversations> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversations {
    fn take(&mut self, key: &ConversationKey) -> Option<Requests> {
        let remembered = self.by_key.remove(key)?;
        self.by_use.remove(&remembered.used);
        self.bytes -= remembered.bytes;
        Some(remembered.requests)
    }

    fn put(&mut self, key: ConversationKey, requests: Requests, limits: &LedgerLimits) {
        let bytes = requests.held_bytes();
        if bytes == 0 {
            return;
        }
        self.take(&key);
        self.uses += 1;
        let used = self.uses;
        self.bytes += bytes;
        self.by_use.insert(used, key);
        self.by_key.insert(key, Remembered { requests, bytes, used });
        while self.bytes > limits.bytes_max || self.by_key.len() > limits.conversations_max {
            let Some((_, oldest)) = self.by_use.pop_first() else { break };
            self.take(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
