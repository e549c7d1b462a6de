//! Reads the begin and end of items, and the response around them.

use seamline_model::{Addition, Event, Recalled, Stop, Unreadable};

use super::parts::{Row, item_place};
use super::shape::{self, Sort};
use super::{Reader, Wire};
use crate::frames::{Sink, add, is_told, unreadable, usage, words, words_of};
use crate::json::{Kind, Object, Value};
use crate::openai_responses::item;

impl Reader {
    /// The response begins; its members come again at the end.
    pub(super) fn begin(&mut self, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        if self.has_begun {
            return;
        }
        self.has_begun = true;
        let Some((response, object)) = wire.response.and_then(|response| Some((response, response.object()?))) else {
            return unreadable(sink, Unreadable::Shape);
        };
        self.id = words_of(object, "id").unwrap_or_default().into_owned();
        self.declared.read(object);
        emit_members(response, sink);
    }

    pub(super) fn item_added(&mut self, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let Some((item, object)) = wire.item.and_then(|item| Some((item, item.object()?))) else {
            return unreadable(sink, Unreadable::Shape);
        };
        let (sort, id) = (shape::sort(object), words_of(object, "id"));
        let index = wire.output_index;
        let known = if index.is_some() || id.is_some() { self.items.find(index, id.as_deref(), sort) } else { None };
        match known {
            // It was begun by what came of it before, or is repeated.
            Some(known) if self.items.may_be(known, id.as_deref()) && !self.items.is_done(known) => {
                for (key, value) in item.members().filter(|(_, value)| is_told(*value)) {
                    add(sink, item_place(known), Addition::Member(&key.name(), value.raw()));
                }
                emit_name(item_place(known), object, sink);
            }
            _ => {
                self.open(index, object, item, sink);
            }
        }
    }

    pub(super) fn item_done(&mut self, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let Some((item, object)) = wire.item.and_then(|item| Some((item, item.object()?))) else {
            return unreadable(sink, Unreadable::Shape);
        };
        let id = words_of(object, "id").or_else(|| wire.item_id.clone());
        let known = self.items.find(wire.output_index, id.as_deref(), shape::sort(object));
        let known = known.filter(|known| !self.items.is_done(*known) || self.items.may_be(*known, id.as_deref()));
        if let Some(number) = known.or_else(|| self.open(wire.output_index, object, item, sink)) {
            self.settle(number, item, object, sink);
        }
    }

    fn open(&mut self, index: Option<u64>, object: Object<'_, '_>, item: Value<'_, '_>, sink: Sink<'_>) -> Option<u32> {
        let sort = shape::sort(object);
        let Some(number) = self.items.open(index, words_of(object, "id").as_deref(), sort) else {
            unreadable(sink, Unreadable::Shape);
            return None;
        };
        let place = item_place(number);
        sink(Event::Begin { place, piece: sort.piece(), base: item.raw() });
        if matches!(sort, Sort::Call | Sort::ServerCall) {
            emit_name(place, object, sink);
            let kind = shape::kind(object);
            let is_free = shape::is_free(&kind);
            if is_free {
                self.items.note_free(number);
                add(sink, place, Addition::FreeInput);
            }
            if let Some(input) = object.get(shape::input_of(&kind)).filter(|input| is_told(*input)) {
                let text = words(input).unwrap_or(input.raw().into());
                let addition = if is_free { Addition::WholeArguments(&text) } else { Addition::StartInput(&text) };
                add(sink, place, addition);
                // Members of parts without text may still come.
                if input.is(Kind::String) {
                    self.items.note_start(number);
                }
            }
        }
        Some(number)
    }

