//! Where the proxy reports what happened.

use std::time::{Duration, SystemTime};

use bytes::Bytes;

/// The facts about a response.
pub use seamline::responses::ResponseFacts;

use crate::incident::ProxyIncident;

/// Takes the reports of a proxy. Its methods are called on the path of a request, so they must not wait.
pub trait Reporter: Send + Sync {
    /// Takes an incident. Returns the id under which it can be looked up, if it is recorded.
    fn record_incident(&self, incident: ProxyIncident) -> Option<String>;

    /// Takes the summary of an exchange when its response head is sent.
    fn record_exchange(&self, summary: &Summary);

    /// Takes the body of a request that its provider rejected for good, with the id of its incident.
    fn keep_rejected(&self, incident: Option<&str>, body: &Bytes) {
        let _ = (incident, body);
    }

    /// Whether the ends of requests to models are of interest. To know them costs a look at every response.
    fn wants_finished(&self) -> bool {
        false
    }

    /// Takes the end of a request to a model.
    fn finish(&self, finished: &Finished) {
        let _ = finished;
    }

    /// The page `/-/NAME` of the proxy, such as `metrics`; `None` where there is no such page. The proxy itself has
    /// `healthz` and `readyz`.
    fn page(&self, name: &str, gauges: &Gauges) -> Option<Page> {
        let _ = (name, gauges);
        None
    }
}

/// The summary of one exchange, without any of its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The name of the upstream; empty where there is none.
    pub upstream: String,
    /// The dialect of the body, if the proxy read it.
    pub dialect: Option<&'static str>,
    /// The path of the request without its query; at most 256 bytes of it.
    pub path: String,
    /// The status that the client gets.
    pub status: u16,
    /// The rules whose errors were found in the body, by their codes.
    pub rules: Vec<String>,
    /// The id of the last incident of the request, if one was recorded.
    pub incident: Option<String>,
    /// The number of errors that were found in the body.
    pub findings: u64,
    /// The number of repairs of the body.
    pub repairs: u64,
    /// The number of tool calls that have a result now and were sent with a synthetic one before.
    pub late_results: u64,
    /// The size of the request's body, in bytes, if the proxy read it.
    pub body_bytes: Option<u64>,
    /// The time from the request's head to the response's head.
    pub time: Duration,
}

/// A request to a model whose response has ended, without any of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The name of the upstream.
    pub upstream: String,
    /// The provider of the upstream, if it is known.
    pub provider: Option<String>,
    /// The dialect of the body.
    pub dialect: &'static str,
    /// The model that the request names.
    pub request_model: Option<String>,
    /// The facts about the response, as far as it arrived.
    pub response: ResponseFacts,
    /// The status of the response, if there is one.
    pub status: Option<u16>,
    /// The type of the error: a status, or `broken`, `cancelled`, `failed`, `stalled` or `truncated`.
    pub error: Option<String>,
    /// The time when the request was read.
    pub began: SystemTime,
    /// The time when the response ended.
    pub ended: SystemTime,
}

/// Counts of the open connections and stored items of a proxy at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauges {
    /// The number of connections of clients.
    pub connections: usize,
    /// The number of requests whose response is not complete.
    pub requests: usize,
    /// The number of streamed responses and `WebSocket` connections.
    pub streams: usize,
    /// The number of conversations that the ledger remembers.
    pub conversations: usize,
    /// The number of bytes that these conversations hold.
    pub conversation_bytes: usize,
    /// The number of bytes that the bodies of open requests hold.
    pub body_bytes: usize,
}

/// A page of the proxy itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The status of the response.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body of the response.
    pub body: String,
}

/// Drops every report.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoReport;

impl Reporter for NoReport {
    fn record_incident(&self, _: ProxyIncident) -> Option<String> {
        None
    }

    fn record_exchange(&self, _: &Summary) {}
}
