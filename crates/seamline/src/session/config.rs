//! How careful a session is.

use serde::{Deserialize, Serialize};

/// How careful a session is. The first six are those of a layer of integrity under an agent; the rest say what is done
/// where reasonable hosts want different things.
///
/// ```
/// use seamline::session::{IntegrityConfig, PersistRepairs};
///
/// let config = IntegrityConfig::default();
/// assert!(config.enabled && config.validate_before_call && !config.auto_repair);
/// assert_eq!((config.checkpoint_retention, config.persist_repairs), (5, PersistRepairs::RealMovesOnly));
/// let config: IntegrityConfig = serde_json::from_str(r#"{"autoRepair":true}"#).unwrap();
/// assert!(config.auto_repair && config.enabled);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct IntegrityConfig {
    /// Whether anything is looked at. A session that is not is kept, and nothing of it is checked, repaired or taken
    /// back by the hooks or after errors. What is asked for by name, such as a repair or a checkpoint, is done.
    pub enabled: bool,
    /// Whether the conversation is checked before the provider is asked.
    pub validate_before_call: bool,
    /// Whether what is wrong then is put right without asking.
    pub auto_repair: bool,
    /// How many committed checkpoints are kept.
    pub checkpoint_retention: usize,
    /// Whether checkpoints keep the messages too.
    pub snapshot_messages: bool,
    /// Whether all events are logged, and not only incidents.
    pub verbose: bool,
    /// Which repairs are written down.
    pub persist_repairs: PersistRepairs,
    /// What happens when a tool says that it failed.
    pub on_tool_error: OnFailure,
    /// What happens when a tool cannot be run.
    pub on_executor_failure: OnFailure,
    /// What happens when nobody knows whether a tool ran.
    pub unknown_outcome: UnknownOutcome,
    /// What happens when the provider refuses a conversation that nothing could put right.
    pub last_resort: LastResort,
}

impl Default for IntegrityConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            validate_before_call: true,
            auto_repair: false,
            checkpoint_retention: 5,
            snapshot_messages: false,
            verbose: false,
            persist_repairs: PersistRepairs::RealMovesOnly,
            on_tool_error: OnFailure::Record,
            on_executor_failure: OnFailure::Record,
            unknown_outcome: UnknownOutcome::Annotate,
            last_resort: LastResort::Escalate,
        }
    }
}

/// Which repairs are written down.
///
/// ```
/// assert_eq!(serde_json::to_string(&seamline::session::PersistRepairs::All).unwrap(), r#""all""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersistRepairs {
    /// None: they are made anew for every request.
    Never,
    /// Those that make nothing up: what was said is moved, kept as text or taken out.
    RealMovesOnly,
    /// All of them.
    All,
}

/// What happens when a call goes wrong.
///
/// ```
/// assert_eq!(serde_json::to_string(&seamline::session::OnFailure::Rollback).unwrap(), r#""rollback""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The model is told.
    Record,
    /// The whole cycle is taken back.
    Rollback,
}

/// What happens when nobody knows whether a tool ran.
///
/// ```
/// assert_eq!(serde_json::to_string(&seamline::session::UnknownOutcome::Forget).unwrap(), r#""forget""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownOutcome {
    /// The model is told that it is not known.
    Annotate,
    /// The cycle is taken back, and the effect, if there was one, forgotten.
    Forget,
}

/// What happens when the provider refuses a conversation that nothing could put right.
///
/// ```
/// assert_eq!(serde_json::to_string(&seamline::session::LastResort::Reset).unwrap(), r#""reset""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastResort {
    /// Somebody is told.
    Escalate,
    /// The session starts over, and is kept as it was as a session of its own.
    Reset,
}