    /// Takes an item as the provider put it together.
    fn settle(&mut self, number: u32, item: Value<'_, '_>, object: Object<'_, '_>, sink: Sink<'_>) {
        let place = item_place(number);
        self.items.note_pair(number, &words_of(object, "call_id").unwrap_or_default(), self.declared.lacks(object));
        add(sink, place, Addition::Whole(item.raw()));
        match shape::sort(object) {
            Sort::Message => {
                if let Some(content) = object.get("content") {
                    self.whole_parts(number, Row::Content, content, sink);
                }
            }
            Sort::Reasoning => {
                for (row, name) in [(Row::Summary, "summary"), (Row::Content, "content")] {
                    if let Some(parts) = object.get(name).filter(|parts| parts.is(Kind::Array)) {
                        self.whole_parts(number, row, parts, sink);
                    }
                }
            }
            Sort::Call => {
                emit_name(place, object, sink);
                emit_whole_input(place, object, sink);
            }
            Sort::ServerCall => emit_whole_input(place, object, sink),
            Sort::Opaque => {}
        }
        self.items.finish(number);
        sink(Event::End { place });
    }

    /// The response ends.
    pub(super) fn end(&mut self, event: &str, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let response = wire.response.and_then(|response| Some((response, response.object()?)));
        if let Some((value, object)) = response {
            self.response(value, object, sink);
        }
        if wire.error.is_some_and(is_told) {
            return sink(Event::Failed { said: wire.text });
        }
        self.close(event, response.map(|(_, object)| object), wire.text, sink);
    }

    /// Takes a response that came in one piece.
    pub(super) fn whole(&mut self, object: Object<'_, '_>, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        self.response(wire.value, object, sink);
        self.close("done", Some(object), wire.text, sink);
    }

    fn response(&mut self, value: Value<'_, '_>, object: Object<'_, '_>, sink: Sink<'_>) {
        emit_members(value, sink);
        usage(object.get("usage"), sink);
        self.declared.read(object);
        let Some(output) = object.get("output") else { return };
        let (listed, came) = (output.elements().count(), self.items.len());
        for (index, item) in (0..).zip(output.elements()) {
            self.take_listed(index, item, sink);
        }
        self.has_list |= listed != 0;
        // Some servers list nothing at the end.
        if self.has_begun && listed != 0 && listed != came {
            unreadable(sink, Unreadable::Count);
        }
    }

    /// Takes an item that the end of the stream lists. An item that was complete before keeps its text; a different
    /// text is noted.
    fn take_listed(&mut self, index: u64, item: Value<'_, '_>, sink: Sink<'_>) {
        let Some(object) = item.object() else {
            return unreadable(sink, Unreadable::Shape);
        };
        let known = self.items.listed(index, words_of(object, "id").as_deref(), shape::sort(object));
        let number = known.or_else(|| self.open(Some(index), object, item, sink));
        match number {
            Some(number) if self.items.is_done(number) => self.compare(number, object, sink),
            Some(number) => self.settle(number, item, object, sink),
            None => {}
        }
    }

    /// Compares an item in the list at the end with the complete item before.
    fn compare(&mut self, number: u32, object: Object<'_, '_>, sink: Sink<'_>) {
        let place = item_place(number);
        match shape::sort(object) {
            Sort::Call => {
                let input = object.get(shape::input_of(&shape::kind(object))).filter(|input| is_told(*input));
                let input = input.map(|input| words(input).unwrap_or(input.raw().into()));
                let accounts = [
                    (Recalled::Id, words_of(object, "call_id")),
                    (Recalled::Name, words_of(object, "name")),
                    (Recalled::Arguments, input),
                ];
                for (what, said) in accounts {
                    if let Some(said) = said {
                        add(sink, place, Addition::Recalled(what, &said));
                    }
                }
                emit_unfinished(place, object, sink);
            }
            Sort::Message => {
                for (index, part) in (0..).zip(object.get("content").into_iter().flat_map(Value::elements)) {
                    self.compare_part(number, index, part, sink);
                }
            }
            Sort::Reasoning | Sort::ServerCall | Sort::Opaque => {}
        }
    }

