//! Plans the commit of a cycle. Calls without a result get a synthetic one.

use std::collections::{HashMap, HashSet};

use seamline_store::{
    CallId, CallState, CallStep, CycleRecord, IncidentKind, IncidentSeverity, Insert, MessageRecord, OpenCall,
    OpenCycle, Origin, Raw, Record, Rejected,
};

use super::call::is_finished;
use super::{CycleOutcome, StopCause};
use crate::session::facts::{Batch, Facts};
use crate::session::host::context::unfinished_calls;
use crate::session::recover::texts;
use crate::session::recover::truth::{Truth, truth_of};
use crate::session::wire::{CallResult, ToolTurn};
use crate::session::{SessionError, ToolCall};

/// Why a cycle ends.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) enum Close<'c> {
    /// Every call has its result.
    Complete,
    /// The caller stopped the calls, or a time limit did.
    Stopped {
        why: StopCause,
        /// The calls that did not run, although their intent is durable.
        never_begun: &'c [ToolCall],
    },
    /// The process that ran the calls is gone.
    Crashed,
}

/// How a cycle is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Keeping {
    /// As a cycle: durable before it is in the view.
    Cycle,
    /// As plain messages, because integrity is switched off.
    Messages,
}

impl Facts<'_> {
    /// Plans the commit of a cycle. Calls without a result get one that says what is known of them.
    pub(in crate::session) fn plan_close(
        &self,
        open: &OpenCycle,
        turn: &ToolTurn,
        close: Close<'_>,
        keeping: Keeping,
    ) -> Result<(Batch, Vec<CycleOutcome>), SessionError> {
        let mut open = open.clone();
        let never_begun = match close {
            Close::Stopped { never_begun, .. } => reset_never_begun(&mut open, never_begun),
            Close::Complete | Close::Crashed => HashSet::new(),
        };
        let results = self.results(&open, turn, close, &never_begun)?;
        let records = match keeping {
            Keeping::Cycle => {
                let mut records = self.plan_commit_cycle(&open, turn, &results)?;
                records.extend(self.close_incidents(&open, close));
                records
            }
            Keeping::Messages => self.plan_plain_messages(turn, &results)?,
        };
        let lost = if keeping == Keeping::Cycle { unfinished_calls(&open) } else { Vec::new() };
        Ok((Batch::of(records).losing(lost), results.into_iter().map(outcome).collect()))
    }

    /// The results of all calls of a cycle, under the ids that the turn gives them.
    fn results(
        &self,
        open: &OpenCycle,
        turn: &ToolTurn,
        close: Close<'_>,
        never_begun: &HashSet<&CallId>,
    ) -> Result<Vec<CallResult>, SessionError> {
        let text = |call: &OpenCall| match close {
            Close::Complete => {
                let (cycle, call) = (open.id.clone(), call.id.clone());
                Err(SessionError::from(Rejected::Call { cycle, call, step: CallStep::CommitUnfinished }))
            }
            Close::Stopped { why, .. } => {
                let never_ran = truth_of(call) == Truth::NeverStarted || never_begun.contains(&call.id);
                Ok(self.stop_text(why, call, never_ran))
            }
            Close::Crashed => Ok(self.crash_text(call)),
        };
        let mut results: Vec<CallResult> =
            open.calls.iter().map(|call| result_of(call, text)).collect::<Result<_, SessionError>>()?;
        if turn.calls.len() == results.len() {
            results.iter_mut().zip(&turn.calls).for_each(|(result, made)| result.id = made.given_id.clone());
        }
        Ok(results)
    }

    /// The text that the model reads of a call that was stopped. A policy's own words are used as they are.
    fn stop_text(&self, stop: StopCause, call: &OpenCall, never_ran: bool) -> String {
        let repairs = self.wire.repairs();
        let text = match stop {
            StopCause::Aborted => &repairs.synthetic_text.aborted,
            StopCause::TimedOut => &repairs.synthetic_text.timeout,
        };
        if never_ran && text.own().is_none() { texts::not_begun(&call.tool) } else { text.as_str().to_owned() }
    }

    /// The text that the model reads of a call whose process is gone. A policy's own words say that the call may have
    /// run, so a call that certainly did not has ours.
    fn crash_text(&self, call: &OpenCall) -> String {
        let repairs = self.wire.repairs();
        match (truth_of(call), repairs.synthetic_text.crashed.own()) {
            (Truth::OutcomeUnknown | Truth::Harmless, Some(own)) => own.to_owned(),
            (Truth::OutcomeUnknown | Truth::Harmless | Truth::NeverStarted | Truth::Finished, _) => {
                texts::after_crash(call)
            }
        }
    }

    /// The records that put a cycle into the view and commit its checkpoint. Every call has a result now.
    fn plan_commit_cycle(
        &self,
        open: &OpenCycle,
        turn: &ToolTurn,
        results: &[CallResult],
    ) -> Result<Vec<Record>, SessionError> {
        let results = self.plan_results(turn, results)?;
        let cycle = Record::Cycle(CycleRecord { cycle: open.id.clone(), results });
        self.state.allows(&cycle)?;
        let mut records = vec![cycle];
        if let Some(checkpoint) = &open.checkpoint {
            records.extend(self.plan_commit(checkpoint).unwrap_or_default());
        }
        // No error rolls back behind a committed cycle.
        records.extend(self.plan_response_arrived());
        Ok(records)
    }

    fn plan_plain_messages(&self, turn: &ToolTurn, results: &[CallResult]) -> Result<Vec<Record>, SessionError> {
        let (origin, dialect) = (Origin::Said, &turn.dialect);
        let said = turn.messages.iter().cloned();
        let said = said.map(|message| Insert::new(message, origin, dialect.clone()));
        let all = said.chain(self.plan_results(turn, results)?);
        let record =
            |Insert { message, origin, dialect, .. }| Record::Message(MessageRecord::new(message, origin, dialect));
        Ok(all.map(record).collect())
    }

    /// Plans the messages with the results of a turn, in the dialect of the turn. Where each result is a message of its
    /// own, each has its own origin.
    fn plan_results(&self, turn: &ToolTurn, results: &[CallResult]) -> Result<Vec<Insert>, SessionError> {
        let messages = self.wire.write_results(turn, results)?;
        let is_each = messages.len() == results.len();
        let is_any = results.iter().any(CallResult::is_synthetic);
        let synthetic = (0..).zip(results).filter(|(_, result)| result.is_synthetic()).map(|(number, _)| number);
        // One message with all results: its origin alone does not tell which of them are synthetic.
        let numbers: Vec<u32> = if is_each || messages.len() != 1 { Vec::new() } else { synthetic.collect() };
        let insert = |(at, message): (usize, Raw)| {
            let is_synthetic = if is_each { results[at].is_synthetic() } else { is_any };
            let origin = if is_synthetic { Origin::Synthetic } else { Origin::Said };
            let (dialect, synthetic_results) = (turn.dialect.clone(), numbers.clone());
            Insert { message, origin, dialect, synthetic_results }
        };
        Ok(messages.into_iter().enumerate().map(insert).collect())
    }

    /// The incidents about calls without a result.
    fn close_incidents(&self, open: &OpenCycle, close: Close<'_>) -> Vec<Record> {
        let missing: Vec<&OpenCall> = open.calls.iter().filter(|call| !is_finished(call)).collect();
        match close {
            Close::Complete => Vec::new(),
            Close::Stopped { .. } if missing.is_empty() => Vec::new(),
            Close::Stopped { why, .. } => {
                let kind = match why {
                    StopCause::Aborted => IncidentKind::Aborted,
                    StopCause::TimedOut => IncidentKind::Timeout,
                };
                vec![self.counted(kind, IncidentSeverity::Warning, "calls were given up", missing.len())]
            }
            Close::Crashed => missing.into_iter().map(|call| self.crash_incident(call)).collect(),
        }
    }

    fn crash_incident(&self, call: &OpenCall) -> Record {
        let (kind, severity) = match truth_of(call) {
            Truth::OutcomeUnknown => (IncidentKind::OutcomeUnknown, IncidentSeverity::Error),
            Truth::Harmless => (IncidentKind::OutcomeUnknown, IncidentSeverity::Info),
            Truth::NeverStarted | Truth::Finished => (IncidentKind::NotExecuted, IncidentSeverity::Warning),
        };
        self.counted(kind, severity, format!("call {} of {}", call.id, call.tool), 1)
    }
}

