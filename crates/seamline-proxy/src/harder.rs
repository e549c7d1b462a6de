//! A stronger repair of a request that its provider rejected.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use seamline::classify::{Certainty, Class, Failure, Verdict};
use seamline::{Options, classify};

use crate::identity::ConversationKey;
use crate::inspect::Inspected;
use crate::state::Lens;

/// The most conversations whose stronger options are kept.
const LEARNED_MAX: usize = 256;

/// What a provider said about a request that it rejected.
pub(crate) struct Rejection<'r> {
    /// The status of the response.
    pub(crate) status: u16,
    /// The decoded body of the response.
    pub(crate) text: &'r str,
}

/// What came of a stronger repair.
pub(crate) enum Attempt {
    /// The error is not about the history.
    NotAboutHistory,
    /// No other body comes out. The text is the name of the error.
    NothingLeft(&'static str),
    /// Another body came out.
    Repaired(Harder),
}

/// A stronger repair.
pub(crate) struct Harder {
    /// The options that gave it.
    pub(crate) options: Arc<Options>,
    /// The repaired body and what was done.
    pub(crate) inspected: Inspected,
}

/// Repairs a body that a provider rejected, once more and harder. `used` are the options of the repair so far.
pub(crate) fn repair(lens: &Lens, used: &Options, sent: &Bytes, rejection: &Rejection<'_>) -> Attempt {
    let failure = Failure {
        provider: lens.options.provider.as_deref(),
        dialect: Some(lens.dialect),
        status: Some(rejection.status),
        text: rejection.text,
        ..Failure::default()
    };
    let verdict = classify(&failure);
    if verdict.class != Class::Corruption || verdict.certainty != Certainty::Known {
        return Attempt::NotAboutHistory;
    }
    match repair_after(&verdict, used, sent) {
        Some(harder) => Attempt::Repaired(harder),
        None => Attempt::NothingLeft(verdict.name),
    }
}

fn repair_after(verdict: &Verdict, used: &Options, sent: &Bytes) -> Option<Harder> {
    let mut options = used.clone();
    options.policy.reject_members(&verdict.members);
    if let Some(inspected) = repaired(sent, &options) {
        return Some(Harder { options: Arc::new(options), inspected });
    }
    // The provider says that the history is broken, so a fix that alters it is better than a conversation that is stuck.
    // The client still has its own history.
    if !is_found(verdict, sent, &options) {
        return None;
    }
    options.policy.allow_unsafe();
    let inspected = repaired(sent, &options)?;
    Some(Harder { options: Arc::new(options), inspected })
}

/// The repair of a body; `None` where it changes nothing or leaves more errors than there were.
fn repaired(sent: &Bytes, options: &Options) -> Option<Inspected> {
    let repaired = seamline::repair(sent, options).ok()?;
    let inspected = Inspected::of(&repaired);
    let is_better = inspected.repaired.is_some() && inspected.remaining as u64 <= inspected.error_count();
    is_better.then_some(inspected)
}

/// Whether the check finds what the provider complains about.
fn is_found(verdict: &Verdict, sent: &[u8], options: &Options) -> bool {
    seamline::check(sent, options).is_ok_and(|checked| !classify::causes(verdict, &checked).is_empty())
}

/// The options that made a provider accept a conversation. The next requests of the conversation get the same repair at
/// once, so that what the provider sees stays the same.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_key: HashMap<ConversationKey, (u64, Arc<Options>)>,
    by_use: BTreeMap<u64, ConversationKey>,
    uses: u64,
}

impl Learned {
    /// The options of a conversation.
    pub(crate) fn get(&self, key: &ConversationKey) -> Option<Arc<Options>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.by_key.get(key).map(|(_, options)| Arc::clone(options))
    }

    /// Keeps the options of a conversation. The oldest go first.
    pub(crate) fn keep(&self, key: ConversationKey, options: Arc<Options>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let used = kept.uses;
        if let Some((before, _)) = kept.by_key.insert(key, (used, options)) {
            kept.by_use.remove(&before);
        }
        kept.by_use.insert(used, key);
        while kept.by_key.len() > LEARNED_MAX {
            let Some((_, oldest)) = kept.by_use.pop_first() else { break };
            kept.by_key.remove(&oldest);
        }
    }

    /// Forgets all options.
    pub(crate) fn clear(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Kept::default();
    }
}
