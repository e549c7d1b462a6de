//! Finds the call that a piece belongs to (CMP-1 to CMP-7).
//!
//! Servers repeat ids, leave them out, give two calls one index, count on within one call or do
//! not count at all. Two ids are never one call. A piece without an id goes to the only call it can belong to.

use std::borrow::Cow;
use std::collections::HashMap;

use seamline_model::{Addition, Event, Piece, Unreadable};

use super::places;
use crate::frames::{Sink, add, add_arguments, index, is_told, unreadable, words, words_of};
use crate::json::{Kind, Value};

/// The largest number of calls.
const CALLS_MAX: usize = 1 << 16;

/// The calls of a message while they come.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    by_id: HashMap<String, usize>,
    by_index: HashMap<i64, usize>,
    /// The call of the last piece.
    last: Option<usize>,
    has_legacy: bool,
    /// The index that an event around a piece of a call gives it.
    around: Option<i64>,
}

/// The properties of a call by which its pieces are found.
#[derive(Debug, Default)]
struct Slot {
    has_id: bool,
    name: String,
    has_arguments: bool,
    /// The input, if it came as an object.
    object: Option<String>,
    /// The input, if it came as text.
    text: Nesting,
}

/// The progress of a JSON text.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// An object or a list has come to its end.
    is_whole: bool,
}

impl Nesting {
    fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    self.is_whole = false;
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_whole = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

impl Slot {
    /// Whether the input came as text and is incomplete.
    fn goes_on(&self) -> bool {
        !self.name.is_empty() && self.object.is_none() && !self.text.is_whole
    }

    /// Takes an input that is an object. The first of two inputs is used.
    fn object(&mut self, place: u32, given: Value<'_, '_>, sink: Sink<'_>) {
        match &self.object {
            Some(before) if before == given.raw() => {}
            Some(_) => unreadable(sink, Unreadable::Shape),
            None => {
                self.object = Some(given.raw().to_owned());
                arguments(place, given, false, None, sink);
            }
        }
    }
}

/// A piece of a call.
struct Fragment<'d, 'a> {
    value: Value<'d, 'a>,
    id: Option<Cow<'a, str>>,
    index: Option<i64>,
    name: Option<Cow<'a, str>>,
    arguments: Option<Value<'d, 'a>>,
    is_free: bool,
    /// Its place in the list it came in.
    position: usize,
    is_whole: bool,
}

impl<'d, 'a> Fragment<'d, 'a> {
    fn read(value: Value<'d, 'a>, position: usize, is_whole: bool) -> Option<Self> {
        let object = value.object()?;
        let [id, index, function, custom] = object.values(["id", "index", "function", "custom"]);
        let custom = custom.and_then(Value::object);
        // A value in place of name and arguments that is neither is lost.
        if custom.is_none() && function.is_some_and(|function| is_told(function) && !function.is(Kind::Object)) {
            return None;
        }
        // Some servers leave out the object around name and arguments.
        let function = function.and_then(Value::object).or(custom).unwrap_or(object);
        let [name, arguments] = function.values(["name", if custom.is_some() { "input" } else { "arguments" }]);
        let index = index.or_else(|| function.get("index"));
        Some(Self {
            value,
            id: id.and_then(words),
            index: index.and_then(place_of),
            name: name.and_then(words),
            arguments,
            is_free: custom.is_some(),
            position,
            is_whole,
        })
    }

    fn has_arguments(&self) -> bool {
        self.arguments.is_some_and(|arguments| !arguments.is(Kind::Null) && !arguments.says(""))
    }

    /// Whether a piece without an id is of another call than the one it would go to.
    fn begins_another(&self, call: &Slot) -> bool {
        let Some(name) = self.name.as_deref().filter(|_| !call.name.is_empty()) else {
            return false;
        };
        // CMP-2: a complete call does not begin again.
        let is_object = self.arguments.is_some_and(|arguments| {
            let is_begun = || arguments.raw_str().trim_start().starts_with('{');
            arguments.is(Kind::Object) || call.text.is_whole && arguments.is(Kind::String) && is_begun()
        });
        let is_listed = self.index.is_none() && self.position > 0;
        is_listed || (call.has_arguments && (call.name != name || is_object))
    }

    /// Keeps what else a later piece says about its call.
    fn members(&self, place: u32, sink: Sink<'_>) {
        for (key, value) in self.value.members() {
            let name = key.name();
            let is_known = matches!(&*name, "index" | "id" | "type" | "function" | "custom" | "name" | "arguments");
            if !is_known && !value.is(Kind::Null) {
                add(sink, place, Addition::Member(&name, value.raw()));
            }
        }
    }
}

impl Calls {
    /// Takes the calls of a message or of a delta.
    pub(super) fn take(&mut self, calls: Value<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        match calls.kind() {
            Kind::Null => {}
            Kind::Array => {
                for (position, call) in calls.elements().enumerate() {
                    self.take_one(call, position, is_whole, sink);
                }
            }
            _ => self.take_one(calls, 0, is_whole, sink),
        }
    }

    fn take_one(&mut self, call: Value<'_, '_>, position: usize, is_whole: bool, sink: Sink<'_>) {
        match Fragment::read(call, position, is_whole) {
            Some(mut fragment) => {
                fragment.index = fragment.index.or(self.around);
                self.fragment(&fragment, sink);
            }
            None => unreadable(sink, Unreadable::Shape),
        }
    }

    /// Takes the index that an event gives its content.
    pub(super) fn around(&mut self, index: Option<Value<'_, '_>>) {
        self.around = index.and_then(place_of);
    }

