//! Times as people write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::screen;

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Seconds since 1970 as a date and a time.
pub(crate) fn rfc_3339(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

/// Milliseconds since 1970 as a date and a time.
pub(crate) fn of_ms(ms: u64) -> String {
    rfc_3339(ms / 1000)
}

/// The time that a text names, in milliseconds since 1970: a date, a date and a time, or how long ago it was
/// (`30m`, `2h`, `7d`) before `now`.
pub(crate) fn parse(text: &str, now: u64) -> Option<u64> {
    ago(text).map(|ago| now.saturating_sub(ago)).or_else(|| date_and_time(text))
}

/// How long ago something was, as people say it.
pub(crate) fn ago_text(ago: Duration) -> String {
    let seconds = ago.as_secs();
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let unit = units.iter().find(|(size, _)| seconds >= *size);
    unit.map_or("just now".to_owned(), |(size, unit)| {
        format!("{} ago", screen::count(usize::try_from(seconds / size).unwrap_or(usize::MAX), unit))
    })
}

fn ago(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(seconds * 1000)
}

/// A time without an offset is in UTC, as the printed times are.
fn date_and_time(text: &str) -> Option<u64> {
    let in_utc = || text.parse::<DateTime>().and_then(|time| TimeZone::UTC.to_timestamp(time));
    let time = text.parse::<Timestamp>().or_else(|_| in_utc()).ok()?;
    time.as_millisecond().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates() {
        assert_eq!(rfc_3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc_3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc_3339(1_704_067_199), "2023-12-31T23:59:59Z");
        assert_eq!(rfc_3339(4_107_542_399), "2100-02-28T23:59:59Z");
    }

    #[test]
    fn durations_are_said_in_their_largest_unit() {
        let said = [0, 1, 59, 60, 3_600, 86_399, 172_800].map(|seconds| ago_text(Duration::from_secs(seconds)));
        let expected =
            ["just now", "1 second ago", "59 seconds ago", "1 minute ago", "1 hour ago", "23 hours ago", "2 days ago"];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_time_after_the_calendar_becomes_its_last_second() {
        assert!(rfc_3339(u64::MAX).starts_with("9999-12-30T"), "{}", rfc_3339(u64::MAX));
    }

    #[test]
    fn parsed_dates_equal_the_dates_that_were_formatted() {
        for seconds in [0, 951_782_400, 1_704_067_199, 4_107_542_399] {
            assert_eq!(parse(&rfc_3339(seconds), 0), Some(seconds * 1000));
        }
        assert_eq!(parse("2000-02-29", 0), Some(951_782_400_000));
        assert_eq!(parse("2000-02-29 01:30", 0), Some(951_787_800_000));
        assert_eq!(parse("2000-02-29T01:30:00+01:00", 0), Some(951_784_200_000));
        assert_eq!(parse("2h", 10_000_000), Some(2_800_000));
        for wrong in
            ["", "h", "yesterday", "2000-13-01", "1969-12-31", "2000-01-01T25:00", "-1h", "2000-+1-01", "2023-02-29"]
        {
            assert_eq!(parse(wrong, 0), None, "{wrong}");
        }
    }
}
