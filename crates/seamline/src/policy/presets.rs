//! The presets: one name for everything that a source document describes.

use std::collections::BTreeMap;
use std::time::Duration;

use seamline_assemble::ArgSource;
use seamline_guard::{BreakerLimits, GuardPolicy, OnCorruption, RetryPolicy, StallLimits};

use super::{
    Displaced, DuplicateCallId, DuplicateResult, Emptied, IdMode, MatchScope, Misaddressed, OnInvalid, OrphanResult,
    Policy, RepairPolicy, ResultOrder, SafetyMax, Texts, TrailingCall, UnansweredCall,
};
use crate::session::{CorruptCheckpoint, OnFailure, PersistRepairs, SessionPolicy};
use crate::stream::{BlankCall, PartialCall, StreamPolicy};

/// A policy that has a name.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// The name in a policy file.
    pub name: &'static str,
    /// The effect of the preset in one line.
    pub about: &'static str,
    pub(super) build: fn() -> Policy,
}

/// Every preset; the first is the default.
///
/// ```
/// use seamline::policy::{PRESETS, Policy};
///
/// let offering: Vec<_> = PRESETS.iter().map(|preset| preset.name).filter(|name| {
///     Policy::preset(name).is_some_and(|policy| policy.repair.on_invalid == seamline::policy::OnInvalid::Offer)
/// }).collect();
/// assert_eq!(offering, ["clawos"]);
/// ```
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "lossless",
        about: "keep everything that the user, the model or a tool wrote; the default",
        build: lossless,
    },
    Preset {
        name: "minimal",
        about: "change the fewest bytes that make the provider accept the request",
        build: minimal,
    },
    Preset { name: "strict", about: "report and block; change nothing", build: strict },
    Preset {
        name: "opal",
        about: "close every tool call, put results in call order, strip orphans; warn of stalls, never end a run",
        build: opal,
    },
    Preset {
        name: "clawos",
        about: "block a broken session and offer the repair; roll back what fails; remove both halves of a broken pair",
        build: clawos,
    },
    Preset {
        name: "llxprt",
        about: "close cancelled tool calls in each request, rebuild calls of orphaned results, canonical ids",
        build: llxprt,
    },
    Preset {
        name: "kilroy",
        about: "deltas win, drop unanswered tool calls and resend once, stop loops after 3 failures and stalls after 5 min",
        build: kilroy,
    },
    Preset {
        name: "libr-agent",
        about: "keep only complete pairs of call and result in each request",
        build: libr_agent,
    },
];

/// Relocates, then re-addresses, then keeps as text, then synthesizes; never drops what the user, the model or a tool
/// wrote.
pub(super) fn lossless() -> Policy {
    Policy {
        preset: "lossless".to_owned(),
        repair: RepairPolicy::default(),
        session: SessionPolicy::default(),
        stream: StreamPolicy::default(),
        guard: GuardPolicy::default(),
        providers: BTreeMap::new(),
    }
}

/// Builds a preset from its sections.
fn preset(name: &str, repair: RepairPolicy, rest: Policy) -> Policy {
    Policy { preset: name.to_owned(), repair, ..rest }
}

fn minimal() -> Policy {
    let repair = RepairPolicy {
        safety: SafetyMax::Unsafe,
        unanswered_call: UnansweredCall::RemoveCall,
        orphan_result: OrphanResult::Remove,
        duplicate_result: DuplicateResult::First,
        trailing_call: TrailingCall::Remove,
        ..RepairPolicy::default()
    };
    preset("minimal", repair, lossless())
}

fn strict() -> Policy {
    let repair = RepairPolicy { on_invalid: OnInvalid::Block, ..RepairPolicy::default() };
    let rest = Policy {
        session: SessionPolicy { persist_repairs: PersistRepairs::Never, ..SessionPolicy::default() },
        guard: GuardPolicy { retry: after_corruption(OnCorruption::Stop), ..GuardPolicy::default() },
        ..lossless()
    };
    preset("strict", repair, rest)
}

fn after_corruption(on_corruption: OnCorruption) -> RetryPolicy {
    RetryPolicy { on_corruption, ..RetryPolicy::default() }
}

/// Source document 000: three layers of repair in the state and in each request; a stream error makes the agent idle.
fn opal() -> Policy {
    let repair = RepairPolicy {
        safety: SafetyMax::Unsafe,
        orphan_result: OrphanResult::Remove,
        misaddressed: Misaddressed::Orphan,
        duplicate_result: DuplicateResult::First,
        emptied: Emptied::Keep,
        result_order: ResultOrder::CallOrder,
        synthetic_text: Box::new(Texts {
            missing: "[Error: tool result missing]".into(),
            aborted: "[Aborted by user]".into(),
            ..Texts::default()
        }),
        ..RepairPolicy::default()
    };
    let rest = Policy {
        session: SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() },
        stream: StreamPolicy { blank_call: BlankCall::DropCall, ..StreamPolicy::default() },
        guard: GuardPolicy {
            retry: after_corruption(OnCorruption::Stop),
            stall: StallLimits { kill_after: None, ..StallLimits::default() },
            ..GuardPolicy::default()
        },
        ..lossless()
    };
    preset("opal", repair, rest)
}

