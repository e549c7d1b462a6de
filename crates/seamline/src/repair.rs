//! A body put right.

use seamline_dialects::Dialect;
use seamline_model::{BlockKind, Constraints, Place, Transcript};
use seamline_rules::DroppedContent;
use serde::Serialize;

pub use crate::body::Body;
#[doc(inline)]
pub use seamline_rules::Loss;

use crate::policy::{OnInvalid, RepairPolicy};
use crate::subject::Subject;
use crate::{Error, Finding, Options, Severity, log};

/// What came of a repair.
///
/// ```
/// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// assert_eq!((repaired.found.len(), repaired.remaining.len()), (1, 0));
/// assert_eq!(repaired.origins, [Some(0)]);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Repaired<'b> {
    /// The body to send; the very bytes that came when nothing needed fixing.
    pub body: Body<'b>,
    /// The dialect it is written in.
    pub dialect: &'static str,
    /// The provider it was repaired for.
    pub provider: &'static str,
    /// How many messages the body had.
    pub messages: usize,
    /// How many times edits were applied.
    pub passes: u32,
    /// What was wrong.
    pub found: Vec<Finding>,
    /// What was done.
    pub actions: Vec<RepairAction>,
    /// What was taken out and is nowhere in the new body.
    pub dropped: Vec<Dropped>,
    /// What is still wrong.
    pub remaining: Vec<Finding>,
    /// Whether the policy lets the body be sent: nothing is wrong with it any more, or the
    /// policy only warns.
    pub sendable: bool,
    /// For each message of the new body, the message it stems from; nothing for a new one.
    pub origins: Vec<Option<usize>>,
    /// What stayed the same from the start, and what the first change invalidates.
    pub prefix: Prefix,
}

/// One thing a repair did.
///
/// ```
/// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// let action = &repaired.actions[0];
/// assert_eq!((action.code, action.action), ("PAIR002", "demote"));
/// assert_ne!(action.before_hash, action.after_hash);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RepairAction {
    /// The rule that asked for it.
    pub code: &'static str,
    /// What was done, in one word.
    pub action: &'static str,
    /// Where in the body that came.
    pub pointer: Option<String>,
    /// The call it is about.
    pub call_id: Option<String>,
    /// Whether what it wrote was made up.
    pub synthetic: bool,
    /// BLAKE3 of the message before.
    pub before_hash: Option<String>,
    /// BLAKE3 of the message after.
    pub after_hash: Option<String>,
}

/// Something a repair took out for good.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"hello"},
///   {"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
/// let policy = seamline::Policy::preset("libr-agent").unwrap();
///
/// let repaired = seamline::repair(body, &seamline::Options { policy, ..Default::default() })?;
/// assert!(repaired.dropped[0].source.contains("call_1"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// The rule that asked for it.
    pub code: &'static str,
    /// Where it was in the body that came.
    pub pointer: Option<String>,
    /// The bytes, as they stood.
    pub source: String,
    /// What is lost with it.
    pub loss: Loss,
}

/// What stayed the same from the start of a body.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
///   {"role":"user","content":"never mind"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// let same = repaired.prefix.unchanged_bytes;
/// assert_eq!(repaired.body[..same], body[..same]);
/// assert_eq!(repaired.prefix.first_changed_message, Some(2));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Prefix {
    /// How many bytes are the same.
    pub unchanged_bytes: usize,
    /// The first message that is not.
    pub first_changed_message: Option<usize>,
    /// Whether something around the messages changed, such as the tools, which come before all
    /// of them wherever they stand in the body.
    pub around_changed: bool,
    /// What the change makes worthless: `prompt_cache`, `thinking`.
    pub invalidates: Vec<&'static str>,
}

impl Repaired<'_> {
    /// Whether the body is another one now.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// assert!(!repaired.changed());
    /// assert!(std::ptr::eq(body.as_slice(), &*repaired.body));
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn changed(&self) -> bool {
        self.body.is_changed()
    }

    /// Whether everything anyone said is still there.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// assert!(repaired.changed() && repaired.lossless());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn lossless(&self) -> bool {
        self.dropped.iter().all(|dropped| dropped.loss != Loss::Said)
    }
}

