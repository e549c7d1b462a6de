//! A stronger repair of a body that its provider rejected.

use std::borrow::Cow;

use seamline_store::RejectedMembers;

use super::{Repaired, repair};
use crate::check::check;
use crate::classify::{Certainty, Class, Failure, Verdict, causes, classify};
use crate::guards::OnCorruption;
use crate::subject::Subject;
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
    /// The history is broken, and the policy does not repair it after a rejection: its `on_corruption` is not `repair`.
    /// Give the error of the provider to the caller.
    LeftByPolicy {
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

/// Repairs a body that a provider rejected, once more and harder: it removes the members that the error names and the
/// reasoning that the provider rejects, adds the reasoning or the signature that the error asks for, and allows unsafe fixes if the error is about a finding that is left. `options` are those of the repair before.
///
/// The body differs from the rejected one, so it may be sent, but only once. A quota, an overload or a wrong key gives
/// [`AfterRejection::NotAboutHistory`].
///
/// The knob `on_corruption` of the policy decides whether it repairs: only `repair`, the default, does. A body has no
/// session that could roll back or restart, so every other value gives [`AfterRejection::LeftByPolicy`].
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
    if on_corruption(body, options) != OnCorruption::Repair {
        return AfterRejection::LeftByPolicy { error: verdict.name };
    }
    match harder(&verdict, body, options) {
        Some(harder) => AfterRejection::Repaired(Box::new(harder)),
        None => AfterRejection::NothingLeft { error: verdict.name },
    }
}

/// The reaction to a rejection that the policy wants for the provider of a body.
fn on_corruption(body: &[u8], options: &Options) -> OnCorruption {
    let subject = Subject::dialect(body, options).and_then(|dialect| {
        let transcript = Subject::transcript(dialect, body, options)?;
        Subject::of(dialect, &transcript, options)
    });
    // A body that cannot be read has no provider, and no repair.
    let policy = match &subject {
        Ok(subject) => options.policy.for_provider(subject.provider.name),
        Err(_) => Cow::Borrowed(&options.policy),
    };
    policy.guard.retry.on_corruption
}

