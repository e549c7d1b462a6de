//! Reads the steps of a streamed interaction and their deltas.

use std::collections::BTreeMap;

use seamline_model::{Addition, Event, Piece, Stop, Unreadable};

use crate::frames::{Sink, add, add_text, is_told, unreadable, words_of};
use crate::gemini_interactions::step::{self, Form};
use crate::json::{Document, Kind, Object, Value};
use crate::streamed::{Begun, Slots, arguments, start_input};

/// The number of bits of a place for the contents of a step.
const PART_BITS: u32 = 12;
/// The largest number of contents of a step.
const PARTS_MAX: u32 = (1 << PART_BITS) - 1;
/// The largest number of steps.
const STEPS_MAX: u32 = 1 << (32 - PART_BITS);

/// The place of a step itself.
pub(super) fn place_of(step: u32) -> u32 {
    step << PART_BITS
}

/// The step that a place belongs to.
pub(in super::super) fn step_of(place: u32) -> u32 {
    place >> PART_BITS
}

/// Whether a place is that of a step itself, not of a content.
pub(in super::super) fn is_step(place: u32) -> bool {
    place.is_multiple_of(1 << PART_BITS)
}

/// The steps of an interaction while they come.
#[derive(Default)]
pub(super) struct Steps {
    slots: Slots,
    all: BTreeMap<u32, Step>,
    /// The index of the last call that began.
    last_call: Option<u32>,
}

struct Step {
    number: u32,
    form: Form,
    /// The number of contents, and whether the last one is a text.
    parts: u32,
    ends_in_text: bool,
    /// Members that come in pieces, with their JSON. They are given out when the step ends.
    held: Vec<(String, Held)>,
}

/// A member that comes in pieces.
enum Held {
    /// The inside of a string, which the next piece continues.
    Text(String),
    /// Any other value, which the next one replaces.
    Json(String),
}

/// The name under which the signature of a thought is held.
const SIGNATURE: &str = "signature";

type Indexed<'d, 'a> = (Option<Value<'d, 'a>>, Option<Value<'d, 'a>>);

impl Steps {
    /// Whether the client has calls to answer.
    pub(super) fn has_calls(&self) -> bool {
        self.last_call.is_some()
    }

    /// The calls that were not closed and may be incomplete.
    pub(super) fn unfinished_calls(&self, stop: Stop) -> Vec<u32> {
        self.slots.unfinished_calls(stop).collect()
    }

    /// Takes the steps that an event lists: all of a response that came in one piece. Steps that came before are not
    /// taken again; a different number of them is noted.
    pub(super) fn take_listed(&mut self, steps: Value<'_, '_>, sink: Sink<'_>) {
        let count = steps.elements().count();
        if !self.slots.is_empty() {
            if count != 0 && count != self.all.len() {
                unreadable(sink, Unreadable::Count);
            }
            return;
        }
        for (index, value) in (0..).zip(steps.elements()) {
            self.begin_at(index, Some(value), sink);
            if let Some(step) = self.all.get(&index).filter(|_| value.is(Kind::Object)) {
                add(sink, place_of(step.number), Addition::Whole(value.raw()));
            }
            self.close(index, sink);
        }
    }

    /// Takes the begin of a step.
    pub(super) fn begin(&mut self, (index, step): Indexed<'_, '_>, sink: Sink<'_>) {
        match self.slots.new_index(index) {
            Some(index) => self.begin_at(index, step, sink),
            None => unreadable(sink, Unreadable::Shape),
        }
    }

    fn begin_at(&mut self, index: u32, step: Option<Value<'_, '_>>, sink: Sink<'_>) {
        let Some((value, object)) = step.and_then(|step| Some((step, step.object()?))) else {
            return unreadable(sink, Unreadable::Shape);
        };
        let kind = words_of(object, "type").unwrap_or_default();
        let id = words_of(object, "id").unwrap_or_default();
        if let Some(place) = self.open(index, (&kind, &id), value.raw(), sink) {
            self.start(index, place, object, sink);
        }
    }

    /// Opens a step of a type at an index, and returns its place unless it was open before.
    fn open(&mut self, index: u32, (kind, id): (&str, &str), base: &str, sink: Sink<'_>) -> Option<u32> {
        let form = step::of(kind).form;
        let piece = match form {
            Form::Call => Piece::Call,
            Form::Thought => Piece::Reasoning,
            _ => Piece::Opaque,
        };
        let (number, is_new) = match self.slots.begin(index, piece, id) {
            Some(Begun::New(number)) => (number, true),
            Some(Begun::Again(number)) => (number, false),
            None => (STEPS_MAX, false),
        };
        if number >= STEPS_MAX {
            unreadable(sink, Unreadable::Shape);
            return None;
        }
        sink(Event::Begin { place: place_of(number), piece, base });
        if !is_new {
            return None;
        }
        self.last_call = if form == Form::Call { Some(index) } else { self.last_call };
        self.all.insert(index, Step { number, form, parts: 0, ends_in_text: false, held: Vec::new() });
        if form == Form::Thought {
            add(sink, place_of(number), Addition::NeedsSignature);
        }
        Some(place_of(number))
    }

