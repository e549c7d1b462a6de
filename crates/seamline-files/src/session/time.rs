//! Times in the records of programs.

const DAY_MS: i64 = 86_400_000;

/// A time in milliseconds since 1970, as in `2026-01-02T03:04:05.006Z`.
pub fn text(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let (year, month, day) = date(days);
    let (seconds, ms) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The milliseconds since 1970 of a time in the records of a program: a date with a time, or a number of seconds or
/// milliseconds.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        // Until the year 5138 a number of seconds has no more than 11 digits.
        let ms = if number.abs() < 1e11 { number * 1000.0 } else { number };
        return (ms.abs() < 1e16).then_some(ms as i64);
    }
    let (date, clock) = text.split_once(['T', ' '])?;
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_date = (0..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let (clock, offset_ms) = offset(clock)?;
    let mut parts = clock.split(':');
    let (hour, minute) = (parts.next()?.parse::<i64>().ok()?, parts.next()?.parse::<i64>().ok()?);
    let second = parts.next().map_or(Ok(0.0), str::parse::<f64>).ok()?;
    let is_clock = (0..=24).contains(&hour) && (0..60).contains(&minute) && (0.0..62.0).contains(&second);
    let clock_ms = (hour * 3600 + minute * 60) * 1000 + (second * 1000.0).round() as i64;
    (is_date && is_clock).then(|| days(year, month, day) * DAY_MS + clock_ms - offset_ms)
}

/// The clock without its offset from UTC, and the offset.
fn offset(clock: &str) -> Option<(&str, i64)> {
    let clock = clock.trim_end_matches(['Z', 'z']);
    let Some(at) = clock.rfind(['+', '-']) else { return Some((clock, 0)) };
    let digits: String = clock[at + 1..].chars().filter(|char| *char != ':').collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes: i64 = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
    let ms = (hours.parse::<i64>().ok()? * 60 + minutes) * 60_000;
    Some((&clock[..at], if clock[at..].starts_with('-') { -ms } else { ms }))
}

/// The date of a day since 1970. The years of this count begin in March, so that a leap day is the last day of its year.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The day since 1970 of a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let month = if month > 2 { month - 3 } else { month + 9 };
    era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
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
