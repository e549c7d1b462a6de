//! Calls that are being run.

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::raw::Raw;

/// What running a call does to the world, and so what may be done when nobody knows whether it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It changes nothing: it may be run again.
    ReadOnly,
    /// Run twice under one key it happens once: it may be run again under the same key.
    Idempotent,
    /// The tool can be asked whether it happened.
    Probe,
    /// It can be undone.
    Compensatable,
    /// None of these: it is never run again by itself.
    #[default]
    Unsafe,
}

impl Effect {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::ReadOnly, Self::Idempotent, Self::Probe, Self::Compensatable, Self::Unsafe];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Idempotent => "idempotent",
            Self::Probe => "probe",
            Self::Compensatable => "compensatable",
            Self::Unsafe => "unsafe",
        }
    }

    /// Whether it must be written down before the call is run.
    pub fn needs_intent(self) -> bool {
        self != Self::ReadOnly
    }

    /// Whether a call may be run again when its outcome is not known.
    pub fn may_run_again(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Idempotent)
    }
}

/// A cycle that is not whole yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCycle {
    /// Its id.
    pub id: String,
    /// The record that began it.
    pub seq: u64,
    /// The checkpoint to come back to.
    pub checkpoint: Option<String>,
    /// The answer that makes the calls, which nobody sees yet.
    pub turn: Vec<Raw>,
    /// The calls.
    pub calls: Vec<OpenCall>,
}

/// A call of a cycle that is not whole yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What running it does to the world.
    pub effect: Effect,
    /// The hash of what it is called with.
    pub arguments: Hash,
    /// How far it came.
    pub state: CallState,
}

/// How far a call came.
#[derive(Debug, Clone, PartialEq)]
pub enum CallState {
    /// It was never begun.
    Pending,
    /// It was begun; what became of it is not known.
    Started {
        /// When, in milliseconds since 1970.
        at: u64,
        /// What makes two runs of it the same for a tool that can tell.
        key: String,
    },
    /// It has its result.
    Finished {
        /// What the tool returned.
        result: Raw,
        /// Whether it says that it failed.
        failed: bool,
    },
}
