//! Validates a conversation in the words that hosts of an integrity layer know.

use seamline_model::Role;
use seamline_store::{Accepted, AcceptedFinding, CallId, Entry, Record};
use serde::Serialize;

use crate::check::Checked;
use crate::outline::{OutlineKind, OutlineMessage};
use crate::policy::{DuplicateCallId, OnInvalid, RepairKnob, RepairPolicy, TrailingCall};
use crate::rules::codes;
use crate::session::SessionError;
use crate::session::facts::Facts;
use crate::{Finding, Options, Safety, Severity};

/// The outcome of a validation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationResult {
    /// Whether the conversation is valid.
    pub valid: bool,
    /// The first of [`errors`](Self::errors).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The ids of results without a call in the message before them, from the first to the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub orphaned_ids: Vec<CallId>,
    /// The ids of calls without a result in the message behind them, all of each turn. Those of the last message may still
    /// be answered, and are not among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub incomplete_ids: Vec<CallId>,
    /// All errors, in words: `Orphaned tool_result: ID`, `tool_result without preceding assistant message`,
    /// `Incomplete tool_use: ID`, `tool_use without following user message`, `Duplicate tool_use id: ID`, and the message of
    /// the finding for anything else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The index of the first message with an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_index: Option<usize>,
}

/// A validation, and the place of each finding in it.
#[derive(Debug, Default)]
pub(in crate::session) struct Validated {
    pub(in crate::session) result: ValidationResult,
    pub(in crate::session) findings: Vec<AcceptedFinding>,
}

impl Facts<'_> {
    /// Whether there is nothing to validate: integrity is switched off, or a session that has just begun has no messages.
    pub(in crate::session) fn is_exempt(&self) -> bool {
        !self.config().enabled || self.state.view.is_empty()
    }

    /// Plans the record that the caller accepts these findings, where the policy asks for that: requests repair them.
    pub(in crate::session) fn plan_accepted(&self, validated: &Validated) -> Option<Record> {
        let is_new = validated.findings != self.state.accepted && validated.findings != self.work.accepted;
        let is_asked = self.wire.repairs().on_invalid == OnInvalid::Offer;
        (is_asked && is_new).then(|| Record::Accepted(Accepted { findings: validated.findings.clone() }))
    }

    /// Whether the caller accepted all findings of a validation.
    pub(in crate::session) fn is_accepted(&self, validated: &Validated) -> bool {
        let accepted = || self.state.accepted.iter().chain(&self.work.accepted);
        let is_covered = |found: &AcceptedFinding| accepted().any(|accepted| accepted.covers(found));
        validated.findings.iter().all(is_covered)
    }

    /// Validates messages in the current dialect with the findings of a check. Ids that repeat are errors, unless the
    /// policy corrects them in requests; then the order of roles, which a request arranges, is correct, too.
    pub(in crate::session) fn validate(
        &self,
        Demands { repeated, trailing }: Demands,
        entries: &[Entry],
        check: impl FnOnce(&Options) -> Result<Checked, SessionError>,
    ) -> Result<Validated, SessionError> {
        if self.is_exempt() {
            return Ok(Validated::valid());
        }
        let mut options = kept(&self.wire.options);
        let policy = &mut options.policy;
        policy.set_for_all(RepairKnob::TrailingCall, |repair| repair.trailing_call = trailing);
        policy.set_for_all(RepairKnob::DuplicateCallId, |repair| repair.duplicate_call_id = repeated);
        let checked = check(&options)?;
        let is_wrong = |found: &&Finding| {
            let is_let_through = repeated != DuplicateCallId::Error
                && (REPEATED.contains(&found.code) || (ARRANGED.contains(&found.code) && is_safe(found)));
            found.severity == Severity::Error && !is_let_through
        };
        let wrong: Vec<&Finding> = checked.findings.iter().filter(is_wrong).collect();
        if wrong.is_empty() {
            return Ok(Validated::valid());
        }
        let body = self.wire.body("{}", entries.iter().map(|entry| &entry.message))?;
        let outline = crate::outline(&body, &self.wire.options, 0..usize::MAX)?;
        let findings = wrong.iter().map(|finding| place_of(finding, entries)).collect();
        Ok(Validated { result: ValidationResult::of(&wrong, &outline), findings })
    }
}

/// The demands of a validation that depend on its purpose.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Demands {
    repeated: DuplicateCallId,
    trailing: TrailingCall,
}

impl Demands {
    /// The demands on stored messages: the calls of the last message may still be answered.
    pub(in crate::session) const STORED: Self =
        Self { repeated: DuplicateCallId::Error, trailing: TrailingCall::AllowPending };

    /// The demands on messages that are about to be sent. Requests close the calls of the last message, unless the policy
    /// lets them stay open: then no request may be made before they are closed.
    pub(in crate::session) fn of_request(repairs: &RepairPolicy) -> Self {
        let trailing = match repairs.trailing_call {
            TrailingCall::AllowPending => TrailingCall::Close,
            TrailingCall::Close | TrailingCall::Remove => TrailingCall::AllowPending,
        };
        Self { repeated: repairs.duplicate_call_id, trailing }
    }
}