    /// Closes the call that the event around is about, else the one that something came for last.
    pub(super) fn close(&mut self, sink: Sink<'_>) {
        let slot = self.around.map_or(self.last, |index| self.by_index.get(&index).copied());
        if let Some(slot) = slot {
            sink(Event::End { place: place(slot) });
        }
    }

    /// Takes the one call that older servers can make, which has no id.
    pub(super) fn take_legacy(&mut self, call: Value<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        let Some(object) = call.object() else {
            if is_told(call) {
                unreadable(sink, Unreadable::Shape);
            }
            return;
        };
        let place = places::LEGACY_CALL;
        if !self.has_legacy {
            self.has_legacy = true;
            sink(Event::Begin { place, piece: Piece::Call, base: call.raw() });
            add(sink, place, Addition::WithoutId);
        }
        if let Some(name) = words_of(object, "name") {
            add(sink, place, Addition::Name(&name));
        }
        if let Some(given) = object.get("arguments") {
            arguments(place, given, is_whole, None, sink);
        }
    }

    fn fragment(&mut self, fragment: &Fragment<'_, '_>, sink: Sink<'_>) {
        let known = self.find(fragment);
        if known.is_none() && self.slots.len() >= CALLS_MAX {
            // The next pieces belong to this call, which is not kept, and to no earlier one.
            self.last = None;
            if let Some(index) = fragment.index {
                self.by_index.remove(&index);
            }
            return unreadable(sink, Unreadable::Shape);
        }
        let slot = known.unwrap_or_else(|| self.open(fragment, sink));
        let place = place(slot);
        if known.is_some() {
            fragment.members(place, sink);
        }
        self.last = Some(slot);
        let call = &mut self.slots[slot];
        if let Some(id) = fragment.id.as_deref() {
            if !call.has_id {
                call.has_id = true;
                self.by_id.insert(id.to_owned(), slot);
                add(sink, place, Addition::Id(id));
            } else if self.by_id.get(id) != Some(&slot) {
                // The second call is noted.
                add(sink, place, Addition::Id(id));
            }
        }
        // CMP-4, CMP-5: a repeated value means nothing.
        if let Some(name) = fragment.name.as_deref().filter(|name| call.name != *name) {
            add(sink, place, Addition::Name(name));
            if call.name.is_empty() {
                name.clone_into(&mut call.name);
            }
        }
        call.has_arguments |= fragment.has_arguments();
        if let Some(given) = fragment.arguments {
            match given.kind() {
                Kind::Object if !fragment.is_whole => call.object(place, given, sink),
                // A call that came as a whole object takes no further piece.
                Kind::String if call.object.is_some() && !fragment.is_whole && !given.says("") => {
                    unreadable(sink, Unreadable::Shape);
                }
                _ => arguments(place, given, fragment.is_whole, Some(&mut call.text), sink),
            }
        }
    }

    /// Finds the call that a piece belongs to. Returns nothing when it begins one.
    fn find(&self, fragment: &Fragment<'_, '_>) -> Option<usize> {
        let at_index = fragment.index.and_then(|index| self.by_index.get(&index).copied());
        if let Some(id) = fragment.id.as_deref() {
            // A call whose id comes late is known by its index alone.
            let is_late = |&slot: &usize| {
                let call = &self.slots[slot];
                !call.has_id && (call.name.is_empty() || fragment.name.is_none())
            };
            // Some servers give every piece of a call another id: a piece without a name that continues incomplete
            // arguments begins no new call.
            let is_piece = |&slot: &usize| {
                let call = &self.slots[slot];
                fragment.name.is_none() && fragment.has_arguments() && call.goes_on()
            };
            let by_index = || at_index.filter(|slot| is_late(slot) || is_piece(slot));
            return self.by_id.get(id).copied().or_else(by_index);
        }
        if fragment.is_whole && fragment.index.is_none() {
            return Some(fragment.position).filter(|slot| *slot < self.slots.len());
        }
        // CMP-3: the tail of a call may have another index than its head.
        let is_tail = fragment.index.is_none() || fragment.name.is_none();
        let slot = at_index.or_else(|| self.last.filter(|_| is_tail))?;
        (!fragment.begins_another(&self.slots[slot])).then_some(slot)
    }

    fn open(&mut self, fragment: &Fragment<'_, '_>, sink: Sink<'_>) -> usize {
        let slot = self.slots.len();
        self.slots.push(Slot::default());
        if let Some(index) = fragment.index {
            self.by_index.insert(index, slot);
        }
        sink(Event::Begin { place: place(slot), piece: Piece::Call, base: fragment.value.raw() });
        if fragment.is_free {
            add(sink, place(slot), Addition::FreeInput);
        }
        slot
    }
}

/// Takes the input of a call (CMP-7).
fn arguments(place: u32, given: Value<'_, '_>, is_whole: bool, text: Option<&mut Nesting>, sink: Sink<'_>) {
    let json = given.raw();
    match given.kind() {
        Kind::Null => {}
        Kind::String => {
            let Some(said) = words(given) else { return };
            if let Some(text) = text {
                text.push(&said);
            }
            add_arguments(sink, place, given, is_whole);
        }
        Kind::Object if given.members().next().is_some() => add(sink, place, Addition::WholeArguments(json)),
        Kind::Object | Kind::Array => add(sink, place, Addition::StartInput(json)),
        Kind::Number | Kind::True | Kind::False => unreadable(sink, Unreadable::Shape),
    }
}

/// The index of a call. Some servers count from below zero.
fn place_of(value: Value<'_, '_>) -> Option<i64> {
    index(value).and_then(|index| index.try_into().ok()).or_else(|| value.raw().parse().ok())
}

fn place(slot: usize) -> u32 {
    places::CALLS + slot as u32
}
