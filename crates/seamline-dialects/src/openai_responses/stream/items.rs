//! Finds the item of an event.
//!
//! Items are identified by their place in the output. Some servers give an item another id in every event, so ids count
//! only if there is no place, or if a place was given twice.

use std::collections::{BTreeMap, HashMap, HashSet};

use seamline_model::Piece;

use super::parts::ITEMS_MAX;
use super::shape::Sort;

/// The items of a response while they come.
#[derive(Debug, Default)]
pub(super) struct Items {
    all: BTreeMap<u32, Item>,
    by_index: HashMap<u64, u32>,
    by_id: HashMap<String, u32>,
    /// Whether two items had the same place.
    ids_first: bool,
    last: Option<u32>,
}

#[derive(Debug)]
struct Item {
    sort: Sort,
    id: String,
    /// The places of its parts, and what they are.
    parts: Vec<(u32, Piece)>,
    /// Whether some of the input of a call came.
    has_input: bool,
    /// Whether the input is free text, so that only its end shows that it is complete.
    is_free: bool,
    /// Whether all of it came with the begin of the call.
    is_at_start: bool,
    /// Whether the provider said that it is complete.
    is_input_done: bool,
    is_done: bool,
    /// The id that pairs a call with its result, once the item is finished.
    pair: String,
    /// Whether it is a call of a tool that the response does not declare.
    undeclared: Undeclared,
}

/// Whether a call may be one that the provider answers, because the response does not declare its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undeclared {
    /// The tool is declared, or not all tools are known.
    No,
    /// A function: the provider answers it only with a result in the response.
    Function,
    /// A custom tool: xAI answers those of its own tools without a result and goes on.
    Custom,
}

impl Items {
    /// The item of a sort that is at a place or has an id.
    pub(super) fn find(&mut self, index: Option<u64>, id: Option<&str>, sort: Sort) -> Option<u32> {
        let by_index = index.and_then(|index| self.by_index.get(&index).copied());
        let by_id = id.and_then(|id| self.by_id.get(id).copied());
        let known = if self.ids_first { [by_id, by_index] } else { [by_index, by_id] };
        // Without either, it is the item of the last event.
        let last = self.last.filter(|_| index.is_none() && (id.is_none() || by_id.is_none()));
        let found = known.into_iter().chain([last]).flatten().find(|item| self.is(*item, sort));
        self.last = found.or(self.last);
        found
    }

    /// The item that the end of a stream lists at a place.
    pub(super) fn listed(&self, index: u64, id: Option<&str>, sort: Sort) -> Option<u32> {
        let at_index = self.by_index.get(&index).copied().filter(|item| self.is(*item, sort));
        let is_same = |item: &u32| self.all.get(item).is_some_and(|known| Some(known.id.as_str()) == id);
        let by_id = id.and_then(|id| self.by_id.get(id).copied()).filter(|item| self.is(*item, sort));
        at_index.filter(is_same).or(by_id).or(at_index)
    }

    /// Opens an item, at another place if the one it has is taken; nothing when there are too
    /// many of them.
    pub(super) fn open(&mut self, index: Option<u64>, id: Option<&str>, sort: Sort) -> Option<u32> {
        let next = self.all.last_key_value().map_or(0, |(last, _)| last + 1);
        let asked = index.map_or(Some(next), |index| u32::try_from(index).ok())?;
        let is_taken = self.all.contains_key(&asked);
        self.ids_first |= is_taken;
        let item = if is_taken { next } else { asked };
        if item >= ITEMS_MAX {
            return None;
        }
        let id = id.unwrap_or_default();
        let new = Item {
            sort,
            id: id.to_owned(),
            parts: Vec::new(),
            has_input: false,
            is_free: false,
            is_at_start: false,
            is_input_done: false,
            is_done: false,
            pair: String::new(),
            undeclared: Undeclared::No,
        };
        self.all.insert(item, new);
        self.by_index.insert(index.unwrap_or(u64::from(item)), item);
        if !id.is_empty() {
            self.by_id.insert(id.to_owned(), item);
        }
        self.last = Some(item);
        Some(item)
    }

