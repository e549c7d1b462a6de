//! Repairs a body.

use seamline_dialects::Dialect;
use seamline_model::{BlockKind, Constraints, Place, Transcript};
use seamline_rules::{DroppedContent, Left, RepairInput, Rewrite as _};

mod later;
mod rejected;
mod report;

pub use self::rejected::{AfterRejection, Harder, after_rejection};
pub use crate::body::Body;
pub use report::{Dropped, MoreActions, Prefix, RepairAction};
#[doc(inline)]
pub use seamline_rules::{ActionKind, Loss};

use crate::check::look;
use crate::native::Native;
use crate::policy::{OnInvalid, RepairPolicy};
use crate::rules::codes;
use crate::subject::Subject;
use crate::{Error, Finding, Options, Severity, log};

/// The outcome of a repair.
///
/// ```
/// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// assert_eq!((repaired.found.len(), repaired.remaining.len()), (1, 0));
/// assert_eq!(repaired.origins, [Some(0)]);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired<'b> {
    /// The body to send; the original bytes when no repair was needed.
    pub body: Body<'b>,
    /// The dialect that the body is written in.
    pub dialect: &'static str,
    /// The provider that the body was repaired for.
    pub provider: &'static str,
    /// A note that the demands of the provider in this dialect are not known.
    pub note: Option<String>,
    /// The number of messages of the original body.
    pub messages: usize,
    /// The number of passes that applied edits.
    pub passes: u32,
    /// The violations of the original body.
    pub found: Vec<Finding>,
    /// The actions of the repair.
    pub actions: Vec<RepairAction>,
    /// How many more actions of a rule there are that are not listed. A thousand of them are.
    pub more_actions: Vec<MoreActions>,
    /// The parts that were removed and are nowhere in the new body.
    pub dropped: Vec<Dropped>,
    /// The violations of the new body.
    pub remaining: Vec<Finding>,
    /// Whether the policy lets the body be sent: no violation remains, or the policy only warns.
    pub sendable: bool,
    /// For each message of the new body, the index of the original message; `None` for a new one.
    pub origins: Vec<Option<usize>>,
    /// The unchanged prefix, and what the first change invalidates.
    pub prefix: Prefix,
}

impl Repaired<'_> {
    /// Whether the body differs from the original.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// assert!(!repaired.is_changed());
    /// assert!(std::ptr::eq(body.as_slice(), &*repaired.body));
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_changed(&self) -> bool {
        self.body.is_changed()
    }

    /// Whether all content is still in the body.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// assert!(repaired.is_changed() && repaired.is_lossless());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_lossless(&self) -> bool {
        let is_kept = |more: &MoreActions| !more.lost;
        self.dropped.iter().all(|dropped| dropped.loss != Loss::Said) && self.more_actions.iter().all(is_kept)
    }

    /// Whether tool calls had lost the signature that the provider demands. [`Options::signatures`] gives it back to them.
    ///
    /// ```
    /// let body = br#"{"contents":[{"role":"user","parts":[{"text":"ls"}]},
    ///     {"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},
    ///     {"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"src"}}}]}]}"#;
    ///
    /// let options = seamline::Options { model: Some("gemini-3-pro".to_owned()), ..seamline::Options::default() };
    /// assert!(seamline::repair(body, &options)?.has_unsigned_calls());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn has_unsigned_calls(&self) -> bool {
        self.found.iter().any(|finding| finding.code == codes::UNSIGNED_CALL)
    }
}

/// Repairs a body as far as the policy allows.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
///   {"role":"user","content":"never mind"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// assert!(repaired.remaining.is_empty());
/// assert!(repaired.actions[0].action == seamline::repair::ActionKind::Synthesize && repaired.actions[0].synthetic);
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// Fails when the body is not JSON, is not a conversation, or the options name something that does not exist. A body
/// that cannot be repaired is not an error: it is returned unchanged, with the remaining violations.
pub fn repair<'b>(body: &'b [u8], options: &Options) -> Result<Repaired<'b>, Error> {
    if let Some(native) = Native::named(body, options)? {
        return native.repair();
    }
    let _span = log::enter("repair", body);
    let looked = look(body, options);
    if let Some(native) = Native::suspected(body, options, &looked)? {
        return native.repair();
    }
    let (subject, transcript, found) = looked?;
    Ok(repair_looked(&subject, &transcript, found, options))
}

