//! The events that this crate logs, all in one place. An event has counts, places, codes and ids. It never has the text
//! of a message, a tool's input or output, a key or a header.

use std::collections::BTreeMap;

use seamline_model::{MessageIndex, Pairing, Scope, Transcript};
use seamline_rules::{Action, ActionKind, Repair};
use seamline_store::{Incident, Record, SessionId};
use tracing::span::EnteredSpan;
use tracing::{Level, debug, debug_span, enabled, info, trace, warn};

use crate::check::Checked;
use crate::convert::Converted;
use crate::rules::codes;
use crate::stream::Response;

/// The longest id that is logged unchanged.
const ID_BYTES_MAX: usize = 64;

/// Opens the span of an operation on a body. It ends when the caller drops it.
pub(crate) fn enter(operation: &'static str, body: &[u8]) -> EnteredSpan {
    debug_span!("body", operation, bytes = body.len()).entered()
}

/// Logs a check.
pub(crate) fn record_check(checked: &Checked) {
    let Checked { dialect, provider, messages, calls, .. } = checked;
    debug!(dialect, provider, messages, calls, findings = checked.findings.len(), "checked");
}

/// Logs a repair: each action, each orphaned tool result, each message that loses tool calls, each tool result that is
/// removed from the beginning of the conversation, and a summary.
pub(crate) fn record_repair(transcript: &Transcript<'_>, repair: &Repair<'_>) {
    if !enabled!(Level::WARN) {
        return;
    }
    // A call is completed by a result with its own id, wherever that is.
    let pairing = Pairing::of(transcript, Scope { misaddressed: false, ..Scope::ALL });
    repair.actions.iter().for_each(record_action);
    warn_of_removed_calls(transcript, &pairing, &repair.actions);
    warn_of_removed_results(repair);
    let processed = if repair.body.is_some() { repair.origins.len() } else { transcript.messages.len() };
    info!(
        original_messages = transcript.messages.len(),
        processed_messages = processed,
        valid_tool_calls = pairing.calls.len(),
        completed_tool_calls = pairing.calls.iter().filter(|call| call.matched.is_some()).count(),
        found = repair.found.len(),
        actions = repair.actions.len(),
        remaining = repair.remaining.len(),
        passes = repair.passes,
        "repaired"
    );
}

fn record_action(action: &Action) {
    let Action { code, action: word, synthetic, before_hash, after_hash, .. } = action;
    let message_index = action.message.map(MessageIndex::get);
    let tool_call_id = action.call_id.as_deref().map(loggable_call);
    if *code == codes::ORPHAN_RESULT {
        debug!(message_index, tool_call_id, action = word.as_str(), "orphaned tool result");
    }
    trace!(
        code,
        action = word.as_str(),
        message_index,
        tool_call_id,
        synthetic,
        before_hash,
        after_hash,
        "repair action"
    );
}

/// Warns of each message that loses tool calls.
fn warn_of_removed_calls(transcript: &Transcript<'_>, pairing: &Pairing, actions: &[Action]) {
    for cycle in &pairing.cycles {
        let calls = pairing.calls.get(cycle.range()).unwrap_or_default();
        let ids = calls.iter().filter_map(|call| transcript.call(call.call)?.id.as_ref());
        let mut count_by_id: BTreeMap<&str, usize> = BTreeMap::new();
        ids.for_each(|id| *count_by_id.entry(id.as_str()).or_default() += 1);
        let is_about = |action: &&Action| action.action == ActionKind::Remove && action.message == Some(cycle.message);
        let removed: Vec<&str> = actions
            .iter()
            .filter(is_about)
            .filter_map(|action| action.call_id.as_deref())
            .filter(|id| count_by_id.contains_key(id))
            .collect();
        if !removed.is_empty() {
            warn!(
                message_index = cycle.message.get(),
                removed_tool_ids = ?removed.iter().map(|id| loggable_call(id)).collect::<Vec<_>>(),
                completed_count = calls.len().saturating_sub(removed.len()),
                total_count = calls.len(),
                "removed tool calls"
            );
        }
    }
}

