//! Places in a repaired body as places in the one that came.

use std::ops::Range;

use super::Speaking;
use crate::{Repaired, message_spans};

/// Where the messages of a repaired body came from.
pub(super) struct Places {
    /// The messages, if they are not the ones that came.
    moved: Option<Moved>,
    list: &'static str,
}

struct Moved {
    origins: Vec<Option<usize>>,
    /// For each message whether it is byte for byte what it was.
    same: Vec<bool>,
}

impl Places {
    pub(super) fn of(body: &[u8], repaired: Option<&Repaired<'_>>, from: &Speaking) -> Self {
        let moved = repaired.filter(|repaired| repaired.changed()).map(|repaired| {
            let options = from.options(crate::Policy::default());
            let spans = |body| message_spans(body, &options).unwrap_or_default();
            let (before, after) = (spans(body), spans(&repaired.body));
            let bytes = |body: &'_ [u8], span: Option<&Range<usize>>| {
                span.and_then(|span| body.get(span.clone())).map(<[u8]>::to_vec)
            };
            let is_same = |(index, origin): (usize, &Option<usize>)| {
                let old = origin.and_then(|origin| bytes(body, before.get(origin)));
                old.is_some() && old == bytes(&repaired.body, after.get(index))
            };
            let same = repaired.origins.iter().enumerate().map(is_same).collect();
            Moved { origins: repaired.origins.clone(), same }
        });
        Self { moved, list: from.converter.list }
    }

    /// The same place in the body that came: the message alone where a repair changed it.
    pub(super) fn original(&self, pointer: &str) -> String {
        let Some(moved) = &self.moved else { return pointer.to_owned() };
        let named = format!("/{}/", self.list);
        let (start, rest) = match pointer.strip_prefix(&named) {
            Some(rest) => (named.as_str(), rest),
            None => ("/", pointer.trim_start_matches('/')),
        };
        let (index, tail) = rest.split_once('/').map_or((rest, ""), |(index, tail)| (index, tail));
        let Ok(index) = index.parse::<usize>() else { return pointer.to_owned() };
        match (moved.origins.get(index).copied().flatten(), moved.same.get(index)) {
            (Some(origin), Some(true)) if !tail.is_empty() => format!("{start}{origin}/{tail}"),
            (Some(origin), _) => format!("{start}{origin}"),
            (None, _) => String::new(),
        }
    }
}
