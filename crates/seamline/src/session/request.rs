//! What is sent to the provider.

use super::{IntegrityConfig, Session, SessionError};
use crate::{Finding, RepairAction};

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
#[derive(Debug, Clone)]
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
        let body = self.wire.body(envelope, self.entries().iter().map(|entry| &entry.message))?;
        let IntegrityConfig { enabled, .. } = self.config;
        if !enabled {
            return Ok(Request { body, actions: Vec::new(), found: Vec::new(), remaining: Vec::new(), sendable: true });
        }
        let repaired = crate::repair(&body, &self.wire.options)?;
        Ok(Request {
            actions: repaired.actions,
            found: repaired.found,
            remaining: repaired.remaining,
            sendable: repaired.sendable,
            body: repaired.body.into_bytes().into_owned(),
        })
    }
}
