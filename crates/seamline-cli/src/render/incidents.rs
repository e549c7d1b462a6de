//! The output of `seamline incidents`.

use std::collections::BTreeMap;

use seamline::store::{Incident, IncidentSeverity};
use seamline_proxy::incident::{BodyMark, ProxyIncident};
use seamline_proxy::journal::NotedIncident;
use serde::Serialize;

use super::style::{self, Paint};
use super::{json, session, table};
use crate::{screen, time};

/// One line per incident: time, id, upstream, outcome and what was found.
pub(crate) fn list(incidents: &[NotedIncident], width: usize) -> String {
    let rows: Vec<[String; 4]> = incidents.iter().map(row).collect();
    let mut out = String::new();
    for (row, noted) in rows.iter().zip(incidents) {
        let padded = [&row[0], &pad(&rows, 1, row), &pad(&rows, 2, row), &row[3]].map(|cell: &String| cell.clone());
        let paints = [style::FAINT, style::STRONG, paint(noted.incident.severity), style::PLAIN];
        out += &table::render(&[padded], paints, width);
    }
    out
}

fn row(noted: &NotedIncident) -> [String; 4] {
    let time = time::of_ms(noted.incident.at);
    let Some(exchange) = &noted.exchange else {
        let what = screen::printable(&noted.incident.detail).into_owned();
        return [time, noted.session.to_string(), session::word(&noted.incident.kind), what];
    };
    let what = format!("{}: {}", screen::printable(&exchange.upstream), summary(exchange));
    [time, exchange.id.clone(), exchange.outcome.as_str().to_owned(), what]
}

/// A cell that is as wide as the widest one of its column.
fn pad(rows: &[[String; 4]], column: usize, row: &[String; 4]) -> String {
    let widest = rows.iter().map(|row| screen::columns(&row[column])).max().unwrap_or(0);
    let missing = widest - screen::columns(&row[column]);
    format!("{}{}", row[column], " ".repeat(missing))
}

/// The findings and the cause, on one line.
fn summary(exchange: &ProxyIncident) -> String {
    let found = counted(&exchange.findings);
    let cause = exchange.cause.as_deref().map(|cause| screen::printable(cause).into_owned());
    let status = exchange.status.map(|status| format!("status {status}"));
    let parts: Vec<String> = [found, cause, status].into_iter().flatten().collect();
    if parts.is_empty() { exchange.outcome.sentence().to_owned() } else { parts.join("; ") }
}

/// `PAIR001 ×2, PAIR002`.
fn counted(counts: &BTreeMap<String, u64>) -> Option<String> {
    let one = |(what, count): (&String, &u64)| match count {
        1 => screen::printable(what).into_owned(),
        count => format!("{} ×{count}", screen::printable(what)),
    };
    let parts: Vec<String> = counts.iter().map(one).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Everything about an incident, one fact per line.
pub(crate) fn details(noted: &NotedIncident, width: usize) -> String {
    let mut rows: Vec<[String; 2]> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        rows.extend(value.map(|value| [name.to_owned(), screen::printable(&value).into_owned()]));
    };
    add("time", Some(time::of_ms(noted.incident.at)));
    add("severity", Some(session::word(&noted.incident.severity)));
    let Some(exchange) = &noted.exchange else {
        add("session", Some(noted.session.to_string()));
        add("type", Some(session::word(&noted.incident.kind)));
        add("detail", Some(noted.incident.detail.clone()));
        return table::render(&rows, [style::FAINT, style::PLAIN], width);
    };
    add("incident", Some(exchange.id.clone()));
    add("outcome", Some(format!("{}: {}", exchange.outcome.as_str(), exchange.outcome.sentence())));
    add("cause", exchange.cause.clone());
    add("upstream", Some(exchange.upstream.clone()));
    add("provider", exchange.provider.clone());
    add("dialect", exchange.dialect.clone());
    add("status", exchange.status.map(|status| status.to_string()));
    add("found", counted(&exchange.findings));
    add("repaired", counted(&exchange.actions));
    add("received", exchange.before.as_ref().map(body));
    add("sent", exchange.after.as_ref().map(body));
    add("conversation", exchange.conversation.clone());
    let first = exchange.findings.keys().next();
    add("more", first.map(|code| format!("`seamline explain {code}` explains the rule")));
    table::render(&rows, [style::FAINT, style::PLAIN], width)
}

fn body(mark: &BodyMark) -> String {
    format!("{}, hash {}", screen::bytes(mark.bytes), mark.hash)
}

fn paint(severity: IncidentSeverity) -> Paint {
    match severity {
        IncidentSeverity::Info => style::INFO,
        IncidentSeverity::Warning => style::WARNING,
        IncidentSeverity::Error | IncidentSeverity::Critical => style::ERROR,
    }
}

/// An incident for programs.
#[derive(Serialize)]
struct Told<'a> {
    session: &'a str,
    #[serde(flatten)]
    incident: &'a Incident,
}

fn told(noted: &NotedIncident) -> Told<'_> {
    Told { session: noted.session.as_str(), incident: &noted.incident }
}

/// Incidents as one object.
pub(crate) fn json(incidents: &[NotedIncident]) -> String {
    let list: Vec<Told<'_>> = incidents.iter().map(told).collect();
    format!("{{\"version\":1,\"incidents\":{}}}\n", json::text(&list))
}

/// One incident as one line.
pub(crate) fn json_line(noted: &NotedIncident) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        version: u8,
        #[serde(flatten)]
        told: Told<'a>,
    }
    format!("{}\n", json::text(&Line { version: 1, told: told(noted) }))
}
