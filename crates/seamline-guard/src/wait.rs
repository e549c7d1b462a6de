//! Reads how long the provider asks to wait.

use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use jiff::Timestamp;
use regex::bytes::Regex;

use crate::classify::Failure;
use crate::patterns::compile;
use crate::views::Views;

/// The longest wait that is reported. A longer wait is cut to it; a limit that renews later is ignored.
const WAIT_MAX: Duration = Duration::from_hours(31 * 24);

/// Returns how long the provider asks to wait: by its `retry-after` headers, else by its text, else by the headers about
/// the renewal of limits.
pub(crate) fn of(failure: &Failure<'_>, views: &Views) -> Option<Duration> {
    by_header(failure).or_else(|| views.iter().find_map(by_text)).or_else(|| by_limit(failure))
}

/// Whether the provider says that waiting helps: it names a wait, or an exhausted limit per minute or day. The renewal of
/// other limits does not count: some providers send it with every response.
pub(crate) fn is_asked(failure: &Failure<'_>, views: &Views) -> bool {
    let of_a_time = |view: &str| RENEWED.as_ref().is_some_and(|renewed| renewed.is_match(view.as_bytes()));
    by_header(failure).is_some() || views.iter().any(|view| by_text(view).is_some() || of_a_time(view))
}

/// Google's name of a limit that renews by itself.
static RENEWED: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r#"quotaId["'] ?: ?["']\w*Per(?:Minute|Day)"#));

fn by_header(failure: &Failure<'_>) -> Option<Duration> {
    let precise = failure.header("retry-after-ms").and_then(|value| seconds(number(value)? / 1000.0));
    let asked = precise.or_else(|| {
        let value = failure.header("retry-after")?;
        number(value).and_then(seconds).or_else(|| until(instant(value)?, failure))
    });
    asked.map(|wait| wait.min(WAIT_MAX))
}

/// Matches a wait in a text: `try again in 1m2.5s`, `"retryDelay": "34s"`, `wait 20 seconds`.
static ASKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r#"(?i)(?:(?:try again|retry)(?: your request)? (?:in|after)|retryDelay["'] ?: ?["']|wait(?: for)?) ?((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?) ?)+)(?:$|[^\w])"#,
    )
});

fn by_text(view: &str) -> Option<Duration> {
    let captures = ASKED.as_ref()?.captures(view.as_bytes())?;
    duration(std::str::from_utf8(captures.get(1)?.as_bytes()).ok()?).map(|wait| wait.min(WAIT_MAX))
}

/// Returns the longest renewal of the exhausted limits, else of the limits without a known state. Many providers send the
/// renewal of unused limits with every response.
fn by_limit(failure: &Failure<'_>) -> Option<Duration> {
    let resets = failure.headers.iter().filter_map(|(name, value)| Some((limit(name, "reset")?, value)));
    let waits = resets.filter_map(|(limit, value)| Some((is_used_up(&limit, failure), renewal(value, failure)?)));
    let waits: Vec<(Option<bool>, Duration)> = waits.filter(|(_, wait)| *wait <= WAIT_MAX).collect();
    let longest = |told| waits.iter().filter(|(used_up, _)| *used_up == told).map(|(_, wait)| *wait).max();
    let is_about_limits = matches!(failure.status, None | Some(429));
    longest(Some(true)).or_else(|| longest(None).filter(|_| is_about_limits))
}

/// Returns the limit that a header is about: `x-ratelimit-reset-tokens` and `anthropic-ratelimit-tokens-reset` are both
/// about `tokens`.
fn limit(header: &str, says: &str) -> Option<String> {
    let header = header.to_ascii_lowercase();
    let (_, rest) = header.split_once("ratelimit-")?;
    rest.contains(says).then(|| rest.replace(says, "").replace("--", "-").trim_matches('-').to_owned())
}

/// Whether a limit is exhausted, if a header says so: none of it remains, or its status is not `allowed`.
fn is_used_up(limit_name: &str, failure: &Failure<'_>) -> Option<bool> {
    let told = |says| {
        let is_it = |(name, _): &&(&str, &str)| limit(name, says).is_some_and(|limit| limit == limit_name);
        failure.headers.iter().find(is_it).map(|(_, value)| value.trim())
    };
    let remains = told("remaining").and_then(|left| left.parse::<f64>().ok()).map(|left| left <= 0.0);
    remains.or_else(|| told("status").map(|status| !status.starts_with("allowed")))
}

