//! The rendering of messages of other dialects, kept for the next check or request.

use std::collections::HashSet;

use seamline_store::Entry;

use super::kept::is_same;
use crate::Options;
use crate::session::SessionError;
use crate::session::wire::{Rendered, Wire};

/// Stored messages and their rendering. New messages of the current dialect go behind it as they are.
pub(super) struct Rendering {
    /// The dialect, the provider and the policy that it was made for.
    options: Options,
    stored: Vec<Entry>,
    rendered: Rendered<'static>,
    /// The keys of calls without a result, of other dialects or before a message of one. A result that comes later is
    /// rendered with its call and all between.
    open: HashSet<String>,
}

impl Rendering {
    /// Renders all messages.
    pub(super) fn new(wire: &Wire, entries: &[Entry]) -> Result<Self, SessionError> {
        let rendered = wire.rendered(entries)?.into_owned();
        let open = wire.open_foreign_calls(entries)?;
        Ok(Self { options: wire.options.clone(), stored: entries.to_vec(), rendered, open })
    }

    /// Extends it to these messages. Returns `None` when all must be rendered again.
    pub(super) fn extended(mut self, wire: &Wire, entries: &[Entry]) -> Option<Self> {
        let (same, new) = entries.split_at_checked(self.stored.len())?;
        let is_stored = |(one, other): (&Entry, &Entry)| {
            one.seq == other.seq && one.dialect == other.dialect && is_same(&one.message, &other.message)
        };
        if self.options != wire.options || !self.stored.iter().zip(same).all(is_stored) {
            return None;
        }
        // Messages of one record are rendered together.
        let is_joined = same.last().zip(new.first()).is_some_and(|(last, first)| last.seq == first.seq);
        let is_own = new.iter().all(|entry| wire.is_own(entry));
        if is_joined || !is_own || wire.answers_any(new, &self.open).ok()? {
            return None;
        }
        self.rendered.extend(new, same.len());
        self.stored.extend_from_slice(new);
        debug_assert_eq!(wire.rendered(entries).ok().as_ref(), Some(&self.rendered), "the kept rendering is outdated");
        Some(self)
    }

    pub(super) fn rendered(&self) -> Rendered<'static> {
        self.rendered.clone()
    }
}
