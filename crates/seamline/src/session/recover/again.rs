//! Runs the calls of a recovered cycle again.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use seamline_store::{Effect, OpenCall, OpenCycle, Record};

use super::truth::{Truth, truth_of};
use crate::session::cycle::call::{is_finished, plan_result_or_start};
use crate::session::cycle::run::run_call;
use crate::session::wire::ToolTurn;
use crate::session::{Session, SessionError, ToolCall, ToolExecutor, ToolOutput};

/// How to get the result of a call.
enum Again {
    /// Run the call again.
    Run,
    /// Ask the tool for the result of the earlier run.
    Probe,
    /// The call has a result, or may not run again.
    No,
}

impl Again {
    fn of(call: &OpenCall) -> Self {
        match (truth_of(call), call.effect) {
            (Truth::OutcomeUnknown, Effect::Probe) => Self::Probe,
            (Truth::OutcomeUnknown | Truth::NeverStarted | Truth::Harmless, effect) if effect.may_run_again() => {
                Self::Run
            }
            (Truth::NeverStarted | Truth::Harmless | Truth::OutcomeUnknown | Truth::Finished, _) => Self::No,
        }
    }
}

/// Runs the calls of a cycle that may run again, asks about those that can be asked about, and records their results.
/// Gives the number of results.
pub(super) async fn run_again(
    session: &mut Session,
    cycle: &OpenCycle,
    turn: &ToolTurn,
    executor: &dyn ToolExecutor,
) -> Result<usize, SessionError> {
    let mut count = 0;
    for open in cycle.calls.iter().filter(|call| !is_finished(call)) {
        let Some(call) = turn.runnable().find(|call| call.id == open.id) else { continue };
        let call = ToolCall { key: Some(session.facts().key(&cycle.id, &open.id)), ..call.clone() };
        let output = match Again::of(open) {
            Again::No => None,
            Again::Probe => probe(executor, &call).await,
            Again::Run => {
                // A call that runs for the first time needs its intent.
                if truth_of(open) == Truth::NeverStarted {
                    let intent = session.facts().plan_start(&cycle.id, &open.id)?;
                    session.write(intent).await?;
                }
                run_call(executor, &call).await.1.ok()
            }
        };
        if let Some(output) = output {
            let staged = plan_result_or_start(session.facts().open_cycle(&cycle.id)?, &open.id, &output)?;
            session.write(Record::Staged(staged).into()).await?;
            count += 1;
        }
    }
    Ok(count)
}

/// Asks a tool for the result of a call. A tool that panics when it is asked cannot tell.
async fn probe(executor: &dyn ToolExecutor, call: &ToolCall) -> Option<ToolOutput> {
    AssertUnwindSafe(async { executor.probe(call).await }).catch_unwind().await.ok().flatten()
}
