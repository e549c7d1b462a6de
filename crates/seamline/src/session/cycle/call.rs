//! Plans the start and the result of a call.

use seamline_store::{
    CallId, CallOutcome, CallState, CallStep, CycleId, Intent, OpenCall, OpenCycle, Record, Rejected, ResultText,
    Staged,
};

use super::begin::idempotency_key;
use super::{ExecutorFailure, ToolOutput};
use crate::session::facts::{Batch, Facts};
use crate::session::recover::texts;
use crate::session::{OnFailure, Refusal, SessionError};

/// The most bytes of all results of a cycle: one commit holds them, and the last one twice.
const RESULTS_BYTES_MAX: usize = 100 * 1024 * 1024;

/// The most bytes that are kept of a result that is too large.
const START_BYTES_MAX: usize = 64 * 1024;

/// The most bytes that JSON takes for one byte of a text.
const ESCAPED_BYTES_MAX: usize = 6;

/// Why a call has no output of its tool.
#[derive(Debug)]
pub(in crate::session) enum CallFailure {
    /// The executor says that the tool could not be run.
    Failed(ExecutorFailure),
    /// The executor panicked.
    Crashed,
}

impl CallFailure {
    fn into_text(self) -> String {
        match self {
            Self::Failed(ExecutorFailure(why)) => why,
            Self::Crashed => "the tool crashed; what it did until then is not known".to_owned(),
        }
    }
}

impl From<ExecutorFailure> for CallFailure {
    fn from(failure: ExecutorFailure) -> Self {
        Self::Failed(failure)
    }
}

/// A failure that rolls a cycle back.
pub(in crate::session) struct Failed {
    /// The text for the host.
    pub(in crate::session) error: String,
    /// The reason that is recorded. It contains no tool output.
    pub(in crate::session) reason: &'static str,
}

/// The plan for the outcome of a call.
pub(in crate::session) enum Planned {
    /// The call has this result.
    Result(Staged),
    /// The failure rolls the cycle back.
    RollsBack(Failed),
}

/// The treatment of a result that does not fit into the commit of its cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum TooLarge {
    /// The host is told, and may give less.
    Refuse,
    /// The start of it is kept, with a note for the model: the tool ran already.
    KeepStart,
}

/// The text of a result and its origin.
struct Told {
    outcome: CallOutcome,
    text: String,
    failed: bool,
}

impl Facts<'_> {
    /// The idempotency key of a call.
    pub(in crate::session) fn key(&self, cycle: &CycleId, call: &CallId) -> String {
        idempotency_key(self.id, self.state.generation, cycle, call)
    }

    /// The intent to run a call.
    pub(in crate::session) fn intent(&self, cycle: &CycleId, call: &CallId) -> Record {
        Record::Intent(Intent { cycle: cycle.clone(), call: call.clone(), key: self.key(cycle, call) })
    }

    /// Plans the start of a call: its intent, unless the call only reads.
    pub(in crate::session) fn plan_start(&self, cycle: &CycleId, call: &CallId) -> Result<Batch, SessionError> {
        let intent = self.intent(cycle, call);
        self.state.allows(&intent)?;
        self.refuse_if(cycle, call, CallStep::StartAgain, |open| {
            matches!(open.state, CallState::Started { .. }) && !open.effect.may_run_again()
        })?;
        let mut calls = self.state.cycle(cycle).into_iter().flat_map(|open| &open.calls);
        let is_needed = calls.any(|open| open.id == *call && open.effect.needs_intent());
        Ok(if is_needed { intent.into() } else { Batch::default() })
    }

    /// Checks that a call waits for its result.
    pub(in crate::session) fn check_finish(&self, cycle: &CycleId, call: &CallId) -> Result<(), SessionError> {
        let (cycle_id, call_id, text) = (cycle.clone(), call.clone(), "".into());
        let outcome = CallOutcome::Returned;
        let staged = Staged { cycle: cycle_id, call: call_id, outcome, text, failed: false };
        self.state.allows(&Record::Staged(staged))?;
        self.refuse_if(cycle, call, CallStep::FinishUnstarted, |open| {
            open.state == CallState::Pending && open.effect.needs_intent()
        })
    }

    /// Plans the result of a call that ran, or the rollback of its cycle where the policy asks for that. Every runner and
    /// every hook of the host records an outcome by this.
    pub(in crate::session) fn plan_outcome(
        &self,
        open: &OpenCycle,
        call: &CallId,
        ran: Result<ToolOutput, CallFailure>,
        too_large: TooLarge,
    ) -> Result<Planned, SessionError> {
        let told = match self.plan_told(ran) {
            Ok(told) => told,
            Err(failed) => return Ok(Planned::RollsBack(failed)),
        };
        plan_result(open, call, &told, too_large).map(Planned::Result)
    }

    /// Plans the text of a result, or the failure that rolls the cycle back.
    fn plan_told(&self, ran: Result<ToolOutput, CallFailure>) -> Result<Told, Failed> {
        let config = self.config();
        let rolls_back = |on_failure| config.enabled && on_failure == OnFailure::Rollback;
        match ran {
            Ok(output) if output.is_error && rolls_back(config.on_tool_error) => {
                Err(Failed { error: output.output, reason: "a tool reported a failure" })
            }
            Ok(output) => Ok(Told::from(output)),
            Err(failure) if rolls_back(config.on_executor_failure) => {
                Err(Failed { error: failure.into_text(), reason: "a tool could not be run" })
            }
            Err(failure) => Ok(self.failure_told(failure)),
        }
    }

    /// The text that the model reads of a call that failed. The policy may have words of its own for a tool that crashed.
    fn failure_told(&self, failure: CallFailure) -> Told {
        let repairs = self.wire.repairs();
        let (outcome, text) = match (failure, repairs.synthetic_text.crashed.own()) {
            (CallFailure::Crashed, Some(own)) => (CallOutcome::Crashed, own.to_owned()),
            (CallFailure::Crashed, None) => {
                (CallOutcome::Crashed, texts::executor_failed(&CallFailure::Crashed.into_text()))
            }
            (CallFailure::Failed(ExecutorFailure(why)), _) => (CallOutcome::Failed, texts::executor_failed(&why)),
        };
        Told { outcome, text, failed: true }
    }

    fn refuse_if(
        &self,
        cycle: &CycleId,
        call: &CallId,
        step: CallStep,
        is_refused: impl Fn(&OpenCall) -> bool,
    ) -> Result<(), SessionError> {
        let mut calls = self.state.cycle(cycle).into_iter().flat_map(|open| &open.calls);
        if calls.find(|open| open.id == *call && !is_finished(open)).is_some_and(is_refused) {
            return Err(Rejected::Call { cycle: cycle.clone(), call: call.clone(), step }.into());
        }
        Ok(())
    }
}

