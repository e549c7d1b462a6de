//! Metrics of a proxy, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::incident::ProxyIncident;
use crate::report::{Gauges, Summary};

/// The content type of the text format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The upper bounds of the times in a histogram, in milliseconds. Models take from a blink to many minutes.
const BOUNDS_MS: [u64; 14] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000];

/// The counters of a proxy.
#[derive(Debug, Default)]
pub struct Metrics {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    exchanges: BTreeMap<String, Exchanges>,
    findings: BTreeMap<String, u64>,
    repairs: BTreeMap<String, u64>,
    late_results: u64,
    outcomes: BTreeMap<&'static str, u64>,
}

/// The exchanges with one upstream.
#[derive(Debug, Default)]
struct Exchanges {
    /// The number of exchanges, by dialect and class of the status.
    counts: BTreeMap<(&'static str, &'static str), u64>,
    times: Histogram,
    body_bytes: u64,
}

#[derive(Debug, Default)]
struct Histogram {
    /// The number of times within each bound, and above the last one.
    buckets: [u64; BOUNDS_MS.len() + 1],
    sum: Duration,
}

/// The state of the store of incidents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreGauges {
    /// The number of incidents that could not be stored.
    pub dropped: u64,
    /// Whether the store works.
    pub is_available: bool,
}

impl Metrics {
    /// Counts an exchange.
    pub fn count_exchange(&self, summary: &Summary) {
        let upstream = label_of_upstream(&summary.upstream);
        let labels = (summary.dialect.unwrap_or("none"), class_of(summary.status));
        let mut locked = self.lock();
        let counts = &mut *locked;
        // A name is copied only once.
        let exchanges = match counts.exchanges.get_mut(upstream) {
            Some(exchanges) => exchanges,
            None => counts.exchanges.entry(upstream.to_owned()).or_default(),
        };
        *exchanges.counts.entry(labels).or_default() += 1;
        exchanges.times.add(summary.time);
        exchanges.body_bytes += summary.body_bytes.unwrap_or(0);
        counts.late_results += summary.late_results;
    }

    /// Counts an incident with its findings and repairs.
    pub fn count_incident(&self, incident: &ProxyIncident) {
        let mut counts = self.lock();
        *counts.outcomes.entry(incident.outcome.as_str()).or_default() += 1;
        for (rule, count) in &incident.findings {
            *counts.findings.entry(rule.clone()).or_default() += count;
        }
        for (action, count) in &incident.actions {
            *counts.repairs.entry(action.clone()).or_default() += count;
        }
    }

    /// The metrics as Prometheus reads them.
    pub fn render(&self, gauges: &Gauges, store: Option<StoreGauges>) -> String {
        let counts = self.lock();
        let mut page = TextPage::default();
        counts.write(&mut page);
        drop(counts);
        write_gauges(&mut page, gauges);
        write_store(&mut page, store);
        page.begin("seamline_build_info", "gauge", "The version of the proxy.");
        page.sample("", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        page.text
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn write(&self, page: &mut TextPage) {
        page.begin("seamline_requests_total", "counter", "Requests by upstream, dialect and class of the status.");
        for (upstream, exchanges) in &self.exchanges {
            for ((dialect, status), count) in &exchanges.counts {
                page.sample("", &[("upstream", upstream), ("dialect", dialect), ("status", status)], count);
            }
        }
        page.begin(
            "seamline_request_duration_seconds",
            "histogram",
            "Time from a request to the head of its response.",
        );
        for (upstream, exchanges) in &self.exchanges {
            exchanges.times.write(page, upstream);
        }
        page.begin("seamline_request_body_bytes_total", "counter", "Bytes of request bodies that were read.");
        for (upstream, exchanges) in &self.exchanges {
            page.sample("", &[("upstream", upstream)], exchanges.body_bytes);
        }
        page.begin("seamline_findings_total", "counter", "Errors in request bodies, by the code of the rule.");
        for (rule, count) in &self.findings {
            page.sample("", &[("rule", rule)], count);
        }
        page.begin("seamline_repairs_total", "counter", "Repairs of request bodies, by rule and action.");
        for (repair, count) in &self.repairs {
            let (rule, action) = repair.split_once(' ').unwrap_or((repair, ""));
            page.sample("", &[("rule", rule), ("action", action)], count);
        }
        page.begin("seamline_late_results_total", "counter", "Results that took the place of synthetic ones.");
        page.sample("", &[], self.late_results);
        page.begin("seamline_incidents_total", "counter", "Incidents by the outcome of the request.");
        for (outcome, count) in &self.outcomes {
            page.sample("", &[("outcome", outcome)], count);
        }
        page.begin("seamline_stalls_total", "counter", "Responses that the proxy ended because nothing came.");
        page.sample("", &[], self.outcomes.get("stalled").unwrap_or(&0));
    }
}

fn write_gauges(page: &mut TextPage, gauges: &Gauges) {
    let values = [
        ("seamline_connections_open", "Open connections of clients.", gauges.connections),
        ("seamline_requests_open", "Requests whose response is not complete.", gauges.requests),
        ("seamline_streams_open", "Streamed responses and WebSockets.", gauges.streams),
        ("seamline_bodies_bytes", "Bytes that the bodies of open requests hold.", gauges.body_bytes),
        ("seamline_ledger_conversations", "Conversations that the ledger remembers.", gauges.conversations),
        ("seamline_ledger_bytes", "Bytes that these conversations hold.", gauges.conversation_bytes),
    ];
    for (name, help, value) in values {
        page.begin(name, "gauge", help);
        page.sample("", &[], value);
    }
}

fn write_store(page: &mut TextPage, store: Option<StoreGauges>) {
    let Some(store) = store else { return };
    page.begin("seamline_incidents_dropped_total", "counter", "Incidents that could not be stored.");
    page.sample("", &[], store.dropped);
    page.begin("seamline_incident_store_up", "gauge", "Whether the store of incidents works.");
    page.sample("", &[], u8::from(store.is_available));
}

impl Histogram {
    fn add(&mut self, time: Duration) {
        let is_within = |bound: &u64| time <= Duration::from_millis(*bound);
        let bucket = BOUNDS_MS.iter().position(is_within).unwrap_or(BOUNDS_MS.len());
        self.buckets[bucket] += 1;
        self.sum = self.sum.saturating_add(time);
    }

    fn write(&self, page: &mut TextPage, upstream: &str) {
        let mut count = 0;
        for (bucket, in_bucket) in self.buckets.iter().enumerate() {
            count += in_bucket;
            let bound = BOUNDS_MS.get(bucket).map_or("+Inf".to_owned(), |&ms| seconds(Duration::from_millis(ms)));
            page.sample("_bucket", &[("upstream", upstream), ("le", &bound)], count);
        }
        page.sample("_sum", &[("upstream", upstream)], seconds(self.sum));
        page.sample("_count", &[("upstream", upstream)], count);
    }
}

/// Text in the exposition format.
#[derive(Debug, Default)]
struct TextPage {
    text: String,
    name: &'static str,
}

impl TextPage {
    /// Begins a metric. Its samples follow.
    fn begin(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "{}{suffix}{labels} {value}", self.name);
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

fn seconds(time: Duration) -> String {
    format!("{}", time.as_secs_f64())
}

fn label_of_upstream(name: &str) -> &str {
    if name.is_empty() { "none" } else { name }
}

fn class_of(status: u16) -> &'static str {
    match status {
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        500..=599 => "5xx",
        _ => "none",
    }
}

#[cfg(test)]
mod tests;
