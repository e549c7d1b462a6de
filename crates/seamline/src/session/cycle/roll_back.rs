//! Plans the rollback of a cycle, and the compensation of its calls.

use seamline_store::{
    Compensated, CompensationOutcome, CycleEnd, CycleId, DroppedCheckpoints, Effect, IncidentKind, IncidentSeverity,
    OpenCall, OpenCycle, Record,
};

use super::call::{has_started, is_finished};
use crate::policy::UnansweredCall;
use crate::session::UnknownOutcome;
use crate::session::facts::{Batch, Facts};
use crate::session::host::context::lost_calls;
use crate::session::recover::truth::{Truth, truth_of, unknown_count};

/// Whether a tool executor is there to undo calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Compensation {
    /// The calls that can be undone are about to be.
    Follows,
    /// No executor is there.
    Impossible,
}

/// The reason for the rollback of a cycle whose calls have no result.
pub(in crate::session) const UNANSWERED: &str = "a tool call has no result";

/// The policy's treatment of a cycle that has calls without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Fate {
    /// The calls get results that say what is known.
    Close,
    /// The cycle is rolled back.
    RollBack,
    /// The cycle stays open, and the host decides.
    Stay,
}

impl Facts<'_> {
    /// Reads from the policy the treatment of a cycle that ends although calls of it may have no result.
    pub(in crate::session) fn fate_of(&self, open: &OpenCycle) -> Fate {
        if open.calls.iter().all(is_finished) {
            return Fate::Close;
        }
        match self.wire.repairs().unanswered_call {
            UnansweredCall::Synthesize | UnansweredCall::RemoveCall => Fate::Close,
            UnansweredCall::Fail => Fate::Stay,
            // A rollback would hide from the model that a call had an effect, or may have had one.
            UnansweredCall::Rollback
                if open.calls.iter().any(may_have_effect)
                    && self.config().unknown_outcome == UnknownOutcome::Annotate =>
            {
                Fate::Close
            }
            UnansweredCall::Rollback => Fate::RollBack,
        }
    }

    /// Plans the rollback of a cycle.
    pub(in crate::session) fn plan_roll_back(
        &self,
        open: &OpenCycle,
        reason: &str,
        compensation: Compensation,
    ) -> Batch {
        let mut incident = self.incident(IncidentKind::Rollback, IncidentSeverity::Warning, reason);
        incident.checkpoint.clone_from(&open.checkpoint);
        incident.count = open.calls.iter().filter(|call| has_started(call)).count() as u64;
        let mut records = end_records(open, reason, compensation);
        records.push(Record::Incident(incident));
        records.extend(self.compensation_incident(open, compensation));
        Batch::of(records).losing(lost_calls(open))
    }

    /// Plans the rollback of a cycle that a crash left open: no call of it had started, or one has an unknown outcome that
    /// is to be forgotten. Every other cycle is committed instead.
    pub(in crate::session) fn plan_forget(&self, open: &OpenCycle, compensation: Compensation) -> Option<Batch> {
        if self.fate_of(open) == Fate::Stay {
            return None;
        }
        let is_untouched = open.calls.iter().all(|call| truth_of(call) == Truth::NeverStarted);
        let forgets = self.config().unknown_outcome == UnknownOutcome::Forget;
        let (kind, detail) = if is_untouched {
            (IncidentKind::NotExecuted, "a cycle without a started call was rolled back")
        } else if forgets && unknown_count(open) > 0 {
            (IncidentKind::Rollback, "a cycle was rolled back although calls of it had started")
        } else {
            return None;
        };
        let mut incident = self.incident(kind, IncidentSeverity::Warning, detail);
        incident.checkpoint.clone_from(&open.checkpoint);
        incident.count = open.calls.len() as u64;
        let mut records = end_records(open, detail, compensation);
        records.push(Record::Incident(incident));
        records.extend(self.discarded_incidents(std::slice::from_ref(open)));
        records.extend(self.compensation_incident(open, compensation));
        Some(Batch::of(records).losing(lost_calls(open)))
    }

    /// The incidents about discarded cycles whose calls have run, or may have. They contain no tool output.
    pub(in crate::session) fn discarded_incidents(&self, cycles: &[OpenCycle]) -> Vec<Record> {
        let kinds = [
            (
                Truth::OutcomeUnknown,
                IncidentKind::OutcomeUnknown,
                "calls with an unknown outcome were rolled back with their cycle",
            ),
            (Truth::Finished, IncidentKind::Rollback, "calls that had finished were rolled back with their cycle"),
        ];
        let incidents = kinds.into_iter().filter_map(|(truth, kind, detail)| {
            let calls = cycles.iter().flat_map(|cycle| &cycle.calls).filter(|call| truth_of(call) == truth);
            let names: Vec<String> = calls.map(name).collect();
            let detail = format!("{detail}: {}", names.join(", "));
            (!names.is_empty()).then(|| self.counted(kind, IncidentSeverity::Error, detail, names.len()))
        });
        incidents.collect()
    }

    /// The incident about calls that can be undone. It is durable before the first of them is.
    fn compensation_incident(&self, cycle: &OpenCycle, compensation: Compensation) -> Option<Record> {
        let names: Vec<String> = cycle.calls.iter().filter(|call| is_compensatable(call)).map(name).collect();
        let (severity, what) = match compensation {
            Compensation::Follows => (IncidentSeverity::Info, "calls are about to be undone"),
            Compensation::Impossible => (IncidentSeverity::Error, "no executor was there to undo calls"),
        };
        let mut incident = self.incident(IncidentKind::Rollback, severity, format!("{what}: {}", names.join(", ")));
        incident.checkpoint.clone_from(&cycle.checkpoint);
        incident.count = names.len() as u64;
        (!names.is_empty()).then_some(Record::Incident(incident))
    }

    /// Plans the outcome of undoing a call.
    pub(in crate::session) fn plan_compensated(
        &self,
        cycle: &CycleId,
        call: &OpenCall,
        outcome: CompensationOutcome,
    ) -> Batch {
        let (severity, what) = match outcome {
            CompensationOutcome::Undone => (IncidentSeverity::Info, "was undone"),
            CompensationOutcome::Failed | CompensationOutcome::Unknown => {
                (IncidentSeverity::Error, "could not be undone")
            }
        };
        let detail = format!("call {} of {} {what}", call.id, call.tool);
        let compensated = Compensated { cycle: cycle.clone(), call: call.id.clone(), outcome };
        let incident = self.counted(IncidentKind::Rollback, severity, detail, 1);
        Batch::of(vec![Record::Compensated(compensated), incident])
    }

    /// Plans the incident about calls whose compensation a crash or a cancelled future cut off. It is recorded once.
    pub(in crate::session) fn plan_cut_off_compensations(&self) -> Batch {
        let cut_off = &self.state.compensations;
        if cut_off.is_empty() {
            return Batch::default();
        }
        let names: Vec<String> =
            cut_off.iter().map(|pending| format!("{} of {}", pending.call, pending.tool)).collect();
        let detail =
            format!("the compensation of calls was cut off; they may still be in effect: {}", names.join(", "));
        let incident = self.counted(IncidentKind::Rollback, IncidentSeverity::Error, detail, names.len());
        let unknown = cut_off.iter().map(|pending| {
            let (cycle, call) = (pending.cycle.clone(), pending.call.clone());
            Record::Compensated(Compensated { cycle, call, outcome: CompensationOutcome::Unknown })
        });
        Batch::of(unknown.chain([incident]).collect())
    }
}