/// Returns the ids whose calls are all in `these`. Calls can share an id, so one call in `these` may not be enough.
fn all_among<'a, 'c>(calls: impl Iterator<Item = &'a CallId>, these: &'c [ToolCall]) -> HashSet<&'c CallId> {
    let mut others: HashMap<&str, usize> = HashMap::new();
    for id in calls {
        *others.entry(id.as_str()).or_default() += 1;
    }
    let mut all = HashSet::new();
    for call in these {
        let left = others.get(call.id.as_str()).map_or(0, |left| left.saturating_sub(1));
        others.insert(call.id.as_str(), left);
        if left == 0 {
            all.insert(&call.id);
        }
    }
    all
}

/// Resets calls that certainly never began, although their intent is durable, and returns their ids.
pub(in crate::session) fn reset_never_begun<'c>(
    open: &mut OpenCycle,
    never_begun: &'c [ToolCall],
) -> HashSet<&'c CallId> {
    let unfinished = open.calls.iter().filter(|call| !is_finished(call)).map(|call| &call.id);
    let never_begun = all_among(unfinished, never_begun);
    for call in open.calls.iter_mut().filter(|call| !is_finished(call) && never_begun.contains(&call.id)) {
        call.state = CallState::Pending;
    }
    never_begun
}

fn result_of(
    call: &OpenCall,
    text: impl FnOnce(&OpenCall) -> Result<String, SessionError>,
) -> Result<CallResult, SessionError> {
    let (id, name) = (call.id.clone(), call.tool.clone());
    match &call.state {
        CallState::Finished { outcome, text, failed } => {
            let (outcome, output, failed) = (Some(*outcome), text.as_str().to_owned(), *failed);
            Ok(CallResult { id, name, output, failed, outcome })
        }
        CallState::Pending | CallState::Started { .. } => {
            Ok(CallResult { id, name, output: text(call)?, failed: true, outcome: None })
        }
    }
}

fn outcome(result: CallResult) -> CycleOutcome {
    let synthetic = result.is_synthetic();
    let CallResult { id, output, failed, .. } = result;
    CycleOutcome { tool_use_id: id, content: output, is_error: failed, synthetic }
}