    /// Takes what a step begins with.
    fn start(&mut self, index: u32, place: u32, object: Object<'_, '_>, sink: Sink<'_>) {
        match self.all.get_mut(&index).map(|step| (step.form, step)) {
            Some((Form::Call, _)) => {
                add(sink, place, Addition::Id(&words_of(object, "id").unwrap_or_default()));
                add(sink, place, Addition::Name(&words_of(object, "name").unwrap_or_default()));
                let input = object.get("arguments");
                start_input(input, place, sink);
                if input.is_some_and(is_told) {
                    self.slots.note_input(index);
                }
            }
            Some((Form::Thought, step)) => {
                for content in object.get("summary").into_iter().flat_map(Value::elements) {
                    summary(place, content, sink);
                }
                if let Some(signature) = object.get(SIGNATURE).filter(|signature| is_told(*signature)) {
                    step.hold(SIGNATURE, signature);
                }
            }
            Some((Form::Speech, step)) => {
                for content in object.get("content").into_iter().flat_map(Value::elements) {
                    step.content(content, sink);
                }
            }
            _ => {}
        }
    }

    /// Takes a delta of a step.
    pub(super) fn grow(&mut self, (index, delta): Indexed<'_, '_>, sink: Sink<'_>) {
        let (Some(index), Some((value, delta))) =
            (self.slots.known_index(index), delta.and_then(|delta| Some((delta, delta.object()?))))
        else {
            return unreadable(sink, Unreadable::Shape);
        };
        let kind = words_of(delta, "type").unwrap_or_default();
        if let "arguments_delta" | "arguments" | step::FUNCTION_CALL = &*kind {
            return self.input(index, delta, sink);
        }
        if !self.is_open(index) && !self.begin_implied(index, &kind, sink) {
            return unreadable(sink, Unreadable::Stray);
        }
        let Some(step) = self.all.get_mut(&index) else { return };
        let place = place_of(step.number);
        match (&*kind, step.form) {
            ("thought_summary", Form::Thought) => {
                if let Some(content) = delta.get("content") {
                    summary(place, content, sink);
                }
            }
            ("thought_signature", Form::Thought) => match delta.get(SIGNATURE) {
                Some(signature) if signature.is(Kind::String) => step.hold(SIGNATURE, signature),
                Some(signature) if is_told(signature) => unreadable(sink, Unreadable::Shape),
                _ => {}
            },
            ("text_annotation_delta", Form::Speech) => step.annotate(delta, sink),
            (_, Form::Speech) => step.content(value, sink),
            (_, Form::Thought | Form::Call) => unreadable(sink, Unreadable::Shape),
            // The members of a step of the provider's own tools, or of a new type.
            (_, Form::Opaque | Form::Result | Form::Content | Form::Turn) => {
                for (key, member) in value.members().filter(|(key, _)| !key.says("type")) {
                    step.hold(&key.name(), member);
                }
            }
        }
    }

    fn is_open(&self, index: u32) -> bool {
        self.slots.get(index).is_some_and(|slot| slot.is_open)
    }

