//! Reads the content of a message: a string, or a list of parts (MIS-9).

use seamline_model::{Addition, Event, Piece, Unreadable};

use super::places;
use crate::frames::{Sink, add, add_text, is_told, unreadable, words_of};
use crate::json::{Kind, Object, Value};

/// The largest number of parts.
const PARTS_MAX: u32 = places::LEGACY_CALL - places::CONTENT;

/// The content of a message while it comes.
#[derive(Debug, Default)]
pub(super) struct Content {
    parts: u32,
    /// The part that came last, if more may come for it.
    open: Option<Piece>,
}

impl Content {
    /// Takes the content of a message or of a delta.
    pub(super) fn take(&mut self, content: Value<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        match content.kind() {
            Kind::Null => {}
            Kind::String => self.plain(content, is_whole, sink),
            // The content that came in pieces is there already.
            Kind::Array | Kind::Object if is_whole && self.parts > 0 => {}
            Kind::Array => content.elements().for_each(|part| self.element(part, sink)),
            Kind::Object => self.part(content, sink),
            Kind::Number | Kind::True | Kind::False => unreadable(sink, Unreadable::Shape),
        }
    }

    fn element(&mut self, element: Value<'_, '_>, sink: Sink<'_>) {
        match element.kind() {
            Kind::Object => self.part(element, sink),
            Kind::String => self.plain(element, false, sink),
            Kind::Null => {}
            _ => unreadable(sink, Unreadable::Shape),
        }
    }

    fn plain(&mut self, text: Value<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        if is_told(text) {
            let place = self.text(sink);
            add_text(sink, place, text, is_whole);
        }
    }

    /// The place of the text that goes on, or of a new one.
    fn text(&mut self, sink: Sink<'_>) -> u32 {
        if self.open != Some(Piece::Text) {
            self.begin(Piece::Text, "", sink);
        }
        self.place()
    }

    /// Takes a part, which goes on with the one before it if it is of the same kind.
    pub(super) fn part(&mut self, part: Value<'_, '_>, sink: Sink<'_>) {
        let Some(object) = part.object() else { return };
        let piece = piece(object);
        if self.open == Some(piece) && piece != Piece::Opaque {
            for (key, value) in part.members() {
                let name = key.name();
                if !matches!(&*name, "type" | "text" | "thinking") && !value.is(Kind::Null) {
                    add(sink, self.place(), Addition::Member(&name, value.raw()));
                }
            }
        } else {
            self.begin(piece, part.raw(), sink);
        }
        let said = match piece {
            Piece::Text => object.get("text"),
            Piece::Reasoning => object.get("thinking"),
            _ => None,
        };
        match said {
            Some(text) if text.is(Kind::String) && is_told(text) => add_text(sink, self.place(), text, false),
            Some(list) if list.is(Kind::Array) => self.thought(list, sink),
            _ => {}
        }
    }

    /// Takes the reasoning of a part that is a list of texts.
    fn thought(&self, thinking: Value<'_, '_>, sink: Sink<'_>) {
        let texts = thinking.elements().filter_map(Value::object).filter_map(|part| words_of(part, "text"));
        let text = texts.collect::<Vec<_>>().concat();
        if !text.is_empty() {
            add(sink, self.place(), Addition::Text(&text));
        }
    }

    /// Closes the part that came last.
    pub(super) fn close(&mut self, sink: Sink<'_>) {
        if self.open.take().is_some() {
            sink(Event::End { place: self.place() });
        }
    }

    fn begin(&mut self, piece: Piece, base: &str, sink: Sink<'_>) {
        if self.parts < PARTS_MAX {
            self.parts += 1;
        }
        self.open = Some(piece);
        sink(Event::Begin { place: self.place(), piece, base });
    }

    /// The place of the part that came last.
    fn place(&self) -> u32 {
        places::CONTENT + self.parts.saturating_sub(1)
    }
}

fn piece(part: Object<'_, '_>) -> Piece {
    match part.get("type").and_then(Value::str).as_deref() {
        Some("text" | "output_text") => Piece::Text,
        Some("thinking") => Piece::Reasoning,
        None if part.get("text").is_some() => Piece::Text,
        None if part.get("thinking").is_some() => Piece::Reasoning,
        _ => Piece::Opaque,
    }
}