fn harder<'b>(verdict: &Verdict, body: &'b [u8], used: &Options) -> Option<Harder<'b>> {
    let mut options = used.clone();
    options.policy.reject_members(&verdict.members);
    options.policy.reject_reasoning(verdict);
    if let Some(repaired) = better(body, &options) {
        return Some(Harder { options: Some(lasting(options, body)), repaired });
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

/// The same options for the next requests, in which messages may have other places: reasoning that is rejected from one
/// message on is rejected by the marks of its blocks.
fn lasting(mut options: Options, body: &[u8]) -> Options {
    let Some(from) = options.policy.repair.rejected_reasoning.from.take() else { return options };
    let read = Subject::dialect(body, &options).and_then(|dialect| Subject::transcript(dialect, body, &options));
    let reasoning = read.map(|transcript| seamline_rules::reasoning_marks(&transcript, from)).unwrap_or_default();
    options.policy.reject(&RejectedMembers { reasoning, ..RejectedMembers::default() });
    options
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
    use crate::Policy;

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
    fn only_a_policy_that_repairs_after_a_rejection_repairs_harder() {
        let failure =
            Failure { status: Some(400), text: "Unknown parameter: 'messages[0].mood'.", ..Failure::default() };
        let is_left = |policy: Policy, provider: Option<&str>| {
            let options = Options { provider: provider.map(str::to_owned), policy, ..Options::default() };
            match after_rejection(BODY, &options, &failure) {
                AfterRejection::LeftByPolicy { error } => !error.is_empty(),
                AfterRejection::Repaired(_) => false,
                other => panic!("{other:?}"),
            }
        };
        for preset in crate::policy::PRESETS {
            let policy = Policy::preset(preset.name).unwrap();
            let is_repairing = policy.guard.retry.on_corruption == OnCorruption::Repair;
            assert_eq!(is_left(policy, None), !is_repairing, "{}", preset.name);
        }
        for word in ["stop", "rollback", "restart"] {
            assert!(is_left(Policy::from_toml(&format!("on_corruption = '{word}'")).unwrap(), None), "{word}");
        }
        let text = "[provider.openai]\non_corruption = 'stop'";
        let overridden = |provider| is_left(Policy::from_toml(text).unwrap(), provider);
        // The model of the body names OpenAI.
        assert_eq!([None, Some("openai"), Some("groq")].map(overridden), [true, true, false]);
        let quota = Failure { status: Some(429), text: "You exceeded your current quota", ..Failure::default() };
        let strict = Options { policy: Policy::preset("strict").unwrap(), ..Options::default() };
        assert_eq!(after_rejection(BODY, &strict, &quota), AfterRejection::NotAboutHistory);
    }

    #[test]
    fn a_fix_that_alters_the_history_counts_for_one_request() {
        let body =
            br#"{"model":"gpt-5","messages":[{"role":"narrator","content":"hi"},{"role":"user","content":"go"}]}"#;
        let text = "Unsupported value: 'messages[0].role' does not support 'narrator' with this model.";
        let AfterRejection::Repaired(harder) = attempt(body, text) else { panic!("no repair") };
        assert!(harder.options.is_none());
    }

    /// The body that is sent after an error, and that of the next request, which is a message longer.
    fn after(body: &str, provider: Option<&str>, text: &str) -> (String, String) {
        let options = Options { provider: provider.map(str::to_owned), ..Options::default() };
        let failure = Failure { provider, status: Some(400), text, ..Failure::default() };
        let AfterRejection::Repaired(harder) = after_rejection(body.as_bytes(), &options, &failure) else {
            panic!("no repair after {text}")
        };
        let remembered = harder.options.unwrap().policy.rejections();
        let mut next = options;
        next.policy.reject(&remembered);
        let sent = String::from_utf8(harder.repaired.body.to_vec()).unwrap();
        let next = repair(body.as_bytes(), &next).unwrap();
        (sent, String::from_utf8(next.body.to_vec()).unwrap())
    }

    fn thinking(last: &str) -> String {
        let think = |text: &str| format!(r#"{{"type":"thinking","thinking":"{text}","signature":"{text}"}}"#);
        format!(
            r#"{{"model":"claude-sonnet-4-5","max_tokens":9,"thinking":{{"type":"enabled","budget_tokens":5}},"tools":[{{"name":"n","input_schema":{{"type":"object"}}}}],"messages":[{{"role":"user","content":"u"}},{{"role":"assistant","content":[{},{{"type":"text","text":"a"}}]}},{{"role":"user","content":"v"}},{{"role":"assistant","content":[{},{last}"#,
            think("one"),
            think("two")
        )
    }

    #[test]
    fn thinking_that_the_provider_rejects_is_removed_from_the_named_message_on() {
        let open = thinking(
            r#"{"type":"tool_use","id":"toolu_1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}]}"#,
        );
        let closed = thinking(r#"{"type":"text","text":"b"}]},{"role":"user","content":"w"}]}"#);
        let bound = "messages.3.content.0: `thinking` block is bound to a different conversation. Thinking blocks must be replayed with the same `system`, `tools` and preceding messages.";
        let (sent, next) = after(&closed, Some("anthropic"), bound);
        assert_eq!(sent, next);
        assert!(sent.contains("one") && !sent.contains("two") && sent.contains(r#""type":"enabled""#), "{sent}");
        let modified = "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.";
        let (sent, next) = after(&open, Some("anthropic"), modified);
        assert_eq!(sent, next);
        // A turn with calls needs thinking, unless it is off.
        assert!(!sent.contains("two") && sent.contains(r#""thinking":{"type":"disabled"}"#), "{sent}");
        let (sent, _) = after(&closed, Some("anthropic"), "Invalid `signature` in `thinking` block");
        assert!(!sent.contains("one") && !sent.contains("two"), "{sent}");
    }

    #[test]
    fn sealed_reasoning_is_removed_with_the_ids_that_depend_on_it() {
        let body = r#"{"model":"gpt-5","store":false,"input":[{"role":"user","content":"u"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABo"},{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]},{"role":"user","content":"w"}]}"#;
        let text = r#"{"error":{"message":"The encrypted content gAAA...ABo could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","code":"invalid_encrypted_content"}}"#;
        let (sent, next) = after(body, Some("openai-responses"), text);
        assert_eq!(sent, next);
        assert!(!sent.contains("gAAA") && !sent.contains("msg_1") && sent.contains(r#""text":"a""#), "{sent}");
    }

    #[test]
    fn a_rejected_or_missing_signature_of_gemini_is_replaced() {
        let body = |signature: &str| {
            format!(
                r#"{{"model":"an-alias","contents":[{{"role":"user","parts":[{{"text":"hi"}}]}},{{"role":"model","parts":[{{"functionCall":{{"name":"ls","args":{{}}}}{signature}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":"ls","response":{{"o":1}}}}}}]}}]}}"#
            )
        };
        let replaced = body(r#","thoughtSignature":"skip_thought_signature_validator""#);
        let error =
            |text: &str| format!(r#"{{"error":{{"code":400,"message":"{text}","status":"INVALID_ARGUMENT"}}}}"#);
        let expected = (replaced.clone(), replaced);
        let bad = body(r#","thoughtSignature":"YmFk""#);
        assert_eq!(after(&bad, Some("gemini"), &error("Corrupted thought signature.")), expected);
        let missing = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:ls` , position 2.";
        assert_eq!(after(&body(""), Some("gemini"), &error(missing)), expected);
    }

    #[test]
    fn missing_reasoning_is_filled_where_the_provider_asks_for_it() {
        let body = r#"{"model":"some-model","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}"#;
        let text = r#"{"error":{"message":"Missing `reasoning_content` field in the assistant message at message index 1. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls","type":"invalid_request_error"}}"#;
        for provider in [Some("deepseek"), None] {
            let (sent, next) = after(body, provider, text);
            assert!(sent == next && sent.contains(r#""reasoning_content":"[synthetic]"#), "{sent}");
        }
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