impl Validated {
    pub(in crate::session) fn valid() -> Self {
        Self { result: ValidationResult { valid: true, ..ValidationResult::default() }, findings: Vec::new() }
    }
}

/// A finding by its rule and its place.
fn place_of(finding: &Finding, entries: &[Entry]) -> AcceptedFinding {
    let related = finding.related.iter().filter_map(|related| related.call_id.as_deref());
    let mut calls: Vec<CallId> = finding.call_id.as_deref().into_iter().chain(related).map(CallId::from).collect();
    calls.dedup();
    AcceptedFinding {
        code: finding.code.to_owned(),
        entry: finding.message_index.and_then(|at| entries.get(at)).map(Entry::id),
        block: finding.block_index.map(|block| block as u64),
        calls,
    }
}

impl ValidationResult {
    /// The outcome for the findings of a conversation.
    pub(in crate::session) fn of(wrong: &[&Finding], messages: &[OutlineMessage]) -> Self {
        let errors: Vec<String> = wrong.iter().flat_map(|finding| in_words(finding, messages)).collect();
        Self {
            valid: wrong.is_empty(),
            error: errors.first().cloned(),
            orphaned_ids: known(wrong.iter().flat_map(|finding| results_of(finding, messages))),
            incomplete_ids: known(wrong.iter().flat_map(|finding| calls_of(finding))),
            errors,
            first_index: wrong.iter().filter_map(|finding| finding.message_index).min(),
        }
    }
}

fn known(ids: impl Iterator<Item = Option<CallId>>) -> Vec<CallId> {
    let mut ids: Vec<CallId> = ids.flatten().collect();
    ids.dedup();
    ids
}

/// The id of the call that a finding is about.
fn named(finding: &Finding) -> Option<CallId> {
    finding.call_id.as_deref().map(CallId::from)
}

/// The ids of results that have no call where the provider looks for one, as the results name them.
fn results_of(finding: &Finding, messages: &[OutlineMessage]) -> Vec<Option<CallId>> {
    match finding.code {
        codes::ORPHAN_RESULT | codes::DISPLACED_RESULT => vec![named(finding)],
        // It names another call than the one it answers.
        codes::MISADDRESSED_RESULT => {
            let message = finding.message_index.and_then(|at| messages.get(at));
            let block = message.and_then(|it| it.blocks.iter().find(|block| block.pointer == finding.pointer));
            vec![block.and_then(|block| block.id.as_deref()).filter(|id| !id.is_empty()).map(CallId::from)]
        }
        _ => Vec::new(),
    }
}

/// The ids of calls that have no result where the provider looks for one.
fn calls_of(finding: &Finding) -> Vec<Option<CallId>> {
    match finding.code {
        // All of a turn that have none.
        codes::UNANSWERED_CALL => {
            finding.related.iter().map(|call| call.call_id.as_deref().map(CallId::from)).collect()
        }
        codes::DISPLACED_RESULT | codes::MISADDRESSED_RESULT => vec![named(finding)],
        _ => Vec::new(),
    }
}

/// The options for a check of stored messages while their request is not known.
pub(in crate::session) fn kept(options: &Options) -> Options {
    Options { kept: true, ..options.clone() }
}

/// The rules about the order of roles. Stored messages need not change for it: requests join or split messages without
/// loss.
const ARRANGED: &[&str] = &[codes::CONSECUTIVE_ROLES, codes::UNEXPECTED_ROLE];

fn is_safe(found: &Finding) -> bool {
    found.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe)
}

/// The rules about ids that two calls have.
const REPEATED: &[&str] = &[codes::REPEATED_CALL_ID];

/// A finding in the words that hosts know.
fn in_words(finding: &Finding, messages: &[OutlineMessage]) -> Vec<String> {
    let each = |what: &str, ids: Vec<Option<CallId>>| -> Vec<String> {
        let ids = ids.into_iter().map(|id| id.unwrap_or_else(|| "(no id)".into()));
        ids.map(|id| format!("{what}: {id}")).collect()
    };
    if REPEATED.contains(&finding.code) {
        return each("Duplicate tool_use id", vec![named(finding)]);
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

/// Whether a result follows a message of the assistant. Results that are messages of their own follow each other.
fn is_behind_assistant(messages: &[OutlineMessage], at: usize) -> bool {
    let before = messages.get(..at).unwrap_or_default();
    before.iter().rfind(|message| !is_tool(message)).is_some_and(|message| message.role == Role::Assistant)
}

/// Whether a message of the user or a tool follows a call. Calls that are messages of their own follow each other.
fn is_before_user(messages: &[OutlineMessage], at: usize) -> bool {
    let is_call = |message: &OutlineMessage| {
        message.blocks.iter().any(|block| block.kind == OutlineKind::Call && block.span == message.span)
    };
    let is_own = messages.get(at).is_some_and(is_call);
    let mut behind = messages.iter().skip(at + 1).skip_while(|message| is_own && is_call(message));
    behind.next().is_some_and(|message| message.role == Role::User || is_tool(message))
}

fn is_tool(message: &OutlineMessage) -> bool {
    matches!(message.role, Role::Tool | Role::Function)
}
