//! Findings as surfaces show them.

use seamline_dialects::Dialect;
use seamline_model::{BlockIndex, BlockKind, Place, Safety, Severity, Transcript};
use serde::{Serialize, Serializer};

/// One violation at one place of a body.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
///   {"role":"user","content":"never mind"}]}"#;
///
/// let finding = seamline::check(body, &seamline::Options::default())?.findings.remove(0);
/// assert_eq!((finding.name, finding.call_id.as_deref()), ("unanswered-call", Some("toolu_1")));
/// assert!(body[finding.span].starts_with(br#"{"type":"tool_use""#));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The code of the rule.
    pub code: &'static str,
    /// The name of the rule.
    pub name: &'static str,
    /// The severity of the finding.
    #[serde(serialize_with = "severity")]
    pub severity: Severity,
    /// A description of the violation.
    pub message: String,
    /// The place, as a JSON pointer into the body.
    pub pointer: String,
    /// The index of the message.
    pub message_index: Option<usize>,
    /// The index of the block in its list.
    pub block_index: Option<usize>,
    /// The id of the call that it is about.
    pub call_id: Option<String>,
    /// The error that the provider would return.
    pub predicts: Option<String>,
    /// The fix that would remove it.
    pub fix: Option<FixSummary>,
    /// The other places that it concerns.
    pub related: Vec<Related>,
    /// How many more findings of the same rule and severity there are that are not listed. A hundred of them are; the
    /// last of those says it.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// The line of a session file that it is about, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The bytes of the body that it is about.
    #[serde(skip)]
    pub span: std::ops::Range<usize>,
}

/// The fix of a finding.
///
/// ```
/// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
///
/// let checked = seamline::check(body, &seamline::Options::default())?;
/// let fix = checked.findings[0].fix.as_ref().unwrap();
/// assert_eq!(fix.safety, seamline::Safety::Safe);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FixSummary {
    /// The safety of the fix.
    #[serde(serialize_with = "safety")]
    pub safety: Safety,
    /// A description of the fix.
    pub title: String,
}

/// Another place that a finding concerns.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
///   {"role":"user","content":"and in lib.rs?"},
///   {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"fn main() {}"}]}]}"#;
///
/// let checked = seamline::check(body, &seamline::Options::default())?;
/// assert_eq!(checked.findings[0].name, "displaced-result");
/// assert_eq!(checked.findings[0].related[0].pointer, "/messages/1/content/0");
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Related {
    /// The place, as a JSON pointer into the body.
    pub pointer: String,
    /// The index of the message.
    pub message_index: usize,
    /// The id of the call that is there, or of the call that the result there answers.
    #[serde(skip)]
    pub call_id: Option<String>,
}

impl Finding {
    pub(crate) fn of(dialect: &Dialect, transcript: &Transcript<'_>, finding: seamline_model::RuleFinding) -> Self {
        let block_index = finding.place.block.map(|block| transcript.block(block).slot().index as usize);
        Self {
            code: finding.code,
            name: finding.name,
            severity: finding.severity,
            pointer: dialect.pointer(transcript, &finding.place),
            message: finding.message,
            message_index: finding.place.message.map(seamline_model::MessageIndex::get),
            block_index,
            call_id: finding.call_id.filter(|id| !id.is_empty()),
            predicts: finding.predicts,
            fix: finding.fix.map(|fix| FixSummary { safety: fix.safety, title: fix.title }),
            related: finding.related.iter().map(|&block| Related::of(dialect, transcript, block)).collect(),
            more: finding.more as usize,
            line: None,
            span: finding.place.span.range(),
        }
    }
}

impl Related {
    fn of(dialect: &Dialect, transcript: &Transcript<'_>, block: BlockIndex) -> Self {
        let content = transcript.block(block);
        let place = Place { message: Some(content.message), block: Some(block), span: content.span };
        let id = match &content.kind {
            BlockKind::Call(call) => call.id.as_deref(),
            BlockKind::ServerCall(server) => server.call.id.as_deref(),
            BlockKind::Result(result) => result.id.as_deref(),
            BlockKind::ServerResult(result) => result.id.as_deref(),
            BlockKind::Text(_) | BlockKind::Reasoning { .. } | BlockKind::Media | BlockKind::Opaque => None,
        };
        let call_id = id.filter(|id| !id.is_empty()).map(str::to_owned);
        Self { pointer: dialect.pointer(transcript, &place), message_index: content.message.get(), call_id }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn severity<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(severity.as_str())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn safety<S: Serializer>(safety: &Safety, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(safety.as_str())
}
