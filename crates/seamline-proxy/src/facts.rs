//! Facts about a request for the incident that names it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::identity::ConversationKey;
use crate::incident::{IncidentOutcome, ProxyIncident};
use crate::report::Reporter;
use crate::upstreams::Upstream;

/// The facts about one request that incidents repeat.
#[derive(Clone)]
pub(crate) struct Facts {
    pub(crate) reporter: Arc<dyn Reporter>,
    pub(crate) upstream: Option<Arc<Upstream>>,
    pub(crate) dialect: Option<&'static str>,
    pub(crate) provider: Option<&'static str>,
    pub(crate) conversation: Option<ConversationKey>,
}

impl Facts {
    /// The facts about a request before it is routed.
    pub(crate) fn new(reporter: &Arc<dyn Reporter>) -> Self {
        let reporter = Arc::clone(reporter);
        Self { reporter, upstream: None, dialect: None, provider: None, conversation: None }
    }

    /// The name of the upstream; empty where there is none.
    pub(crate) fn upstream_name(&self) -> &str {
        self.upstream.as_ref().map_or("", |upstream| &upstream.name)
    }

    /// An incident with the known facts of the request.
    pub(crate) fn incident(&self, outcome: IncidentOutcome) -> ProxyIncident {
        ProxyIncident {
            at: now(),
            outcome,
            upstream: self.upstream_name().to_owned(),
            provider: self.provider.map(str::to_owned),
            dialect: self.dialect.map(str::to_owned),
            conversation: self.conversation.map(|key| key.to_string()),
            ..ProxyIncident::default()
        }
    }

    /// Reports an incident with a cause.
    pub(crate) fn report(&self, outcome: IncidentOutcome, cause: &str) -> Option<String> {
        self.reporter.record_incident(ProxyIncident { cause: Some(cause.to_owned()), ..self.incident(outcome) })
    }
}

/// The time in milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
