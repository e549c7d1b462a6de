//! Undoing what calls did whose cycle is taken back.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use seamline_store::{Effect, IncidentKind, IncidentSeverity, OpenCall, OpenCycle, Record};

use super::cycle::returned;
use super::recovery::truth;
use super::{ExecutorFailure, Session, SessionError, ToolCall, ToolExecutor, Truth, idempotency_key};

impl Session {
    /// The incident about calls of a cycle that can be undone: that they are about to be, which is written down before
    /// any is, or that nobody is there to do it.
    pub(super) fn undoing(&self, cycle: &OpenCycle, has_executor: bool) -> Option<Record> {
        let calls = cycle.calls.iter().filter(|call| may_be_undone(call));
        let names: Vec<String> = calls.map(|call| format!("{} of {}", call.id, call.tool)).collect();
        let (severity, what) = if has_executor {
            (IncidentSeverity::Info, "calls are about to be undone")
        } else {
            (IncidentSeverity::Error, "nobody was there to undo calls that can be")
        };
        let mut incident = self.incident(IncidentKind::Rollback, severity, format!("{what}: {}", names.join(", ")));
        incident.checkpoint.clone_from(&cycle.checkpoint);
        incident.count = names.len() as u64;
        (!names.is_empty()).then_some(Record::Incident(incident))
    }

    /// Undoes what calls of a cycle did that was taken back, the last one first, and says how many could not be. What
    /// came of each is written down; where that fails the others are undone all the same, as nobody comes back to them.
    pub(super) async fn undo_calls(
        &mut self,
        cycle: &OpenCycle,
        made: &[ToolCall],
        executor: &dyn ToolExecutor,
    ) -> Result<usize, SessionError> {
        let (mut failed, mut written) = (0, Ok(()));
        for open in cycle.calls.iter().rev().filter(|call| may_be_undone(call)) {
            let call = made.iter().find(|call| call.id == open.id);
            let is_undone = match call {
                Some(call) => {
                    let key = idempotency_key(&self.id, self.state.generation, &cycle.id, &open.id);
                    let call = ToolCall { key: Some(key), ..call.clone() };
                    undone(executor, &call, returned(open).as_deref()).await.is_ok()
                }
                None => false,
            };
            failed += usize::from(!is_undone);
            let (severity, what) = if is_undone {
                (IncidentSeverity::Info, "was undone")
            } else {
                (IncidentSeverity::Error, "could not be undone")
            };
            let detail = format!("call {} of {} {what}", open.id, open.tool);
            let mut incident = self.incident(IncidentKind::Rollback, severity, detail);
            incident.count = 1;
            written = written.and(self.write(vec![Record::Incident(incident)]).await);
        }
        written.map(|()| failed)
    }
}

/// Whether there may be something of a call that can be undone.
fn may_be_undone(call: &OpenCall) -> bool {
    call.effect == Effect::Compensatable && matches!(truth(call), Truth::Finished | Truth::OutcomeUnknown)
}

/// Undoes a call. A tool that panics could not.
async fn undone(executor: &dyn ToolExecutor, call: &ToolCall, returned: Option<&str>) -> Result<(), ExecutorFailure> {
    let outcome = AssertUnwindSafe(async { executor.compensate(call, returned).await }).catch_unwind().await;
    outcome.unwrap_or_else(|_| Err(ExecutorFailure("the tool crashed".to_owned())))
}