    /// Begins the step of a delta that no event began.
    fn begin_implied(&mut self, index: u32, delta: &str, sink: Sink<'_>) -> bool {
        let kind = match delta {
            "thought_summary" | "thought_signature" => step::THOUGHT,
            "text_annotation_delta" => step::MODEL_OUTPUT,
            delta if step::is_content(delta) => step::MODEL_OUTPUT,
            _ => return false,
        };
        let is_new = self.slots.get(index).is_none();
        is_new && self.open(index, (kind, ""), &format!(r#"{{"type":"{kind}"}}"#), sink).is_some()
    }

    /// Takes a piece of the input of a call. Some events give the index of the step before the call.
    fn input(&mut self, index: u32, delta: Object<'_, '_>, sink: Sink<'_>) {
        let piece = delta.get("arguments").or_else(|| delta.get("partial_arguments"));
        let is_call = |slots: &Slots, index: &u32| {
            slots.get(*index).is_some_and(|slot| slot.is_open && slot.piece == Piece::Call)
        };
        let known = [Some(index), self.last_call].into_iter().flatten().find(|index| is_call(&self.slots, index));
        let Some(index) = known else {
            if self.slots.get(index).is_some() {
                return unreadable(sink, Unreadable::Stray);
            }
            self.open(index, (step::FUNCTION_CALL, ""), r#"{"type":"function_call"}"#, sink);
            return self.give(index, piece, sink);
        };
        self.give(index, piece, sink);
    }

    fn give(&mut self, index: u32, piece: Option<Value<'_, '_>>, sink: Sink<'_>) {
        let Some(slot) = self.slots.get(index) else { return };
        let place = place_of(slot.place);
        if piece.is_some_and(is_told) {
            self.slots.note_input(index);
        }
        if piece.is_some() {
            arguments(piece, place, sink);
        }
    }

    /// Takes the end of a step.
    pub(super) fn end(&mut self, index: Option<Value<'_, '_>>, sink: Sink<'_>) {
        match self.slots.known_index(index).filter(|index| self.is_open(*index)) {
            Some(index) => self.close(index, sink),
            None => unreadable(sink, Unreadable::Stray),
        }
    }

    fn close(&mut self, index: u32, sink: Sink<'_>) {
        let Some(step) = self.all.get_mut(&index).filter(|_| self.slots.close(index).is_some()) else { return };
        step.release(sink);
        let place = place_of(step.number);
        (place..=place + step.parts).for_each(|place| sink(Event::End { place }));
    }

    /// Gives out what steps without an end hold, because the interaction has ended.
    pub(super) fn finish(&mut self, sink: Sink<'_>) {
        self.all.values_mut().for_each(|step| step.release(sink));
    }

    /// Gives out what steps without an end hold, but not a signature: the stream may have been cut inside it.
    pub(super) fn leave_open(&mut self, sink: Sink<'_>) {
        let open = self.all.values_mut().filter(|step| step.form != Form::Thought);
        open.for_each(|step| step.release(sink));
    }
}

impl Step {
    /// Takes a content, or a piece of the last one if both are text.
    fn content(&mut self, content: Value<'_, '_>, sink: Sink<'_>) {
        let Some(object) = content.object() else { return unreadable(sink, Unreadable::Shape) };
        let text = object.get("type").filter(|kind| kind.says("text")).and_then(|_| object.get("text"));
        let Some(text) = text.filter(|text| text.is(Kind::String)) else {
            self.ends_in_text = false;
            self.part(Piece::Opaque, content.raw(), sink);
            return;
        };
        if let Some(place) = self.text_place(content, sink) {
            add_text(sink, place, text, false);
        }
    }

    /// The place of the text that a piece continues.
    fn text_place(&mut self, content: Value<'_, '_>, sink: Sink<'_>) -> Option<u32> {
        if self.ends_in_text {
            return Some(place_of(self.number) + self.parts);
        }
        self.ends_in_text = true;
        self.part(Piece::Text, content.raw(), sink)
    }

    fn part(&mut self, piece: Piece, base: &str, sink: Sink<'_>) -> Option<u32> {
        if self.parts >= PARTS_MAX {
            unreadable(sink, Unreadable::Shape);
            return None;
        }
        self.parts += 1;
        let place = place_of(self.number) + self.parts;
        sink(Event::Begin { place, piece, base });
        Some(place)
    }

    /// Takes the sources of a text.
    fn annotate(&mut self, delta: Object<'_, '_>, sink: Sink<'_>) {
        if !self.ends_in_text {
            return unreadable(sink, Unreadable::Stray);
        }
        let place = place_of(self.number) + self.parts;
        for annotation in delta.get("annotations").into_iter().flat_map(Value::elements) {
            add(sink, place, Addition::Element("annotations", annotation.raw()));
        }
    }

    /// Holds a member, or a piece of it, until the step ends.
    fn hold(&mut self, name: &str, value: Value<'_, '_>) {
        let known = self.held.iter_mut().find(|(known, _)| known == name);
        match (known, value.is(Kind::String)) {
            (Some((_, Held::Text(text))), true) => text.push_str(value.raw_str()),
            (Some((_, held)), is_text) => *held = Held::of(value, is_text),
            (None, is_text) => self.held.push((name.to_owned(), Held::of(value, is_text))),
        }
    }

    fn release(&mut self, sink: Sink<'_>) {
        let place = place_of(self.number);
        for (name, held) in self.held.drain(..) {
            let json = match held {
                Held::Text(text) => ["\"", &text, "\""].concat(),
                Held::Json(json) => json,
            };
            match self.form {
                Form::Thought if name == SIGNATURE => {
                    let document = Document::read(&json).ok();
                    let signature = document.as_ref().and_then(|document| document.root().str());
                    add(sink, place, Addition::Signature(&signature.unwrap_or_default()));
                }
                _ => add(sink, place, Addition::Member(&name, &json)),
            }
        }
    }
}

impl Held {
    fn of(value: Value<'_, '_>, is_text: bool) -> Self {
        if is_text { Self::Text(value.raw_str().to_owned()) } else { Self::Json(value.raw().to_owned()) }
    }
}

/// Takes a content of the readable part of a thought.
fn summary(place: u32, content: Value<'_, '_>, sink: Sink<'_>) {
    let text = content.object().and_then(|content| content.get("text"));
    match text.filter(|text| text.is(Kind::String)) {
        Some(text) => add_text(sink, place, text, false),
        None if is_told(content) => add(sink, place, Addition::Element("summary", content.raw())),
        None => {}
    }
}
