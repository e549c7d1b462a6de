//! Reads streams for the dialects whose messages are lists of blocks.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD};
use base64::{Engine as _, alphabet};
use seamline_model::{Addition, Event, Piece, Stop, Unreadable};

use crate::frames::{Sink, add, add_arguments, index, unreadable};
use crate::json::{Kind, Object, Value};

/// Filters an event that comes after the end of a message. Only usage, members and failures may follow.
pub(crate) fn after_end(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Member { .. } | Event::Usage { .. } | Event::Unreadable { .. } | Event::Failed { .. } | Event::Done => {
            event
        }
        Event::Begin { .. } | Event::Add { .. } | Event::End { .. } | Event::Again | Event::Stop { .. } => {
            Event::Unreadable { what: Unreadable::Stray }
        }
    }
}

/// Finds a member that is not null.
pub(crate) fn present<'d, 'a>(object: Object<'d, 'a>, key: &str) -> Option<Value<'d, 'a>> {
    object.get(key).filter(|value| !value.is(Kind::Null))
}

/// Gives out the members of the response, except those that are read elsewhere.
pub(crate) fn members(value: Value<'_, '_>, sink: Sink<'_>, elsewhere: &[&str]) {
    for (key, member) in value.members() {
        let name = key.name();
        if !elsewhere.contains(&&*name) {
            sink(Event::Member { name: &name, json: member.raw() });
        }
    }
}

/// Takes the input that a call begins with. Some servers write it as text.
pub(crate) fn start_input(value: Option<Value<'_, '_>>, place: u32, sink: Sink<'_>) {
    let Some(input) = value else { return };
    match input.str() {
        Some(text) => add(sink, place, Addition::StartInput(&text)),
        None => add(sink, place, Addition::StartInput(input.raw())),
    }
}

/// Takes a piece of the input of a call. Some servers write it as JSON.
pub(crate) fn arguments(value: Option<Value<'_, '_>>, place: u32, sink: Sink<'_>) {
    match value.map(|value| (value, value.kind())) {
        Some((text, Kind::String)) => add_arguments(sink, place, text, false),
        Some((object, Kind::Object)) => add(sink, place, Addition::Arguments(object.raw())),
        Some((_, Kind::Null)) => {}
        _ => unreadable(sink, Unreadable::Shape),
    }
}

/// The number of blocks that are remembered. The assembler keeps fewer.
const SLOTS_MAX: usize = 1 << 20;

/// The blocks of a stream by the index the wire gives them.
///
/// The place of a block is its index, as long as no two blocks share one. Some servers give every block the same
/// index: from the second block with one index on, places count up.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    by_index: BTreeMap<u32, Slot>,
    last_index: Option<u32>,
    last_place: Option<u32>,
    is_displaced: bool,
    /// Calls that were open when another block took their index, and whether they had input.
    left_open: Vec<(u32, bool)>,
}

/// A block that began.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) place: u32,
    pub(crate) piece: Piece,
    pub(crate) is_open: bool,
    /// Something of the input of a call has come.
    pub(crate) has_input: bool,
    /// The id of a call.
    id: String,
}

/// The place of a block that begins.
pub(crate) enum Begun {
    /// A new block.
    New(u32),
    /// A block that began before.
    Again(u32),
}

impl Slots {
    pub(crate) fn is_empty(&self) -> bool {
        self.last_place.is_none()
    }

    /// The index of a block that begins; the next one when none is given.
    pub(crate) fn new_index(&self, value: Option<Value<'_, '_>>) -> Option<u32> {
        match value.filter(|value| !value.is(Kind::Null)) {
            Some(value) => index(value)?.try_into().ok(),
            None => self.last_index.map_or(Some(0), |last| last.checked_add(1)),
        }
    }

    /// The index of the block that an event is about; the last block if the event names none.
    pub(crate) fn known_index(&self, value: Option<Value<'_, '_>>) -> Option<u32> {
        match value.filter(|value| !value.is(Kind::Null)) {
            Some(value) => index(value)?.try_into().ok(),
            None => Some(self.last_index.unwrap_or(0)),
        }
    }

    pub(crate) fn get(&self, index: u32) -> Option<&Slot> {
        self.by_index.get(&index)
    }

    /// Notes that a block begins. Returns nothing when no place is left for it.
    pub(crate) fn begin(&mut self, index: u32, piece: Piece, id: &str) -> Option<Begun> {
        if let Some(slot) = self.by_index.get(&index) {
            if slot.is_same(piece, id) {
                return Some(Begun::Again(slot.place));
            }
            self.is_displaced = true;
            if slot.is_open && slot.piece == Piece::Call && self.left_open.len() < SLOTS_MAX {
                self.left_open.push((slot.place, slot.has_input));
            }
        }
        let place = if self.is_displaced { self.last_place?.checked_add(1)? } else { index };
        self.last_place = self.last_place.max(Some(place));
        self.last_index = Some(index);
        if self.by_index.len() < SLOTS_MAX || self.by_index.contains_key(&index) {
            self.by_index.insert(index, Slot { place, piece, is_open: true, has_input: false, id: id.to_owned() });
        }
        Some(Begun::New(place))
    }

    /// Notes that something of the input of a call has come.
    pub(crate) fn note_input(&mut self, index: u32) {
        if let Some(slot) = self.by_index.get_mut(&index) {
            slot.has_input = true;
        }
    }

    /// The places of all calls.
    pub(crate) fn calls(&self) -> impl Iterator<Item = u32> {
        let last = self.by_index.values().filter(|slot| slot.piece == Piece::Call).map(|slot| slot.place);
        self.left_open.iter().map(|(place, _)| *place).chain(last)
    }

    /// The places of calls that were not closed and may be incomplete. When the provider stopped for tool results, only
    /// calls without any input count.
    pub(crate) fn unfinished_calls(&self, stop: Stop) -> impl Iterator<Item = u32> {
        let is_open = |slot: &&Slot| slot.is_open && slot.piece == Piece::Call;
        let last = self.by_index.values().filter(is_open).map(|slot| (slot.place, slot.has_input));
        let open = self.left_open.iter().copied().chain(last);
        open.filter(move |(_, has_input)| stop != Stop::Calls || !has_input).map(|(place, _)| place)
    }

    /// Closes a block, and returns its place.
    pub(crate) fn close(&mut self, index: u32) -> Option<u32> {
        let slot = self.by_index.get_mut(&index)?;
        slot.is_open = false;
        Some(slot.place)
    }
}

impl Slot {
    /// Whether a block that begins on the same index is this one again. Calls are compared by their ids; any other
    /// block that is closed cannot continue.
    fn is_same(&self, piece: Piece, id: &str) -> bool {
        let is_call = matches!(piece, Piece::Call | Piece::ServerCall);
        self.piece == piece && if is_call { !id.is_empty() && self.id == id } else { self.is_open }
    }
}

/// Bits that no byte needs are ignored, as most decoders do.
const LENIENT: GeneralPurposeConfig = NO_PAD.with_decode_allow_trailing_bits(true);

/// Decodes Base64 of either alphabet, with or without padding.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let alphabet = if text.contains(['-', '_']) { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    GeneralPurpose::new(alphabet, LENIENT).decode(text.trim_end_matches('=')).ok()
}
