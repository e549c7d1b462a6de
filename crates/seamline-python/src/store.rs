//! Stores of sessions.

use std::sync::Arc;

use futures_executor::block_on;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seamline::session::{self, OpenOptions, SessionError, SessionOptions};
use seamline::store::{Acquire, Error as StoreError, SessionId, SessionInfo};

use crate::bodies;
use crate::choices;
use crate::session::{Failed, JsonReport, Session};

/// The number of sessions that the store is asked for at once.
const PAGE: usize = 1000;

/// A store of sessions.
#[pyclass(frozen, module = "seamline._native")]
pub(crate) struct Store {
    store: Arc<dyn seamline::store::Store>,
}

#[pymethods]
impl Store {
    /// Opens the store at a URL.
    #[new]
    fn new(py: Python<'_>, url: &str) -> PyResult<Self> {
        let store = py.detach(|| block_on(seamline::open_store(url)).map_err(Failed::from));
        Ok(Self { store: store.map_err(|failed| failed.into_error(py))? })
    }

    /// Opens the session of this name, or creates it. `how` is `open`, `create` or `either`.
    #[expect(clippy::too_many_arguments, reason = "Python calls it with one argument for each choice")]
    fn session(&self, py: Python<'_>, id: &str, how: &str, created: &str, opened: &str) -> PyResult<Session> {
        let created = choices::read(py, created, SessionOptions::from_json)?;
        let opened = choices::read(py, opened, OpenOptions::from_json)?;
        let store = Arc::clone(&self.store);
        let session = py.detach(|| {
            block_on(async {
                let id: SessionId = id.parse().map_err(SessionError::from)?;
                if how == "create" {
                    return Ok(session::Session::create(store, id, created).await?);
                }
                match session::Session::open(Arc::clone(&store), id.clone(), opened).await {
                    Err(SessionError::Store(StoreError::NotFound(_))) if how == "either" => {
                        Ok(session::Session::create(store, id, created).await?)
                    }
                    opened => Ok(opened?),
                }
            })
        });
        Session::of(py, session)
    }

    /// The sessions of the store, by name.
    fn list<'py>(&self, py: Python<'py>) -> JsonReport<'py> {
        let listed = py.detach(|| block_on(self.all()).map(|sessions| bodies::json(&sessions)));
        Ok(PyBytes::new(py, &listed.map_err(|error| Failed::from(error).into_error(py))?))
    }

    /// Removes everything of a session, for good.
    fn erase<'py>(&self, py: Python<'py>, id: &str, take_over: bool) -> JsonReport<'py> {
        let store = Arc::clone(&self.store);
        let how = if take_over { Acquire::TakeOver } else { Acquire::IfFree };
        let erased = py.detach(|| {
            let id: SessionId = id.parse().map_err(SessionError::from)?;
            block_on(session::Session::erase(store, &id, how)).map(|erased| bodies::json(&erased))
        });
        Ok(PyBytes::new(py, &erased.map_err(|error| Failed::from(error).into_error(py))?))
    }
}

impl Store {
    async fn all(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let mut sessions: Vec<SessionInfo> = Vec::new();
        loop {
            let after = sessions.last().map(|last| last.session.clone());
            let page = self.store.list_sessions(after.as_ref(), PAGE).await?;
            let is_last = page.len() < PAGE;
            sessions.extend(page);
            if is_last {
                return Ok(sessions);
            }
        }
    }
}
