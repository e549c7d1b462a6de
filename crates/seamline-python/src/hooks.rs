//! The hooks of a session: what a host calls when it starts, before a request, around tools, and after a turn.

use futures_executor::block_on;
use pyo3::prelude::*;
use seamline::json::GivenFailure;
use seamline::session::{AgentEnd, AgentStart, ExecutorFailure, ToolOutput, TurnEnd};
use serde_json::{Value, json};

use crate::choices;
use crate::session::{JsonReport, Session, open_call, report_of, texts};

/// Validates the messages of a session that was opened.
#[pyfunction]
pub(crate) fn session_start<'py>(py: Python<'py>, session: &Session) -> JsonReport<'py> {
    session.json(py, |session| {
        let start = block_on(session.session_start())?;
        let unresolved: Vec<Value> = start.unresolved.iter().map(open_call).collect();
        Ok(json!({
            "validation": start.validation, "repair_offered": start.repair_offered, "unresolved": unresolved,
        }))
    })
}

/// Prepares a request: the body as text and its report, or why it must not be sent.
#[pyfunction]
pub(crate) fn before_agent_start<'py>(py: Python<'py>, session: &Session, envelope: &str) -> JsonReport<'py> {
    session.json(py, |session| {
        Ok(match block_on(session.before_agent_start(envelope))? {
            AgentStart::Proceed { request, checkpoint } => json!({
                "proceed": true, "body": String::from_utf8_lossy(&request.body), "report": report_of(&request),
                "checkpoint": checkpoint,
            }),
            AgentStart::Blocked { validation, repair_offered } => json!({
                "proceed": false, "validation": validation, "repair_offered": repair_offered,
            }),
        })
    })
}

/// Ends a turn with its messages.
#[pyfunction]
pub(crate) fn agent_end<'py>(py: Python<'py>, session: &Session, messages: Vec<String>) -> JsonReport<'py> {
    session.json(py, |session| Ok(ended(block_on(session.agent_end(TurnEnd::Messages(&texts(&messages))))?)))
}

/// Ends a turn with an error of the provider.
#[pyfunction]
pub(crate) fn agent_failed<'py>(py: Python<'py>, session: &Session, failure: &str) -> JsonReport<'py> {
    let given = choices::read(py, failure, GivenFailure::from_json)?;
    session.json(py, |session| {
        let headers = given.headers();
        Ok(ended(block_on(session.agent_end(TurnEnd::Failed(given.failure(&headers))))?))
    })
}

/// Records the result of a call; the last one commits its cycle and returns the outcomes. `place` is a cycle and a call,
/// `output` a text and whether it reports a failure.
#[pyfunction]
pub(crate) fn after_tool_call<'py>(
    py: Python<'py>,
    session: &Session,
    place: (String, String),
    output: (String, bool),
) -> JsonReport<'py> {
    let (cycle, call) = (place.0.as_str().into(), place.1.as_str().into());
    let output = ToolOutput { output: output.0, is_error: output.1 };
    session.json(py, |session| Ok(block_on(session.after_tool_call(&cycle, &call, &output))?))
}

/// Records that a tool could not be run.
#[pyfunction]
pub(crate) fn after_tool_failure<'py>(
    py: Python<'py>,
    session: &Session,
    place: (String, String),
    error: String,
) -> JsonReport<'py> {
    let (cycle, call) = (place.0.as_str().into(), place.1.as_str().into());
    let failure = ExecutorFailure(error);
    session.json(py, |session| Ok(block_on(session.after_tool_failure(&cycle, &call, &failure))?))
}

/// Takes the messages of the inbox into the session.
#[pyfunction]
pub(crate) fn take_inbox(py: Python<'_>, session: &Session) -> PyResult<usize> {
    session.with(py, |session| Ok(block_on(session.take_inbox())?))
}

/// The losses and repairs since the session was opened; `takes` starts a new context.
#[pyfunction]
pub(crate) fn repair_context<'py>(py: Python<'py>, session: &Session, takes: bool) -> JsonReport<'py> {
    session.json(py, |session| Ok(if takes { session.take_repair_context() } else { session.repair_context() }))
}

fn ended(end: AgentEnd) -> Value {
    match end {
        AgentEnd::Committed => json!({"committed": true}),
        AgentEnd::Recovered(recovery) => json!({"committed": false, "recovery": recovery}),
    }
}
