//! Reads the frames of a Responses stream.
//!
//! A finished item counts before its pieces (OAR-19). Nothing is complete until the response is (OAR-20).

mod declared;
mod items;
mod parts;
mod response;
mod shape;

use std::borrow::Cow;

use seamline_frame::Frame;
use seamline_model::{Addition, Event, Unreadable};

use self::declared::Declared;
use self::items::Items;
use self::parts::{Row, TextKind};
use self::shape::Sort;
use crate::frames::{Sink, add, add_arguments, document, foreign, index, is_told, unreadable, words, words_of};
use crate::json::{Alike, Kind, Value};
use crate::streaming::StreamReader;

pub(super) use self::parts::{Row as PartRow, item_of, row_of};
pub(super) use self::shape::input_of;

/// Reads one stream.
#[derive(Debug, Default)]
pub(super) struct Reader {
    items: Items,
    /// The tools that the response declares.
    declared: Declared,
    has_begun: bool,
    /// The id of the response that began.
    id: String,
    /// Whether another response began. Its events are ignored.
    has_second: bool,
    has_refused: bool,
    /// Whether the end of the response lists its items.
    has_list: bool,
    is_done: bool,
    alike: Alike,
}

/// Makes a reader for a new stream.
pub(super) fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader::default())
}

impl StreamReader for Reader {
    fn handle_frame(&mut self, frame: &Frame<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        // Some servers send the last line of Chat Completions, which ends nothing here.
        let Some(document) = document(frame, &mut self.alike, sink) else { return };
        let name = std::str::from_utf8(frame.name).unwrap_or_default();
        self.frame(&Wire::read(document.root(), name), sink);
        self.alike.keep(document);
    }

    /// The end of the bytes means nothing: the terminal event of the response counts.
    fn handle_end(&mut self, _: &mut dyn FnMut(Event<'_>)) {}
}

/// The members of an event.
struct Wire<'d, 'a, 'f> {
    value: Value<'d, 'a>,
    kind: Cow<'f, str>,
    /// The source of the event.
    text: &'f str,
    output_index: Option<u64>,
    item_id: Option<Cow<'a, str>>,
    /// The place of a part in its list.
    part_index: Option<u64>,
    delta: Option<Value<'d, 'a>>,
    /// The value that came in pieces, repeated as a whole at the end.
    whole: Option<Value<'d, 'a>>,
    item: Option<Value<'d, 'a>>,
    part: Option<Value<'d, 'a>>,
    name: Option<Value<'d, 'a>>,
    annotation: Option<Value<'d, 'a>>,
    response: Option<Value<'d, 'a>>,
    error: Option<Value<'d, 'a>>,
}

impl<'d, 'a: 'f, 'f> Wire<'d, 'a, 'f> {
    fn read(root: Value<'d, 'a>, name: &'f str) -> Self {
        let mut wire = Self {
            value: root,
            kind: name.into(),
            text: root.raw(),
            output_index: None,
            item_id: None,
            part_index: None,
            delta: None,
            whole: None,
            item: None,
            part: None,
            name: None,
            annotation: None,
            response: None,
            error: None,
        };
        for (key, value) in root.members() {
            match &*key.name() {
                "type" => wire.kind = words(value).unwrap_or(wire.kind),
                "output_index" => wire.output_index = index(value),
                "item_id" => wire.item_id = words(value),
                "content_index" | "summary_index" => wire.part_index = index(value),
                "delta" => wire.delta = Some(value),
                "text" | "refusal" | "arguments" | "input" | "code" => wire.whole = Some(value),
                "item" => wire.item = Some(value),
                "part" => wire.part = Some(value),
                "name" => wire.name = Some(value),
                "annotation" => wire.annotation = Some(value),
                "response" => wire.response = Some(value),
                "error" => wire.error = Some(value),
                _ => {}
            }
        }
        wire
    }

    /// Whether it is an error in place of an event. Gateways write errors unchanged, under the name of the event that
    /// never came.
    fn is_error(&self) -> bool {
        let Some(root) = self.value.object().filter(|root| root.get("type").is_none()) else { return false };
        let says = |name| root.get(name).is_some_and(is_told);
        let is_event = [self.response, self.item, self.part, self.delta, self.whole].iter().any(Option::is_some);
        let is_response = root.get("object").is_some_and(|object| object.says("response"));
        !is_event && !is_response && ["error", "detail", "message"].into_iter().any(says)
    }

    /// The delta, or the whole text.
    fn given(&self, is_whole: bool) -> Option<Value<'d, 'a>> {
        if is_whole { self.whole } else { self.delta }
    }
}

