//! The order in which a history is stored.

use std::collections::HashMap;

use super::message::{Message, Role};

/// The order in which a history is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The first entry is the oldest one.
    OldestFirst,
    /// The first entry is the newest one.
    NewestFirst,
}

/// An order counts as proven against pairs that contradict it if so many times more pairs support it.
const MAJORITY: usize = 3;

impl Order {
    /// The name of the order.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OldestFirst => "oldest-first",
            Self::NewestFirst => "newest-first",
        }
    }

    /// Finds the order by the pairs of calls and results: a result comes after its call. Without pairs the ends decide: a
    /// conversation begins with the system or the user. Returns nothing where the signs contradict each other.
    pub(super) fn of(messages: &[&Message]) -> Option<Self> {
        let (oldest, newest) = pairs(messages);
        let ends = ends(messages);
        let is_plain = |message: &&Message| message.calls.is_empty() && message.call_id.is_none();
        match (oldest, newest) {
            (0, 0) if messages.iter().all(is_plain) => Some(ends.map_or(Self::OldestFirst, |(order, _)| order)),
            (0, 0) => ends.map(|(order, _)| order),
            _ => {
                let by_pairs = match () {
                    () if newest * MAJORITY <= oldest => Some(Self::OldestFirst),
                    () if oldest * MAJORITY <= newest => Some(Self::NewestFirst),
                    () => None,
                };
                match (by_pairs, ends) {
                    (Some(by_pairs), Some((by_ends, true))) if by_pairs != by_ends => None,
                    (Some(by_pairs), _) => Some(by_pairs),
                    (None, ends) => ends.map(|(order, _)| order),
                }
            }
        }
    }
}

/// The number of pairs that are stored oldest first, and of those stored newest first. Ids that repeat prove nothing.
fn pairs(messages: &[&Message]) -> (usize, usize) {
    let mut calls: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut results: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, message) in messages.iter().enumerate() {
        for id in message.calls.iter().filter_map(|call| call.id.as_deref()) {
            calls.entry(id).or_default().push(index);
        }
        if let Some(id) = message.call_id.as_deref() {
            results.entry(id).or_default().push(index);
        }
    }
    let (mut oldest, mut newest) = (0, 0);
    for message in messages {
        for id in message.calls.iter().filter_map(|call| call.id.as_deref()) {
            if let (Some([call]), Some([result])) =
                (calls.get(id).map(Vec::as_slice), results.get(id).map(Vec::as_slice))
            {
                oldest += usize::from(call < result);
                newest += usize::from(call > result);
            }
        }
    }
    (oldest, newest)
}

/// The order that the ends show, and whether the system's message proves it.
fn ends(messages: &[&Message]) -> Option<(Order, bool)> {
    let roles = (messages.first()?.role, messages.last()?.role);
    match roles {
        (Role::System, Role::System) | (Role::User, Role::User) => None,
        (Role::System, _) => Some((Order::OldestFirst, true)),
        (_, Role::System) => Some((Order::NewestFirst, true)),
        (Role::User, _) => Some((Order::OldestFirst, false)),
        (_, Role::User) => Some((Order::NewestFirst, false)),
        _ => None,
    }
}