/// Repairs a body that was checked with the same options.
pub(crate) fn repair_looked<'b>(
    subject: &Subject,
    transcript: &Transcript<'b>,
    found: seamline_rules::Found,
    options: &Options,
) -> Repaired<'b> {
    let policy = options.policy.repair_for(subject.provider.name);
    let repaired = repair_transcript(subject, transcript, found, &policy, Left::Nothing);
    later::as_read_later(repaired, transcript.source.body, options)
}

/// Repairs a body for a provider with some other constraints, and leaves some fixes to a later repair.
pub(crate) fn repair_leaving<'b>(
    body: &'b [u8],
    options: &Options,
    left: Left,
    demand: impl FnOnce(&mut Constraints),
) -> Result<Repaired<'b>, Error> {
    let _span = log::enter("repair", body);
    let dialect = Subject::dialect(body, options)?;
    let transcript = Subject::transcript(dialect, body, options)?;
    let mut subject = Subject::of(dialect, &transcript, options)?;
    demand(&mut subject.provider.constraints);
    let policy = options.policy.repair_for(subject.provider.name);
    let found = seamline_rules::check(&transcript, &subject.provider.constraints, &policy);
    Ok(repair_transcript(&subject, &transcript, found, &policy, left))
}

/// Repairs a transcript that was checked for the same subject and policy.
pub(crate) fn repair_transcript<'b>(
    subject: &Subject,
    transcript: &Transcript<'b>,
    found: seamline_rules::Found,
    policy: &RepairPolicy,
    left: Left,
) -> Repaired<'b> {
    let dialect = subject.dialect;
    let input = RepairInput { constraints: &subject.provider.constraints, policy, left };
    let repair = seamline_rules::repair_found(transcript, found, subject, input);
    log::record_repair(transcript, &repair);
    let (actions, dropped) = reported(dialect, transcript, repair.actions);
    let new = repair.body.map_or(Body::of(transcript.source.body), Body::changed);
    let prefix = prefix(transcript, &new, &actions);
    let found = described(dialect, transcript, repair.found);
    let (remaining, sendable) = if new.is_changed() && !repair.remaining.is_empty() {
        judge(remaining(subject, &new, policy), &found, policy)
    } else {
        judge(Some(described(dialect, transcript, repair.remaining)), &found, policy)
    };
    Repaired {
        sendable,
        dialect: dialect.name(),
        provider: subject.provider.name,
        note: subject.note.clone(),
        messages: transcript.messages.len(),
        passes: repair.passes,
        found,
        actions,
        more_actions: repair.more_actions.into_iter().map(MoreActions::from).collect(),
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
                message_index: place.message.map(seamline_model::MessageIndex::get),
                call_id: action.call_id.filter(|id| !id.is_empty()),
                from_call_id: action.from_call_id,
                removed: action.removed,
                synthetic: action.synthetic,
                before_hash: action.before_hash,
                after_hash: action.after_hash,
                line: None,
            }
        })
        .collect();
    (actions, dropped)
}

/// The violations of a new body, read from its bytes as the provider reads them; none where it cannot be read.
fn remaining(subject: &Subject, body: &Body<'_>, policy: &RepairPolicy) -> Option<Vec<Finding>> {
    let transcript = subject.read(body)?;
    let findings = seamline_rules::check(&transcript, &subject.provider.constraints, policy);
    Some(described(subject.dialect, &transcript, findings.findings))
}

/// The remaining violations, and whether the policy lets the body be sent. A body that cannot be read keeps the
/// violations of the original one, and no policy lets it be sent.
fn judge(remaining: Option<Vec<Finding>>, found: &[Finding], policy: &RepairPolicy) -> (Vec<Finding>, bool) {
    let Some(remaining) = remaining else { return (found.to_vec(), false) };
    let is_free = remaining.iter().all(|finding| finding.severity < Severity::Error);
    (remaining, is_free || policy.on_invalid == OnInvalid::Warn)
}

fn described(
    dialect: &Dialect,
    transcript: &Transcript<'_>,
    findings: Vec<seamline_model::RuleFinding>,
) -> Vec<Finding> {
    findings.into_iter().map(|finding| Finding::of(dialect, transcript, finding)).collect()
}

