//! What the guards are set to: by default, and by a configuration file.

use std::time::Duration;

use seamline_guard::{BreakerLimits, GuardSettings, OnCorruption, Reset, RetryPolicy, StallLimits};

/// Every field is named, so that one that is added asks for its default here.
#[test]
fn s3_10_s3_11_s3_12_the_defaults_of_the_breaker() {
    let BreakerLimits { failures_max, rounds_max, period_max, reset, ends_turn, reads_results } =
        BreakerLimits::default();
    assert_eq!(failures_max, 3, "S3-10");
    assert_eq!(rounds_max, 3, "S3-13, S3-25");
    assert_eq!(period_max, 3, "K30");
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

#[test]
fn s3_16_the_key_for_stalls_is_read_from_a_file() {
    let read = |text: &str| GuardSettings::from_toml(text).unwrap();
    // The value of the template.
    assert_eq!(read("stall_timeout_ms = 300000"), GuardSettings::default());
    assert_eq!(read("stall_timeout_ms = 600000").stall.kill_after, Some(Duration::from_mins(10)));
    assert_eq!(read("stall_timeout_ms = 0").stall.kill_after, None, "switched off by hand");
    let short = read("stall_timeout_ms = 150").stall;
    assert_eq!(
        (short.warn_after, short.kill_after),
        (Some(Duration::from_millis(75)), Some(Duration::from_millis(150)))
    );
    let loud = read("stall_timeout_ms = 150\nstall_warn_ms = 0").stall;
    assert_eq!((loud.warn_after, loud.kill_after), (None, Some(Duration::from_millis(150))));
}

#[test]
fn every_setting_has_a_key_and_what_is_not_named_keeps_its_default() {
    assert_eq!(GuardSettings::from_toml(""), Ok(GuardSettings::default()));
    let all = "
        retries_max = 7
        retry_wait_min_ms = 20
        retry_wait_max_ms = 30
        retry_asked_wait_max_ms = 40
        on_corruption = 'restart'
        breaker_failures_max = 4
        breaker_rounds_max = 5
        breaker_period_max = 1
        breaker_reset = 'same_tool_fits'
        breaker_ends_turn = true
        breaker_reads_results = false
        stall_timeout_ms = 1000
        stall_warn_ms = 100
        stall_tool_timeout_ms = 2000
    ";
    let milliseconds = Duration::from_millis;
    let expected = GuardSettings {
        retry: RetryPolicy {
            retries_max: 7,
            wait_min: milliseconds(20),
            wait_max: milliseconds(30),
            asked_wait_max: milliseconds(40),
            on_corruption: OnCorruption::Restart,
        },
        breaker: BreakerLimits {
            failures_max: 4,
            rounds_max: 5,
            period_max: 1,
            reset: Reset::SameToolFits,
            ends_turn: true,
            reads_results: false,
        },
        stall: StallLimits {
            warn_after: Some(milliseconds(100)),
            kill_after: Some(milliseconds(1000)),
            tool_kill_after: Some(milliseconds(2000)),
        },
    };
    assert_eq!(GuardSettings::from_toml(all), Ok(expected));
    // Each key by itself changes one thing, and that one alone.
    let keys: Vec<_> = all.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let each: Vec<_> = keys.iter().map(|key| GuardSettings::from_toml(key).unwrap()).collect();
    for (key, settings) in keys.iter().zip(&each) {
        assert_ne!(*settings, GuardSettings::default(), "{key}");
        assert_eq!(each.iter().filter(|other| *other == settings).count(), 1, "{key}");
    }
}

#[test]
fn words_of_other_programs_for_a_reset_are_understood() {
    let reset = |word: &str| GuardSettings::from_toml(&format!("breaker_reset = '{word}'")).unwrap().breaker.reset;
    assert_eq!(
        [reset("any_success"), reset("same_tool"), reset("same_tool_fits")],
        [Reset::AnySuccess, Reset::SameTool, Reset::SameToolFits]
    );
    assert_eq!([reset("same_tool_success"), reset("valid_args")], [Reset::SameTool, Reset::SameToolFits]);
}

#[test]
fn a_setting_that_does_not_exist_is_named() {
    for (text, named) in [
        ("stall_timeout = 300", "stall_timeout"),
        ("breaker_reset = 'never'", "never"),
        ("on_corruption = 'ignore'", "ignore"),
        ("breaker_rounds_max = 0", "zero"),
        ("stall_timeout_ms = -1", "-1"),
        ("stall_timeout_ms", "stall_timeout_ms"),
    ] {
        let error = GuardSettings::from_toml(text).unwrap_err().to_string();
        assert!(error.starts_with("these are no settings of guards: ") && error.contains(named), "{text}: {error}");
    }
}
