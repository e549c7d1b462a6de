//! Brings the reports of a proxy to where people and programs see them: metrics, journal, logs and kept bodies.

use std::time::Duration;

use bytes::Bytes;

use crate::incident::ProxyIncident;
use crate::journal::IncidentJournal;
use crate::keep::RejectedBodies;
use crate::log;
use crate::metrics::{CONTENT_TYPE, Metrics, StoreGauges};
use crate::report::{Finished, Gauges, Page, Reporter, Summary};

/// Hears of every exchange, for example to print a line about it. It must not wait.
pub type OnExchange = Box<dyn Fn(&Summary) + Send + Sync>;

/// Hears of the end of every request to a model. It must not wait.
pub type OnFinished = Box<dyn Fn(&Finished) + Send + Sync>;

/// Takes the reports of a proxy, counts them, logs them and stores them.
#[derive(Default)]
pub struct Telemetry {
    metrics: Metrics,
    journal: Option<IncidentJournal>,
    rejected: Option<RejectedBodies>,
    on_exchange: Option<OnExchange>,
    on_finished: Option<OnFinished>,
}

impl Telemetry {
    /// Telemetry with metrics and logs only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores incidents in a journal.
    #[must_use]
    pub fn with_journal(self, journal: IncidentJournal) -> Self {
        Self { journal: Some(journal), ..self }
    }

    /// Keeps rejected bodies, redacted.
    #[must_use]
    pub fn with_rejected(self, rejected: RejectedBodies) -> Self {
        Self { rejected: Some(rejected), ..self }
    }

    /// Passes every exchange on.
    #[must_use]
    pub fn with_exchanges(self, on_exchange: OnExchange) -> Self {
        Self { on_exchange: Some(on_exchange), ..self }
    }

    /// Passes the end of every request to a model on.
    #[must_use]
    pub fn with_finished(self, on_finished: OnFinished) -> Self {
        Self { on_finished: Some(on_finished), ..self }
    }

    /// Writes what waits to be written. A store that does not answer in this time is left alone.
    pub fn close(&self, patience: Duration) {
        if let Some(rejected) = &self.rejected {
            rejected.close();
        }
        if let Some(journal) = &self.journal {
            journal.close(patience);
        }
    }
}

impl Reporter for Telemetry {
    fn record_incident(&self, incident: ProxyIncident) -> Option<String> {
        self.metrics.count_incident(&incident);
        let id = self.journal.as_ref().and_then(|journal| journal.record(incident.clone()));
        log::warn_of_incident(&incident, id.as_deref());
        id
    }

    fn record_exchange(&self, summary: &Summary) {
        self.metrics.count_exchange(summary);
        log::record_exchange(summary);
        if let Some(on_exchange) = &self.on_exchange {
            on_exchange(summary);
        }
    }

    fn keep_rejected(&self, incident: Option<&str>, body: &Bytes) {
        if let (Some(rejected), Some(incident)) = (&self.rejected, incident) {
            rejected.take(incident, body);
        }
    }

    fn wants_finished(&self) -> bool {
        self.on_finished.is_some()
    }

    fn finish(&self, finished: &Finished) {
        if let Some(on_finished) = &self.on_finished {
            on_finished(finished);
        }
    }

    fn page(&self, name: &str, gauges: &Gauges) -> Option<Page> {
        let store = |journal: &IncidentJournal| StoreGauges {
            dropped: journal.dropped(),
            is_available: journal.is_available(),
        };
        (name == "metrics").then(|| Page {
            status: 200,
            content_type: CONTENT_TYPE,
            body: self.metrics.render(gauges, self.journal.as_ref().map(store)),
        })
    }
}

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telemetry").field("journal", &self.journal).finish_non_exhaustive()
    }
}
