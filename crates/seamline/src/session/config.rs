//! The `[session]` section of a policy.

use seamline_model::knob::{Count, Flag};
use seamline_model::words;
use serde::{Deserialize, Serialize};

/// The `[session]` section of a policy: what a session checks, repairs, stores and rolls back. Source document 001 defines
/// `enabled`, `validate_before_call`, `checkpoint_retention`, `snapshot_messages` and `verbose`; its `autoRepair` is the
/// knob [`on_invalid`](crate::policy::OnInvalid) of the `[repair]` section. Seamline adds the other knobs.
///
/// ```
/// use seamline::session::{PersistRepairs, SessionPolicy};
///
/// let policy = seamline::Policy::from_toml("[session]\npersist_repairs = 'all'\nsnapshotMessages = true")?;
/// let session = SessionPolicy { persist_repairs: PersistRepairs::All, snapshot_messages: true, ..SessionPolicy::default() };
/// assert_eq!(policy.session, session);
/// # Ok::<(), seamline::policy::PolicyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SessionPolicy {
    /// Whether the session checks anything. A session with integrity switched off keeps its messages, but its hooks and
    /// its reaction to errors check, repair and roll back nothing. Explicit calls, such as a repair or a checkpoint,
    /// still work.
    pub enabled: bool,
    /// Whether [`session_start`](crate::session::Session::session_start) validates the conversation.
    pub validate_on_start: bool,
    /// Whether the conversation is checked before each request.
    pub validate_before_call: bool,
    /// Whether each request is repaired.
    pub repair_requests: bool,
    /// Whether [`abort`](crate::session::Session::abort) closes the open tool calls.
    pub close_on_abort: bool,
    /// Whether [`handle_error`](crate::session::Session::handle_error) rolls back and repairs.
    pub recover_on_error: bool,
    /// How many committed checkpoints are kept.
    pub checkpoint_retention: usize,
    /// Whether checkpoints keep the messages too.
    pub snapshot_messages: bool,
    /// Whether all events are logged, and not only incidents.
    pub verbose: bool,
    /// The repairs that are written to the session.
    pub persist_repairs: PersistRepairs,
    /// Reaction to a tool that reports a failure.
    pub on_tool_error: OnFailure,
    /// Reaction to a tool that throws, crashes or cannot be run.
    pub on_executor_failure: OnFailure,
    /// Reaction to a tool call that was started and has no recorded outcome.
    pub unknown_outcome: UnknownOutcome,
    /// Reaction to a rejected conversation that no repair can fix.
    pub last_resort: LastResort,
    /// Reaction to an error when the messages of the last checkpoint do not match its hash.
    pub corrupt_checkpoint: CorruptCheckpoint,
    /// The write that a new checkpoint waits for.
    pub durability: Durability,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            enabled: true,
            validate_on_start: true,
            validate_before_call: true,
            repair_requests: true,
            close_on_abort: true,
            recover_on_error: true,
            checkpoint_retention: 5,
            snapshot_messages: false,
            verbose: false,
            persist_repairs: PersistRepairs::default(),
            on_tool_error: OnFailure::default(),
            on_executor_failure: OnFailure::default(),
            unknown_outcome: UnknownOutcome::default(),
            last_resort: LastResort::default(),
            corrupt_checkpoint: CorruptCheckpoint::default(),
            durability: Durability::default(),
        }
    }
}

