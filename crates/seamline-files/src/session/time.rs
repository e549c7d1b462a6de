//! Times in the records of programs.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A time in milliseconds since 1970, as in `2026-01-02T03:04:05.006Z`.
pub fn text(ms: i64) -> String {
    let limit = if ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
    format!("{:.3}", Timestamp::from_millisecond(ms).unwrap_or(limit))
}

/// The milliseconds since 1970 of a time in the records of a program: a date with a time, or a number of seconds or
/// milliseconds. A time without an offset is in UTC.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        // Until the year 5138 a number of seconds has no more than 11 digits.
        let ms = if number.abs() < 1e11 { number * 1000.0 } else { number };
        return (ms.abs() < 1e16).then_some(ms as i64);
    }
    let has_clock = text.contains(['T', 't', ' ']);
    let in_utc = || text.parse::<DateTime>().and_then(|civil| civil.to_zoned(TimeZone::UTC)).map(|it| it.timestamp());
    let time = text.parse::<Timestamp>().or_else(|_| in_utc()).ok().filter(|_| has_clock)?;
    Some(time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        for (ms, written) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_758_272_532_457, "2025-09-19T09:02:12.457Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] {
            assert_eq!((text(ms).as_str(), parse(written)), (written, Some(ms)));
        }
    }

    #[test]
    fn times_have_many_forms() {
        let ms = Some(1_758_272_532_000);
        for written in [
            "2025-09-19T09:02:12Z",
            "2025-09-19 09:02:12",
            "2025-09-19T11:02:12.000000+02:00",
            "2025-09-19T04:02:12-0500",
            "1758272532",
            "1758272532000",
        ] {
            assert_eq!(parse(written), ms, "{written}");
        }
        for other in ["", "t0", "yesterday", "2025-13-01T00:00:00Z", "2025-09-19T25:00:00Z", "2025-09-19", "1e300"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
