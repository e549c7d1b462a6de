//! Checks and repairs the body of one request.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use hyper::HeaderMap;
use seamline::guards::{self, Reviewed};
use seamline::repair::Repaired;
use seamline::{Options, Severity};

use crate::config::{Config, Mode};
use crate::decide::Decision;
use crate::identity::ConversationKey;
use crate::journal::now_ms;
use crate::ledger::{self, Known, Ledger};
use crate::signatures::CallMark;
use crate::state::{Lens, Settings};
use crate::upstreams::Upstream;

/// The size from which a body is checked on a thread of its own, so that other connections do not wait for it.
const OWN_THREAD_BYTES: usize = 256 * 1024;

/// The most findings whose texts are kept for an error to the client.
const TEXTS_MAX: usize = 5;

/// The name of the repair that gives calls their own signatures in place of the provider's replacement.
const RESTORED: &str = "signature restore";

/// The outcome of a check and a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Inspected {
    /// The repaired body; `None` where nothing was changed.
    pub(crate) repaired: Option<Bytes>,
    /// The provider whose demands applied.
    pub(crate) provider: Option<&'static str>,
    /// The number of errors, by the code of their rule.
    pub(crate) errors: BTreeMap<String, u64>,
    /// The number of repairs, by the code of their rule and the action.
    pub(crate) actions: BTreeMap<String, u64>,
    /// The number of errors that the repair leaves.
    pub(crate) remaining: usize,
    /// Descriptions of the first errors, for the client.
    pub(crate) texts: Vec<String>,
    /// The calls that the repaired body answers by a synthetic result, with the rule and the action that made it.
    pub(crate) synthetic: BTreeMap<CallMark, String>,
    /// The number of calls that have a result now and were sent with a synthetic one before.
    pub(crate) late_results: u64,
    /// Whether another proxy may know signatures that the calls lost.
    pub(crate) lacks_signatures: bool,
}

/// A reason why a body was not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotInspected {
    /// The body cannot be read in its dialect, so the provider will say what is wrong.
    #[error("the body is not a readable request")]
    Unreadable,
    /// The code of the check failed.
    #[error("the check of the request failed")]
    Failed,
}

/// The checker of the bodies of one endpoint.
#[derive(Clone)]
pub(crate) struct Inspector {
    pub(crate) settings: Arc<Settings>,
    pub(crate) lens: Arc<Lens>,
    pub(crate) upstream: Arc<Upstream>,
}

/// The outcome of the check of one body.
pub(crate) struct Looked {
    /// The conversation that the body belongs to.
    pub(crate) conversation: ConversationKey,
    /// The same under the terms of this request, as [`ConversationKey::under_terms`] has it.
    pub(crate) terms: ConversationKey,
    /// The knowledge about the conversation before this request.
    pub(crate) known: Option<Known>,
    /// The options of the check.
    pub(crate) options: Arc<Options>,
    pub(crate) inspected: Result<Inspected, NotInspected>,
    /// The review of the calls, if the breaker is on and the body is readable.
    pub(crate) reviewed: Option<Reviewed>,
}

impl Looked {
    /// The treatment of a broken history for the provider of the body.
    pub(crate) fn mode(&self, config: &Config) -> Mode {
        config.mode_for(self.inspected.as_ref().ok().and_then(|inspected| inspected.provider))
    }

    /// Remembers which calls are sent with a synthetic result.
    pub(crate) fn note_sent(&self, ledger: &Ledger, decision: &Decision) {
        let Ok(inspected) = &self.inspected else { return };
        let is_repaired = decision.body.is_some() && decision.refusal.is_none();
        let nothing = BTreeMap::new();
        let synthetic = if is_repaired { &inspected.synthetic } else { &nothing };
        ledger.note_synthetic(self.conversation, self.known.as_ref(), synthetic);
    }
}

impl Inspector {
    /// Checks and repairs a body. The outcome is that of [`seamline::repair`](fn@seamline::repair).
    pub(crate) async fn look(&self, headers: &HeaderMap, body: &Bytes) -> Looked {
        self.settings.ledger.wait_until_loaded().await;
        let looked = self.look_once(headers, body).await;
        let lacks_signatures = looked.inspected.as_ref().is_ok_and(|inspected| inspected.lacks_signatures);
        if lacks_signatures && self.settings.ledger.read_store().await {
            return self.look_once(headers, body).await;
        }
        looked
    }

    async fn look_once(&self, headers: &HeaderMap, body: &Bytes) -> Looked {
        if body.len() < OWN_THREAD_BYTES {
            return self.look_here(headers, body);
        }
        let (inspector, headers, body) = (self.clone(), headers.clone(), body.clone());
        let looked = tokio::task::spawn_blocking(move || inspector.look_here(&headers, &body));
        let nothing = ConversationKey::of(&self.upstream.name, None, &HeaderMap::new(), &[]);
        looked.await.unwrap_or_else(|_| Looked {
            conversation: nothing,
            terms: nothing,
            known: None,
            options: Arc::clone(&self.lens.options),
            inspected: Err(NotInspected::Failed),
            reviewed: None,
        })
    }

