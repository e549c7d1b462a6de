//! The events that the proxy logs, all in one place. An event never has a header, a key or the text of a conversation.

use std::time::Duration;

use seamline::session::SessionError;
use tracing::{debug, info, warn};

use crate::incident::ProxyIncident;
use crate::report::Summary;
use crate::sign::Unsigned;

/// Warns of a request with an incident, under the id that the journal gave it.
pub(crate) fn warn_of_incident(incident: &ProxyIncident, id: Option<&str>) {
    warn!(
        outcome = incident.outcome.as_str(),
        upstream = incident.upstream,
        incident = id.unwrap_or("none"),
        findings = incident.findings.values().sum::<u64>(),
        cause = incident.cause.as_deref().unwrap_or_default(),
        "request incident"
    );
}

/// Logs an exchange under the names of the OpenTelemetry conventions for generative AI and HTTP, which collectors
/// understand.
pub(crate) fn record_exchange(summary: &Summary) {
    info!(
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = summary.upstream,
        seamline.dialect = summary.dialect.unwrap_or("none"),
        http.response.status_code = summary.status,
        http.request.body.size = summary.body_bytes.unwrap_or(0),
        duration_ms = summary.time.as_millis() as u64,
        seamline.findings = summary.findings,
        seamline.repairs = summary.repairs,
        "exchange"
    );
}

/// Warns of a response without progress. It is alive if the upstream sends signs of life.
pub(crate) fn warn_of_stall(idle: Duration, alive: bool) {
    warn!(idle_s = idle.as_secs(), alive, "a response makes no progress");
}

/// Warns of a request to AWS that goes without a signature.
pub(crate) fn warn_of_unsigned(error: &Unsigned) {
    warn!(%error, "a request to AWS could not be signed");
}

/// Warns of requests that the end of the proxy cuts.
pub(crate) fn warn_of_open_requests(count: usize) {
    warn!(requests = count, "requests were still open at the end of the drain time");
}

/// Warns of a connection that the system did not hand over.
pub(crate) fn warn_of_refused_connection(error: &std::io::Error) {
    warn!(%error, "a connection could not be accepted");
}

/// Warns of a store of the ledger that does not work.
pub(crate) fn warn_of_ledger(error: &SessionError) {
    warn!(error = error.message(), "the store of the ledger failed");
}

/// Logs that the queue of the ledger was full.
pub(crate) fn record_dropped_entry() {
    debug!("an entry of the ledger was not stored, because too many wait");
}

/// Logs that the queue of rejected bodies was full.
pub(crate) fn record_dropped_body() {
    debug!("a rejected body was not kept, because others are being written");
}
