//! The reading of a session's messages, which checks and requests share.
//!
//! A check and a request precede every send, and only the last few messages are new then. So a session keeps the body,
//! its transcript and the prefix that the rules have settled: unchanged messages are neither read nor checked again,
//! and a request is the kept body after its own head. Callers do not report changes: the reading keeps the messages too
//! and compares them with those of the session.

mod head;
mod kept;
mod rendering;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline_store::Entry;

use self::kept::Kept;
use self::rendering::Rendering;
use crate::Options;
use crate::check::Checked;
use crate::session::wire::{Rendered, Wire};
use crate::session::{Request, SessionError};

/// The reading of a session's messages. A caller takes it out while it checks; another caller then reads all messages.
#[derive(Default)]
pub(in crate::session) struct Reading {
    kept: Mutex<Option<Kept>>,
    /// The rendering of the messages, where some are of another dialect.
    rendering: Mutex<Option<Rendering>>,
}

impl Reading {
    /// Checks messages. Reads and checks only those that are new since the last time.
    pub(in crate::session) fn check(
        &self,
        wire: &Wire,
        entries: &[Entry],
        options: &Options,
    ) -> Result<Checked, SessionError> {
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

    /// Renders messages in the dialect of a wire. Renders only those that are new since the last time, if that gives the
    /// same.
    pub(in crate::session) fn rendered<'e>(
        &self,
        wire: &Wire,
        entries: &'e [Entry],
    ) -> Result<Rendered<'e>, SessionError> {
        if entries.iter().all(|entry| wire.is_own(entry)) {
            return wire.rendered(entries);
        }
        let kept = lock(&self.rendering).take();
        let rendering = match kept.and_then(|kept| kept.extended(wire, entries)) {
            Some(rendering) => rendering,
            None => Rendering::new(wire, entries)?,
        };
        let rendered = rendering.rendered();
        *lock(&self.rendering) = Some(rendering);
        Ok(rendered)
    }

    /// Takes the reading out and updates it to these messages.
    fn read(&self, wire: &Wire, entries: &[Entry], options: &Options) -> Result<Kept, SessionError> {
        let kept = self.kept().take().filter(|kept| kept.is_of(wire.dialect));
        match kept.and_then(|kept| kept.update(entries)) {
            Some(read) => Ok(read),
            None => Kept::read(wire, entries, options),
        }
    }

    /// Releases the reading.
    pub(super) fn forget(&self) {
        *self.kept() = None;
        *lock(&self.rendering) = None;
    }

    fn keep(&self, read: Kept) {
        if read.may_be_kept() {
            *self.kept() = Some(read);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        lock(&self.kept)
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages = self.kept().as_ref().map(Kept::count);
        f.debug_struct("Reading").field("messages", &messages).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
