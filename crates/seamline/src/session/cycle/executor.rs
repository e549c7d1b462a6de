//! Tool executors: the host's side of a cycle.

use std::future::Future;
use std::pin::Pin;

use seamline_store::Effect;
use serde::Serialize;

use crate::session::ToolCall;

/// A call that is running.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, ExecutorFailure>> + Send + 'a>>;

/// A call that a tool undoes.
pub type Undoing<'a> = Pin<Box<dyn Future<Output = Result<(), ExecutorFailure>> + Send + 'a>>;

/// Runs the calls that a model makes.
///
/// ```
/// use seamline::session::{Running, ToolCall, ToolExecutor, ToolOutput};
/// use seamline::store::Effect;
///
/// struct Read;
///
/// impl ToolExecutor for Read {
///     fn effect(&self, _call: &ToolCall) -> Effect {
///         Effect::ReadOnly
///     }
///
///     fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
///         Box::pin(async move { Ok(ToolOutput { output: format!("read {}", call.input), is_error: false }) })
///     }
/// }
///
/// # futures_executor::block_on(async {
/// let store = std::sync::Arc::new(seamline::store::MemoryStore::new());
/// let mut session = seamline::session::Session::create(store, "s-1".parse()?, Default::default()).await?;
/// session.append(r#"{"role":"user","content":"read it"}"#).await?;
/// let turn = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{"n":1}}]}"#;
/// session.execute_tool_cycle(&[turn], &Read, std::future::pending()).await?;
/// assert!(session.messages().last().is_some_and(|results| results.contains(r#"read {\"n\":1}"#)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub trait ToolExecutor: Send + Sync {
    /// The effect of running a call. The default is an effect that must not happen twice.
    fn effect(&self, _call: &ToolCall) -> Effect {
        Effect::Unsafe
    }

    /// Runs a call. The idempotency key is the same however often the call runs.
    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a>;

    /// Finds out the result of a call with an unknown outcome. Recovery asks this for calls with [`Effect::Probe`]. `None`
    /// means that the tool cannot tell.
    fn probe<'a>(&'a self, _call: &'a ToolCall) -> Pin<Box<dyn Future<Output = Option<ToolOutput>> + Send + 'a>> {
        Box::pin(std::future::ready(None))
    }

    /// Undoes a call. A rollback of a cycle asks this for calls with [`Effect::Compensatable`]. `returned` is the output of
    /// the call, or `None` where its outcome is unknown: then there may be nothing to undo. The call has the idempotency
    /// key that it ran under.
    fn compensate<'a>(&'a self, _call: &'a ToolCall, _returned: Option<&'a str>) -> Undoing<'a> {
        Box::pin(std::future::ready(Err(ExecutorFailure("the tool has no compensation handler".to_owned()))))
    }
}

/// The output of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text of the output.
    pub output: String,
    /// Whether the tool reported a failure.
    pub is_error: bool,
}

/// Why a tool could not be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExecutorFailure(
    /// The reason in words.
    pub String,
);

/// Why running calls are stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// The user or the host aborted them.
    Aborted,
    /// A time limit ran out.
    TimedOut,
}
