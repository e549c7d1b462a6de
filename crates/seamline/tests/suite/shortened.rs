//! Trimmed and sanitized histories: the provider accepts them as it accepts the whole ones.

use seamline::sanitize::{SanitizeOptions, TrustedCalls};
use seamline::trim::TrimOptions;
use seamline::{repair, sanitize, trim};
use seamline_testkit::{Dialect, scope, strict};
use serde_json::Value;

use crate::laws::options;

/// The longest conversations that are tried.
const LENGTH_MAX: u32 = 4;

#[test]
fn a_trimmed_history_is_accepted_and_splits_no_cycle() {
    let mut trims = 0;
    for dialect in Dialect::ALL {
        let options = options(dialect);
        for kinds in scope::transcripts(LENGTH_MAX) {
            let rendered = scope::render(dialect, &kinds);
            let whole = repair(rendered.as_bytes(), &options).unwrap();
            if !whole.remaining.is_empty() {
                continue;
            }
            for most in 0..=whole.origins.len() {
                let limit = TrimOptions { max_messages: Some(most), ..TrimOptions::default() };
                let trimmed = trim(&whole.body, &limit, &options).unwrap();
                assert_eq!(trimmed.fits, trimmed.messages <= most, "{dialect:?} {kinds:?} {most}");
                assert_eq!(trimmed.removed.is_empty(), !trimmed.body.is_changed());
                let body: Value = serde_json::from_slice(&trimmed.body).unwrap();
                let violations = strict::check(dialect, &body);
                assert!(violations.is_empty(), "{dialect:?} {kinds:?} {most}: {violations:?}\n{body}");
                let again = trim(&trimmed.body, &limit, &options).unwrap();
                assert!(!again.body.is_changed(), "{dialect:?} {kinds:?} {most}: a second trim changes it\n{body}");
                trims += 1;
            }
        }
    }
    assert!(trims > 10_000, "{trims}");
}

#[test]
fn a_sanitized_and_repaired_history_is_accepted_and_stays_as_it_is() {
    for dialect in Dialect::ALL {
        let options = options(dialect);
        for kinds in scope::transcripts(LENGTH_MAX) {
            let body = scope::render(dialect, &kinds);
            for calls in [TrustedCalls::Answered, TrustedCalls::None] {
                let trust = SanitizeOptions { calls, ..SanitizeOptions::default() };
                let left = sanitize(body.as_bytes(), &trust, &options).unwrap();
                let repaired = repair(&left.body, &options).unwrap();
                let synthetic = repaired.actions.iter().filter(|action| action.synthetic && action.code == "PAIR001");
                assert_eq!(synthetic.count(), 0, "{dialect:?} {kinds:?}: an open call was left");
                let again = sanitize(&repaired.body, &trust, &options).unwrap();
                assert!(again.removed.is_empty(), "{dialect:?} {kinds:?} {trust:?}: {:?}", again.removed);
            }
        }
    }
}
