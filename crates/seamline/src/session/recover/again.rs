//! Runs the calls of a recovered cycle again.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use seamline_store::{Effect, OpenCall, OpenCycle, Record};

use super::truth::{Truth, truth_of};
use crate::session::cycle::call::{CallFailure, Failed, Planned, TooLarge, is_finished};
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

/// The end of a recovery's run.
pub(super) enum RunAgain {
    /// This many calls have a result now.
    Done(usize),
    /// A failure rolls the cycle back.
    Failed(Failed),
}

/// Runs the calls of a cycle that may run again, asks about those that can be asked about, and records their results as
/// every run does.
pub(super) async fn run_again(
    session: &mut Session,
    cycle: &OpenCycle,
    turn: &ToolTurn,
    executor: &dyn ToolExecutor,
) -> Result<RunAgain, SessionError> {
    let mut count = 0;
    for open in cycle.calls.iter().filter(|call| !is_finished(call)) {
        let Some(call) = turn.runnable().find(|call| call.id == open.id) else { continue };
        let call = ToolCall { key: Some(session.facts().key(&cycle.id, &open.id)), ..call.clone() };
        let ran = match Again::of(open) {
            Again::No => None,
            Again::Probe => probe(executor, &call).await.map(Ok),
            Again::Run => {
                // A call that runs for the first time needs its intent.
                if truth_of(open) == Truth::NeverStarted {
                    let intent = session.facts().plan_start(&cycle.id, &open.id)?;
                    session.write(intent).await?;
                }
                let (_, ran) = run_call(executor, &call).await;
                Some(ran).filter(|ran| is_known(open, ran))
            }
        };
        let Some(ran) = ran else { continue };
        let facts = session.facts();
        match facts.plan_outcome(facts.open_cycle(&cycle.id)?, &open.id, ran, TooLarge::KeepStart)? {
            Planned::Result(staged) => session.write(Record::Staged(staged).into()).await?,
            Planned::RollsBack(failed) => return Ok(RunAgain::Failed(failed)),
        }
        count += 1;
    }
    Ok(RunAgain::Done(count))
}

/// Whether the outcome of a call is known after this run. The effect of a tool that crashed is not, and a second run that
/// could not be made says nothing about the first one.
fn is_known(call: &OpenCall, ran: &Result<ToolOutput, CallFailure>) -> bool {
    match ran {
        Ok(_) => true,
        Err(CallFailure::Failed(_)) => truth_of(call) != Truth::OutcomeUnknown,
        Err(CallFailure::Crashed) => false,
    }
}

/// Asks a tool for the result of a call. A tool that panics when it is asked cannot tell.
async fn probe(executor: &dyn ToolExecutor, call: &ToolCall) -> Option<ToolOutput> {
    AssertUnwindSafe(async { executor.probe(call).await }).catch_unwind().await.ok().flatten()
}
