//! The records of the active conversation, in the order in which their messages are sent.
//!
//! The path from the last record to the first one holds one record of each turn at least. The other blocks of a response and
//! the results of its calls may hang beside the path: below a block, below another result, or below a record that only
//! connects others. Ids of calls and of responses may repeat in a file, so a record counts by its place on the path.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::read::{Entry, Kind};
use crate::session::IdNumber;

/// The records of the conversation. Records of one message are together.
pub(super) fn active(entries: &[Entry], chain: &[usize]) -> Vec<Vec<usize>> {
    let mut view = View::of(entries, chain);
    view.add_fragments();
    view.add_results();
    view.order(chain)
}

/// A response of the model on the path.
#[derive(Default)]
struct Response {
    /// The records of its blocks, and those of the results of its calls.
    fragments: Vec<usize>,
    results: Vec<usize>,
}

/// The index of a record or of a response. A long file has many of them, and half of a `usize` is enough for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Index(NonZeroU32);

impl Index {
    fn new(index: usize) -> Self {
        // The records of four thousand million lines would not fit into memory.
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    fn get(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The place of a record on the path.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The response that goes on here; nothing behind a message of the user.
    open: Option<Index>,
    /// The index of the next response.
    next: Index,
}

/// The place where the parents of a record meet the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Anchor {
    /// The record on the path.
    record: Index,
    /// A block of a response between the record and the path.
    fragment: Option<Index>,
}

/// The state of a record beside the path while the anchors are searched.
#[derive(Clone, Copy)]
enum Known {
    Nothing,
    /// The search has passed it; meeting it again is a circle of parents.
    Passed,
    Anchored(Option<Anchor>),
}

struct View<'e> {
    entries: &'e [Entry],
    /// For each id, the first record that has it.
    by_id: Vec<Option<Index>>,
    /// For each record, the last one before it that has an id.
    before: Vec<Option<Index>>,
    /// For each record, its place if it is on the path.
    places: Vec<Option<Place>>,
    anchors: Vec<Known>,
    responses: Vec<Response>,
    /// For each record, the response that it belongs to.
    owners: Vec<Option<Index>>,
}

impl<'e> View<'e> {
    fn of(entries: &'e [Entry], chain: &[usize]) -> Self {
        let mut by_id: Vec<Option<Index>> = Vec::new();
        let mut before = Vec::with_capacity(entries.len());
        let mut last = None;
        for (record, entry) in entries.iter().enumerate() {
            before.push(last);
            let Some(id) = entry.id else { continue };
            last = Some(Index::new(record));
            if by_id.len() <= id.index() {
                by_id.resize(id.index() + 1, None);
            }
            by_id[id.index()].get_or_insert(Index::new(record));
        }
        let mut view = Self {
            entries,
            by_id,
            before,
            places: vec![None; entries.len()],
            anchors: vec![Known::Nothing; entries.len()],
            responses: Vec::new(),
            owners: vec![None; entries.len()],
        };
        let mut open = None;
        for record in chain {
            open = view.pass(*record, open);
            let next = Index::new(view.responses.len());
            view.places[*record] = Some(Place { open: open.map(Index::new), next });
        }
        view
    }

    /// Takes the next record of the path. Returns the response that goes on behind it.
    fn pass(&mut self, record: usize, open: Option<usize>) -> Option<usize> {
        let entry = &self.entries[record];
        if entry.is_request() {
            return None;
        }
        if entry.kind != Kind::Assistant || !entry.is_sent() && entry.response.is_none() {
            return open;
        }
        let own = open.filter(|open| self.is_same_response(record, self.responses[*open].fragments[0]));
        if own.is_none() && !entry.is_sent() {
            return open;
        }
        let own = own.unwrap_or_else(|| {
            self.responses.push(Response::default());
            self.responses.len() - 1
        });
        self.responses[own].fragments.push(record);
        self.owners[record] = Some(Index::new(own));
        Some(own)
    }

