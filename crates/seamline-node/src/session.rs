//! Durable sessions. Every operation has a name, takes one JSON object and returns JSON.

mod operations;

use std::sync::Arc;

use napi::Result;
use napi_derive::napi;
use seamline::session::{OpenOptions, Session, SessionError, SessionOptions};
use seamline::store::{Acquire, Error as StoreError, SessionId, SessionInfo, Store};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::bodies::json;
use crate::failure::{failure, of_session, of_store, read};

/// The most sessions that one question to the store returns.
const PAGE_SESSIONS: usize = 10_000;

/// A store of sessions.
#[napi]
pub struct NativeStore {
    store: Arc<dyn Store>,
}

/// Opens the store at a URL.
#[napi]
pub async fn open_store(url: String) -> Result<NativeStore> {
    let store = seamline::open_store(&url).await.map_err(|error| of_store(&error))?;
    Ok(NativeStore { store })
}

#[napi]
impl NativeStore {
    /// Creates a session.
    #[napi]
    pub async fn create(&self, id: String, options: String) -> Result<NativeSession> {
        let (id, options) = (named(&id)?, read(&options, SessionOptions::from_json)?);
        let session =
            Session::create(Arc::clone(&self.store), id, options).await.map_err(|error| of_session(&error))?;
        Ok(NativeSession::of(session))
    }

    /// Opens a session for writing, or creates it where there is none.
    #[napi]
    pub async fn open_or_create(&self, id: String, created: String, opened: String) -> Result<NativeSession> {
        let (id, created) = (named(&id)?, read(&created, SessionOptions::from_json)?);
        let open = || read(&opened, OpenOptions::from_json);
        let store = || Arc::clone(&self.store);
        let mut session = Session::open(store(), id.clone(), open()?).await;
        if matches!(session, Err(SessionError::Store(StoreError::NotFound(_)))) {
            session = Session::create(store(), id.clone(), created).await;
        }
        // Another caller created it meanwhile.
        if matches!(session, Err(SessionError::Store(StoreError::Exists(_)))) {
            session = Session::open(store(), id, open()?).await;
        }
        session.map(NativeSession::of).map_err(|error| of_session(&error))
    }

    /// Opens a session for writing.
    #[napi]
    pub async fn open(&self, id: String, options: String) -> Result<NativeSession> {
        let (id, options) = (named(&id)?, read(&options, OpenOptions::from_json)?);
        let session = Session::open(Arc::clone(&self.store), id, options).await.map_err(|error| of_session(&error))?;
        Ok(NativeSession::of(session))
    }

    /// Lists the sessions of the store, as JSON.
    #[napi]
    pub async fn list(&self) -> Result<String> {
        let mut sessions: Vec<SessionInfo> = Vec::new();
        loop {
            let after = sessions.last().map(|last| last.session.clone());
            let page = self.store.list_sessions(after.as_ref(), PAGE_SESSIONS).await;
            let page = page.map_err(|error| of_store(&error))?;
            let is_last = page.len() < PAGE_SESSIONS;
            sessions.extend(page);
            if is_last {
                return json(&sessions);
            }
        }
    }

    /// Erases a session with all its bytes.
    #[napi]
    pub async fn erase(&self, id: String) -> Result<()> {
        let id = named(&id)?;
        Session::erase(Arc::clone(&self.store), &id, Acquire::IfFree).await.map_err(|error| of_session(&error))?;
        Ok(())
    }
}

/// A session that is open for writing. Operations run one after another.
#[napi]
pub struct NativeSession {
    session: Arc<Mutex<Option<Session>>>,
}

#[napi]
impl NativeSession {
    fn of(session: Session) -> Self {
        Self { session: Arc::new(Mutex::new(Some(session))) }
    }

    /// Runs an operation.
    #[napi]
    pub async fn call(&self, operation: String, arguments: String) -> Result<String> {
        let arguments: Value = serde_json::from_str(&arguments)
            .map_err(|error| failure("option", &format!("cannot read the arguments: {error}"), None))?;
        let mut guard = self.session.lock().await;
        if operation == "close" {
            let Some(session) = guard.take() else { return Ok("null".to_owned()) };
            session.close().await.map_err(|error| of_session(&error))?;
            return Ok("null".to_owned());
        }
        let session = guard.as_mut().ok_or_else(closed)?;
        operations::run(session, &operation, &arguments).await
    }

    /// Makes a copy of the session under another name.
    #[napi]
    pub async fn fork(&self, id: String) -> Result<NativeSession> {
        let guard = self.session.lock().await;
        let session = guard.as_ref().ok_or_else(closed)?;
        Ok(Self::of(session.fork(named(&id)?).await.map_err(|error| of_session(&error))?))
    }
}

fn closed() -> napi::Error {
    failure("session", "the session is closed", Some("open it again"))
}

fn named(id: &str) -> Result<SessionId> {
    id.parse().map_err(|error: seamline::store::InvalidSessionId| failure("session", &error.to_string(), None))
}

/// Validates messages in the words of a layer of session integrity, without a store.
#[napi(catch_unwind)]
pub fn validate(messages: Vec<String>, options: String) -> Result<String> {
    let options = read(&options, SessionOptions::from_json)?;
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let validation = futures_executor::block_on(async {
        let store = Arc::new(seamline::store::MemoryStore::new());
        let mut session = Session::create(store, named("s")?, options).await.map_err(|error| of_session(&error))?;
        session.append_all(&messages).await.map_err(|error| of_session(&error))?;
        session.validate().map_err(|error| of_session(&error))
    })?;
    json(&validation)
}
