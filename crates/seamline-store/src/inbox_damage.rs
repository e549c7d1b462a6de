//! Damage in the inbox of a session.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::store::INBOX_BYTES_MAX;

/// Damage in an inbox, with the bytes that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxDamage {
    /// The identity of the damage. Two reports of the same damage have equal kinds.
    pub kind: InboxDamageKind,
    /// The bytes of the altered message; empty where messages are missing.
    pub bytes: Vec<u8>,
}

impl InboxDamage {
    /// Makes the damage of a message that is not the message that was pushed.
    pub fn altered(place: i64, bytes: Vec<u8>) -> Self {
        Self { kind: InboxDamageKind::Altered { place, hash: Hash::of(&bytes) }, bytes }
    }

    /// Makes the damage of an inbox that should hold `expected` messages and holds `found`; none where these are equal.
    pub fn miscounted(expected: u64, found: u64) -> Option<Self> {
        let kind = match found.cmp(&expected) {
            std::cmp::Ordering::Less => InboxDamageKind::Missing { count: expected - found },
            std::cmp::Ordering::Equal => return None,
            std::cmp::Ordering::Greater => InboxDamageKind::Surplus { count: found - expected },
        };
        Some(Self { kind, bytes: Vec::new() })
    }
}

impl fmt::Display for InboxDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

/// The identity of damage in an inbox. It does not change while other messages are pushed and taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum InboxDamageKind {
    /// A message is not the message that was pushed.
    Altered {
        /// The place of the message in the inbox.
        place: i64,
        /// The hash of the bytes that were found.
        hash: Hash,
    },
    /// More messages are altered than a store reports one by one.
    More {
        /// The number of further altered messages.
        count: u64,
    },
    /// The inbox holds fewer messages than were pushed and not taken.
    Missing {
        /// The number of missing messages.
        count: u64,
    },
    /// The inbox holds more messages than were pushed and not taken.
    Surplus {
        /// The number of messages that no caller pushed.
        count: u64,
    },
    /// A kind that a newer version wrote.
    #[serde(other)]
    Other,
}

impl fmt::Display for InboxDamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Altered { place, .. } => write!(f, "message {place} of the inbox was altered"),
            Self::More { count } => write!(f, "{count} more messages of the inbox were altered"),
            Self::Missing { count } => write!(f, "{count} messages are missing from the inbox"),
            Self::Surplus { count } => write!(f, "the inbox holds {count} messages that were not pushed"),
            Self::Other => f.write_str("the inbox is damaged"),
        }
    }
}

/// The most damages of an inbox that a store reports one by one.
pub const INBOX_DAMAGES_MAX: usize = 1_000;

/// Collects the damages of an inbox: the first ones one by one, the others as a count.
#[derive(Debug, Default)]
pub struct InboxDamages {
    named: Vec<InboxDamage>,
    bytes: usize,
    others: u64,
}

impl InboxDamages {
    /// Adds a damage.
    pub fn take(&mut self, damage: InboxDamage) {
        self.bytes = self.bytes.saturating_add(damage.bytes.len());
        let has_room = self.named.len() < INBOX_DAMAGES_MAX && self.bytes <= INBOX_BYTES_MAX;
        if has_room || self.named.is_empty() {
            self.named.push(damage);
        } else {
            self.others += 1;
        }
    }

    /// Returns the damages, with one more for those that were only counted.
    pub fn into_damages(mut self) -> Vec<InboxDamage> {
        if self.others > 0 {
            let kind = InboxDamageKind::More { count: self.others };
            self.named.push(InboxDamage { kind, bytes: Vec::new() });
        }
        self.named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_messages_stay_the_same_damage_while_others_come_and_go() {
        assert_eq!(InboxDamage::miscounted(3, 1), InboxDamage::miscounted(9, 7));
        assert_ne!(InboxDamage::miscounted(3, 1), InboxDamage::miscounted(3, 2));
        assert_ne!(InboxDamage::miscounted(3, 1), InboxDamage::miscounted(1, 3));
        assert_eq!(InboxDamage::miscounted(3, 3), None);
    }

    #[test]
    fn an_identity_survives_a_round_trip_and_newer_kinds_are_read() {
        for kind in [InboxDamage::altered(7, b"x".to_vec()).kind, InboxDamageKind::Missing { count: 2 }] {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(serde_json::from_str::<InboxDamageKind>(&text).unwrap(), kind, "{text}");
        }
        let newer: InboxDamageKind = serde_json::from_str(r#"{"kind":"swapped","places":[1,2]}"#).unwrap();
        assert_eq!(newer, InboxDamageKind::Other);
    }
}
