//! The thread that writes incidents to the store.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_executor::block_on;
use seamline::session::{OpenOptions, Session, SessionError, SessionOptions};
use seamline::store::{self, SessionId, SessionInfo, Store};

use super::queue::{Queue, SESSION_INCIDENTS_MAX, SESSION_PREFIX, now_ms, series_of, time_of_series};
use super::{JournalNotice, JournalSettings};
use crate::incident::ProxyIncident;

/// The most incidents of one commit.
const BATCH_MAX: usize = 100;
/// The pause after the first failure; it doubles until the longest one.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_mins(1);
/// The number of sessions that are listed at a time.
const PAGE_SESSIONS: usize = 500;

/// Hears about the state of the store.
type Notify = Box<dyn Fn(JournalNotice) + Send>;

/// Writes the incidents of a queue.
pub(super) struct Writer {
    settings: JournalSettings,
    queue: Arc<Queue>,
    notify: Notify,
    store: Option<Arc<dyn Store>>,
    session: Option<Session>,
}

impl Writer {
    pub(super) fn new(settings: JournalSettings, queue: Arc<Queue>, notify: Notify) -> Self {
        Self { settings, queue, notify, store: None, session: None }
    }

    /// Writes until the queue is closed and empty.
    pub(super) fn run(mut self) {
        // A broken store is reported at the start, not with the first incident.
        if let Err(error) = block_on(self.open_store()) {
            self.report_failure(&error);
        }
        loop {
            let batch = self.queue.take(BATCH_MAX);
            if batch.is_empty() {
                break;
            }
            self.write_all(&batch);
        }
        if let Some(session) = self.session.take() {
            // The lease ends with the process at the latest.
            let _ = block_on(session.close());
        }
    }

    /// Writes incidents of one session. Tries again until it succeeds or the queue is closed.
    fn write_all(&mut self, batch: &[ProxyIncident]) {
        let mut pause = PAUSE_MIN;
        loop {
            let written = block_on(self.write(batch));
            match written {
                Ok(()) => {
                    if self.queue.set_available(true) {
                        (self.notify)(JournalNotice::Available);
                    }
                    return;
                }
                Err(error) => {
                    self.session = None;
                    self.store = None;
                    self.report_failure(&error);
                    if !self.queue.wait_to_retry(pause) {
                        return self.queue.count_dropped(batch.len() as u64);
                    }
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    fn report_failure(&self, error: &SessionError) {
        if self.queue.set_available(false) {
            (self.notify)(JournalNotice::Unavailable(error.message()));
        }
    }

    async fn write(&mut self, batch: &[ProxyIncident]) -> Result<(), SessionError> {
        let Some(first) = batch.first() else { return Ok(()) };
        let name = session_name(series_of(&first.id))?;
        if self.session.as_ref().is_none_or(|session| *session.id() != name) {
            let store = self.open_store().await?;
            let new = open_session(store, name).await?;
            if let Some(old) = self.session.replace(new) {
                old.close().await?;
            }
        }
        let Some(session) = &mut self.session else { return Ok(()) };
        // A commit whose acknowledgement was lost is not written twice.
        let stored: BTreeSet<String> =
            session.incidents().filter_map(ProxyIncident::of_record).map(|incident| incident.id).collect();
        let new = batch.iter().filter(|incident| !stored.contains(&incident.id)).map(ProxyIncident::to_record);
        let new: Vec<_> = new.collect();
        if new.is_empty() {
            return Ok(());
        }
        session.record_incidents(new).await
    }

    async fn open_store(&mut self) -> Result<Arc<dyn Store>, SessionError> {
        if let Some(store) = &self.store {
            return Ok(Arc::clone(store));
        }
        let store = seamline::open_store(&self.settings.address).await?;
        remove_old(store.as_ref(), &self.settings).await?;
        self.store = Some(Arc::clone(&store));
        Ok(store)
    }
}

/// Creates the session of a series, or opens it where an earlier attempt created it.
async fn open_session(store: Arc<dyn Store>, name: SessionId) -> Result<Session, SessionError> {
    let title = Some("incidents of a proxy".to_owned());
    let options = SessionOptions { title, ..SessionOptions::default() };
    match Session::create(Arc::clone(&store), name.clone(), options).await {
        Err(SessionError::Store(store::Error::Exists(_))) => {
            let options = OpenOptions { recover: false, ..OpenOptions::default() };
            Session::open(store, name, options).await
        }
        created => created,
    }
}

/// The session of a series.
pub(super) fn session_name(series: &str) -> Result<SessionId, SessionError> {
    let name = format!("{SESSION_PREFIX}{series}").parse();
    name.map_err(|error: store::InvalidSessionId| {
        store::Error::Refused(store::cause::Refused::Other(error.to_string())).into()
    })
}

/// Removes the sessions whose incidents are too old or too many. Those of running proxies stay.
async fn remove_old(store: &dyn Store, settings: &JournalSettings) -> Result<(), SessionError> {
    let sessions = sessions_of_proxies(store).await?;
    let oldest = now_ms().saturating_sub(settings.keep_time.as_millis() as u64);
    let sessions_max = settings.count_max.div_ceil(SESSION_INCIDENTS_MAX) as usize;
    let surplus = sessions.len().saturating_sub(sessions_max);
    for (index, session) in sessions.iter().enumerate() {
        let time = session.session.as_str().strip_prefix(SESSION_PREFIX).and_then(time_of_series);
        let is_old = time.is_some_and(|time| time < oldest);
        if (is_old || index < surplus) && session.holder.is_none() {
            match store.erase(&session.session).await {
                // Another proxy removed it.
                Ok(_) | Err(store::Error::NotFound(_) | store::Error::Erased(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// The sessions with incidents of proxies, the oldest one first.
pub(super) async fn sessions_of_proxies(store: &dyn Store) -> Result<Vec<SessionInfo>, store::Error> {
    sessions_named(store, SESSION_PREFIX).await
}

/// The sessions whose names start with a prefix, by name.
pub(super) async fn sessions_named(store: &dyn Store, prefix: &str) -> Result<Vec<SessionInfo>, store::Error> {
    let sessions = all_sessions(store).await?;
    Ok(sessions.into_iter().filter(|info| info.session.as_str().starts_with(prefix)).collect())
}

/// All sessions of a store, by name.
pub(crate) async fn all_sessions(store: &dyn Store) -> Result<Vec<SessionInfo>, store::Error> {
    let mut all: Vec<SessionInfo> = Vec::new();
    loop {
        let after = all.last().map(|info| info.session.clone());
        let page = store.list_sessions(after.as_ref(), PAGE_SESSIONS).await?;
        let is_last = page.len() < PAGE_SESSIONS;
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}
