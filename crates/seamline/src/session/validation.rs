//! Whether what is kept is whole.

use serde::Serialize;

use super::{Session, SessionError};
use crate::policy::DuplicateCallId;
use crate::{Checked, Finding, Options, OutlineMessage, Severity};

/// Whether a conversation is whole, and what is wrong if it is not.
///
/// ```
/// let result = seamline::session::ValidationResult { valid: true, ..Default::default() };
/// assert_eq!(serde_json::to_string(&result).unwrap(), r#"{"valid":true}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationResult {
    /// Whether it is.
    pub valid: bool,
    /// The first thing that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The ids of results without a call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub orphaned_ids: Vec<String>,
    /// The ids of calls without a result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub incomplete_ids: Vec<String>,
    /// All that is wrong, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl Session {
    /// Whether what is kept is whole: each result right behind its call, each call answered but those of the last
    /// message, no id twice. Nothing is read or written for it.
    ///
    /// # Errors
    /// When the conversation cannot be read.
    pub fn validate(&self) -> Result<ValidationResult, SessionError> {
        self.validate_with(DuplicateCallId::Error, |options| self.checked(options))
    }

    /// Whether what is kept may be sent. Ids that repeat are no reason not to where the policy puts them right on the
    /// way: nothing is lost or made up by that, and no repair of what is kept would change them.
    pub(super) fn validate_to_send(&self) -> Result<ValidationResult, SessionError> {
        self.validate_with(self.wire.options.policy.duplicate_call_id, |options| self.checked(options))
    }

    /// Whether it may be sent with this envelope, which may say that nothing is wrong after all: that the conversation
    /// goes on from one that the provider keeps, or that the model does not think.
    pub(super) fn validate_to_send_with(&self, envelope: &str) -> Result<ValidationResult, SessionError> {
        let validation = self.validate_to_send()?;
        if validation.valid {
            return Ok(validation);
        }
        let body = self.wire.body(envelope, self.entries().iter().map(|entry| &entry.message))?;
        let repeated = self.wire.options.policy.duplicate_call_id;
        self.validate_with(repeated, |options| Ok(crate::check(&body, options)?))
    }

    fn validate_with(
        &self,
        repeated: DuplicateCallId,
        check: impl FnOnce(&Options) -> Result<Checked, SessionError>,
    ) -> Result<ValidationResult, SessionError> {
        // A session that has just begun has no messages yet, and nothing is wrong with that.
        if !self.config.enabled || self.state.view.is_empty() {
            return Ok(ValidationResult { valid: true, ..ValidationResult::default() });
        }
        let mut options = kept(&self.wire.options);
        options.policy.trailing_call = crate::policy::TrailingCall::AllowPending;
        options.policy.duplicate_call_id = repeated;
        let checked = check(&options)?;
        let is_wrong = |found: &&Finding| {
            let is_let_through = repeated != DuplicateCallId::Error && REPEATED.contains(&found.code);
            found.severity == Severity::Error && !is_let_through
        };
        let wrong: Vec<&Finding> = checked.findings.iter().filter(is_wrong).collect();
        if wrong.is_empty() {
            return Ok(ValidationResult::of(&wrong, &[]));
        }
        let body = self.wire.body("{}", self.entries().iter().map(|entry| &entry.message))?;
        Ok(ValidationResult::of(&wrong, &crate::outline(&body, &self.wire.options, 0..usize::MAX)?))
    }

    /// Checks what is kept, as the policy says. What only a request can answer, such as which tools it declares, is
    /// not asked. Only messages that came since the last check are read for it, or all from the first one on that
    /// changed; see [`forget_reading`](Self::forget_reading) for what that takes.
    ///
    /// # Errors
    /// When the conversation cannot be read.
    pub fn check(&self) -> Result<Checked, SessionError> {
        self.checked(&kept(&self.wire.options))
    }

    fn checked(&self, options: &Options) -> Result<Checked, SessionError> {
        self.reading.check(&self.wire, self.entries(), options)
    }
}

impl ValidationResult {
    /// What these findings make of the conversation that they are about.
    pub(super) fn of(wrong: &[&Finding], messages: &[OutlineMessage]) -> Self {
        let ids = |codes: &[&str]| {
            let found = wrong.iter().filter(|finding| codes.contains(&finding.code));
            let mut ids: Vec<String> = found.flat_map(|finding| calls_of(finding)).flatten().collect();
            ids.dedup();
            ids
        };
        let errors: Vec<String> = wrong.iter().flat_map(|finding| in_words(finding, messages)).collect();
        Self {
            valid: wrong.is_empty(),
            error: errors.first().cloned(),
            orphaned_ids: ids(ORPHANED),
            incomplete_ids: ids(INCOMPLETE),
            errors,
        }
    }
}

/// The calls that a finding is about: all of a turn that have no result, or the one that is named.
fn calls_of(finding: &Finding) -> Vec<Option<String>> {
    if INCOMPLETE.contains(&finding.code) && !finding.related.is_empty() {
        return finding.related.iter().map(|call| call.call_id.clone()).collect();
    }
    vec![finding.call_id.clone()]
}

/// How what is kept is looked at while the request that it is for is not known.
pub(super) fn kept(options: &Options) -> Options {
    Options { kept: true, ..options.clone() }
}

/// The rules about results without a call where the provider looks for one.
const ORPHANED: &[&str] = &["PAIR002"];

/// The rules about calls without a result where the provider looks for one.
const INCOMPLETE: &[&str] = &["PAIR001"];

/// The rules about ids that two calls have.
const REPEATED: &[&str] = &["IDENT003"];

/// A finding in the words that hosts know, for each call that it is about.
fn in_words(finding: &Finding, messages: &[OutlineMessage]) -> Vec<String> {
    let is = |codes: &[&str]| codes.contains(&finding.code);
    let each = |what: &str| -> Vec<String> {
        let ids = calls_of(finding).into_iter().map(|id| id.unwrap_or_else(|| "(no id)".to_owned()));
        ids.map(|id| format!("{what}: {id}")).collect()
    };
    if is(ORPHANED) {
        if finding.message_index.is_some_and(|at| !is_behind_assistant(messages, at)) {
            return vec!["tool_result without preceding assistant message".to_owned()];
        }
        each("Orphaned tool_result")
    } else if is(INCOMPLETE) {
        if finding.message_index.is_some_and(|at| !is_before_user(messages, at)) {
            return vec!["tool_use without following user message".to_owned()];
        }
        each("Incomplete tool_use")
    } else if is(REPEATED) {
        each("Duplicate tool_use id")
    } else {
        vec![finding.message.clone()]
    }
}

/// Whether a result stands behind something that the assistant said. Results that are messages of their own follow each
/// other.
fn is_behind_assistant(messages: &[OutlineMessage], at: usize) -> bool {
    let before = messages.get(..at).unwrap_or_default();
    before.iter().rfind(|message| !is_tool(message)).is_some_and(|message| message.role == "assistant")
}

/// Whether a call stands before something that the user or a tool said. Calls that are messages of their own follow each
/// other.
fn is_before_user(messages: &[OutlineMessage], at: usize) -> bool {
    let is_call = |message: &OutlineMessage| {
        message.blocks.iter().any(|block| block.kind == "call" && block.span == message.span)
    };
    let is_own = messages.get(at).is_some_and(is_call);
    let mut behind = messages.iter().skip(at + 1).skip_while(|message| is_own && is_call(message));
    behind.next().is_some_and(|message| message.role == "user" || is_tool(message))
}

fn is_tool(message: &OutlineMessage) -> bool {
    matches!(message.role, "tool" | "function")
}