    /// Gives out how the response ended. The worst of its own statements counts.
    fn close(&mut self, event: &str, response: Option<Object<'_, '_>>, text: &str, sink: Sink<'_>) {
        let member = |name| response.and_then(|response| response.get(name)).filter(|value| is_told(*value));
        let status = member("status").and_then(Value::str).unwrap_or_default();
        let says = |word: &str| event == word || status == word;
        let details = member("incomplete_details").and_then(Value::object);
        let reason = details.and_then(|details| words_of(details, "reason"));
        if says("failed") || member("error").is_some() {
            let said = member("error").map_or(text, Value::raw);
            sink(Event::Failed { said });
        } else if says("cancelled") {
            sink(Event::Stop { stop: Stop::Failure, word: "cancelled" });
        } else if says("incomplete") || reason.is_some() {
            let reason = reason.unwrap_or("incomplete".into());
            let stop = match Stop::of_word(&reason) {
                Stop::Turn | Stop::Calls | Stop::Pause | Stop::Other => Stop::Length,
                stop => stop,
            };
            self.leave_unfinished(false, sink);
            self.stop(stop, &reason, sink);
        } else if matches!(&*status, "in_progress" | "queued") {
            // It is over, and says of itself that it is not.
            if event == "completed" {
                unreadable(sink, Unreadable::Shape);
            }
        } else if says("completed") {
            self.leave_unfinished(!self.has_list, sink);
            for item in self.items.answered_calls() {
                add(sink, item_place(item), Addition::AnsweredByServer);
            }
            let stop = match (self.has_refused, self.items.has_open_calls()) {
                (true, _) => Stop::Refusal,
                (false, true) => Stop::Calls,
                (false, false) => Stop::Turn,
            };
            self.stop(stop, "completed", sink);
        }
    }

    /// Says which calls were never finished.
    fn leave_unfinished(&self, is_lenient: bool, sink: Sink<'_>) {
        for item in self.items.unfinished_calls(is_lenient) {
            add(sink, item_place(item), Addition::Unfinished);
        }
    }

    fn stop(&mut self, stop: Stop, word: &str, sink: Sink<'_>) {
        self.is_done = true;
        sink(Event::Stop { stop, word });
        sink(Event::Done);
    }
}

/// Emits the members of a response around its output.
fn emit_members(response: Value<'_, '_>, sink: Sink<'_>) {
    for (key, value) in response.members() {
        let name = key.name();
        if !matches!(&*name, "output" | "usage") {
            sink(Event::Member { name: &name, json: value.raw() });
        }
    }
}

/// Emits the id and the name of a call.
fn emit_name(place: u32, object: Object<'_, '_>, sink: Sink<'_>) {
    if let Some(id) = words_of(object, "call_id").or_else(|| words_of(object, "id")) {
        add(sink, place, Addition::Id(&id));
    }
    match words_of(object, "name") {
        Some(name) => add(sink, place, Addition::Name(&name)),
        None => match &*shape::kind(object) {
            // These have a member for their name, or no name.
            "function_call" | "custom_tool_call" | "" => {}
            kind => add(sink, place, Addition::Name(shape::name_of(kind))),
        },
    }
}

/// Emits the input of a call, and whether it is complete.
fn emit_whole_input(place: u32, object: Object<'_, '_>, sink: Sink<'_>) {
    if let Some(input) = object.get(shape::input_of(&shape::kind(object))).filter(|input| is_told(*input)) {
        let text = words(input).unwrap_or(input.raw().into());
        add(sink, place, Addition::WholeArguments(&text));
    }
    emit_unfinished(place, object, sink);
}

/// Notes that a call is incomplete, if its status says so. The calls of a program were recorded with the status
/// `in_progress` in complete responses: they are in progress until they are answered.
fn emit_unfinished(place: u32, object: Object<'_, '_>, sink: Sink<'_>) {
    let is_of_program =
        || object.get("caller").and_then(Value::object).is_some_and(|caller| caller.get("caller_id").is_some());
    let says = |status: &str| item::is_unfinished(status) && !(status == "in_progress" && is_of_program());
    if words_of(object, "status").is_some_and(|status| says(&status)) {
        add(sink, place, Addition::Unfinished);
    }
}
