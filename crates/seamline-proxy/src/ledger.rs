//! Memory between requests: the last request of each conversation, and the signatures of calls.
//!
//! Requests of a conversation extend each other. The ledger keeps what was read of the last one, so that only the new
//! messages of the next one are read and checked. The outcome never depends on the ledger: a repair of the same bytes
//! under the same options gives the same bytes. So repairs stay identical from request to request.

mod entry;
mod memory;
mod store;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use seamline::outline::{OutlineKind, outline_at};
use seamline::repair::Repaired;
use seamline::requests::{Requests, Unread};
use seamline::store::RejectedMembers;
use seamline::{Error, Options, signatures};

use self::entry::Entry;
pub(crate) use self::memory::Known;
use self::memory::{Memory, SYNTHETIC_MAX};
use self::store::LedgerStore;
use crate::identity::ConversationKey;
use crate::signatures::{CallMark, SignatureMemory};

pub use self::store::LedgerStoreSettings;

/// The size from which requests are kept to read the next one faster.
const KEPT_BYTES_MIN: usize = 8 << 10;

/// How long requests leave out what the provider rejected. Later it may accept it: models and servers change.
const REJECTED_TIME_MS: u64 = 60 * 60 * 1000;

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
    memory: Arc<Memory>,
    store: Option<Arc<LedgerStore>>,
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
        let memory = Arc::new(Memory::new(limits.signature_bytes_max));
        Self { limits, memory, store: None, conversations: Mutex::default() }
    }

    /// A ledger whose signatures and repairs outlive it in a store, and that shares them with the ledgers of other
    /// proxies.
    ///
    /// # Errors
    /// Fails when the system starts no thread. A store that does not work is reported in the log, and tried again.
    pub fn stored(limits: LedgerLimits, settings: LedgerStoreSettings) -> std::io::Result<Self> {
        let ledger = Self::new(limits);
        let store = LedgerStore::start(settings, Arc::clone(&ledger.memory))?;
        Ok(Self { store: Some(Arc::new(store)), ..ledger })
    }

    /// A ledger with other limits that knows what this one knows, except the last requests.
    #[must_use]
    pub fn with_limits(&self, limits: LedgerLimits) -> Self {
        self.memory.signatures.set_bytes_max(limits.signature_bytes_max);
        let (memory, store) = (Arc::clone(&self.memory), self.store.clone());
        Self { limits, memory, store, conversations: Mutex::default() }
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
        if body.len() < KEPT_BYTES_MIN {
            return self.repair_small(body, options);
        }
        // The conversation is taken out while it is in use. A second request at the same time starts without it.
        let mut requests = self.lock().take(key).unwrap_or_default();
        let mut repaired = requests.repair(body, options)?;
        let unread = requests.unread();
        if repaired.has_unsigned_calls() {
            let (signatures, _) = self.memory.signatures.lost(repaired.dialect, body);
            if !signatures.is_empty() {
                repaired = requests.repair(body, &Options { signatures, ..options.clone() })?;
            }
        }
        // To free long conversations takes its time, so no other request waits for it.
        let gone = self.lock().put(*key, requests, &self.limits);
        drop(gone);
        Ok((repaired, unread))
    }

    /// Repairs a short request and keeps nothing of it: to read it again is faster than to keep it.
    fn repair_small<'b>(&self, body: &'b Bytes, options: &Options) -> Result<(Repaired<'b>, Unread), Error> {
        let mut repaired = seamline::repair(body, options)?;
        if repaired.has_unsigned_calls() {
            let (signatures, _) = self.memory.signatures.lost(repaired.dialect, body);
            if !signatures.is_empty() {
                repaired = seamline::repair(body, &Options { signatures, ..options.clone() })?;
            }
        }
        Ok((repaired, Unread::default()))
    }

    /// Restores signatures in the places of the provider's replacements for lost ones. Also returns whether there may be
    /// such replacements. A client can have one from an earlier repair.
    pub(crate) fn restored(&self, dialect: &str, body: &[u8]) -> (Option<Bytes>, bool) {
        // Without a signature to put, the bytes need not be searched.
        let can_restore = self.store.is_some() || !self.memory.signatures.is_empty();
        if !can_restore || !signatures::may_be_replaced(dialect, body) {
            return (None, false);
        }
        let (known, _) = self.memory.signatures.lost(dialect, body);
        (signatures::restored(dialect, body, &known).map(Bytes::from), true)
    }

    /// Whether a body has calls whose signatures another proxy may know.
    pub(crate) fn is_missing_signatures(&self, dialect: &str, body: &[u8]) -> bool {
        self.store.is_some() && self.memory.signatures.lost(dialect, body).1
    }

    /// Remembers the signatures of a response.
    pub fn learn(&self, dialect: &str, response: &[u8]) {
        for (call, signature) in self.memory.signatures.learn(dialect, response) {
            self.write(Entry::Signature { call, signature });
        }
    }

    /// The knowledge about a conversation; `None` where there is none.
    pub(crate) fn known(&self, key: &ConversationKey) -> Option<Known> {
        self.memory.known(key)
    }

    /// The members that the provider of a conversation rejected not long before; `now` is in milliseconds since 1970.
    /// `terms` is the key of the conversation under the terms of the request.
    pub(crate) fn rejected(&self, terms: &ConversationKey, now: u64) -> RejectedMembers {
        let known = self.memory.known(terms).unwrap_or_default();
        if now.saturating_sub(known.rejected_at) > REJECTED_TIME_MS {
            RejectedMembers::default()
        } else {
            known.rejected
        }
    }

    /// Remembers members that the provider of a conversation rejected.
    pub(crate) fn reject(&self, terms: ConversationKey, rejected: &RejectedMembers, now: u64) {
        let mut all = self.rejected(&terms, now);
        all.extend(rejected);
        self.learn_of(terms, Known { rejected: all, rejected_at: now, synthetic: BTreeMap::new() });
    }

    /// Remembers which calls of a request were sent with a synthetic result. `before` is what was known of its
    /// conversation.
    pub(crate) fn note_synthetic(
        &self,
        key: ConversationKey,
        before: Option<&Known>,
        synthetic: &BTreeMap<CallMark, String>,
    ) {
        if before.map_or(synthetic.is_empty(), |known| known.synthetic == *synthetic) {
            return;
        }
        self.learn_of(key, Known { synthetic: synthetic.clone(), ..Known::default() });
    }

    /// The number of calls of a body that have a result and were sent with a synthetic one before.
    pub(crate) fn count_late(known: Option<&Known>, repaired: &Repaired<'_>, body: &[u8], options: &Options) -> u64 {
        let Some(known) = known.filter(|known| !known.synthetic.is_empty()) else { return 0 };
        let now = synthetic(repaired);
        if known.synthetic.keys().all(|call| now.contains_key(call)) {
            return 0;
        }
        let messages = outline_at(body, options, 0..repaired.messages, 0).unwrap_or_default();
        let blocks = messages.into_iter().flat_map(|message| message.blocks);
        let results = blocks.filter(|block| block.kind == OutlineKind::Result).filter_map(|block| block.id);
        let is_late = |call: &CallMark| known.synthetic.contains_key(call) && !now.contains_key(call);
        results.map(|id| CallMark::of(&id)).filter(is_late).count() as u64
    }

    /// Waits until the store was read once, if there is one.
    pub(crate) async fn wait_until_loaded(&self) {
        if let Some(store) = &self.store {
            store.wait_until_loaded().await;
        }
    }

    /// Reads what other proxies wrote to the store. Returns whether it answered in time.
    pub(crate) async fn read_store(&self) -> bool {
        match &self.store {
            Some(store) => store.read().await,
            None => false,
        }
    }

    fn learn_of(&self, key: ConversationKey, known: Known) {
        let entry = Entry::of_conversation(key, &known);
        if self.memory.learn(key, known) {
            self.write(entry);
        }
    }

    fn write(&self, entry: Entry) {
        if let Some(store) = &self.store {
            store.write(entry);
        }
    }

    /// The signatures of calls.
    pub fn signatures(&self) -> &SignatureMemory {
        &self.memory.signatures
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

/// The calls that a repair answers by a synthetic result, with the rule and the action that makes it.
pub(crate) fn synthetic(repaired: &Repaired<'_>) -> BTreeMap<CallMark, String> {
    let made_up = repaired.actions.iter().filter(|action| action.synthetic);
    let marked = made_up.filter_map(|action| {
        let call = CallMark::of(action.call_id.as_deref()?);
        Some((call, format!("{} {}", action.code, action.action)))
    });
    marked.take(SYNTHETIC_MAX).collect()
}

impl Conversations {
    fn take(&mut self, key: &ConversationKey) -> Option<Requests> {
        let remembered = self.by_key.remove(key)?;
        self.by_use.remove(&remembered.used);
        self.bytes -= remembered.bytes;
        Some(remembered.requests)
    }

    /// Keeps a conversation. Returns what makes room for it.
    fn put(&mut self, key: ConversationKey, requests: Requests, limits: &LedgerLimits) -> Vec<Requests> {
        let bytes = requests.held_bytes();
        if bytes == 0 {
            return Vec::new();
        }
        let mut gone: Vec<_> = self.take(&key).into_iter().collect();
        self.uses += 1;
        let used = self.uses;
        self.bytes += bytes;
        self.by_use.insert(used, key);
        self.by_key.insert(key, Remembered { requests, bytes, used });
        while self.bytes > limits.bytes_max || self.by_key.len() > limits.conversations_max {
            let Some((_, oldest)) = self.by_use.pop_first() else { break };
            gone.extend(self.take(&oldest));
        }
        gone
    }
}

#[cfg(test)]
mod tests;
