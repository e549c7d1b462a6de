//! Durable sessions. Every method blocks its thread without the interpreter's lock; the Python half runs the methods in
//! threads for asyncio.

use std::sync::{Mutex, PoisonError};

use futures_executor::block_on;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seamline::json::GivenFailure;
use seamline::session::{self, Request, ResetOptions, SessionError, ToolCall, ToolOutput, Truth, Unresolved};
use seamline::store::{Effect, Operation};
use serde::Serialize;
use serde_json::{Value, json};

use crate::bodies;
use crate::choices;
use crate::error::{Exception, of_session};

/// A session that is open for writing.
#[pyclass(frozen, module = "seamline._native")]
pub(crate) struct Session {
    session: Mutex<Option<session::Session>>,
}

/// The failure of an operation, before it has the interpreter's lock again.
pub(crate) enum Failed {
    Session(SessionError),
    Closed,
    Word { what: &'static str, word: String, known: Vec<&'static str> },
}

impl<E: Into<SessionError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Session(error.into())
    }
}

impl Failed {
    pub(crate) fn into_error(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Session(error) => of_session(py, &error),
            Self::Closed => Exception::Session.with(py, "the session is closed", Some("open it again")),
            Self::Word { what, word, known } => {
                let hint = format!("it is one of {}", known.join(", "));
                Exception::Option.with(py, &format!("no {what} is called `{word}`"), Some(&hint))
            }
        }
    }
}

/// The report of an operation, as JSON.
pub(crate) type JsonReport<'py> = PyResult<Bound<'py, PyBytes>>;

#[pymethods]
impl Session {
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let closed = py.detach(|| {
            let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
            session.map_or(Ok(()), |session| block_on(session.close()).map_err(Failed::from))
        });
        closed.map_err(|failed| failed.into_error(py))
    }

    /// The name, the dialect, the epoch, the number of messages, and whether every commit passed its hash check.
    fn about<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| {
            Ok(json!({
                "id": session.id().as_str(),
                "dialect": session.dialect(),
                "epoch": session.epoch(),
                "messages": session.entries().len(),
                "whole": session.health().is_whole(),
            }))
        })
    }

    /// The messages of the view as one JSON list, each byte for byte as the host gave it.
    fn messages<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        let list = self.with(py, |session| {
            let messages: Vec<&str> = session.messages().collect();
            Ok(format!("[{}]", messages.join(",")))
        })?;
        Ok(PyBytes::new(py, list.as_bytes()))
    }

    fn append(&self, py: Python<'_>, messages: Vec<String>) -> PyResult<()> {
        self.with(py, |session| Ok(block_on(session.append_all(&texts(&messages)))?))
    }

    /// Makes the body for the provider, or for another one. Returns the body and what was repaired for it.
    fn request<'py>(
        &self,
        py: Python<'py>,
        envelope: &str,
        to: Option<&str>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let request = self.with(py, |session| match to {
            Some(name) => Ok(session.request_for(name, envelope)?),
            None => Ok(session.request(envelope)?),
        })?;
        Ok((PyBytes::new(py, &request.body), PyBytes::new(py, &bodies::json(&report_of(&request)))))
    }

    fn check<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| Ok(session.check()?))
    }

    fn validate<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| Ok(session.validate()?))
    }

    fn repair<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| Ok(block_on(session.repair())?))
    }

    fn undo_repair(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |session| Ok(block_on(session.undo_repair())?.as_str().to_owned()))
    }

    fn create_checkpoint<'py>(&self, py: Python<'py>, operation: &str) -> JsonReport<'py> {
        self.json(py, |session| {
            let known = Operation::ALL.map(|known| (known.as_str(), known));
            let operation = word("operation", operation, &known)?;
            Ok(block_on(session.create_checkpoint(operation))?)
        })
    }

    fn commit_checkpoint(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.with(py, |session| Ok(block_on(session.commit_checkpoint(&id.into()))?))
    }

    fn checkpoints<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| Ok(session.checkpoints()))
    }

    /// The last open checkpoint; `null` where there is none.
    fn latest_checkpoint<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| Ok(session.latest_checkpoint()))
    }

    fn get_checkpoint<'py>(&self, py: Python<'py>, id: &str) -> JsonReport<'py> {
        self.json(py, |session| Ok(session.get_checkpoint(&id.into())))
    }

    fn prune_checkpoints(&self, py: Python<'_>, keep: usize) -> PyResult<usize> {
        self.with(py, |session| Ok(block_on(session.prune_checkpoints(keep))?))
    }

    fn clear_checkpoints(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |session| Ok(block_on(session.clear_checkpoints())?))
    }

    fn rollback<'py>(&self, py: Python<'py>, id: &str, reason: &str) -> JsonReport<'py> {
        self.json(py, |session| Ok(block_on(session.rollback(&id.into(), reason))?))
    }

    fn reset<'py>(&self, py: Python<'py>, archive: bool) -> JsonReport<'py> {
        self.json(py, |session| Ok(block_on(session.reset(ResetOptions { archive }))?))
    }

    /// Begins a cycle. `effects` has the effect of each tool that has a known one.
    fn begin_cycle<'py>(&self, py: Python<'py>, turn: Vec<String>, effects: Vec<(String, String)>) -> JsonReport<'py> {
        self.json(py, |session| {
            let known = Effect::ALL.map(|known| (known.as_str(), known));
            let mut named = Vec::with_capacity(effects.len());
            for (tool, effect) in &effects {
                named.push((tool.as_str(), word("effect", effect, &known)?));
            }
            let effect_of = |call: &ToolCall| {
                named.iter().find(|(tool, _)| *tool == call.name).map_or(Effect::default(), |(_, effect)| *effect)
            };
            let (cycle, calls) = block_on(session.begin_cycle(&texts(&turn), &effect_of))?;
            let calls: Vec<_> = calls
                .iter()
                .map(|call| json!({"id": call.id.as_str(), "name": call.name, "input": call.input}))
                .collect();
            Ok(json!({"id": cycle.as_str(), "calls": calls}))
        })
    }

    /// Makes the intent of a call durable, before it runs; returns its idempotency key.
    fn before_tool_call(&self, py: Python<'_>, cycle: &str, call: &str) -> PyResult<String> {
        self.with(py, |session| Ok(block_on(session.before_tool_call(&cycle.into(), &call.into()))?.key))
    }

    #[expect(clippy::too_many_arguments, reason = "a method of Python has the interpreter as a parameter")]
    fn finish_call(&self, py: Python<'_>, cycle: &str, call: &str, output: String, is_error: bool) -> PyResult<()> {
        let output = ToolOutput { output, is_error };
        self.with(py, |session| Ok(block_on(session.finish_call(&cycle.into(), &call.into(), &output))?))
    }

    fn commit_cycle<'py>(&self, py: Python<'py>, cycle: &str) -> JsonReport<'py> {
        self.json(py, |session| Ok(block_on(session.commit_cycle(&cycle.into()))?))
    }

    fn roll_back_cycle(&self, py: Python<'_>, cycle: &str, reason: &str) -> PyResult<()> {
        self.with(py, |session| Ok(block_on(session.roll_back_cycle(&cycle.into(), reason))?))
    }

    fn unresolved<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| {
            let calls = session.unresolved();
            Ok(calls.iter().map(open_call).collect::<Vec<_>>())
        })
    }

    fn recover<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| {
            let recovered = block_on(session.recover())?;
            Ok(json!({
                "cycles": recovered.cycles, "rolled_back": recovered.rolled_back,
                "run_again": recovered.run_again, "unknown": recovered.unknown,
            }))
        })
    }

    fn abort<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| Ok(block_on(session.abort())?))
    }

    /// Settles writes whose outcome the store did not tell.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |session| Ok(block_on(session.settle())?))
    }

    fn incidents<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        self.json(py, |session| Ok(session.incidents().cloned().collect::<Vec<_>>()))
    }

    /// Says how to recover from an error of the provider; the session repairs itself where that helps.
    fn handle_error<'py>(&self, py: Python<'py>, failure: &str) -> JsonReport<'py> {
        let given = choices::read(py, failure, GivenFailure::from_json)?;
        self.json(py, |session| Ok(block_on(session.handle_error(&given.failure(&given.headers())))?))
    }

    fn before_compaction(&self, py: Python<'_>, start: usize, end: usize) -> PyResult<(usize, usize)> {
        self.with(py, |session| {
            let range = block_on(session.before_compaction(start..end))?;
            Ok((range.start, range.end))
        })
    }

    fn finish_compaction(&self, py: Python<'_>, start: usize, end: usize, summary: Vec<String>) -> PyResult<()> {
        self.with(py, |session| Ok(block_on(session.finish_compaction(start..end, &texts(&summary))).map(drop)?))
    }

    fn cancel_compaction(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |session| Ok(block_on(session.cancel_compaction())?))
    }

    fn switch_provider(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.with(py, |session| Ok(block_on(session.switch_provider(name))?))
    }

    fn fork(&self, py: Python<'_>, id: &str) -> PyResult<Self> {
        let forked = self.with(py, |session| Ok(block_on(session.fork(id.parse().map_err(SessionError::from)?))?))?;
        Ok(Self { session: Mutex::new(Some(forked)) })
    }
}

