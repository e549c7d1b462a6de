//! The presets, by name.

use super::{
    Displaced, DuplicateCallId, DuplicateResult, Emptied, MatchScope, Misaddressed, OnInvalid, OrphanResult, Policy,
    ResultOrder, SafetyMax, Texts, TrailingCall, UnansweredCall, UnansweredReason,
};

/// A named policy.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    pub(super) build: fn() -> Policy,
}

/// Every preset; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset { name: "lossless", about: "everything anyone said survives; the default", build: lossless },
    Preset { name: "minimal", about: "the fewest changed bytes that the provider accepts", build: minimal },
    Preset { name: "strict", about: "report and block; change nothing", build: strict },
    Preset { name: "opal", about: "close every call, put results in call order, strip orphans", build: opal },
    Preset { name: "clawos", about: "remove both halves of what does not pair; open calls may stay", build: clawos },
    Preset { name: "llxprt", about: "close cancelled calls, rebuild calls of orphaned results", build: llxprt },
    Preset { name: "kilroy", about: "drop unanswered calls and resend", build: kilroy },
    Preset { name: "libr-agent", about: "keep only complete pairs, drop the rest", build: libr_agent },
];

/// Relocate, then re-address, then keep as text, then synthesise; never drop what
/// somebody said.
pub(super) fn lossless() -> Policy {
    Policy {
        preset: "lossless".to_owned(),
        safety: SafetyMax::Safe,
        on_invalid: OnInvalid::Repair,
        unanswered_call: UnansweredCall::Synthesize,
        unanswered_reason: UnansweredReason::Missing,
        orphan_result: OrphanResult::ToText,
        match_scope: MatchScope::Anywhere,
        misaddressed: Misaddressed::Readdress,
        displaced: Displaced::Relocate,
        trailing_call: TrailingCall::Close,
        duplicate_result: DuplicateResult::Best,
        duplicate_call_id: DuplicateCallId::RenameLater,
        emptied: Emptied::Remove,
        result_order: ResultOrder::AsFound,
        synthetic_text: texts(),
    }
}

fn texts() -> Texts {
    Texts {
        missing: seamline_model::NO_RESULT.to_owned(),
        aborted: seamline_model::ABORTED.to_owned(),
        cancelled: seamline_model::CANCELLED.to_owned(),
        denied: seamline_model::DENIED.to_owned(),
        timeout: seamline_model::TIMED_OUT.to_owned(),
        crashed: seamline_model::CRASHED.to_owned(),
        truncated: seamline_model::TRUNCATED.to_owned(),
        reconstructed: seamline_model::RECONSTRUCTED.to_owned(),
    }
}

fn minimal() -> Policy {
    Policy {
        preset: "minimal".to_owned(),
        safety: SafetyMax::Unsafe,
        unanswered_call: UnansweredCall::RemoveCall,
        orphan_result: OrphanResult::Remove,
        duplicate_result: DuplicateResult::First,
        trailing_call: TrailingCall::Remove,
        ..lossless()
    }
}

fn strict() -> Policy {
    Policy { preset: "strict".to_owned(), on_invalid: OnInvalid::Block, ..lossless() }
}

fn opal() -> Policy {
    Policy {
        preset: "opal".to_owned(),
        safety: SafetyMax::Unsafe,
        orphan_result: OrphanResult::Remove,
        match_scope: MatchScope::Forward,
        misaddressed: Misaddressed::Orphan,
        duplicate_result: DuplicateResult::First,
        emptied: Emptied::Keep,
        result_order: ResultOrder::CallOrder,
        synthetic_text: Texts {
            missing: "[Error: tool result missing]".to_owned(),
            aborted: "[Aborted by user]".to_owned(),
            ..texts()
        },
        ..lossless()
    }
}

fn clawos() -> Policy {
    Policy {
        preset: "clawos".to_owned(),
        safety: SafetyMax::Unsafe,
        unanswered_call: UnansweredCall::RemoveCall,
        orphan_result: OrphanResult::Remove,
        match_scope: MatchScope::Adjacent,
        misaddressed: Misaddressed::Orphan,
        displaced: Displaced::RemovePair,
        trailing_call: TrailingCall::AllowPending,
        duplicate_result: DuplicateResult::First,
        duplicate_call_id: DuplicateCallId::Error,
        ..lossless()
    }
}

fn llxprt() -> Policy {
    Policy {
        preset: "llxprt".to_owned(),
        orphan_result: OrphanResult::ReconstructCall,
        misaddressed: Misaddressed::Orphan,
        emptied: Emptied::Placeholder,
        safety: SafetyMax::Unsafe,
        synthetic_text: Texts {
            missing: "Tool execution cancelled by user".to_owned(),
            aborted: "Tool execution cancelled by user".to_owned(),
            cancelled: "Tool execution cancelled by user".to_owned(),
            ..texts()
        },
        ..lossless()
    }
}

fn kilroy() -> Policy {
    Policy {
        preset: "kilroy".to_owned(),
        safety: SafetyMax::Unsafe,
        unanswered_call: UnansweredCall::RemoveCall,
        orphan_result: OrphanResult::Remove,
        match_scope: MatchScope::Span,
        misaddressed: Misaddressed::Orphan,
        duplicate_result: DuplicateResult::First,
        ..lossless()
    }
}

fn libr_agent() -> Policy {
    Policy {
        preset: "libr-agent".to_owned(),
        safety: SafetyMax::Unsafe,
        unanswered_call: UnansweredCall::RemoveCall,
        orphan_result: OrphanResult::Remove,
        misaddressed: Misaddressed::Orphan,
        displaced: Displaced::RemovePair,
        trailing_call: TrailingCall::Remove,
        duplicate_result: DuplicateResult::First,
        emptied: Emptied::Keep,
        ..lossless()
    }
}