    /// Notes a part of an item. Gives its kind if the part was known before.
    pub(super) fn part(&mut self, item: u32, place: u32, piece: Piece) -> Option<Piece> {
        let parts = &mut self.all.get_mut(&item)?.parts;
        let known = parts.iter().find(|(known, _)| *known == place).map(|(_, piece)| *piece);
        if known.is_none() {
            parts.push((place, piece));
        }
        known
    }

    /// Whether a part has come, and is text.
    pub(super) fn has_text(&self, item: u32, place: u32) -> bool {
        self.all.get(&item).is_some_and(|item| item.parts.contains(&(place, Piece::Text)))
    }

    /// Whether an item has that id, or either has none.
    pub(super) fn may_be(&self, item: u32, id: Option<&str>) -> bool {
        let known = self.all.get(&item).map_or("", |item| item.id.as_str());
        known.is_empty() || id.is_none_or(|id| id == known)
    }

    /// Notes that a piece of the arguments of a call arrived, or all of them.
    pub(super) fn note_input(&mut self, item: u32, is_whole: bool) {
        if let Some(item) = self.all.get_mut(&item) {
            item.has_input = true;
            item.is_at_start = false;
            item.is_input_done = is_whole;
        }
    }

    /// Notes that the input came with the begin of the call.
    pub(super) fn note_start(&mut self, item: u32) {
        if let Some(item) = self.all.get_mut(&item) {
            item.has_input = true;
            item.is_at_start = true;
        }
    }

    /// Notes that the input of a call is free text.
    pub(super) fn note_free(&mut self, item: u32) {
        if let Some(item) = self.all.get_mut(&item) {
            item.is_free = true;
        }
    }

    /// The calls that were never finished. In a complete response without a list of its items (`is_lenient`), a call with
    /// complete input counts as finished.
    pub(super) fn unfinished_calls(&self, is_lenient: bool) -> impl Iterator<Item = u32> {
        let is_unfinished = move |item: &Item| {
            let says_itself = is_lenient && (item.is_at_start || item.has_input && !item.is_free);
            let is_whole = item.is_done || item.is_input_done || says_itself;
            item.sort == Sort::Call && !is_whole
        };
        self.all.iter().filter(move |(_, item)| is_unfinished(item)).map(|(number, _)| *number)
    }

    /// Notes the id of a finished call or result, and whether the tool of the call is not declared.
    pub(super) fn note_pair(&mut self, item: u32, pair: &str, undeclared: Undeclared) {
        if let Some(item) = self.all.get_mut(&item) {
            pair.clone_into(&mut item.pair);
            item.undeclared = undeclared;
        }
    }

    /// The calls that the provider answered: the response declares its tools, theirs are not among them, and their result
    /// or the next step of the model is in the response.
    pub(super) fn answered_calls(&self) -> Vec<u32> {
        let is_open = |item: &Item| item.sort == Sort::Call && item.undeclared != Undeclared::No;
        let results = self.all.values().filter(|item| item.sort != Sort::Call && !item.pair.is_empty());
        let answered: HashSet<&str> = results.map(|item| item.pair.as_str()).collect();
        let last_step = self.all.iter().rev().find(|(_, item)| !is_open(item)).map(|(number, _)| *number);
        let is_left = |number: u32, item: &Item| match item.undeclared {
            Undeclared::No => false,
            Undeclared::Function => answered.contains(item.pair.as_str()),
            Undeclared::Custom => answered.contains(item.pair.as_str()) || last_step.is_some_and(|last| last > number),
        };
        let left = self.all.iter().rev().filter(|(number, item)| item.sort == Sort::Call && is_left(**number, item));
        left.map(|(number, _)| *number).collect()
    }

    /// Whether the client must answer a call.
    pub(super) fn has_open_calls(&self) -> bool {
        let answered: HashSet<u32> = self.answered_calls().into_iter().collect();
        self.all.iter().any(|(number, item)| item.sort == Sort::Call && !answered.contains(number))
    }

    pub(super) fn finish(&mut self, item: u32) {
        if let Some(item) = self.all.get_mut(&item) {
            item.is_done = true;
        }
    }

    pub(super) fn is_done(&self, item: u32) -> bool {
        self.all.get(&item).is_some_and(|item| item.is_done)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    fn is(&self, item: u32, sort: Sort) -> bool {
        self.all.get(&item).is_some_and(|item| item.sort == sort)
    }
}
