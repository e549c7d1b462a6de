//! The defaults of the guards.

use std::time::Duration;

use seamline_guard::{BreakerLimits, BreakerScope, OnCorruption, Reset, RetryPolicy, StallLimits};

/// Names every field, so that a new field needs its default here.
#[test]
fn s3_10_s3_11_s3_12_the_defaults_of_the_breaker() {
    let BreakerLimits { failures_max, rounds_max, period_max, scope, reset, ends_turn, reads_results } =
        BreakerLimits::default();
    assert_eq!(failures_max, 3, "S3-10");
    assert_eq!(rounds_max, 3, "S3-13, S3-25");
    assert_eq!(period_max, 3, "K30");
    assert_eq!(scope, BreakerScope::Tool, "S3-09");
    assert_eq!(reset, Reset::AnySuccess, "S3-12");
    assert!(!ends_turn, "S3-11: optional");
    assert!(reads_results, "K30");
    assert_eq!(Reset::default(), Reset::AnySuccess);
}

#[test]
fn s3_17_s3_19_the_defaults_of_retries() {
    let RetryPolicy { retries_max, wait_min, wait_max, asked_wait_max, on_corruption } = RetryPolicy::default();
    assert_eq!(retries_max, 2, "S3-17");
    assert_eq!((wait_min, wait_max), (Duration::from_secs(1), Duration::from_mins(1)), "S3-17");
    assert_eq!(asked_wait_max, Duration::from_mins(2));
    assert_eq!(on_corruption, OnCorruption::Repair, "S3-19");
}

#[test]
fn s3_15_the_defaults_of_stalls() {
    let StallLimits { warn_after, kill_after, tool_kill_after } = StallLimits::default();
    assert_eq!(warn_after, Some(Duration::from_secs(10)), "X23");
    assert_eq!(kill_after, Some(Duration::from_mins(5)), "S3-15");
    assert_eq!(tool_kill_after, None, "K52");
}
