//! The `[guard]` section of a policy.

use seamline_model::knob::{
    Count, Flag, KnobKind, KnobShape, KnobType, Milliseconds, MillisecondsOrNever, RefusedValue, Setting,
};

use crate::{BreakerLimits, BreakerScope, OnCorruption, Reset, RetryPolicy, StallLimits};

/// The limits of every guard of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GuardPolicy {
    /// When a failed request is sent again.
    pub retry: RetryPolicy,
    /// How often a model may call tools wrongly.
    pub breaker: BreakerLimits,
    /// How long a run may go without progress.
    pub stall: StallLimits,
}

seamline_model::knobs! {
    GuardPolicy {
        /// How many times a request that failed for a transient reason is sent again.
        retries_max [""]: Count<0> = retry.retries_max;
        /// The first wait before a request is sent again; each further wait is twice as long.
        retry_wait_min_ms [""]: Milliseconds = retry.wait_min;
        /// The longest wait that doubling leads to.
        retry_wait_max_ms [""]: Milliseconds = retry.wait_max;
        /// The longest wait that a provider may ask for; a longer one ends the retries.
        retry_asked_wait_max_ms [""]: Milliseconds = retry.asked_wait_max;
        /// Reaction after the provider rejects the conversation as broken.
        on_corruption | on_mismatch_400 ["X14"]: OnCorruption = retry.on_corruption;
        /// After how many rounds with wrong tool calls the result tells the model what the tool requires.
        breaker_failures_max ["X22"]: Count<1> = breaker.failures_max;
        /// Which wrong tool calls count together.
        breaker_scope ["X22"]: BreakerScope = breaker.scope;
        /// The event that ends a row of wrong tool calls.
        breaker_reset ["X22"]: Reset = breaker.reset;
        /// After how many equal rounds that only fail the turn ends.
        breaker_rounds_max [""]: Count<1> = breaker.rounds_max;
        /// How many different rounds may alternate and still be a loop; more than 3 counts as 3.
        breaker_period_max [""]: Count<1> = breaker.period_max;
        /// Whether a tool that was called wrongly too often ends the turn.
        breaker_ends_turn [""]: Flag = breaker.ends_turn;
        /// Whether a tool result counts as a failure when its JSON text says so (`ok: false`, `isError: true`).
        breaker_reads_results [""]: Flag = breaker.reads_results;
        /// After how long without progress the run ends. A warning comes after half of it at the latest.
        stall_timeout_ms | stall_kill_ms ["X23"]: StallTimeout = stall;
        /// After how long without progress the guard warns.
        stall_warn_ms ["X23"]: MillisecondsOrNever = stall.warn_after;
        /// After how long a running tool ends the run.
        stall_tool_timeout_ms [""]: MillisecondsOrNever = stall.tool_kill_after;
    }
}

/// The end of a stalled run. Setting it moves a later warning to half of the time.
enum StallTimeout {}

impl KnobShape for StallTimeout {
    const KIND: KnobKind = KnobKind::MillisecondsOrNever;
}

impl KnobType<StallLimits> for StallTimeout {
    fn get(limits: &StallLimits) -> Setting<'static> {
        MillisecondsOrNever::get(&limits.kill_after)
    }

    fn set(limits: &mut StallLimits, setting: Setting<'_>) -> Result<(), RefusedValue> {
        MillisecondsOrNever::set(&mut limits.kill_after, setting)?;
        if let (Some(warn), Some(kill)) = (limits.warn_after, limits.kill_after) {
            limits.warn_after = Some(warn.min(kill / 2));
        }
        Ok(())
    }
}
