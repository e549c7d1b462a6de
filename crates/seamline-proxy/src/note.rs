//! Notes about one request for the client and the reporter.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use crate::call::ModelCall;
use crate::decide::Decision;
use crate::facts::Facts;
use crate::headers::{FINDINGS, INCIDENT, REPAIRS};
use crate::incident::{BodyMark, IncidentOutcome, ProxyIncident};
use crate::inspect::Inspected;
use crate::report::{Reporter, ResponseFacts, Summary};
use crate::rescue::Refusal;

/// The name of the edit that tells the model to stop its wrong calls.
const ESCALATED: &str = "breaker escalate";

/// The longest list of findings or repairs in a header.
const LIST_BYTES_MAX: usize = 1024;

/// The longest path in a summary.
const PATH_BYTES_MAX: usize = 256;

/// The notes about one request.
pub(crate) struct Note {
    pub(crate) facts: Facts,
    pub(crate) body_bytes: Option<u64>,
    /// The request to a model, until its response takes it.
    pub(crate) call: Option<ModelCall>,
    /// The path at the upstream, without its query.
    path: String,
    /// Whether the request is for a page of the proxy itself.
    pub(crate) is_own: bool,
    findings: BTreeMap<String, u64>,
    actions: BTreeMap<String, u64>,
    late_results: u64,
    /// The id of the last incident.
    incident: Option<String>,
}

impl Note {
    pub(crate) fn new(reporter: &Arc<dyn Reporter>) -> Self {
        Self::of(Facts::new(reporter))
    }

    /// Starts the notes about a request with known facts.
    pub(crate) fn of(facts: Facts) -> Self {
        Self {
            facts,
            body_bytes: None,
            call: None,
            path: String::new(),
            is_own: false,
            findings: BTreeMap::new(),
            actions: BTreeMap::new(),
            late_results: 0,
            incident: None,
        }
    }

    /// Records what was found and decided, before anything is sent.
    pub(crate) fn record(&mut self, inspected: Option<&Inspected>, decision: &Decision, body: &[u8]) {
        if let Some(inspected) = inspected {
            self.facts.provider = inspected.provider;
            self.late_results = inspected.late_results;
            self.findings.clone_from(&inspected.errors);
            self.actions = if decision.body.is_some() { inspected.actions.clone() } else { BTreeMap::new() };
        }
        let escalated = (decision.escalations > 0).then(|| (ESCALATED.to_owned(), decision.escalations));
        self.actions.extend(escalated.clone());
        for (outcome, cause) in &decision.outcomes {
            let is_undone = *outcome == IncidentOutcome::Unsigned;
            let inspected = inspected.filter(|_| !is_undone);
            let mut actions = inspected.map(|inspected| inspected.actions.clone()).unwrap_or_default();
            actions.extend(escalated.clone());
            let incident = ProxyIncident {
                findings: self.findings.clone(),
                actions,
                before: Some(BodyMark::of(body)),
                after: decision.body.as_deref().map(BodyMark::of),
                cause: cause.clone(),
                ..self.facts.incident(*outcome)
            };
            self.incident = self.facts.reporter.record_incident(incident).or(self.incident.take());
        }
    }

    /// Records a stronger repair that the provider accepted.
    pub(crate) fn record_harder(&mut self, inspected: &Inspected, sent: &[u8], status: u16) {
        for (code, count) in &inspected.errors {
            *self.findings.entry(code.clone()).or_default() += count;
        }
        for (action, count) in &inspected.actions {
            *self.actions.entry(action.clone()).or_default() += count;
        }
        let incident = ProxyIncident {
            findings: inspected.errors.clone(),
            actions: inspected.actions.clone(),
            before: Some(BodyMark::of(sent)),
            after: inspected.repaired.as_deref().map(BodyMark::of),
            status: Some(status),
            ..self.facts.incident(IncidentOutcome::RepairedHarder)
        };
        self.incident = self.facts.reporter.record_incident(incident).or(self.incident.take());
    }

    /// Records an outcome with a cause.
    pub(crate) fn report(&mut self, outcome: IncidentOutcome, cause: &str, status: Option<u16>) {
        let incident = ProxyIncident { cause: Some(cause.to_owned()), status, ..self.facts.incident(outcome) };
        self.incident = self.facts.reporter.record_incident(incident).or(self.incident.take());
    }

    /// Records that the provider rejected a body for good.
    pub(crate) fn report_rejected(&mut self, cause: &str, status: u16, body: &Bytes) {
        self.report(IncidentOutcome::Rejected, cause, Some(status));
        self.facts.reporter.keep_rejected(self.incident.as_deref(), body);
    }

    /// Records that the provider rejected a body, and that the policy does not repair it then.
    pub(crate) fn report_left(&mut self, name: &str, status: u16, body: &Bytes) {
        self.report_rejected(&format!("{name}; the policy does not repair then (`on_corruption`)"), status, body);
    }

    /// Notes the path of the request.
    pub(crate) fn set_path(&mut self, path: &str) {
        path[..path.floor_char_boundary(PATH_BYTES_MAX)].clone_into(&mut self.path);
    }

    /// Records a refusal that no other step recorded.
    pub(crate) fn report_refusal(&mut self, refusal: &Refusal) {
        if let Some(outcome) = refusal.outcome() {
            self.report(outcome, &refusal.cause(), None);
        }
    }

    /// Reports the end of a request to a model whose response is not watched.
    pub(crate) fn finish_call(&mut self, status: u16) {
        if let Some(mut call) = self.call.take() {
            call.set_status(status);
            call.finish(ResponseFacts::default(), None);
        }
    }

    /// Adds the headers of the proxy to a response.
    pub(crate) fn write_headers(&self, headers: &mut HeaderMap) {
        insert_list(headers, FINDINGS, &self.findings);
        insert_list(headers, REPAIRS, &self.actions);
        if let Some(id) = self.incident.as_ref().and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(INCIDENT, id);
        }
    }

    /// The summary of the exchange.
    pub(crate) fn summary(&self, status: u16, time: Duration) -> Summary {
        Summary {
            upstream: self.facts.upstream_name().to_owned(),
            dialect: self.facts.dialect,
            path: self.path.clone(),
            status,
            rules: self.findings.keys().cloned().collect(),
            incident: self.incident.clone(),
            findings: self.findings.values().sum(),
            repairs: self.actions.values().sum(),
            late_results: self.late_results,
            body_bytes: self.body_bytes,
            time,
        }
    }
}

/// Adds a list such as `PAIR001=2, PAIR002=1`.
fn insert_list(headers: &mut HeaderMap, name: HeaderName, counts: &BTreeMap<String, u64>) {
    if counts.is_empty() {
        return;
    }
    let mut list = String::new();
    for (what, count) in counts {
        if list.len() > LIST_BYTES_MAX {
            break;
        }
        let comma = if list.is_empty() { "" } else { ", " };
        let _ = write!(list, "{comma}{what}={count}");
    }
    if let Ok(value) = HeaderValue::from_str(&list) {
        headers.insert(name, value);
    }
}
