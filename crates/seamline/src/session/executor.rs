//! Who runs tools.

use std::future::Future;
use std::pin::Pin;

use seamline_store::Effect;

use super::ToolCall;

/// A call that is running.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, ExecutorFailure>> + Send + 'a>>;

/// A call that is being undone.
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
/// let call = ToolCall { id: "toolu_1".into(), name: "read".into(), input: "{}".into(), key: None };
/// assert_eq!(Read.effect(&call), Effect::ReadOnly);
/// ```
pub trait ToolExecutor: Send + Sync {
    /// What running a call does to the world. Whoever does not say is taken to do what cannot be done twice.
    fn effect(&self, _call: &ToolCall) -> Effect {
        Effect::Unsafe
    }

    /// Runs a call. Its key is the same however often it is run.
    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a>;

    /// Says what became of a call of which nobody knows whether it ran: asked for those whose effect is
    /// [`Effect::Probe`]. Nothing means that it cannot tell.
    fn probe<'a>(&'a self, _call: &'a ToolCall) -> Pin<Box<dyn Future<Output = Option<ToolOutput>> + Send + 'a>> {
        Box::pin(std::future::ready(None))
    }

    /// Undoes what a call did: asked for those whose effect is [`Effect::Compensatable`] when their cycle is taken back.
    /// `returned` is what the call returned, and nothing where nobody knows whether it ran: then there may be nothing to
    /// undo. Its key is the one that it was run under.
    fn compensate<'a>(&'a self, _call: &'a ToolCall, _returned: Option<&'a str>) -> Undoing<'a> {
        Box::pin(std::future::ready(Err(ExecutorFailure("nobody says how this tool is undone".to_owned()))))
    }
}

/// What a tool returned.
///
/// ```
/// let output = seamline::session::ToolOutput { output: "ok".to_owned(), is_error: false };
/// assert!(!output.is_error);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// What it says.
    pub output: String,
    /// Whether it says that it failed.
    pub is_error: bool,
}

/// Why a tool could not be run.
///
/// ```
/// let failure = seamline::session::ExecutorFailure("no such tool".to_owned());
/// assert_eq!(failure.to_string(), "no such tool");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExecutorFailure(
    /// In words.
    pub String,
);

/// Why running calls are given up.
///
/// ```
/// assert_ne!(seamline::session::Stop::Aborted, seamline::session::Stop::TimedOut);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Somebody broke off.
    Aborted,
    /// They took too long.
    TimedOut,
}