/// Reads a renewal: `6m0s`, `2.5`, a time in seconds or milliseconds since 1970, or a date.
fn renewal(value: &str, failure: &Failure<'_>) -> Option<Duration> {
    const MOMENT_MIN: f64 = 1e9;
    const MILLISECONDS_MIN: f64 = 1e12;
    match number(value) {
        Some(moment) if moment >= MILLISECONDS_MIN => until(moment / 1000.0, failure),
        Some(moment) if moment >= MOMENT_MIN => until(moment, failure),
        Some(wait) => seconds(wait),
        None => duration(value).or_else(|| until(instant(value)?, failure)),
    }
}

/// Returns the time from the response's `date` header, or else its arrival, until a moment.
fn until(moment: f64, failure: &Failure<'_>) -> Option<Duration> {
    let received = failure.received_at.map(|since| since.as_secs_f64());
    let sent = failure.header("date").and_then(instant).or(received)?;
    seconds((moment - sent).max(0.0))
}

/// Reads a duration: `1m2.5s`, `300ms`, `20 seconds`.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(rest.len());
        let amount = number(&rest[..digits])?;
        let unit = rest[digits..].trim_start();
        let length = unit.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(unit.len());
        total += amount * unit_seconds(&unit[..length])?;
        rest = unit[length..].trim_start();
    }
    (total > 0.0).then(|| seconds(total)).flatten()
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit.to_ascii_lowercase().as_str() {
        "ms" | "millisecond" | "milliseconds" => Some(0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3600.0),
        _ => None,
    }
}