/// The records that end a cycle without showing it. The view never had it, so messages, repairs and other cycles that
/// came since stay.
pub(in crate::session) fn end_records(open: &OpenCycle, reason: &str, compensation: Compensation) -> Vec<Record> {
    let is_undone = |call: &&OpenCall| compensation == Compensation::Follows && is_compensatable(call);
    let undoing = open.calls.iter().filter(is_undone).map(|call| call.id.clone()).collect();
    let end = Record::CycleEnd(CycleEnd { cycle: open.id.clone(), reason: reason.to_owned(), undoing });
    let dropped =
        open.checkpoint.iter().map(|id| Record::CheckpointsDropped(DroppedCheckpoints { ids: vec![id.clone()] }));
    std::iter::once(end).chain(dropped).collect()
}

fn may_have_effect(call: &OpenCall) -> bool {
    call.effect.needs_intent() && matches!(truth_of(call), Truth::Finished | Truth::OutcomeUnknown)
}

/// Whether a call may have an effect that its tool can undo.
pub(in crate::session) fn is_compensatable(call: &OpenCall) -> bool {
    call.effect == Effect::Compensatable && matches!(truth_of(call), Truth::Finished | Truth::OutcomeUnknown)
}

fn name(call: &OpenCall) -> String {
    format!("{} of {}", call.id, call.tool)
}
