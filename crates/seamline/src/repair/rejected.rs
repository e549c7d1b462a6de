//! A stronger repair of a body that its provider rejected.

use super::{Repaired, repair};
use crate::check::check;
use crate::classify::{Certainty, Class, Failure, Verdict, causes, classify};
use crate::{Finding, Options, Severity};

/// The outcome of a repair after a rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AfterRejection<'b> {
    /// The error is not about the history, so no repair helps.
    NotAboutHistory,
    /// The history is broken, but no repair gives another body.
    NothingLeft {
        /// The name of the error.
        error: &'static str,
    },
    /// Another body came out. Send it once.
    Repaired(Box<Harder<'b>>),
}

/// A stronger repair.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Harder<'b> {
    /// The options for the next requests of the conversation; `None` where the repair altered the history and should
    /// count for this request only.
    pub options: Option<Options>,
    /// The repaired body and what was done.
    pub repaired: Repaired<'b>,
}

/// Repairs a body that a provider rejected, once more and harder: it removes the members that the error names, and
/// allows unsafe fixes if the error is about a finding that is left. `options` are those of the repair before.
///
/// The body differs from the rejected one, so it may be sent, but only once. A quota, an overload or a wrong key gives
/// [`AfterRejection::NotAboutHistory`].
///
/// ```
/// use seamline::classify::Failure;
/// use seamline::repair::{AfterRejection, after_rejection};
///
/// let body = br#"{"model":"gpt-5","messages":[{"role":"user","content":"hi","mood":"good"}]}"#;
/// let text = "Unknown parameter: 'messages[0].mood'.";
/// let failure = Failure { status: Some(400), text, ..Failure::default() };
/// let AfterRejection::Repaired(harder) = after_rejection(body, &seamline::Options::default(), &failure) else {
///     panic!("the error names the member");
/// };
/// assert_eq!(&*harder.repaired.body, br#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}"#);
/// ```
pub fn after_rejection<'b>(body: &'b [u8], options: &Options, failure: &Failure<'_>) -> AfterRejection<'b> {
    let verdict = classify(failure);
    if verdict.class != Class::Corruption || verdict.certainty != Certainty::Known {
        return AfterRejection::NotAboutHistory;
    }
    match harder(&verdict, body, options) {
        Some(harder) => AfterRejection::Repaired(Box::new(harder)),
        None => AfterRejection::NothingLeft { error: verdict.name },
    }
}

fn harder<'b>(verdict: &Verdict, body: &'b [u8], used: &Options) -> Option<Harder<'b>> {
    let mut options = used.clone();
    options.policy.reject_members(&verdict.members);
    if let Some(repaired) = better(body, &options) {
        return Some(Harder { options: Some(options), repaired });
    }
    // The provider says that the history is broken, so a fix that alters it is better than a conversation that is stuck.
    // The caller still has its own history. The next request starts without such fixes: the provider may accept it.
    let is_found = check(body, &options).is_ok_and(|checked| !causes(verdict, &checked).is_empty());
    if !is_found {
        return None;
    }
    options.policy.allow_unsafe();
    Some(Harder { options: None, repaired: better(body, &options)? })
}

/// The repair of a body; `None` where it changes nothing or leaves more errors than there were.
fn better<'b>(body: &'b [u8], options: &Options) -> Option<Repaired<'b>> {
    let repaired = repair(body, options).ok()?;
    (repaired.is_changed() && errors(&repaired.remaining) <= errors(&repaired.found)).then_some(repaired)
}

/// The number of errors, with those that are only counted.
fn errors(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.severity == Severity::Error).map(|finding| 1 + finding.more).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"model":"gpt-5","messages":[{"role":"user","content":"hi","mood":"good"}]}"#;

    fn attempt<'b>(body: &'b [u8], text: &str) -> AfterRejection<'b> {
        let failure = Failure { provider: Some("openai"), status: Some(400), text, ..Failure::default() };
        after_rejection(body, &Options::default(), &failure)
    }

    #[test]
    fn a_member_that_the_provider_names_is_removed_now_and_later() {
        let text = r#"{"error":{"message":"Unknown parameter: 'messages[0].mood'.","type":"invalid_request_error"}}"#;
        let AfterRejection::Repaired(harder) = attempt(BODY, text) else { panic!("no repair") };
        let expected = br#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(&*harder.repaired.body, expected);
        assert_eq!(&*repair(BODY, &harder.options.unwrap()).unwrap().body, expected);
    }

    #[test]
    fn a_fix_that_alters_the_history_counts_for_one_request() {
        let body =
            br#"{"model":"gpt-5","messages":[{"role":"narrator","content":"hi"},{"role":"user","content":"go"}]}"#;
        let text = "Unsupported value: 'messages[0].role' does not support 'narrator' with this model.";
        let AfterRejection::Repaired(harder) = attempt(body, text) else { panic!("no repair") };
        assert!(harder.options.is_none());
    }

    #[test]
    fn other_errors_and_healthy_bodies_are_left_alone() {
        let quota = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
        assert_eq!(attempt(BODY, quota), AfterRejection::NotAboutHistory);
        let pairs = "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                     'tool_call_id'. The following tool_call_ids did not have response messages: call_7";
        assert!(matches!(attempt(BODY, pairs), AfterRejection::NothingLeft { .. }));
    }
}