    /// Whether two records are blocks of one response. Some gateways give every response the same id, but not the same
    /// request.
    fn is_same_response(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.entries[one], &self.entries[other]);
        let is_other_request = one.request.is_some() && other.request.is_some() && one.request != other.request;
        one.response.is_some() && one.response == other.response && !is_other_request
    }

    /// Adds the blocks of responses beside the path.
    fn add_fragments(&mut self) {
        for record in 0..self.entries.len() {
            let entry = &self.entries[record];
            if entry.kind != Kind::Assistant || entry.response.is_none() || self.places[record].is_some() {
                continue;
            }
            let Some(anchor) = self.anchor(record) else { continue };
            let Some(place) = self.places[anchor.record.get()] else { continue };
            let next = Some(place.next.get()).filter(|next| *next < self.responses.len());
            let fits = |response: &usize| self.is_same_response(record, self.responses[*response].fragments[0]);
            if let Some(own) = place.open.map(Index::get).into_iter().chain(next).find(fits) {
                self.responses[own].fragments.push(record);
                self.owners[record] = Some(Index::new(own));
            }
        }
        self.responses.iter_mut().for_each(|response| response.fragments.sort_unstable());
    }

    /// The place where the parents of a record beside the path meet it. A record on another branch has none: between it
    /// and the path is a message of the user or another response.
    fn anchor(&mut self, record: usize) -> Option<Anchor> {
        let mut passed = Vec::new();
        let mut at = record;
        let mut anchor = loop {
            if self.places[at].is_some() {
                break Some(Anchor { record: Index::new(at), fragment: None });
            }
            match self.anchors[at] {
                Known::Anchored(anchor) => break anchor,
                Known::Passed => break None,
                Known::Nothing => self.anchors[at] = Known::Passed,
            }
            passed.push(at);
            match self.parent(at) {
                Some(parent) if !self.entries[at].is_request() => at = parent,
                _ => break None,
            }
        };
        for record in passed.into_iter().rev() {
            if self.entries[record].kind == Kind::Assistant {
                let is_other = |fragment: Index| !self.is_same_response(fragment.get(), record);
                anchor = anchor.filter(|anchor| !anchor.fragment.is_some_and(is_other));
                anchor = anchor.map(|anchor| Anchor { fragment: Some(Index::new(record)), ..anchor });
            }
            self.anchors[record] = Known::Anchored(anchor);
        }
        anchor
    }

    /// The first record with an id.
    fn with_id(&self, id: IdNumber) -> Option<usize> {
        self.by_id.get(id.index()).copied().flatten().map(Index::get)
    }

    /// The parent of a record; if the file does not have it, the record before, to which a repair would connect it.
    fn parent(&self, record: usize) -> Option<usize> {
        let entry = &self.entries[record];
        if entry.parent.is_none() && !entry.lacks_parent {
            return None;
        }
        let parent = entry.parent.and_then(|parent| self.with_id(parent));
        parent.or(self.before[record].map(Index::get))
    }

    /// Gives each response the results of its calls.
    fn add_results(&mut self) {
        let mut calls = Calls::of(self.entries, &self.responses);
        let mut on_path: Vec<(usize, usize)> = Vec::new();
        for (record, entry) in self.entries.iter().enumerate().filter(|(_, entry)| !entry.answered.is_empty()) {
            if let Some(place) = &self.places[record] {
                on_path.extend(calls.answer(&entry.answered, place.next.get()).map(|own| (record, own)));
            }
        }
        for (record, own) in on_path {
            self.add_result(record, own);
        }
        for (record, entry) in self.entries.iter().enumerate().filter(|(_, entry)| !entry.answered.is_empty()) {
            if self.places[record].is_some() {
                continue;
            }
            let Some(own) = self.asked_by(record, &calls) else { continue };
            let is_child = self.parent(record).is_some_and(|parent| self.responses[own].fragments.contains(&parent));
            if calls.take(&entry.answered, own) || is_child {
                self.add_result(record, own);
            }
        }
        self.responses.iter_mut().for_each(|response| response.results.sort_unstable());
    }

    fn add_result(&mut self, record: usize, own: usize) {
        self.responses[own].results.push(record);
        self.owners[record] = Some(Index::new(own));
    }

    /// The response whose call a result beside the path answers: that of the nearest block above it, or of the block that
    /// it names.
    fn asked_by(&mut self, record: usize, calls: &Calls) -> Option<usize> {
        let entry = &self.entries[record];
        let above = self.anchor(record).and_then(|anchor| match anchor.fragment {
            Some(fragment) => self.owners[fragment.get()],
            None => self.places[anchor.record.get()].and_then(|place| place.open),
        });
        let named = entry.source.and_then(|source| self.with_id(source));
        let named = named.and_then(|named| self.owners[named]);
        above.into_iter().chain(named).map(Index::get).find(|own| calls.has_any(&entry.answered, *own))
    }

    /// The records in the order in which their messages are sent.
    fn order(&mut self, chain: &[usize]) -> Vec<Vec<usize>> {
        let mut order = Vec::new();
        for record in chain.iter().filter(|record| self.entries[**record].is_message()) {
            match self.owners[*record].map(Index::get) {
                None => order.push(vec![*record]),
                Some(own) if self.responses[own].fragments.contains(record) => {
                    let response = std::mem::take(&mut self.responses[own]);
                    order.extend([response.fragments, response.results].into_iter().filter(|group| !group.is_empty()));
                }
                // A result is sent behind its response.
                Some(_) => {}
            }
        }
        order
    }
}

/// The calls of the responses.
struct Calls {
    /// For each id, the responses with such a call in their order, and whether a result answers it.
    by_id: HashMap<IdNumber, Vec<(usize, bool)>>,
}

impl Calls {
    fn of(entries: &[Entry], responses: &[Response]) -> Self {
        let mut by_id: HashMap<IdNumber, Vec<(usize, bool)>> = HashMap::new();
        for (own, response) in responses.iter().enumerate() {
            for id in response.fragments.iter().flat_map(|record| entries[*record].calls.iter()) {
                by_id.entry(*id).or_default().push((own, false));
            }
        }
        Self { by_id }
    }

    /// The response that a result on the path answers: the nearest one before it with an open call, then the nearest one
    /// before it, then the first one behind it. `next` is the index of the first response behind the result.
    fn answer(&mut self, ids: &[IdNumber], next: usize) -> Option<usize> {
        let of = |id: &IdNumber| {
            let calls = self.by_id.get(id)?;
            let before = calls.partition_point(|(own, _)| *own < next);
            let open = calls[..before].iter().rev().find(|(_, is_answered)| !is_answered);
            open.or(calls[..before].last()).or(calls.get(before)).map(|(own, _)| *own)
        };
        let own = ids.iter().find_map(of)?;
        self.take(ids, own);
        Some(own)
    }

    /// Marks calls of a response as answered. Returns whether one of them was open.
    fn take(&mut self, ids: &[IdNumber], own: usize) -> bool {
        let mut was_open = false;
        for id in ids {
            let calls = self.by_id.get_mut(id).into_iter().flatten();
            for (_, is_answered) in calls.filter(|(of, _)| *of == own) {
                was_open |= !std::mem::replace(is_answered, true);
            }
        }
        was_open
    }

    fn has_any(&self, ids: &[IdNumber], own: usize) -> bool {
        let has = |id: &IdNumber| self.by_id.get(id).is_some_and(|calls| calls.iter().any(|(of, _)| *of == own));
        ids.iter().any(has)
    }
}
