//! Reads incidents from a store.

use std::collections::BTreeMap;
use std::sync::Arc;

use seamline::store::{Error, Incident, OpenedCommit, Record, SessionId, Store, StoredCommit, cause};

use super::queue::series_of;
use super::writer::{all_sessions, session_name, sessions_named, sessions_of_proxies};
use crate::incident::ProxyIncident;

/// The start of the names of the sessions with ledgers of proxies.
pub(crate) const LEDGER_PREFIX: &str = "ledger-";

/// The bytes that are read at a time, about.
const PAGE_BYTES: usize = 4 << 20;

/// The sessions whose incidents are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// The sessions that proxies write.
    OfProxies,
    /// The sessions in which proxies keep their ledgers.
    OfLedgers,
    /// All sessions of the store but those of ledgers.
    All,
}

/// An incident with the session that has it.
#[derive(Debug, Clone, PartialEq)]
pub struct NotedIncident {
    /// The session in whose log it is.
    pub session: SessionId,
    /// The incident as it is stored.
    pub incident: Incident,
    /// The facts about the request, where a proxy recorded it.
    pub exchange: Option<ProxyIncident>,
}

/// Reads the incidents of a store, and later the new ones. It never writes.
#[derive(Debug)]
pub struct IncidentReader {
    store: Arc<dyn Store>,
    sessions: Sessions,
    /// The last record of each session that was read.
    read: BTreeMap<SessionId, u64>,
}

impl IncidentReader {
    /// A reader that starts with the first incident.
    pub fn new(store: Arc<dyn Store>, sessions: Sessions) -> Self {
        Self { store, sessions, read: BTreeMap::new() }
    }

    /// Reads the incidents that were written since the last call, in the order of their times. Damaged commits are left
    /// out.
    ///
    /// # Errors
    /// Fails when the store cannot be read.
    pub async fn read_new(&mut self) -> Result<Vec<NotedIncident>, Error> {
        let sessions = match self.sessions {
            Sessions::OfProxies => sessions_of_proxies(self.store.as_ref()).await?,
            Sessions::OfLedgers => sessions_named(self.store.as_ref(), LEDGER_PREFIX).await?,
            Sessions::All => {
                let mut sessions = all_sessions(self.store.as_ref()).await?;
                sessions.retain(|info| !info.session.as_str().starts_with(LEDGER_PREFIX));
                sessions
            }
        };
        let mut incidents = Vec::new();
        for info in sessions {
            let after = self.read.get(&info.session).copied().unwrap_or(0);
            if info.head.seq > after {
                let last = match self.read_session(&info.session, after, &mut incidents).await {
                    // Another process removed it.
                    Err(Error::NotFound(_) | Error::Erased(_)) => continue,
                    read => read?,
                };
                self.read.insert(info.session, last);
            }
        }
        incidents.sort_by_key(|noted| noted.incident.at);
        Ok(incidents)
    }

    /// Looks an incident of a proxy up by its id.
    ///
    /// # Errors
    /// Fails when the store cannot be read.
    pub async fn find(&self, id: &str) -> Result<Option<NotedIncident>, Error> {
        let Ok(session) = session_name(series_of(id)) else { return Ok(None) };
        let mut incidents = Vec::new();
        match self.read_session(&session, 0, &mut incidents).await {
            Err(Error::NotFound(_) | Error::Erased(_)) => return Ok(None),
            read => read?,
        };
        let is_wanted = |noted: &NotedIncident| noted.exchange.as_ref().is_some_and(|exchange| exchange.id == id);
        Ok(incidents.into_iter().find(is_wanted))
    }

    /// Reads the incidents of a session after a record. Returns the last record that was read.
    async fn read_session(
        &self,
        session: &SessionId,
        mut after: u64,
        incidents: &mut Vec<NotedIncident>,
    ) -> Result<u64, Error> {
        loop {
            let page = self.store.read(session, after, PAGE_BYTES).await?;
            let Some(last) = page.last() else { return Ok(after) };
            let end = self.opened(last).map_or(last.seq, |commit| commit.last_seq());
            // A damaged store must not cause an endless loop.
            if end <= after {
                return Err(Error::Damaged(cause::Damaged::Disorder));
            }
            after = end;
            let records = page.iter().filter_map(|commit| self.opened(commit)).flat_map(|commit| commit.records);
            incidents.extend(records.filter_map(Record::into_incident).map(|incident| {
                let exchange = ProxyIncident::of_record(&incident);
                NotedIncident { session: session.clone(), incident, exchange }
            }));
        }
    }

    fn opened(&self, stored: &StoredCommit) -> Option<OpenedCommit> {
        OpenedCommit::open_with(&stored.bytes, self.store.seal_key()).ok()
    }
}