/// Source document 001: atomic tool cycles, checkpoints, rollback; a broken session blocks and offers the repair.
fn clawos() -> Policy {
    let repair = RepairPolicy {
        safety: SafetyMax::Unsafe,
        on_invalid: OnInvalid::Offer,
        unanswered_call: UnansweredCall::RemoveCall,
        orphan_result: OrphanResult::Remove,
        match_scope: MatchScope::Adjacent,
        misaddressed: Misaddressed::Orphan,
        displaced: Displaced::RemovePair,
        trailing_call: TrailingCall::AllowPending,
        duplicate_result: DuplicateResult::First,
        duplicate_call_id: DuplicateCallId::RenameLater,
        ..RepairPolicy::default()
    };
    let rest = Policy {
        session: SessionPolicy {
            persist_repairs: PersistRepairs::All,
            on_executor_failure: OnFailure::Rollback,
            corrupt_checkpoint: CorruptCheckpoint::Escalate,
            ..SessionPolicy::default()
        },
        stream: StreamPolicy { partial_call: PartialCall::DropTurn, ..StreamPolicy::default() },
        guard: GuardPolicy { retry: after_corruption(OnCorruption::Rollback), ..GuardPolicy::default() },
        ..lossless()
    };
    preset("clawos", repair, rest)
}

/// Source document 002: every request gets synthetic results for cancelled calls; ids are canonical and transformed for
/// the provider.
fn llxprt() -> Policy {
    let cancelled = || "Tool execution cancelled by user".into();
    let repair = RepairPolicy {
        safety: SafetyMax::Unsafe,
        orphan_result: OrphanResult::ReconstructCall,
        misaddressed: Misaddressed::Orphan,
        duplicate_call_id: DuplicateCallId::RenameLater,
        id_mode: IdMode::Canonical,
        emptied: Emptied::Placeholder,
        synthetic_text: Box::new(Texts {
            missing: cancelled(),
            aborted: cancelled(),
            cancelled: cancelled(),
            ..Texts::default()
        }),
        ..RepairPolicy::default()
    };
    let rest = Policy {
        session: SessionPolicy { persist_repairs: PersistRepairs::Never, ..SessionPolicy::default() },
        ..lossless()
    };
    preset("llxprt", repair, rest)
}

/// Source document 003: source precedence of arguments, a breaker after 3 failures, a stall timeout of 5 minutes, and one
/// resend of a repaired conversation.
fn kilroy() -> Policy {
    let repair = RepairPolicy {
        safety: SafetyMax::Unsafe,
        unanswered_call: UnansweredCall::RemoveCall,
        orphan_result: OrphanResult::Remove,
        // The agent puts a steering note between a call and its result (`docs/policies.md`).
        match_scope: MatchScope::Span,
        misaddressed: Misaddressed::Orphan,
        duplicate_result: DuplicateResult::First,
        merge_same_role: true,
        ..RepairPolicy::default()
    };
    let rest = Policy {
        session: SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() },
        stream: StreamPolicy {
            arg_source: ArgSource::DeltaWins,
            partial_call: PartialCall::ErrorResult,
            ..StreamPolicy::default()
        },
        guard: GuardPolicy {
            retry: RetryPolicy {
                retries_max: 2,
                wait_min: Duration::from_secs(1),
                wait_max: Duration::from_mins(1),
                on_corruption: OnCorruption::Repair,
                ..RetryPolicy::default()
            },
            breaker: BreakerLimits { failures_max: 3, ends_turn: true, ..BreakerLimits::default() },
            stall: StallLimits { warn_after: None, kill_after: Some(Duration::from_mins(5)), tool_kill_after: None },
        },
        ..lossless()
    };
    preset("kilroy", repair, rest)
}

/// Source document 004: each request to the provider keeps only complete pairs; the stored conversation stays
/// unchanged.
fn libr_agent() -> Policy {
    let repair = RepairPolicy {
        safety: SafetyMax::Unsafe,
        unanswered_call: UnansweredCall::RemoveCall,
        orphan_result: OrphanResult::Remove,
        misaddressed: Misaddressed::Orphan,
        displaced: Displaced::RemovePair,
        trailing_call: TrailingCall::Remove,
        duplicate_result: DuplicateResult::First,
        emptied: Emptied::Keep,
        ..RepairPolicy::default()
    };
    let rest = Policy {
        session: SessionPolicy { persist_repairs: PersistRepairs::Never, ..SessionPolicy::default() },
        stream: StreamPolicy { arg_source: ArgSource::ParsableWins, ..StreamPolicy::default() },
        ..lossless()
    };
    preset("libr-agent", repair, rest)
}
