//! Plans the start and the result of a call.

use seamline_store::{
    CallId, CallState, CallStep, CycleId, Intent, OpenCall, OpenCycle, Raw, Record, Rejected, Staged,
};
use serde::{Deserialize, Serialize};

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

/// The output of a tool, as it is kept until its cycle is committed.
#[derive(Serialize, Deserialize)]
pub(in crate::session) struct Output {
    #[serde(rename = "output")]
    pub(in crate::session) text: String,
    /// Whether no tool wrote it: the call must not run, and the model reads why.
    #[serde(rename = "told", default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::session) synthetic: bool,
    /// Whether it is only the start of what the tool wrote, and says so: the whole was too large.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::session) truncated: bool,
}

/// Why a call has no output of its tool.
#[derive(Debug)]
pub(in crate::session) enum CallFailure {
    /// The executor says that the tool could not be run.
    NotRun(ExecutorFailure),
    /// The executor panicked.
    Crashed,
}

impl CallFailure {
    fn into_text(self) -> String {
        match self {
            Self::NotRun(ExecutorFailure(why)) => why,
            Self::Crashed => "the tool crashed; what it did until then is not known".to_owned(),
        }
    }
}

impl From<ExecutorFailure> for CallFailure {
    fn from(failure: ExecutorFailure) -> Self {
        Self::NotRun(failure)
    }
}

/// A failure that rolls a cycle back.
pub(in crate::session) struct Failed {
    /// The text for the host.
    pub(in crate::session) error: String,
    /// The reason that is recorded. It contains no tool output.
    pub(in crate::session) reason: &'static str,
}

impl Output {
    /// The output that a tool wrote.
    fn said(text: String) -> Self {
        Self { text, synthetic: false, truncated: false }
    }

    /// The text about a call that must not run.
    pub(in crate::session) fn synthetic(text: String) -> Self {
        Self { text, synthetic: true, truncated: false }
    }

    /// Whether a part of it, or all of it, was made up.
    pub(in crate::session) fn is_synthetic(&self) -> bool {
        self.synthetic || self.truncated
    }

    pub(in crate::session) fn read(result: &Raw) -> Self {
        let as_it_is = |_| Self::said(result.as_str().to_owned());
        serde_json::from_str(result.as_str()).unwrap_or_else(as_it_is)
    }
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
        let staged = Staged { cycle: cycle.clone(), call: call.clone(), result: Raw::default(), failed: false };
        self.state.allows(&Record::Staged(staged))?;
        self.refuse_if(cycle, call, CallStep::FinishUnstarted, |open| {
            open.state == CallState::Pending && open.effect.needs_intent()
        })
    }

    /// Plans the output that is recorded for a call, or the failure that rolls its cycle back.
    pub(in crate::session) fn plan_output(
        &self,
        outcome: Result<ToolOutput, CallFailure>,
    ) -> Result<ToolOutput, Failed> {
        let config = self.config();
        let rolls_back = |on_failure| config.enabled && on_failure == OnFailure::Rollback;
        match outcome {
            Ok(output) if output.is_error && rolls_back(config.on_tool_error) => {
                Err(Failed { error: output.output, reason: "a tool reported a failure" })
            }
            Ok(output) => Ok(output),
            Err(failure) if rolls_back(config.on_executor_failure) => {
                Err(Failed { error: failure.into_text(), reason: "a tool could not be run" })
            }
            Err(failure) => Ok(ToolOutput { output: self.failure_text(failure), is_error: true }),
        }
    }

    /// The text that the model reads of a call that failed. The policy may have words of its own for a tool that crashed.
    fn failure_text(&self, failure: CallFailure) -> String {
        let repairs = self.wire.repairs();
        match (&failure, repairs.synthetic_text.crashed.own()) {
            (CallFailure::Crashed, Some(own)) => own.to_owned(),
            (CallFailure::Crashed | CallFailure::NotRun(_), _) => texts::executor_failed(&failure.into_text()),
        }
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

/// Plans the result of a call. The results of a cycle must fit into one commit.
pub(in crate::session) fn plan_result(
    open: &OpenCycle,
    call: &CallId,
    output: &ToolOutput,
) -> Result<Staged, SessionError> {
    let left = bytes_left(open);
    let too_large = |bytes| Err(Refusal::ResultsTooLarge { limit: RESULTS_BYTES_MAX, bytes }.into());
    if output.output.len() > left {
        return too_large(output.output.len());
    }
    let result = Raw::of(&Output::said(output.output.clone()))?;
    let bytes = result.as_str().len();
    if bytes > left {
        return too_large(bytes);
    }
    Ok(Staged { cycle: open.id.clone(), call: call.clone(), result, failed: output.is_error })
}

/// Plans the result of a call. If a result is too large, its start is kept with a note for the model.
pub(in crate::session) fn plan_result_or_start(
    open: &OpenCycle,
    call: &CallId,
    output: &ToolOutput,
) -> Result<Staged, SessionError> {
    match plan_result(open, call, output) {
        Err(SessionError::Refused(Refusal::ResultsTooLarge { .. })) => plan_start_of_result(open, call, output),
        planned => planned,
    }
}

/// Plans the start of a result that is too large. The note is kept even where no byte is left for the result.
fn plan_start_of_result(open: &OpenCycle, call: &CallId, output: &ToolOutput) -> Result<Staged, SessionError> {
    let most = START_BYTES_MAX.min(bytes_left(open) / ESCAPED_BYTES_MAX);
    let start = &output.output[..output.output.floor_char_boundary(most)];
    let tool = open.calls.iter().find(|open| open.id == *call).map_or("", |open| open.tool.as_str());
    let text = texts::result_truncated(tool, start, output.output.len());
    let result = Raw::of(&Output { text, synthetic: false, truncated: true })?;
    Ok(Staged { cycle: open.id.clone(), call: call.clone(), result, failed: output.is_error })
}

/// The bytes that the results of a cycle may still take.
fn bytes_left(open: &OpenCycle) -> usize {
    RESULTS_BYTES_MAX.saturating_sub(open.calls.iter().map(result_bytes).sum())
}

/// Gives a call its result. Where ids repeat, the first call without a result gets it.
pub(in crate::session) fn apply_result(open: &mut OpenCycle, staged: &Staged) {
    let missing = open.calls.iter_mut().find(|call| call.id == staged.call && !is_finished(call));
    if let Some(call) = missing {
        call.state = CallState::Finished { result: staged.result.clone(), failed: staged.failed };
    }
}

/// The output of a call, if its tool ran and returned.
pub(in crate::session) fn returned(call: &OpenCall) -> Option<String> {
    match &call.state {
        CallState::Finished { result, .. } => Some(Output::read(result)).filter(|it| !it.synthetic).map(|it| it.text),
        CallState::Pending | CallState::Started { .. } => None,
    }
}

/// Whether a call has a result because it must not run.
pub(in crate::session) fn must_not_run(call: &OpenCall) -> bool {
    matches!(&call.state, CallState::Finished { result, .. } if Output::read(result).synthetic)
}

/// Whether the records say that a tool ran, or may have run, for a call.
pub(in crate::session) fn has_started(call: &OpenCall) -> bool {
    matches!(call.state, CallState::Started { .. }) || returned(call).is_some()
}

pub(in crate::session) fn is_finished(call: &OpenCall) -> bool {
    matches!(call.state, CallState::Finished { .. })
}

fn result_bytes(call: &OpenCall) -> usize {
    if let CallState::Finished { result, .. } = &call.state { result.as_str().len() } else { 0 }
}