impl Session {
    pub(crate) fn of(py: Python<'_>, session: Result<session::Session, Failed>) -> PyResult<Self> {
        let session = session.map_err(|failed| failed.into_error(py))?;
        Ok(Self { session: Mutex::new(Some(session)) })
    }

    /// Runs an operation without the interpreter's lock, one at a time.
    pub(crate) fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut session::Session) -> Result<T, Failed> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            session.as_mut().ok_or(Failed::Closed).and_then(work)
        });
        done.map_err(|failed| failed.into_error(py))
    }

    pub(crate) fn json<'py, T: Serialize>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut session::Session) -> Result<T, Failed> + Send,
    ) -> JsonReport<'py> {
        let json = self.with(py, |session| work(session).map(|outcome| bodies::json(&outcome)))?;
        Ok(PyBytes::new(py, &json))
    }
}

/// The report of a request, without its body.
pub(crate) fn report_of(request: &Request) -> Value {
    let Request { body: _, actions, found, remaining, sendable, note } = request;
    json!({"actions": actions, "found": found, "remaining": remaining, "sendable": sendable, "note": note})
}

/// A call of an open cycle.
pub(crate) fn open_call(call: &Unresolved) -> Value {
    json!({
        "cycle": call.cycle.as_str(), "call": call.call.as_str(), "tool": call.tool, "effect": call.effect.as_str(),
        "truth": known_of(call.truth),
    })
}

/// The name of the truth that a recovery found about a call.
fn known_of(truth: Truth) -> &'static str {
    match truth {
        Truth::NeverStarted => "never_started",
        Truth::Harmless => "harmless",
        Truth::OutcomeUnknown => "outcome_unknown",
        Truth::Finished => "finished",
    }
}

pub(crate) fn texts(messages: &[String]) -> Vec<&str> {
    messages.iter().map(String::as_str).collect()
}

fn word<T: Copy>(what: &'static str, word: &str, known: &[(&'static str, T)]) -> Result<T, Failed> {
    let found = known.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| Failed::Word {
        what,
        word: word.to_owned(),
        known: known.iter().map(|(name, _)| *name).collect(),
    })
}
