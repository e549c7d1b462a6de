//! What time it is.

use std::time::{SystemTime, UNIX_EPOCH};

/// Says what time it is, in milliseconds since 1970. Nothing depends on it: it is shown to people.
///
/// ```
/// use seamline::session::{Clock, SystemClock};
///
/// assert!(SystemClock.now() > 1_700_000_000_000);
/// ```
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The time.
    fn now(&self) -> u64;
}

/// The machine's clock.
///
/// ```
/// use seamline::session::{Clock, SystemClock};
///
/// assert!(SystemClock.now() > 1_700_000_000_000);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }
}

/// A time as people and models read it, such as `2026-11-15T06:20:11Z`.
pub(crate) fn written(ms: u64) -> String {
    let seconds = ms / 1000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date a number of days after 1970-01-01: years begin in March, so that the odd day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year + u64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_says() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_794_639_611_123, "2026-11-14T07:00:11Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ];
        for (ms, expected) in cases {
            assert_eq!(written(ms), expected, "{ms}");
        }
    }
}