/// Rules whose fixes change no text that a model reads, so that caches stay valid.
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
    // Providers read tools and settings before all messages, at any place in the body.
    let around_changed =
        !after.ends_with(&before[transcript.list.end as usize..]) || unchanged_bytes < transcript.list.start as usize;
    let mut prefix = Prefix { unchanged_bytes, first_changed_message, around_changed, invalidates: Vec::new() };
    if actions.iter().all(|action| UNREAD.contains(&action.code)) {
        return prefix;
    }
    // An addition at the end invalidates nothing before it.
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
        assert!(repaired.is_changed());
        repaired.prefix.invalidates
    }

    #[test]
    fn a_repaired_body_that_cannot_be_read_is_not_sendable() {
        let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
        let options = Options::default();
        let found = repair(body, &options).unwrap().found;
        assert_eq!(found.len(), 1);
        let dialect = Subject::dialect(body, &options).unwrap();
        let transcript = Subject::transcript(dialect, body, &options).unwrap();
        let subject = Subject::of(dialect, &transcript, &options).unwrap();
        let policies =
            [RepairPolicy::default(), RepairPolicy { on_invalid: OnInvalid::Warn, ..RepairPolicy::default() }];
        for policy in policies {
            let unreadable = remaining(&subject, &Body::of(b"{"), &policy);
            assert_eq!(judge(unreadable, &found, &policy), (found.clone(), false));
        }
    }

    #[test]
    fn changed_tools_invalidate_all_thinking() {
        let body = r#"{"messages":[{"role":"user","content":"a"},
            {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"text","text":"b"}]},
            {"role":"user","content":"c"}],"tools":[{"name":"x"},{"name":"x"}]}"#;
        assert_eq!(invalidates(body), ["prompt_cache", "thinking"]);
    }

    fn dropped(body: &str) -> Vec<(Loss, String)> {
        let repaired = repair(body.as_bytes(), &Options::default()).unwrap();
        assert!(repaired.is_changed());
        repaired.dropped.into_iter().map(|dropped| (dropped.loss, dropped.source)).collect()
    }

    #[test]
    fn a_dropped_value_of_a_repeated_key_is_reported() {
        let tool = r#"{"model":"gpt-4o","messages":[{"role":"tool","content":"old","content":"new"}]}"#;
        assert_eq!(dropped(tool), [(Loss::Hidden, r#""content":"old","#.to_owned())]);
        let beside = r#"{"model":"gpt-4o","messages":[{"role":"tool","content":"x"},
            {"role":"user","content":"old","content":"new"}]}"#;
        assert_eq!(dropped(beside), []);
    }

    #[test]
    fn dropped_signed_reasoning_is_reported() {
        let sealed = r#"{"type":"reasoning","summary":[],"id":"rs_1","encrypted_content":"ENC"}"#;
        let body = format!(r#"{{"model":"gpt-5","input":[{sealed},{{"role":"user","content":"hi"}}]}}"#);
        assert_eq!(dropped(&body), [(Loss::Sealed, sealed.to_owned())]);
    }

    #[test]
    fn a_replaced_value_that_is_an_object_is_reported() {
        let body = |role: &str, id: &str, name: &str| {
            format!(
                r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":"q"}},{{"role":{role},"content":null,"tool_calls":[{{"id":{id},"type":"function","function":{{"name":{name},"arguments":"{{}}"}}}}]}},{{"role":"user","content":"z"}}]}}"#
            )
        };
        let object = r#"{"text":"words"}"#;
        let said = [(Loss::Said, object.to_owned())];
        for [role, id, name] in
            [[object, r#""c""#, r#""f""#], [r#""assistant""#, object, r#""f""#], [r#""assistant""#, r#""c""#, object]]
        {
            assert_eq!(dropped(&body(role, id, name)), said, "{role} {id} {name}");
        }
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
        assert_eq!(calls, [(ActionKind::Synthesize, Some("toolu_1")), (ActionKind::Synthesize, Some("toolu_2"))]);
    }

    #[test]
    fn an_action_names_the_id_that_a_result_named_before() {
        let body = r#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[
            {"id":"call_1","type":"function","function":{"name":"x","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"call_9","content":"ok"}]}"#;
        let repaired = repair(body.as_bytes(), &Options::default()).unwrap();
        let [action] = &repaired.actions[..] else { panic!("{:?}", repaired.actions) };
        let ids = (action.from_call_id.as_deref(), action.call_id.as_deref());
        assert_eq!((action.code, ids), ("PAIR005", (Some("call_9"), Some("call_1"))));
    }

    /// Repairs a body for a provider that demands more, and repairs it again.
    fn demanded(body: &str, demand: impl Fn(&mut Constraints)) -> (Vec<&'static str>, String) {
        let options = Options::default();
        let repaired = repair_leaving(body.as_bytes(), &options, Left::Nothing, &demand).unwrap();
        let again = repair_leaving(&repaired.body, &options, Left::Nothing, &demand).unwrap();
        assert!(again.found.is_empty() && !again.is_changed(), "{:?}", again.found);
        let codes = repaired.found.iter().map(|finding| finding.code).collect();
        (codes, String::from_utf8(repaired.body.to_vec()).unwrap())
    }

    fn adjacent(items: &str) -> (Vec<&'static str>, String) {
        let body = format!(r#"{{"model":"m","input":[{items}]}}"#);
        let (codes, body) = demanded(&body, |demands| demands.pairs.adjacent = Some(seamline_model::ErrorText("")));
        let ids = body.split("\"call_id\":\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let types = body.split("\"type\":\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let order = types.zip(ids.chain(std::iter::repeat(""))).map(|(kind, id)| format!("{kind} {id}"));
        (codes, order.collect::<Vec<_>>().join(", "))
    }

    fn called(id: &str) -> String {
        format!(r#"{{"type":"function_call","call_id":"{id}","name":"n","arguments":"{{}}"}}"#)
    }

    fn answered(id: &str) -> String {
        format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"o"}}"#)
    }

    #[test]
    fn results_follow_their_calls_where_a_provider_of_items_demands_it() {
        let (a, b, out_a, out_b) = (called("a"), called("b"), answered("a"), answered("b"));
        for clean in [[&a, &b, &out_a, &out_b], [&a, &b, &out_b, &out_a], [&a, &out_a, &b, &out_b]] {
            let items = clean.map(String::as_str).join(",");
            assert_eq!(adjacent(&items).0, Vec::<&str>::new(), "{items}");
        }
        let reasoning = r#"{"type":"reasoning","summary":[]}"#;
        for between in [reasoning, r#"{"role":"developer","content":"hook"}"#, r#"{"role":"user","content":"wait"}"#] {
            let (codes, body) = adjacent(&[a.as_str(), between, &out_a].join(","));
            assert_eq!(codes, ["PAIR004"], "{between}");
            assert!(body.starts_with("function_call a, function_call_output a"), "{body}");
        }
        let (codes, body) = adjacent(&[a.as_str(), reasoning, &b, &out_a, &out_b].join(","));
        assert_eq!((codes.as_slice(), body.contains("function_call_output")), (&["PAIR004"][..], true), "{body}");
    }

    #[test]
    fn a_lost_signature_is_replaced_in_chats_where_a_provider_demands_it() {
        let demand = |demands: &mut Constraints| {
            let models = seamline_model::Models(&["gemini-3"]);
            let error = seamline_model::ErrorText("");
            demands.call_signature =
                Some(seamline_model::SignatureDemand { models, error, stand_in: "skip_thought_signature_validator" });
        };
        let body = |extra: &str| {
            format!(
                r#"{{"model":"gemini-3-pro","messages":[{{"role":"user","content":"go"}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"a","type":"function","function":{{"name":"n","arguments":"{{}}"}}{extra}}}]}},{{"role":"tool","tool_call_id":"a","content":"o"}}]}}"#
            )
        };
        let signed = r#","extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}"#;
        assert_eq!(demanded(&body(""), demand), (vec!["REASON007"], body(signed)));
        let own = body(r#","extra_content":{"google":{"thought_signature":"c2ln"}}"#);
        assert_eq!(demanded(&own, demand), (vec![], own));
        let (codes, other) = demanded(&body(r#","extra_content":{"other":1}"#), demand);
        assert!(codes == ["REASON007"] && other.contains(r#""other":1"#) && other.contains("skip_thought"), "{other}");
    }
}
