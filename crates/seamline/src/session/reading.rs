//! The reading of a session's messages, kept from one check or request to the next.
//!
//! A check and a request come before every send, and only the last few messages are new then. So the body, its
//! transcript and the start that the rules have settled are kept: messages that are the same as before are neither read
//! nor checked again, and a request is the kept body behind its own head. No caller has to say that something changed:
//! the messages themselves are kept too, and are compared with those of the session.

mod head;
mod kept;
mod looks;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline_store::Entry;

use self::kept::Kept;
use super::wire::Wire;
use super::{Request, Session, SessionError};
use crate::Options;
use crate::check::Checked;

/// The reading of a session's messages. A caller takes it out while it checks: another caller reads all messages then.
#[derive(Default)]
pub(super) struct Reading(Mutex<Option<Kept>>);

impl Reading {
    /// Checks messages. Reads and checks only those that are new since the last time.
    pub(super) fn check(&self, wire: &Wire, entries: &[Entry], options: &Options) -> Result<Checked, SessionError> {
        let mut read = self.read(wire, entries, options)?;
        let checked = read.check(options)?;
        self.keep(read);
        Ok(checked)
    }

    /// Makes a request of messages. Reads and checks only those that are new since the last time. Returns nothing when
    /// the request must be made from scratch, which also says what is wrong with an envelope that cannot be read.
    pub(super) fn request(&self, wire: &Wire, entries: &[Entry], envelope: &str) -> Option<Request> {
        let head = wire.head(envelope).ok()?;
        let mut read = self.read(wire, entries, &wire.options).ok()?;
        let request = read.request(&head, &wire.options)?;
        self.keep(read);
        Some(request)
    }

    /// Takes the reading out and brings it to these messages.
    fn read(&self, wire: &Wire, entries: &[Entry], options: &Options) -> Result<Kept, SessionError> {
        let kept = self.kept().take().filter(|kept| kept.is_of(wire.dialect));
        match kept.and_then(|kept| kept.brought_to(entries)) {
            Some(read) => Ok(read),
            None => Kept::read(wire, entries, options),
        }
    }

    fn keep(&self, read: Kept) {
        if read.may_be_kept() {
            *self.kept() = Some(read);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages = self.kept().as_ref().map(Kept::count);
        f.debug_struct("Reading").field("messages", &messages).finish_non_exhaustive()
    }
}

impl Session {
    /// Releases what checks and requests keep for the next one, which then reads all messages again: the messages as one
    /// body, which takes once or twice their bytes, and its transcript, which takes one or two hundred bytes for each
    /// block and at most four times the bytes of the body (or a MiB). For each of the last four ways to look at the
    /// messages (a check, a request) it keeps at most 128 findings and a few dozen bytes for each tool call. When the
    /// transcript would take more, or there are more than 64 MiB of messages, nothing is kept.
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
        *self.reading.kept() = None;
    }
}

#[cfg(test)]
mod tests;
