//! What is sent to the provider.

use super::{Session, SessionError};
use crate::{Error, Finding, Options, RepairAction, Repaired};

/// A body to send, and what was done for it.
///
/// ```
/// use std::sync::Arc;
/// use seamline::session::{Session, SessionOptions};
/// use seamline::store::MemoryStore;
///
/// # futures_executor::block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
/// session.append(r#"{"role":"user","content":"read it"}"#).await?;
/// session.append(r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}"#).await?;
/// session.append(r#"{"role":"user","content":"never mind"}"#).await?;
///
/// let request = session.request(r#"{"model":"claude-sonnet-4-5","max_tokens":64}"#)?;
/// assert!(request.sendable && request.actions[0].synthetic);
/// assert_eq!(session.messages().count(), 3, "what is kept stays");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The body.
    pub body: Vec<u8>,
    /// What was done so that the provider takes it. It is done anew for every request: what is kept stays as it is.
    pub actions: Vec<RepairAction>,
    /// What was wrong with what is kept.
    pub found: Vec<Finding>,
    /// What is still wrong, be it an error or not.
    pub remaining: Vec<Finding>,
    /// Whether it may be sent: no error is left.
    pub sendable: bool,
}

impl Session {
    /// The body that the provider gets: what the request says beside its messages, a JSON object, and the messages, put
    /// right as the policy says. Cycles that are not whole are not in it, so it can be asked for at any time.
    ///
    /// Nobody is asked for it: what [`Session::before_agent_start`] would block comes out put right as well, and
    /// [`sendable`](Request::sendable) says whether the provider takes it.
    ///
    /// # Errors
    /// When the envelope is no JSON object or has messages of its own, or the conversation cannot be read.
    pub fn request(&self, envelope: &str) -> Result<Request, SessionError> {
        if self.config.enabled
            && let Some(request) = self.reading.request(&self.wire, self.entries(), envelope)
        {
            return Ok(request);
        }
        let body = self.wire.body(envelope, self.entries().iter().map(|entry| &entry.message))?;
        if !self.config.enabled {
            return Ok(Request { body, actions: Vec::new(), found: Vec::new(), remaining: Vec::new(), sendable: true });
        }
        Ok(Request::from_body(&body, &self.wire.options)?)
    }
}

impl Request {
    /// Reads a body and puts it right.
    pub(super) fn from_body(body: &[u8], options: &Options) -> Result<Self, Error> {
        Ok(Self::of(crate::repair(body, options)?))
    }

    /// Makes a request of a body that was put right.
    pub(super) fn of(repaired: Repaired<'_>) -> Self {
        Self {
            actions: repaired.actions,
            found: repaired.found,
            remaining: repaired.remaining,
            sendable: repaired.sendable,
            body: repaired.body.into_bytes().into_owned(),
        }
    }
}
