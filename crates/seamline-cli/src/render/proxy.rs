//! The lines of `seamline proxy`.

use std::fmt::Write as _;
use std::time::Duration;

use seamline_proxy::journal::JournalNotice;
use seamline_proxy::report::Summary;

use super::style::{self, Paint};
use crate::screen;
use crate::time;

/// The columns of the path in a line.
const PATH_COLUMNS: usize = 48;

/// The line about one exchange, such as
/// `14:02:11 anthropic /v1/messages 200 1.2s 84.0 kB  2 findings, 2 repairs (PAIR001, PAIR002)`.
pub(crate) fn line(summary: &Summary, now_ms: u64) -> String {
    let upstream = if summary.upstream.is_empty() { "-" } else { &summary.upstream };
    let path = screen::printable(&summary.path);
    let size = summary.body_bytes.map(|bytes| format!(" {}", screen::bytes(bytes))).unwrap_or_default();
    let mut line = format!(
        "{} {} {} {} {}{size}",
        style::FAINT.paint(&clock(now_ms)),
        screen::printable(upstream),
        screen::cut(&path, PATH_COLUMNS),
        status_paint(summary.status).paint(&summary.status.to_string()),
        taken(summary.time),
    );
    if summary.findings > 0 || summary.repairs > 0 {
        let count = |count: u64, what: &str| screen::count(usize::try_from(count).unwrap_or(usize::MAX), what);
        let _ = write!(line, "  {}, {}", count(summary.findings, "finding"), count(summary.repairs, "repair"));
        if !summary.rules.is_empty() {
            let _ = write!(line, " ({})", style::CODE.paint(&summary.rules.join(", ")));
        }
    }
    if let Some(id) = &summary.incident {
        line += &style::FAINT.paint(&format!("  {id}"));
    }
    line + "\n"
}

/// The line about a change of the store.
pub(crate) fn notice(notice: &JournalNotice) -> String {
    match notice {
        JournalNotice::Unavailable(why) => format!(
            "seamline: incidents are not stored: {}; the proxy works without the store and tries again\n",
            screen::printable(why)
        ),
        JournalNotice::Available => "seamline: incidents are stored again\n".to_owned(),
    }
}

fn status_paint(status: u16) -> Paint {
    match status {
        100..=399 => style::ADDED,
        400..=499 => style::WARNING,
        _ => style::ERROR,
    }
}

/// The time of the day, in UTC.
fn clock(now_ms: u64) -> String {
    let text = time::of_ms(now_ms);
    text.split('T').nth(1).unwrap_or(&text).trim_end_matches('Z').to_owned()
}

fn taken(time: Duration) -> String {
    match time.as_millis() {
        ms @ 0..1_000 => format!("{ms}ms"),
        ms => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(summary: &Summary) -> String {
        anstream::adapter::strip_str(&line(summary, 1_794_639_731_000)).to_string()
    }

    #[test]
    fn an_exchange_is_one_line() {
        let mut summary = Summary {
            upstream: "anthropic".to_owned(),
            path: "/v1/messages".to_owned(),
            status: 200,
            time: Duration::from_millis(1_234),
            body_bytes: Some(84_000),
            ..Summary::default()
        };
        assert_eq!(plain(&summary), "07:02:11 anthropic /v1/messages 200 1.2s 84.0 kB\n");
        summary.findings = 2;
        summary.repairs = 1;
        summary.rules = vec!["PAIR001".to_owned(), "PAIR002".to_owned()];
        summary.incident = Some("mhz3k1q8x7k2-1".to_owned());
        let expected = "07:02:11 anthropic /v1/messages 200 1.2s 84.0 kB  2 findings, 1 repair (PAIR001, PAIR002)  mhz3k1q8x7k2-1\n";
        assert_eq!(plain(&summary), expected);
    }

    #[test]
    fn a_hostile_path_does_not_control_the_terminal() {
        let summary = Summary { path: format!("/\u{1b}[2J{}", "x".repeat(500)), status: 404, ..Summary::default() };
        let line = plain(&summary);
        assert!(line.len() < 120 && line.starts_with("07:02:11 - /␛[2Jxx"), "{line}");
    }
}
