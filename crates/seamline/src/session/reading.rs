//! The reading of a session's messages, which checks and requests share.
//!
//! A check and a request precede every send, and only the last few messages are new then. So a session keeps the body,
//! its transcript and the prefix that the rules have settled: unchanged messages are neither read nor checked again,
//! and a request is the kept body after its own head. Callers do not report changes: the reading keeps the messages too
//! and compares them with those of the session.

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

/// The reading of a session's messages. A caller takes it out while it checks; another caller then reads all messages.
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

    /// Makes a request from messages. Reads and checks only those that are new since the last time. Returns `None` when
    /// the request must be made from scratch, which also reports an unreadable envelope.
    pub(super) fn request(&self, wire: &Wire, entries: &[Entry], envelope: &str) -> Option<Request> {
        let head = wire.head(envelope).ok()?;
        let mut read = self.read(wire, entries, &wire.options).ok()?;
        let request = read.request(&head, &wire.options)?;
        self.keep(read);
        Some(request)
    }

    /// Takes the reading out and updates it to these messages.
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
    /// Releases the reading that checks and requests share; the next one then reads all messages again. The reading
    /// holds the messages as one body, which takes once or twice their bytes, and its transcript, which takes one or
    /// two hundred bytes for each block and at most four times the bytes of the body (or a MiB). For each of the last
    /// four kinds of check or request it holds at most 128 findings and a few dozen bytes for each tool call. A session
    /// keeps no reading where the transcript would take more, or the messages have more than 64 MiB.
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
