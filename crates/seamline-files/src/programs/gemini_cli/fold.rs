//! The messages of a log, after all its changes.
//!
//! A message with the id of an earlier one replaces it at its place. A patch may hold a new list of all messages. A rewind
//! removes a message and all messages behind it.

use std::collections::HashMap;

use crate::json::{elements, members, string};

/// The place of a message: a record, or an element of the list of messages that a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) record: usize,
    pub(super) element: Option<usize>,
}

/// A message that no change removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Active<T> {
    /// The places of its versions. The first one decides its place among the messages, the last one its content.
    pub(super) places: Vec<Place>,
    /// The caller's data about the last version.
    pub(super) held: T,
}

impl<T> Active<T> {
    pub(super) fn of(place: Place, held: T) -> Self {
        Self { places: vec![place], held }
    }

    /// The place of the last version.
    pub(super) fn place(&self) -> Place {
        self.places[self.places.len() - 1]
    }
}

/// A record of a log.
pub(super) enum Entry<'t> {
    Message {
        id: String,
        text: &'t str,
    },
    Rewind(String),
    /// The first record or a later change of it, which may hold all messages.
    Header {
        fields: &'t str,
        messages: Option<Vec<&'t str>>,
        is_patch: bool,
    },
    Other,
}

impl<'t> Entry<'t> {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// Fails when the text is not one JSON object.
    pub(super) fn of(text: &'t str) -> Result<Self, serde_json::Error> {
        let [rewind, id, patch, session, messages] =
            members(text, &["$rewindTo", "id", "$set", "sessionId", "messages"])?;
        let list = |messages: Option<&'t str>| messages.and_then(elements);
        Ok(if let Some(id) = rewind.and_then(string) {
            Self::Rewind(id)
        } else if let Some(id) = id.and_then(string) {
            Self::Message { id, text }
        } else if let Some(patch) = patch.filter(|patch| patch.starts_with('{')) {
            let [messages] = members(patch, &["messages"])?;
            Self::Header { fields: patch, messages: list(messages), is_patch: true }
        } else if session.is_some() {
            Self::Header { fields: text, messages: list(messages), is_patch: false }
        } else {
            Self::Other
        })
    }
}

/// The messages while records are read.
pub(super) struct Fold<T> {
    messages: Vec<Active<T>>,
    by_id: HashMap<String, usize>,
}

impl<T> Fold<T> {
    pub(super) fn new() -> Self {
        Self { messages: Vec::new(), by_id: HashMap::new() }
    }

    /// Adds a record. Returns `false` for a rewind to a message that is not there.
    pub(super) fn add(&mut self, record: usize, entry: &Entry<'_>, hold: &mut dyn FnMut(&str) -> T) -> bool {
        match entry {
            Entry::Message { id, text } => self.set(id, Place { record, element: None }, hold(text)),
            Entry::Rewind(id) => return self.rewind(id),
            Entry::Header { messages: Some(messages), is_patch, .. } => {
                if *is_patch {
                    self.messages.clear();
                    self.by_id.clear();
                }
                for (index, text) in messages.iter().enumerate() {
                    let Some(id) = members(text, &["id"]).ok().and_then(|[id]| id).and_then(string) else { continue };
                    self.set(&id, Place { record, element: Some(index) }, hold(text));
                }
            }
            Entry::Header { .. } | Entry::Other => {}
        }
        true
    }

    fn set(&mut self, id: &str, place: Place, held: T) {
        if let Some(message) = self.by_id.get(id).and_then(|at| self.messages.get_mut(*at)) {
            message.places.push(place);
            message.held = held;
        } else {
            self.by_id.insert(id.to_owned(), self.messages.len());
            self.messages.push(Active::of(place, held));
        }
    }

    fn rewind(&mut self, id: &str) -> bool {
        let Some(at) = self.by_id.get(id).copied() else { return false };
        self.messages.truncate(at);
        self.by_id.retain(|_, place| *place < at);
        true
    }

    pub(super) fn finish(self) -> Vec<Active<T>> {
        self.messages
    }
}
