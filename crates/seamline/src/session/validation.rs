//! Whether what is kept is whole.

use serde::Serialize;

use super::{Session, SessionError};
use crate::policy::DuplicateCallId;
use crate::{Checked, Finding, Options, OutlineMessage, Safety, Severity};

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
    /// The first thing that is wrong: the first of [`errors`](Self::errors).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The ids of results without a call in the message before them, from the first to the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub orphaned_ids: Vec<String>,
    /// The ids of calls without a result in the message behind them, all of each turn. Those of the last message may still
    /// be answered, and are not among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub incomplete_ids: Vec<String>,
    /// All that is wrong, in words: `Orphaned tool_result: ID`, `tool_result without preceding assistant message`,
    /// `Incomplete tool_use: ID`, `tool_use without following user message`, `Duplicate tool_use id: ID`, and for anything
    /// else what [`Session::check`] says.
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
    /// way: nothing is lost or made up by that, and no repair of what is kept would change them. Neither is who speaks
    /// after whom, where a request arranges it.
    pub(super) fn validate_to_send(&self) -> Result<ValidationResult, SessionError> {
        self.validate_with(self.wire.options.policy.repair.duplicate_call_id, |options| self.checked(options))
    }

    /// Whether it may be sent with this envelope, which may say that nothing is wrong after all: that the conversation
    /// goes on from one that the provider keeps, or that the model does not think.
    pub(super) fn validate_to_send_with(&self, envelope: &str) -> Result<ValidationResult, SessionError> {
        let validation = self.validate_to_send()?;
        if validation.valid {
            return Ok(validation);
        }
        let body = self.wire.body(envelope, self.entries().iter().map(|entry| &entry.message))?;
        let repeated = self.wire.options.policy.repair.duplicate_call_id;
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
        options.policy.repair.trailing_call = crate::policy::TrailingCall::AllowPending;
        options.policy.repair.duplicate_call_id = repeated;
        let checked = check(&options)?;
        let is_wrong = |found: &&Finding| {
            let is_let_through = repeated != DuplicateCallId::Error
                && (REPEATED.contains(&found.code) || (ARRANGED.contains(&found.code) && is_safe(found)));
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
        let errors: Vec<String> = wrong.iter().flat_map(|finding| in_words(finding, messages)).collect();
        Self {
            valid: wrong.is_empty(),
            error: errors.first().cloned(),
            orphaned_ids: known(wrong.iter().flat_map(|finding| results_of(finding, messages))),
            incomplete_ids: known(wrong.iter().flat_map(|finding| calls_of(finding))),
            errors,
        }
    }
}

fn known(ids: impl Iterator<Item = Option<String>>) -> Vec<String> {
    let mut ids: Vec<String> = ids.flatten().collect();
    ids.dedup();
    ids
}

/// The ids of results that have no call where the provider looks for one, as they stand there.
fn results_of(finding: &Finding, messages: &[OutlineMessage]) -> Vec<Option<String>> {
    match finding.code {
        "PAIR002" | "PAIR004" => vec![finding.call_id.clone()],
        // It names another call than the one it is taken for.
        "PAIR005" => {
            let message = finding.message_index.and_then(|at| messages.get(at));
            let block = message.and_then(|it| it.blocks.iter().find(|block| block.pointer == finding.pointer));
            vec![block.and_then(|block| block.id.clone()).filter(|id| !id.is_empty())]
        }
        _ => Vec::new(),
    }
}

/// The ids of calls that have no result where the provider looks for one.
fn calls_of(finding: &Finding) -> Vec<Option<String>> {
    match finding.code {
        // All of a turn that have none.
        "PAIR001" => finding.related.iter().map(|call| call.call_id.clone()).collect(),
        "PAIR004" | "PAIR005" => vec![finding.call_id.clone()],
        _ => Vec::new(),
    }
}

/// How what is kept is looked at while the request that it is for is not known.
pub(super) fn kept(options: &Options) -> Options {
    Options { kept: true, ..options.clone() }
}

/// The rules about who may speak after whom. What is kept need not be changed for it: requests join or part messages, and
/// nothing of them is lost.
const ARRANGED: &[&str] = &["SHAPE003", "ORDER003"];

fn is_safe(found: &Finding) -> bool {
    found.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe)
}

/// The rules about ids that two calls have.
const REPEATED: &[&str] = &["IDENT003"];

/// A finding in the words that hosts know.
fn in_words(finding: &Finding, messages: &[OutlineMessage]) -> Vec<String> {
    let each = |what: &str, ids: Vec<Option<String>>| -> Vec<String> {
        let ids = ids.into_iter().map(|id| id.unwrap_or_else(|| "(no id)".to_owned()));
        ids.map(|id| format!("{what}: {id}")).collect()
    };
    if REPEATED.contains(&finding.code) {
        return each("Duplicate tool_use id", vec![finding.call_id.clone()]);
    }
    let (calls, results) = (calls_of(finding), results_of(finding, messages));
    if calls.is_empty() && results.is_empty() {
        return vec![finding.message.clone()];
    }
    let call = finding.related.first().map(|call| call.message_index);
    let mut words = match call {
        Some(at) if !calls.is_empty() && !is_before_user(messages, at) => {
            vec!["tool_use without following user message".to_owned()]
        }
        _ => each("Incomplete tool_use", calls),
    };
    words.extend(match finding.message_index {
        Some(at) if !results.is_empty() && !is_behind_assistant(messages, at) => {
            vec!["tool_result without preceding assistant message".to_owned()]
        }
        _ => each("Orphaned tool_result", results),
    });
    words
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
