//! Reads messages at a glance, each in its own dialect.

use seamline_model::Role;
use seamline_store::{Entry, Raw};

use super::mixed::runs;
use super::{Wire, holds_only_results};
use crate::outline::OutlineMessage;
use crate::session::SessionError;

impl Wire {
    /// Reads messages of this dialect at a glance.
    pub(in crate::session) fn outline(&self, messages: &[&Raw]) -> Result<Vec<OutlineMessage>, SessionError> {
        let body = self.body("{}", messages.iter().copied())?;
        Ok(crate::outline(&body, &self.options, 0..messages.len())?)
    }

    /// Reads messages at a glance, each in its own dialect. Spans count from the first message of the same dialect in a
    /// row.
    pub(in crate::session) fn outline_each(&self, entries: &[&Entry]) -> Result<Vec<OutlineMessage>, SessionError> {
        let mut all: Vec<OutlineMessage> = Vec::with_capacity(entries.len());
        for run in runs(entries) {
            let messages: Vec<&Raw> = run.iter().map(|entry| &entry.message).collect();
            let before = all.len();
            let outline = self.for_dialect(run[0].dialect.as_ref())?.outline(&messages)?;
            all.extend(outline.into_iter().map(|message| OutlineMessage { index: message.index + before, ..message }));
        }
        Ok(all)
    }

    /// Reads the roles of messages.
    pub(in crate::session) fn roles(&self, entries: &[&Entry]) -> Result<Vec<Role>, SessionError> {
        Ok(self.outline_each(entries)?.iter().map(|message| message.role).collect())
    }

    /// Says of each message whether the model or a tool wrote it: responses, calls, and messages with results only.
    pub(in crate::session) fn by_model(&self, entries: &[&Entry]) -> Result<Vec<bool>, SessionError> {
        let by_model = |message: &OutlineMessage| match message.role {
            Role::Assistant | Role::Tool | Role::Function => true,
            Role::System | Role::Developer | Role::User | Role::Unknown => holds_only_results(message),
        };
        Ok(self.outline_each(entries)?.iter().map(by_model).collect())
    }
}
