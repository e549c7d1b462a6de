//! Times as people write them.

/// Seconds since 1970 as a date and a time, after Howard Hinnant's `civil_from_days`.
pub(crate) fn rfc_3339(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
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

fn date_and_time(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00Z"));
    let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let parts: Vec<u64> = date.split('-').map(number).collect::<Option<_>>()?;
    let &[year @ 1970..=9999, month @ 1..=12, day @ 1..=31] = parts.as_slice() else { return None };
    let mut clock = time.strip_suffix('Z').unwrap_or(time).split(':').map(number);
    let mut next = |max: u64| clock.next().unwrap_or(Some(0)).filter(|part| *part <= max);
    let (hour, minute, second) = (next(23)?, next(59)?, next(59)?);
    // Years begin in March, so that the odd day comes last.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1;
    Some((days.checked_sub(719_468)? * 86_400 + hour * 3_600 + minute * 60 + second) * 1000)
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
    fn dates_become_what_they_were_made_of() {
        for seconds in [0, 951_782_400, 1_704_067_199, 4_107_542_399] {
            assert_eq!(parse(&rfc_3339(seconds), 0), Some(seconds * 1000));
        }
        assert_eq!(parse("2000-02-29", 0), Some(951_782_400_000));
        assert_eq!(parse("2000-02-29 01:30", 0), Some(951_787_800_000));
        assert_eq!(parse("2h", 10_000_000), Some(2_800_000));
        for wrong in ["", "h", "yesterday", "2000-13-01", "1969-12-31", "2000-01-01T25:00", "-1h", "2000-+1-01"] {
            assert_eq!(parse(wrong, 0), None, "{wrong}");
        }
    }
}