/// Puts a body right as far as the policy allows.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
///   {"role":"user","content":"never mind"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// assert!(repaired.remaining.is_empty());
/// assert_eq!((repaired.actions[0].action, repaired.actions[0].synthetic), ("synthesize", true));
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// When the body is not JSON, is not a conversation, or the options name something that
/// does not exist. A body that cannot be put right is not an error: it comes back as it
/// was, with what remains wrong.
pub fn repair<'b>(body: &'b [u8], options: &Options) -> Result<Repaired<'b>, Error> {
    repair_demanding(body, options, |_| {})
}

/// Puts a body right for a provider that demands something else in places.
pub(crate) fn repair_demanding<'b>(
    body: &'b [u8],
    options: &Options,
    demand: impl FnOnce(&mut Constraints),
) -> Result<Repaired<'b>, Error> {
    let _span = log::enter("repair", body);
    let dialect = Subject::dialect(body, options)?;
    let transcript = Subject::transcript(dialect, body, options)?;
    let mut subject = Subject::of(dialect, &transcript, options)?;
    demand(&mut subject.provider.constraints);
    let policy = options.policy.repair_for(subject.provider.name);
    let found = seamline_rules::check(&transcript, &subject.provider.constraints, &policy);
    Ok(repair_transcript(&subject, &transcript, found, &policy))
}

/// Repairs a body that was read, and checked for the same subject and policy.
pub(crate) fn repair_transcript<'b>(
    subject: &Subject,
    transcript: &Transcript<'b>,
    found: Vec<seamline_model::Finding>,
    policy: &RepairPolicy,
) -> Repaired<'b> {
    let dialect = subject.dialect;
    let repair = seamline_rules::repair_found(transcript, found, subject, &subject.provider.constraints, policy);
    log::repaired(transcript, &repair);
    let (actions, dropped) = reported(dialect, transcript, repair.actions);
    let new = repair.body.map_or(Body::of(transcript.source.body), Body::changed);
    let prefix = prefix(transcript, &new, &actions);
    let remaining = if new.is_changed() && !repair.remaining.is_empty() {
        remaining(subject, &new, policy)
    } else {
        described(dialect, transcript, repair.remaining)
    };
    let warns = policy.on_invalid == OnInvalid::Warn;
    Repaired {
        sendable: warns || remaining.iter().all(|finding| finding.severity < Severity::Error),
        dialect: dialect.name(),
        provider: subject.provider.name,
        messages: transcript.messages.len(),
        passes: repair.passes,
        found: described(dialect, transcript, repair.found),
        actions,
        dropped,
        remaining,
        origins: repair.origins.iter().map(|origin| origin.map(seamline_model::MessageIndex::get)).collect(),
        prefix,
        body: new,
    }
}

fn reported(
    dialect: &Dialect,
    transcript: &Transcript<'_>,
    actions: Vec<seamline_rules::Action>,
) -> (Vec<RepairAction>, Vec<Dropped>) {
    let mut dropped = Vec::new();
    let actions = actions
        .into_iter()
        .map(|action| {
            let place = action.place.unwrap_or(Place { message: action.message, ..Place::default() });
            let pointer = place.message.map(|_| dialect.pointer(transcript, &place));
            dropped.extend(action.dropped.into_iter().map(|DroppedContent { source, loss }| Dropped {
                code: action.code,
                pointer: pointer.clone(),
                source,
                loss,
            }));
            RepairAction {
                code: action.code,
                action: action.action,
                pointer,
                call_id: action.call_id.filter(|id| !id.is_empty()),
                synthetic: action.synthetic,
                before_hash: action.before_hash,
                after_hash: action.after_hash,
            }
        })
        .collect();
    (actions, dropped)
}

/// What is still wrong with a new body, as whoever gets its bytes will see it.
fn remaining(subject: &Subject, body: &Body<'_>, policy: &RepairPolicy) -> Vec<Finding> {
    let Ok(transcript) = subject.dialect.decode(body) else {
        return Vec::new();
    };
    let findings = seamline_rules::check(&transcript, &subject.provider.constraints, policy);
    described(subject.dialect, &transcript, findings)
}

fn described(dialect: &Dialect, transcript: &Transcript<'_>, findings: Vec<seamline_model::Finding>) -> Vec<Finding> {
    findings.into_iter().map(|finding| Finding::of(dialect, transcript, finding)).collect()
}

/// Rules whose fixes change no word that a model reads, so that what is cached stays worth
/// what it was.
const UNREAD: &[&str] = &["LIMIT001"];