impl Reader {
    fn frame(&mut self, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        if wire.is_error() {
            return sink(Event::Failed { said: wire.text });
        }
        if self.is_of_another(wire) {
            if !self.has_second {
                unreadable(sink, Unreadable::SecondMessage);
            }
            self.has_second = true;
            return;
        }
        let Some(event) = wire.kind.strip_prefix("response.") else {
            return self.other(wire, sink);
        };
        match event {
            // Only that it did not end well can come after the end.
            _ if self.is_done && !matches!(event, "failed" | "incomplete" | "cancelled") => {}
            "created" | "in_progress" | "queued" => self.begin(wire, sink),
            "completed" | "incomplete" | "failed" | "cancelled" | "done" => self.end(event, wire, sink),
            "output_item.added" => self.item_added(wire, sink),
            "output_item.done" => self.item_done(wire, sink),
            "content_part.added" => self.part_event(Row::Content, false, wire, sink),
            "content_part.done" => self.part_event(Row::Content, true, wire, sink),
            "reasoning_summary_part.added" => self.part_event(Row::Summary, false, wire, sink),
            "reasoning_summary_part.done" => self.part_event(Row::Summary, true, wire, sink),
            "output_text.annotation.added" => self.annotation(wire, sink),
            _ => self.piece(event, wire, sink),
        }
    }

    /// Whether an event is of another response than the one that counts.
    fn is_of_another(&self, wire: &Wire<'_, '_, '_>) -> bool {
        let response = wire.response.and_then(Value::object);
        let id = response.and_then(|response| words_of(response, "id")).unwrap_or_default();
        let is_created = wire.kind == "response.created";
        self.has_second || (is_created && self.has_begun && (self.is_done || *id != *self.id))
    }

    /// Takes a piece of a text or of an input. Unknown events are skipped: many only report the progress of a tool of the
    /// provider.
    fn piece(&mut self, event: &str, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let Some((what, state)) = event.rsplit_once('.') else { return };
        let is_whole = match state {
            "delta" => false,
            "done" => true,
            _ => return,
        };
        if let Some(kind) = TextKind::of(what) {
            self.text_piece(kind, is_whole, wire, sink);
        } else if let Some(called) = shape::called(what) {
            self.input_piece(called, is_whole, wire, sink);
        }
    }

    fn input_piece(&mut self, called: (&str, Sort), is_whole: bool, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let Some(given) = wire.given(is_whole) else {
            return unreadable(sink, Unreadable::Shape);
        };
        let (kind, sort) = called;
        let Some(item) = self.item_of(wire, sort, kind, sink) else { return };
        if self.items.is_done(item) {
            // OAR-19: the finished item holds all its content. A piece of another item would be lost.
            if !self.items.may_be(item, wire.item_id.as_deref()) {
                unreadable(sink, Unreadable::Stray);
            }
            return;
        }
        let place = parts::item_place(item);
        if let Some(name) = wire.name.and_then(words) {
            add(sink, place, Addition::Name(&name));
        }
        self.items.note_input(item, is_whole);
        match given.kind() {
            Kind::String => {
                if is_told(given) {
                    add_arguments(sink, place, given, is_whole);
                }
            }
            Kind::Object if is_told(given) => add(sink, place, Addition::WholeArguments(given.raw())),
            Kind::Object | Kind::Null => {}
            _ => unreadable(sink, Unreadable::Shape),
        }
    }

    /// Finds or begins the item of an event.
    fn item_of(&mut self, wire: &Wire<'_, '_, '_>, sort: Sort, kind: &str, sink: Sink<'_>) -> Option<u32> {
        let id = wire.item_id.as_deref();
        if let Some(item) = self.items.find(wire.output_index, id, sort) {
            return Some(item);
        }
        let Some(item) = self.items.open(wire.output_index, id, sort) else {
            unreadable(sink, Unreadable::Shape);
            return None;
        };
        let base = shape::implied(kind, id);
        sink(Event::Begin { place: parts::item_place(item), piece: sort.piece(), base: &base });
        if shape::is_free(kind) {
            self.items.note_free(item);
            add(sink, parts::item_place(item), Addition::FreeInput);
        }
        Some(item)
    }

    /// Takes a value that is not an event of a response.
    fn other(&mut self, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let Some(root) = wire.value.object() else {
            return foreign(wire.value, sink);
        };
        let says = |name| root.get(name).is_some_and(is_told);
        let is_response = root.get("object").is_some_and(|object| object.says("response"));
        if is_response && self.is_done {
            // Only a failure can come after the end.
        } else if is_response {
            self.whole(root, wire, sink);
        } else if wire.kind == "error" || says("error") || (wire.kind.is_empty() && (says("detail") || says("message")))
        {
            sink(Event::Failed { said: wire.text });
        } else if wire.kind.is_empty() {
            foreign(wire.value, sink);
        }
    }
}

#[cfg(test)]
mod tests;
