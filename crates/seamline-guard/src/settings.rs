//! What the guards are set to, as a configuration file has it.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;

use crate::{BreakerLimits, OnCorruption, Reset, RetryPolicy, StallLimits};

/// What the guards of an agent are set to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GuardSettings {
    /// When a request is sent again.
    pub retry: RetryPolicy,
    /// How often a model may call tools wrongly.
    pub breaker: BreakerLimits,
    /// How long nothing may happen.
    pub stall: StallLimits,
}

/// Why settings could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("these are no settings of guards: {why}")]
pub struct SettingsError {
    /// What is wrong with them, and where.
    pub why: String,
}

impl GuardSettings {
    /// Reads settings from TOML. What is not named keeps its default. A zero for when a run, a tool
    /// or a warning is due means never; one for a wait means that nobody waits.
    ///
    /// ```
    /// use seamline_guard::{GuardSettings, StallLimits};
    ///
    /// let settings = GuardSettings::from_toml("stall_timeout_ms = 600000\nbreaker_rounds_max = 2")?;
    /// assert_eq!(settings.stall, StallLimits::of_timeout_ms(Some(600_000)));
    /// assert_eq!(settings.breaker.rounds_max, 2);
    /// assert!(GuardSettings::from_toml("stall_timeout = 600").is_err());
    /// # Ok::<(), seamline_guard::SettingsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is not TOML, or names a setting or a value that does not exist.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        let file: File = toml::from_str(text).map_err(|error| SettingsError { why: error.to_string() })?;
        Ok(Self { retry: file.retry(), breaker: file.breaker(), stall: file.stall() })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    retries_max: Option<u32>,
    retry_wait_min_ms: Option<u64>,
    retry_wait_max_ms: Option<u64>,
    retry_asked_wait_max_ms: Option<u64>,
    on_corruption: Option<OnCorruption>,
    breaker_failures_max: Option<NonZeroU32>,
    breaker_rounds_max: Option<NonZeroU32>,
    breaker_period_max: Option<NonZeroU32>,
    breaker_reset: Option<Reset>,
    breaker_ends_turn: Option<bool>,
    breaker_reads_results: Option<bool>,
    stall_timeout_ms: Option<u64>,
    stall_warn_ms: Option<u64>,
    stall_tool_timeout_ms: Option<u64>,
}

impl File {
    fn retry(&self) -> RetryPolicy {
        let default = RetryPolicy::default();
        let or = |milliseconds: Option<u64>, default| milliseconds.map_or(default, Duration::from_millis);
        RetryPolicy {
            retries_max: self.retries_max.unwrap_or(default.retries_max),
            wait_min: or(self.retry_wait_min_ms, default.wait_min),
            wait_max: or(self.retry_wait_max_ms, default.wait_max),
            asked_wait_max: or(self.retry_asked_wait_max_ms, default.asked_wait_max),
            on_corruption: self.on_corruption.unwrap_or(default.on_corruption),
        }
    }

    fn breaker(&self) -> BreakerLimits {
        let default = BreakerLimits::default();
        BreakerLimits {
            failures_max: self.breaker_failures_max.map_or(default.failures_max, NonZeroU32::get),
            rounds_max: self.breaker_rounds_max.map_or(default.rounds_max, NonZeroU32::get),
            period_max: self.breaker_period_max.map_or(default.period_max, NonZeroU32::get),
            reset: self.breaker_reset.unwrap_or(default.reset),
            ends_turn: self.breaker_ends_turn.unwrap_or(default.ends_turn),
            reads_results: self.breaker_reads_results.unwrap_or(default.reads_results),
        }
    }

    fn stall(&self) -> StallLimits {
        let default = StallLimits::of_timeout_ms(self.stall_timeout_ms);
        let or = |milliseconds: Option<u64>, default| match milliseconds {
            None => default,
            Some(0) => None,
            Some(time) => Some(Duration::from_millis(time)),
        };
        StallLimits {
            warn_after: or(self.stall_warn_ms, default.warn_after),
            kill_after: default.kill_after,
            tool_kill_after: or(self.stall_tool_timeout_ms, default.tool_kill_after),
        }
    }
}