fn prefix(transcript: &Transcript<'_>, after: &Body<'_>, actions: &[RepairAction]) -> Prefix {
    let before = transcript.source.body;
    if !after.is_changed() {
        return Prefix {
            unchanged_bytes: before.len(),
            first_changed_message: None,
            around_changed: false,
            invalidates: Vec::new(),
        };
    }
    let unchanged_bytes = after.common_prefix(before);
    let first = transcript.messages.partition_point(|message| message.span.end as usize <= unchanged_bytes);
    let first_changed_message = (first < transcript.messages.len()).then_some(first);
    // Tools and settings come before all messages, wherever they stand in the body.
    let around_changed =
        !after.ends_with(&before[transcript.list.end as usize..]) || unchanged_bytes < transcript.list.start as usize;
    let mut prefix = Prefix { unchanged_bytes, first_changed_message, around_changed, invalidates: Vec::new() };
    if actions.iter().all(|action| UNREAD.contains(&action.code)) {
        return prefix;
    }
    // What is only added at the end leaves everything before it worth what it was.
    if first_changed_message.is_some() || around_changed {
        prefix.invalidates.push("prompt_cache");
    }
    let bound = transcript.blocks.iter().rev().take_while(|block| around_changed || block.message.get() > first);
    if transcript.has.reasoning
        && bound.into_iter().any(|block| matches!(block.kind, BlockKind::Reasoning { signed: true }))
    {
        prefix.invalidates.push("thinking");
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalidates(body: &str) -> Vec<&'static str> {
        let options = Options { provider: Some("anthropic".to_owned()), ..Options::default() };
        let repaired = repair(body.as_bytes(), &options).unwrap();
        assert!(repaired.changed());
        repaired.prefix.invalidates
    }

    #[test]
    fn tools_come_before_all_thinking_wherever_they_stand() {
        let body = r#"{"messages":[{"role":"user","content":"a"},
            {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"text","text":"b"}]},
            {"role":"user","content":"c"}],"tools":[{"name":"x"},{"name":"x"}]}"#;
        assert_eq!(invalidates(body), ["prompt_cache", "thinking"]);
    }

    fn dropped(body: &str) -> Vec<(Loss, String)> {
        let repaired = repair(body.as_bytes(), &Options::default()).unwrap();
        assert!(repaired.changed());
        repaired.dropped.into_iter().map(|dropped| (dropped.loss, dropped.source)).collect()
    }

    #[test]
    fn what_stood_behind_a_repeated_key_is_told_when_it_goes() {
        let tool = r#"{"model":"gpt-4o","messages":[{"role":"tool","content":"old","content":"new"}]}"#;
        assert_eq!(dropped(tool), [(Loss::Hidden, r#""content":"old","#.to_owned())]);
        let beside = r#"{"model":"gpt-4o","messages":[{"role":"tool","content":"x"},
            {"role":"user","content":"old","content":"new"}]}"#;
        assert_eq!(dropped(beside), []);
    }

    #[test]
    fn reasoning_that_was_sealed_is_told_when_it_goes() {
        let sealed = r#"{"type":"reasoning","summary":[],"id":"rs_1","encrypted_content":"ENC"}"#;
        let body = format!(r#"{{"model":"gpt-5","input":[{sealed},{{"role":"user","content":"hi"}}]}}"#);
        assert_eq!(dropped(&body), [(Loss::Sealed, sealed.to_owned())]);
    }

    #[test]
    fn cache_marks_invalidate_nothing() {
        let marked = r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#;
        assert_eq!(invalidates(&format!("{{\"messages\":[{}]}}", [marked; 5].join(","))), [""; 0]);
    }

    #[test]
    fn an_action_names_the_call_it_is_about_and_not_the_first_of_the_finding() {
        let body = r#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[
            {"type":"tool_use","id":"toolu_1","name":"x","input":{}},
            {"type":"tool_use","id":"toolu_2","name":"x","input":{}}]},{"role":"user","content":"well?"}]}"#;
        let repaired = repair(body.as_bytes(), &Options::default()).unwrap();
        assert_eq!(repaired.found.len(), 1);
        let calls: Vec<_> = repaired.actions.iter().map(|action| (action.action, action.call_id.as_deref())).collect();
        assert_eq!(calls, [("synthesize", Some("toolu_1")), ("synthesize", Some("toolu_2"))]);
    }
}