/// Converts seconds to a duration; negative ones and NaN give none.
fn seconds(seconds: f64) -> Option<Duration> {
    (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Reads a plain number of a header; `nan`, `inf` and signs are not accepted.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT` or `1994-11-06T08:49:37Z`.
fn instant(text: &str) -> Option<f64> {
    let text = text.trim();
    let http = httpdate::parse_http_date(text).ok().and_then(|date| date.duration_since(UNIX_EPOCH).ok());
    let since_1970 =
        http.or_else(|| text.parse::<Timestamp>().ok()?.duration_since(Timestamp::UNIX_EPOCH).try_into().ok());
    since_1970.map(|since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&str, &str)], text: &str) -> Option<f64> {
        let failure = Failure { headers, text, ..Failure::default() };
        of(&failure, &Views::of(text)).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn headers_count_before_texts() {
        assert_eq!(wait(&[("Retry-After", "7")], "try again in 1s"), Some(7.0));
        assert_eq!(wait(&[("retry-after", "7"), ("retry-after-ms", "250")], ""), Some(0.25));
        assert_eq!(wait(&[("retry-after", "soon")], "please try again in 1m2.5s."), Some(62.5));
    }

    #[test]
    fn a_date_is_read_against_the_date_of_the_response() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), date], ""), Some(30.0));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), date], ""), Some(0.0));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], ""), None);
        assert_eq!(instant("2026-03-01T00:00:00Z"), Some(1_772_323_200.0));
        assert_eq!(instant("2026-03-01T01:00:00.5+01:00"), Some(1_772_323_200.5));
        assert_eq!(instant("Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777.0));
        assert_eq!(instant("1969-12-31T23:59:59Z"), None);
    }

    #[test]
    fn texts_ask_in_many_ways() {
        for (text, asked) in [
            ("Please try again in 300ms. Visit", 0.3),
            (r#""retryDelay": "34s""#, 34.0),
            ("Please retry in 12.5s.", 12.5),
            ("Please wait 20 seconds before", 20.0),
            ("retry after 2 minutes", 120.0),
        ] {
            assert_eq!(wait(&[], text), Some(asked), "{text}");
        }
        assert_eq!(wait(&[], "try again in a moment"), None);
        assert_eq!(wait(&[], "try again in 5 steps"), None);
    }

    #[test]
    fn a_quota_that_renews_is_a_rate_limit() {
        let quota = "You exceeded your current quota, please check your plan and billing details.";
        let told = |headers: &[(&str, &str)], more: &str| {
            let text = format!("{quota}{more}");
            let verdict = crate::classify(&Failure { status: Some(429), headers, text: &text, ..Failure::default() });
            (verdict.name, verdict.retry_after.map(|wait| wait.as_secs_f64()))
        };
        assert_eq!(told(&[], ""), ("out-of-quota", None));
        assert_eq!(told(&[], " Please retry in 41.25s."), ("rate-limited", Some(41.25)));
        assert_eq!(told(&[], r#"","details":[{"retryDelay":"41.25s"}]"#), ("rate-limited", Some(41.25)));
        assert_eq!(told(&[], r#"","details":[{"quotaId":"RequestsPerDayPerProject"}]"#), ("rate-limited", None));
        assert_eq!(told(&[("retry-after", "9")], ""), ("rate-limited", Some(9.0)));
        assert_eq!(told(&[("retry-after", "9")], r#"","code":"insufficient_quota""#), ("out-of-quota", None));
        assert_eq!(told(&[("x-ratelimit-reset-requests", "9s")], ""), ("out-of-quota", None));
    }

    #[test]
    fn the_exhausted_limit_counts() {
        let limits = [("x-ratelimit-reset-requests", "6m0s"), ("x-ratelimit-reset-tokens", "1.5s")];
        assert_eq!(wait(&limits, ""), Some(360.0));
        let used_up = [limits[0], limits[1], ("x-ratelimit-remaining-tokens", "0")];
        assert_eq!(wait(&used_up, ""), Some(1.5));
        let anthropic = [
            ("anthropic-ratelimit-requests-reset", "1994-11-06T08:49:40Z"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ];
        assert_eq!(wait(&anthropic, ""), Some(3.0));
        let moment = [("X-RateLimit-Reset", "784111787000"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")];
        assert_eq!(wait(&moment, ""), None, "a number too small for milliseconds and too far for a wait");
    }

    #[test]
    fn an_unused_limit_causes_no_wait() {
        let of_status = |status, headers: &[(&str, &str)]| {
            let failure = Failure { status: Some(status), headers, ..Failure::default() };
            of(&failure, &Views::of("")).map(|wait| wait.as_secs_f64())
        };
        let renewed = ("x-ratelimit-reset-tokens", "6m0s");
        for status in [429, 500] {
            assert_eq!(of_status(status, &[renewed, ("x-ratelimit-remaining-tokens", "799000")]), None);
            assert_eq!(of_status(status, &[renewed, ("x-ratelimit-remaining-tokens", "0")]), Some(360.0));
        }
        assert_eq!((of_status(500, &[renewed]), of_status(429, &[renewed])), (None, Some(360.0)));
        let unified = |status| {
            [
                ("anthropic-ratelimit-unified-7d-reset", "1772755200"),
                ("anthropic-ratelimit-unified-7d-status", status),
                ("anthropic-ratelimit-unified-5h-reset", "1772323210"),
                ("anthropic-ratelimit-unified-5h-status", "allowed_warning"),
                ("date", "Sun, 01 Mar 2026 00:00:00 GMT"),
            ]
        };
        assert_eq!(of_status(529, &unified("allowed")), None);
        assert_eq!(of_status(429, &unified("rejected")), Some(432_000.0));
        let of_tokens = [("x-ratelimit-reset-tokens", "9s"), ("x-ratelimit-remaining-input-tokens", "0")];
        assert_eq!(of_status(500, &of_tokens), None, "another limit is exhausted");
    }

    #[test]
    fn a_very_long_wait_is_cut_to_the_longest() {
        for value in ["2678401", "99999999999999999999999999"] {
            assert_eq!(wait(&[("retry-after", value)], ""), Some(WAIT_MAX.as_secs_f64()), "{value}");
        }
        assert_eq!(wait(&[], "please try again in 9000h."), Some(WAIT_MAX.as_secs_f64()));
        let verdict = crate::classify(&Failure {
            status: Some(429),
            headers: &[("retry-after", "9999999")],
            ..Failure::default()
        });
        let advice =
            crate::Retry::new(crate::RetryPolicy::default()).handle_failure(&verdict, b"{}", crate::Emitted::Nothing);
        assert_eq!(advice, crate::Advice::GiveUp { why: crate::GaveUp::Wait });
    }

    #[test]
    fn invalid_values_give_no_wait() {
        for value in ["", "-1", "nan", "inf", "1e9", "1.2.3", "Sun, 99 Xyz 1 1:1:1", "2026-02-30T00:00:00Z"] {
            assert_eq!(wait(&[("retry-after", value), ("date", value)], ""), None, "{value}");
        }
    }
}
