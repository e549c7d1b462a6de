//! `PAIR015 unacknowledged-check`

use std::collections::HashSet;

use seamline_model::{FactKind, PairedCall};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds results of computer calls that do not acknowledge the pending safety checks of the call.
    ///
    /// # Why is this bad?
    /// The provider continues only after the client has acknowledged each check. The cause is a client that ignores the checks.
    /// The provider's error text is not known.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "computer-use-preview",
    ///   "input": [
    ///     {"role": "user", "content": "Open the bank's page."},
    ///     {
    ///       "type": "computer_call",
    ///       "call_id": "call_open",
    ///       "action": {"type": "click", "button": "left", "x": 10, "y": 20},
    ///       "pending_safety_checks": [{"id": "cu_sc_1", "code": "sensitive_domain", "message": "A bank"}],
    ///       "status": "completed"
    ///     },
    ///     {
    ///       "type": "computer_call_output",
    ///       "call_id": "call_open",
    ///       "output": {"type": "computer_screenshot", "file_id": "file_1"}
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// Display only: only the user can decide about a safety check.
    ///
    /// # References
    /// OAR-30; from the types of the SDK
    PAIR015 "unacknowledged-check" in Pairing, Warning, DisplayOnly, each Whole, reach Cycle
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    // Hardly any conversation has such checks, so the calls of others are not visited.
    if !context.transcript.facts.is_empty() {
        for state in &context.pairing.calls {
            check_call(context, state, report);
        }
    }
}

fn check_call(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let Some(matched) = state.matched else { return };
    let facts = |block, kind| context.transcript.facts_of(block, kind);
    let acknowledged: HashSet<&str> = facts(matched.result, FactKind::AcknowledgedCheck).collect();
    if let Some(check) = facts(state.call, FactKind::PendingCheck).find(|check| !acknowledged.contains(check)) {
        let id = context.id(state.call);
        let message = format!("tool result for `{id}` does not acknowledge the safety check `{check}`");
        report.block(context, matched.result, message).call_id(id).related([state.call]);
    }
}
