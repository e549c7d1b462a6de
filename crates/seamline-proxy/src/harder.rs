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

/// The response of a provider that rejected a request.
pub(crate) struct Rejection<'r> {
    /// The status of the response.
    pub(crate) status: u16,
    /// The decoded body of the response.
    pub(crate) text: &'r str,
}

/// The outcome of a stronger repair.
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
    /// The options for the next requests of the conversation, if the error names members that the provider rejects.
    pub(crate) options: Option<Arc<Options>>,
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
        return Some(Harder { options: Some(Arc::new(options)), inspected });
    }
    // The provider says that the history is broken, so a fix that alters it is better than a conversation that is stuck.
    // The client still has its own history. The next request starts without such fixes: the provider may accept it.
    if !is_found(verdict, sent, &options) {
        return None;
    }
    options.policy.allow_unsafe();
    let inspected = repaired(sent, &options)?;
    Some(Harder { options: None, inspected })
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

/// The options that made a provider accept a conversation: which members it does not take. The next requests of the conversation get the same repair at
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

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;

    use super::*;

    const BODY: &[u8] = br#"{"messages":[{"role":"user","content":"hi","mood":"good"}]}"#;

    fn attempt(body: &'static [u8], text: &str) -> Attempt {
        let options = Options {
            dialect: Some("openai_chat".to_owned()),
            provider: Some("openai".to_owned()),
            ..Options::default()
        };
        let stream = seamline::stream::StreamOptions::default();
        let lens = Lens { dialect: "openai_chat", options: Arc::new(options), stream };
        repair(&lens, &lens.options, &Bytes::from_static(body), &Rejection { status: 400, text })
    }

    #[test]
    fn a_member_that_the_provider_names_is_removed_now_and_later() {
        let text = r#"{"error":{"message":"Unknown parameter: 'messages[0].mood'.","type":"invalid_request_error"}}"#;
        let Attempt::Repaired(harder) = attempt(BODY, text) else { panic!("no repair") };
        let expected = br#"{"messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(harder.inspected.repaired.as_deref(), Some(&expected[..]));
        let later = seamline::repair(BODY, &harder.options.unwrap()).unwrap();
        assert_eq!(&*later.body, expected);
    }

    #[test]
    fn a_fix_that_alters_the_history_counts_for_one_request() {
        let body = br#"{"messages":[{"role":"narrator","content":"hi"},{"role":"user","content":"go"}]}"#;
        let text = "Unsupported value: 'messages[0].role' does not support 'narrator' with this model.";
        let Attempt::Repaired(harder) = attempt(body, text) else { panic!("no repair") };
        assert!(harder.options.is_none() && harder.inspected.repaired.is_some());
    }

    #[test]
    fn other_errors_and_healthy_bodies_are_left_alone() {
        let quota = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
        assert!(matches!(attempt(BODY, quota), Attempt::NotAboutHistory));
        let pairs = "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                     'tool_call_id'. The following tool_call_ids did not have response messages: call_7";
        assert!(matches!(attempt(BODY, pairs), Attempt::NothingLeft(_)));
    }

    #[test]
    fn the_oldest_conversations_are_forgotten() {
        let learned = Learned::default();
        let key = |number: usize| ConversationKey::of(&number.to_string(), None, &HeaderMap::new(), b"");
        for number in 0..=LEARNED_MAX {
            learned.keep(key(number), Arc::default());
            learned.keep(key(number), Arc::default());
        }
        assert!(learned.get(&key(0)).is_none() && learned.get(&key(1)).is_some());
        assert_eq!(learned.kept.lock().unwrap().by_use.len(), LEARNED_MAX);
        learned.clear();
        assert!(learned.get(&key(1)).is_none());
    }
}