impl From<ToolOutput> for Told {
    fn from(ToolOutput { output: text, is_error: failed }: ToolOutput) -> Self {
        Self { outcome: CallOutcome::Returned, text, failed }
    }
}

/// Plans the result of a call as the host gives it, whatever the policy says of failures.
pub(in crate::session) fn plan_output(
    open: &OpenCycle,
    call: &CallId,
    output: &ToolOutput,
) -> Result<Staged, SessionError> {
    plan_result(open, call, &output.clone().into(), TooLarge::Refuse)
}

/// Plans the result of a call. The results of a cycle must fit into one commit.
fn plan_result(open: &OpenCycle, call: &CallId, told: &Told, too_large: TooLarge) -> Result<Staged, SessionError> {
    let left = bytes_left(open);
    let text = Some(told.text.as_str()).filter(|text| text.len() <= left).map(ResultText::from);
    let text = text.filter(|text| text.stored_bytes() <= left);
    let (outcome, text) = match (text, too_large) {
        (Some(text), _) => (told.outcome, text),
        (None, TooLarge::KeepStart) => (CallOutcome::Truncated, start_of_result(open, call, &told.text, left)),
        (None, TooLarge::Refuse) => {
            return Err(Refusal::ResultsTooLarge { limit: RESULTS_BYTES_MAX, bytes: told.text.len() }.into());
        }
    };
    Ok(Staged { cycle: open.id.clone(), call: call.clone(), outcome, text, failed: told.failed })
}

/// The start of a result that is too large. The note is kept even where no byte is left for the result.
fn start_of_result(open: &OpenCycle, call: &CallId, text: &str, left: usize) -> ResultText {
    let most = START_BYTES_MAX.min(left / ESCAPED_BYTES_MAX);
    let start = &text[..text.floor_char_boundary(most)];
    let tool = open.calls.iter().find(|open| open.id == *call).map_or("", |open| open.tool.as_str());
    texts::result_truncated(tool, start, text.len()).as_str().into()
}

/// The bytes that the results of a cycle may still take.
fn bytes_left(open: &OpenCycle) -> usize {
    RESULTS_BYTES_MAX.saturating_sub(open.calls.iter().map(result_bytes).sum())
}

/// Gives a call its result. Where ids repeat, the first call without a result gets it.
pub(in crate::session) fn apply_result(open: &mut OpenCycle, staged: &Staged) {
    let missing = open.calls.iter_mut().find(|call| call.id == staged.call && !is_finished(call));
    if let Some(call) = missing {
        call.state = staged.into();
    }
}

/// The text of a call whose tool ran, or may have run.
pub(in crate::session) fn returned(call: &OpenCall) -> Option<&str> {
    match &call.state {
        CallState::Finished { outcome, text, .. } => outcome.has_run().then(|| text.as_str()),
        CallState::Pending | CallState::Started { .. } => None,
    }
}

/// Whether a call has a result because it must not run.
pub(in crate::session) fn must_not_run(call: &OpenCall) -> bool {
    matches!(&call.state, CallState::Finished { outcome: CallOutcome::NotRun, .. })
}

/// Whether the records say that a tool ran, or may have run, for a call.
pub(in crate::session) fn has_started(call: &OpenCall) -> bool {
    match &call.state {
        CallState::Pending => false,
        CallState::Started { .. } => true,
        CallState::Finished { outcome, .. } => outcome.has_run(),
    }
}

pub(in crate::session) fn is_finished(call: &OpenCall) -> bool {
    matches!(call.state, CallState::Finished { .. })
}

fn result_bytes(call: &OpenCall) -> usize {
    if let CallState::Finished { text, .. } = &call.state { text.stored_bytes() } else { 0 }
}
