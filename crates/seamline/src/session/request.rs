//! The request that the provider gets.
//!
//! `reading` keeps what checks and requests have read, so that the next one reads only the new messages.

mod reading;

use seamline_store::Entry;

use super::wire::Wire;
use super::{Session, SessionError};
use crate::policy::{OnInvalid, RepairKnob};
use crate::repair::{RepairAction, Repaired};
use crate::rules::codes;
use crate::{Error, Finding, Options, Severity};

pub(super) use reading::Reading;

/// A body to send, and the repairs that were made for it.
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
/// assert_eq!(session.messages().count(), 3, "the stored messages stay");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The body to send.
    pub body: Vec<u8>,
    /// The repairs that make the provider accept the body. Each request makes them again; the stored messages stay
    /// unchanged. Repairs of messages of another dialect come first: they are made before the messages are rendered, and
    /// their places are those of the stored messages.
    pub actions: Vec<RepairAction>,
    /// The findings in the stored messages, before the repairs.
    pub found: Vec<Finding>,
    /// The remaining findings after the repairs, errors and others.
    pub remaining: Vec<Finding>,
    /// Whether the body may be sent: no error remains.
    pub sendable: bool,
    /// A note that the demands of the provider in this dialect are not known.
    pub note: Option<String>,
}

impl Session {
    /// Makes the body that the provider gets: the envelope, a JSON object with everything except the messages, and the
    /// messages, repaired as the policy says. Open cycles are not in it, so it can be made at any time.
    ///
    /// Messages of other dialects are rendered in that of the provider. A system prompt among them becomes a member of the
    /// envelope where the dialect keeps it there.
    ///
    /// It repairs also what [`Session::before_agent_start`] would block, and [`sendable`](Request::sendable) says whether
    /// the provider accepts the body. Only the envelope and the messages that are new since the last check or request are
    /// read; see [`forget_reading`](Self::forget_reading) for what that takes.
    ///
    /// # Errors
    /// When the envelope is not a JSON object or has messages of its own, or the conversation cannot be read.
    pub fn request(&self, envelope: &str) -> Result<Request, SessionError> {
        Request::new(&self.wire, self.entries(), Some(&self.reading), envelope)
    }

    /// Makes the body for another provider or dialect, as [`Session::request`] does for the current one. The session does
    /// not switch.
    ///
    /// # Errors
    /// When there is no provider and no dialect of that name, the envelope is not a JSON object or has messages of its
    /// own, or the conversation cannot be read.
    pub fn request_for(&self, name: &str, envelope: &str) -> Result<Request, SessionError> {
        Request::of_entries(&self.wire.named(name)?, self.entries(), envelope)
    }

    /// Releases the reading that checks and requests share; the next one then reads all messages again. The reading
    /// holds the messages as one body, which takes once or twice their bytes, and its transcript, which takes one or
    /// two hundred bytes for each block and at most four times the bytes of the body (or a MiB). For each of the last
    /// four kinds of check or request it holds at most 128 findings and a few dozen bytes for each tool call. A session
    /// keeps no reading where the transcript would take more, or the messages have more than 64 MiB. After a
    /// [switch](Self::switch_provider) it also holds the messages of other dialects as they are rendered.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Session, SessionOptions};
    /// use seamline::store::MemoryStore;
    ///
    /// # futures_executor::block_on(async {
    /// let store = Arc::new(MemoryStore::new());
    /// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
    /// session.append(r#"{"role":"user","content":"hello"}"#).await?;
    /// let checked = session.check()?;
    /// session.forget_reading();
    /// assert_eq!(session.check()?, checked);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn forget_reading(&self) {
        self.reading.forget();
    }
}

/// Whether a finding is the note about calls that may still be answered.
fn is_pending(found: &Finding) -> bool {
    found.code == codes::UNANSWERED_CALL && found.severity == Severity::Info
}

impl Request {
    /// Makes the body of messages for the provider of a wire.
    pub(super) fn of_entries(wire: &Wire, entries: &[Entry], envelope: &str) -> Result<Self, SessionError> {
        let reading = None;
        Self::new(wire, entries, reading, envelope)
    }

    /// Makes the body of messages for the provider of a wire, with the kept reading if it is of that dialect.
    fn new(wire: &Wire, entries: &[Entry], reading: Option<&Reading>, envelope: &str) -> Result<Self, SessionError> {
        let for_request = wire.for_request();
        let wire = for_request.as_ref();
        let rendered = match reading {
            Some(reading) => reading.rendered(wire, entries)?,
            None => wire.rendered(entries)?,
        };
        let mut actions = rendered.actions().to_vec();
        let (entries, envelope) = rendered.for_envelope(envelope);
        let mut request = Self::of_rendered(wire, &entries, reading, &envelope)?;
        // A call that may still be answered is a note, but no provider accepts it in a request.
        request.sendable &= request.remaining.iter().all(|found| !is_pending(found));
        actions.extend(request.actions);
        Ok(Self { actions, ..request })
    }

    /// Makes the body of messages in the dialect of a wire.
    fn of_rendered(
        wire: &Wire,
        entries: &[Entry],
        reading: Option<&Reading>,
        envelope: &str,
    ) -> Result<Self, SessionError> {
        let (is_enabled, repairs) = (wire.config().enabled, wire.config().repair_requests);
        if is_enabled
            && repairs
            && let Some(request) = reading.and_then(|reading| reading.request(wire, entries, envelope))
        {
            return Ok(request);
        }
        let body = wire.body(envelope, entries.iter().map(|entry| &entry.message))?;
        if !is_enabled {
            // Nothing is repaired, and yet the provider may reject the body.
            let checked = crate::check(&body, &wire.options)?;
            let (sendable, note, remaining) = (checked.is_accepted(), checked.note, checked.findings);
            return Ok(Self { body, actions: Vec::new(), found: Vec::new(), remaining, sendable, note });
        }
        if repairs || wire.repairs().on_invalid == OnInvalid::Warn {
            return Ok(Self::from_body(&body, &wire.options)?);
        }
        let mut options = wire.options.clone();
        options.policy.set_for_all(RepairKnob::OnInvalid, |repair| repair.on_invalid = OnInvalid::Block);
        Ok(Self::from_body(&body, &options)?)
    }

    /// Reads and repairs a body.
    pub(super) fn from_body(body: &[u8], options: &Options) -> Result<Self, Error> {
        Ok(Self::of(crate::repair(body, options)?))
    }

    /// Makes a request from a repaired body.
    pub(super) fn of(repaired: Repaired<'_>) -> Self {
        Self {
            note: repaired.note,
            actions: repaired.actions,
            found: repaired.found,
            remaining: repaired.remaining,
            sendable: repaired.sendable,
            body: repaired.body.into_bytes().into_owned(),
        }
    }
}