    fn look_here(&self, headers: &HeaderMap, body: &Bytes) -> Looked {
        let model = self.lens.options.model.as_deref();
        let conversation = ConversationKey::of(&self.upstream.name, model, headers, body);
        let known = self.settings.ledger.known(&conversation);
        let terms = conversation.under_terms(headers);
        let rejected = self.settings.ledger.rejected(&terms, now_ms());
        let options = if rejected.is_empty() {
            Arc::clone(&self.lens.options)
        } else {
            let mut options = Options::clone(&self.lens.options);
            options.policy.reject(&rejected);
            Arc::new(options)
        };
        let inspected = inspect(&self.settings.ledger, (&conversation, known.as_ref()), body, &options);
        let reviewed = match (&inspected, self.settings.config.breaker) {
            (Ok(inspected), Some(_)) => review(inspected.repaired.as_ref().unwrap_or(body), &options),
            (Ok(_), None) | (Err(_), _) => None,
        };
        Looked { conversation, terms, known, options, inspected, reviewed }
    }
}

fn inspect(
    ledger: &Ledger,
    (key, known): (&ConversationKey, Option<&Known>),
    body: &Bytes,
    options: &Options,
) -> Result<Inspected, NotInspected> {
    // A defect of the check must not stop the agent: the caller sends the original.
    let repaired = catch_unwind(AssertUnwindSafe(|| {
        // The real signature wins over the replacement that an earlier repair gave the client.
        let dialect = options.dialect.as_deref().unwrap_or_default();
        let (restored, may_be_replaced) = ledger.restored(dialect, body);
        let read = restored.as_ref().unwrap_or(body);
        ledger.repair(key, read, options).map(|(repaired, _)| {
            let is_unsigned = repaired.has_unsigned_calls() || restored.is_none() && may_be_replaced;
            let lacks_signatures = is_unsigned && ledger.is_missing_signatures(dialect, read);
            let late_results = Ledger::count_late(known, &repaired, read, options);
            Inspected { late_results, lacks_signatures, ..Inspected::of(repaired).with_restored(restored.clone()) }
        })
    }));
    match repaired {
        Ok(Ok(inspected)) => Ok(inspected),
        Ok(Err(_)) => Err(NotInspected::Unreadable),
        Err(_) => Err(NotInspected::Failed),
    }
}

/// The review of the calls in a body; `None` where it fails.
fn review(body: &Bytes, options: &Options) -> Option<Reviewed> {
    catch_unwind(AssertUnwindSafe(|| guards::review(body, options))).ok()?.ok()
}

impl Inspected {
    pub(crate) fn of(repaired: Repaired<'_>) -> Self {
        let mut errors = BTreeMap::new();
        let mut texts = Vec::new();
        for finding in repaired.found.iter().filter(|finding| finding.severity == Severity::Error) {
            *errors.entry(finding.code.to_owned()).or_default() += 1 + finding.more as u64;
            if texts.len() < TEXTS_MAX {
                texts.push(format!("{} {}: {}", finding.code, finding.pointer, finding.message));
            }
        }
        let mut actions = BTreeMap::new();
        for action in &repaired.actions {
            *actions.entry(format!("{} {}", action.code, action.action)).or_default() += 1;
        }
        let remaining = repaired.remaining.iter().filter(|finding| finding.severity == Severity::Error).count();
        let (provider, synthetic) = (Some(repaired.provider), ledger::synthetic(&repaired));
        let body = repaired.is_changed().then(|| Bytes::from(repaired.body.into_bytes().into_owned()));
        Self {
            repaired: body,
            provider,
            errors,
            actions,
            remaining,
            texts,
            synthetic,
            late_results: 0,
            lacks_signatures: false,
        }
    }

    /// Adds the repair that came before: signatures in the places of their replacements.
    fn with_restored(self, restored: Option<Bytes>) -> Self {
        let Some(restored) = restored else { return self };
        let mut actions = self.actions;
        *actions.entry(RESTORED.to_owned()).or_default() += 1;
        Self { repaired: self.repaired.or(Some(restored)), actions, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::LedgerLimits;

    fn inspected(body: &str) -> Result<Inspected, NotInspected> {
        let ledger = Ledger::new(LedgerLimits::default());
        let body = Bytes::from(body.to_owned());
        let key = ConversationKey::of("openai", None, &HeaderMap::new(), &body);
        let options = Options { dialect: Some("openai_chat".to_owned()), ..Options::default() };
        inspect(&ledger, (&key, None), &body, &options)
    }

    #[test]
    fn a_clean_body_is_not_copied_and_a_broken_one_is_repaired() {
        let clean = inspected(r#"{"messages":[{"role":"user","content":"hello"}]}"#).unwrap();
        assert_eq!((clean.repaired, clean.errors.len()), (None, 0));
        let orphan = r#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
        let repaired = inspected(orphan).unwrap();
        assert!(repaired.repaired.is_some() && repaired.remaining == 0);
        assert_eq!((repaired.errors.values().sum::<u64>(), repaired.texts.len()), (1, 1));
        assert_eq!(inspected("{\"messages\":").unwrap_err(), NotInspected::Unreadable);
    }
}