seamline_model::knobs! {
    SessionPolicy {
        /// Whether the session checks and repairs. If false, the session only stores messages: its hooks check, repair and
        /// roll back nothing.
        enabled [""]: Flag = enabled;
        /// Whether the conversation is checked when a session starts, and its repair is made or offered then.
        validate_on_start | validateOnStart ["X7"]: Flag = validate_on_start;
        /// Whether the conversation is checked before each request.
        validate_before_call | validateBeforeCall ["X7"]: Flag = validate_before_call;
        /// Whether each request is repaired. Without it, a request has the stored messages as they are, and a broken one
        /// is not sent; where `on_invalid` is `repair`, the stored messages are repaired before it, synthetic results
        /// included.
        repair_requests ["X7"]: Flag = repair_requests;
        /// Whether an abort closes the open tool calls at once. Without it, the next request closes them as it does after
        /// a crash.
        close_on_abort ["X7"]: Flag = close_on_abort;
        /// Whether a session rolls back and repairs after an error of the provider. Without it, the error is recorded, the
        /// host decides, and `on_corruption` and `last_resort` have no effect.
        recover_on_error ["X7"]: Flag = recover_on_error;
        /// How many committed checkpoints are kept.
        checkpoint_retention | checkpointRetention [""]: Count<0> = checkpoint_retention;
        /// Whether checkpoints keep the messages too.
        snapshot_messages | snapshotMessages [""]: Flag = snapshot_messages;
        /// Whether all events are logged, and not only incidents.
        verbose [""]: Flag = verbose;
        /// Which repairs are written to the session.
        persist_repairs ["X6"]: PersistRepairs = persist_repairs;
        /// Reaction to a tool that reports a failure.
        on_tool_error ["X12"]: OnFailure = on_tool_error;
        /// Reaction to a tool that throws, crashes or cannot be run.
        on_executor_failure ["X12"]: OnFailure = on_executor_failure;
        /// Reaction to a tool call that was started and has no recorded outcome.
        unknown_outcome ["X13"]: UnknownOutcome = unknown_outcome;
        /// Reaction to a rejected conversation that no repair can fix.
        last_resort [""]: LastResort = last_resort;
        /// Reaction to an error when the messages of the last checkpoint do not match its hash. A rollback that names
        /// the checkpoint is always an error then.
        corrupt_checkpoint ["X25"]: CorruptCheckpoint = corrupt_checkpoint;
        /// The write that a new checkpoint waits for. Messages, tool calls and their results are always on the disk
        /// before they are acknowledged.
        durability ["X27"]: Durability = durability;
    }
}

words! {
    /// The repairs that are written to the session.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    PersistRepairs default RealMovesOnly {
        /// No repair is written; each request is repaired again.
        Never = "never",
        /// Repairs that every provider of the dialect needs and that add no synthetic content: they move content, keep it as
        /// text or remove it.
        RealMovesOnly = "real_moves_only",
        /// All repairs, also synthetic results and repairs for the demands of one provider.
        All = "all",
    }
}

words! {
    /// Reaction to a call that fails.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    OnFailure default Record {
        /// The model gets a result that reports the failure.
        Record = "record",
        /// The whole tool cycle is rolled back.
        Rollback = "rollback",
    }
}

words! {
    /// Reaction to a tool call that was started and has no recorded outcome.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    UnknownOutcome default Annotate {
        /// The model gets a result that says that the outcome is not known.
        Annotate = "annotate",
        /// The tool cycle is rolled back; the model does not read that the tool may have had an effect.
        Forget = "forget",
    }
}

words! {
    /// Reaction to a rejected conversation that no repair can fix.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    LastResort default Escalate {
        /// The host gets the error.
        Escalate = "escalate",
        /// The session is reset; an archive keeps its messages.
        Reset = "reset",
    }
}

words! {
    /// Reaction to an error when the messages of the last checkpoint do not match its hash.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    CorruptCheckpoint default Repair {
        /// The messages of the model after the checkpoint are removed; other messages stay.
        Repair = "repair",
        /// Nothing changes, and the host gets the error.
        Escalate = "escalate",
    }
}

words! {
    /// The write that a new checkpoint waits for.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    Durability default Sync {
        /// The checkpoint is on the disk. A store writes the commits of several sessions to the disk together.
        Sync = "sync" | "group_commit",
        /// No write: the next write of the session also writes the checkpoint. A crash before that write loses the checkpoint.
        Async = "async",
    }
}
