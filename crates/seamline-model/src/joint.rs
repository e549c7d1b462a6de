//! Messages between a call and the place of its result.

use crate::{FactKind, Joint, MessageIndex, Role, Transcript};

impl Transcript<'_> {
    /// The next message whose role is known. A message of an unknown role may be anything, so it separates nothing.
    pub fn next_known(&self, index: MessageIndex) -> Option<MessageIndex> {
        self.enumerate_from(index.next()).find(|(_, message)| message.role != Role::Unknown).map(|(index, _)| index)
    }

    /// Whether a message holds calls, or a block of unknown kind that may be a call.
    pub fn may_ask(&self, index: MessageIndex) -> bool {
        self.has_calls(index) || self.has_unknown_pair(index)
    }

    /// Whether a message holds a block of unknown kind that may be a call or a result.
    pub fn has_unknown_pair(&self, index: MessageIndex) -> bool {
        let facts = || self.facts_among(index.get()..index.get() + 1);
        !self.facts.is_empty() && facts().iter().any(|fact| fact.kind == FactKind::Unknown)
    }

    /// Whether calls before and after a message without calls are still answered together.
    pub fn connects(&self, index: MessageIndex, joint: Joint) -> bool {
        match (self.message(index).role, joint) {
            // It may be the result of the calls before it.
            (Role::Unknown, _) => !self.has_unknown_pair(index),
            (Role::Assistant, Joint::Merged) => true,
            (Role::Assistant, Joint::Adjacent) => self.has_unknown_pair(index),
            _ => false,
        }
    }
}