/// Warns of each removed tool result before which no message stays.
fn warn_of_removed_results(repair: &Repair<'_>) {
    let first_kept = repair.origins.iter().flatten().min();
    let is_leading = |action: &&Action| {
        let is_first = action.message.is_some_and(|message| first_kept.is_none_or(|first| message < *first));
        is_first && action.action == ActionKind::Remove && action.call_id.is_some()
    };
    for action in repair.actions.iter().filter(is_leading) {
        let message_index = action.message.map(MessageIndex::get);
        warn!(message_index, "removed a tool result from the beginning of the conversation");
    }
}

/// Logs a conversion.
pub(crate) fn record_conversion(converted: &Converted) {
    debug!(
        from = converted.from.dialect,
        to = converted.to.dialect,
        messages = converted.messages,
        lost = converted.lost.len(),
        repairs = converted.repairs.len(),
        remaining = converted.remaining.len(),
        "converted"
    );
}

/// Logs an assembled response.
pub(crate) fn record_response(response: &Response) {
    debug!(
        dialect = response.dialect,
        ending = ?response.ending,
        blocks = response.blocks.len(),
        findings = response.findings.len(),
        "assembled"
    );
}

/// Logs that a store is opened, by the scheme of its address alone: the rest may hold a password.
pub(crate) fn record_opening(address: &str, read_only: bool) {
    let scheme = address.split_once(':').map(|(scheme, _)| loggable(scheme));
    debug!(scheme, read_only, "opening a store");
}

/// Logs a record of a session that the store has acknowledged, if it is about integrity.
pub(crate) fn record_session(session: &SessionId, record: &Record) {
    let session = loggable(session.as_str());
    match record {
        Record::Cycle(cycle) => debug!(session, cycle = cycle.cycle.as_str(), "tool cycle committed"),
        Record::CycleEnd(end) => info!(session, cycle = end.cycle.as_str(), "tool cycle rolled back"),
        Record::Rollback(rollback) => info!(session, checkpoint = rollback.checkpoint.as_str(), "rolled back"),
        Record::Repair(repair) => {
            info!(session, repair = repair.id.as_str(), places = repair.cuts.len(), "stored messages repaired");
        }
        Record::Reset(reset) => warn!(session, kept = reset.kept.len(), "session reset"),
        // The detail of an incident may name tools and calls.
        Record::Incident(incident) => {
            let Incident { kind, severity, count, message, .. } = incident;
            warn!(session, ?kind, ?severity, count, message_index = message, "incident");
        }
        Record::Begin(_)
        | Record::Message(_)
        | Record::Turn(_)
        | Record::Intent(_)
        | Record::Staged(_)
        | Record::Checkpoint(_)
        | Record::CheckpointCommit(_)
        | Record::CheckpointsDropped(_)
        | Record::Undo(_)
        | Record::Accepted(_)
        | Record::Compensated(_)
        | Record::Compact(_)
        | Record::Inbox(_)
        | Record::Switch(_)
        | Record::Policy(_)
        | Record::Renamed(_)
        | Record::Unknown(_)
        | Record::Unreadable(_) => {}
    }
}

/// The id of a call, or its hash unless it begins as the ids of a provider do: some clients use names as ids.
fn loggable_call(id: &str) -> String {
    if seamline_dialects::id_prefix(id).is_empty() { hashed(id) } else { loggable(id) }
}

/// An id, or its hash if it does not look like an id: a client may have put anything there.
fn loggable(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:|".contains(&byte);
    if id.len() <= ID_BYTES_MAX && id.bytes().all(is_plain) { id.to_owned() } else { hashed(id) }
}

fn hashed(id: &str) -> String {
    format!("blake3:{}", &blake3::hash(id.as_bytes()).to_hex()[..16])
}
