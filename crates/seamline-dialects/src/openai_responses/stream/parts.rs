//! Reads the parts of messages and reasoning.

use seamline_model::{Addition, Event, Piece, Recalled, Unreadable};

use super::shape::Sort;
use super::{Reader, Wire};
use crate::frames::{Sink, add, add_text, is_told, unreadable, words, words_of};
use crate::json::{Kind, Value};

/// The number of bits of a place for the part of an item.
const PART_BITS: u32 = 12;
/// The largest number of parts in each list of an item.
const PARTS_MAX: u64 = (1 << (PART_BITS - 1)) - 1;
/// The largest number of items.
pub(super) const ITEMS_MAX: u32 = 1 << (32 - PART_BITS);

/// The lists of parts that an item has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Row {
    Summary,
    Content,
}

/// The place of an item itself.
pub(super) fn item_place(item: u32) -> u32 {
    item << PART_BITS
}

/// The item that a place belongs to.
pub(in super::super) fn item_of(place: u32) -> u32 {
    place >> PART_BITS
}

/// The list that a place belongs to; nothing when it is the item's own.
pub(in super::super) fn row_of(place: u32) -> Option<Row> {
    match u64::from(place & ((1 << PART_BITS) - 1)) {
        0 => None,
        part if part <= PARTS_MAX => Some(Row::Summary),
        _ => Some(Row::Content),
    }
}

/// The place of a part.
#[derive(Debug, Clone, Copy)]
struct At {
    item: u32,
    row: Row,
    index: u64,
}

impl At {
    fn place(self) -> Option<u32> {
        let first = if self.row == Row::Summary { 1 } else { PARTS_MAX + 1 };
        (self.index < PARTS_MAX).then(|| item_place(self.item) + (first + self.index) as u32)
    }
}

/// The kinds of text that come in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Text,
    Refusal,
    Reasoning,
    Summary,
}

impl TextKind {
    /// The kind that comes in events of this name.
    pub(super) fn of(event: &str) -> Option<Self> {
        match event {
            "output_text" => Some(Self::Text),
            "refusal" => Some(Self::Refusal),
            "reasoning_text" => Some(Self::Reasoning),
            "reasoning_summary_text" => Some(Self::Summary),
            _ => None,
        }
    }

    /// The kind of a part with this type.
    fn of_type(kind: &str) -> Option<Self> {
        match kind {
            "output_text" | "text" => Some(Self::Text),
            "refusal" => Some(Self::Refusal),
            "reasoning_text" => Some(Self::Reasoning),
            "summary_text" => Some(Self::Summary),
            _ => None,
        }
    }

    fn row(self) -> Row {
        if self == Self::Summary { Row::Summary } else { Row::Content }
    }

    fn piece(self) -> Piece {
        match self {
            Self::Text => Piece::Text,
            Self::Refusal => Piece::Refusal,
            Self::Reasoning | Self::Summary => Piece::Reasoning,
        }
    }

    /// The sort of item it is a part of, and its type.
    fn within(self) -> (Sort, &'static str) {
        match self {
            Self::Text | Self::Refusal => (Sort::Message, "message"),
            Self::Reasoning | Self::Summary => (Sort::Reasoning, "reasoning"),
        }
    }

    /// The base of a part that no event began.
    fn implied(self) -> &'static str {
        match self {
            Self::Text => r#"{"type":"output_text"}"#,
            Self::Refusal => r#"{"type":"refusal"}"#,
            Self::Reasoning => r#"{"type":"reasoning_text"}"#,
            Self::Summary => r#"{"type":"summary_text"}"#,
        }
    }
}

impl Reader {
    /// Takes a piece of a text, or all of it.
    pub(super) fn text_piece(&mut self, said: TextKind, is_whole: bool, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let Some(text) = wire.given(is_whole).filter(|text| text.is(Kind::String)) else {
            return unreadable(sink, Unreadable::Shape);
        };
        let (sort, kind) = said.within();
        let Some(item) = self.item_of(wire, sort, kind, sink) else { return };
        let at = At { item, row: said.row(), index: wire.part_index.unwrap_or_default() };
        let Some(place) = self.part(at, said.piece(), said.implied(), sink) else { return };
        self.has_refused |= said == TextKind::Refusal && is_told(text);
        add_text(sink, place, text, is_whole);
    }

    /// Takes the start or the end of a part.
    pub(super) fn part_event(&mut self, row: Row, is_whole: bool, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let Some((part, object)) = wire.part.and_then(|part| Some((part, part.object()?))) else {
            return unreadable(sink, Unreadable::Shape);
        };
        let said = words_of(object, "type").and_then(|kind| TextKind::of_type(&kind));
        let (sort, kind) = said.map_or((Sort::Message, "message"), TextKind::within);
        let Some(item) = self.item_of(wire, sort, kind, sink) else { return };
        let at = At { item, row, index: wire.part_index.unwrap_or_default() };
        if is_whole {
            self.whole_part(at, part, sink);
        } else {
            self.part(at, said.map_or(Piece::Opaque, TextKind::piece), part.raw(), sink);
        }
    }

    pub(super) fn annotation(&mut self, wire: &Wire<'_, '_, '_>, sink: Sink<'_>) {
        let Some(annotation) = wire.annotation else {
            return unreadable(sink, Unreadable::Shape);
        };
        let Some(item) = self.item_of(wire, Sort::Message, "message", sink) else { return };
        let at = At { item, row: Row::Content, index: wire.part_index.unwrap_or_default() };
        let Some(place) = self.part(at, Piece::Text, TextKind::Text.implied(), sink) else { return };
        add(sink, place, Addition::Element("annotations", annotation.raw()));
    }

    /// Takes the parts of an item that is whole.
    pub(super) fn whole_parts(&mut self, item: u32, row: Row, parts: Value<'_, '_>, sink: Sink<'_>) {
        if let Some(text) = words(parts) {
            // Some servers write a text where a list of parts should be.
            let at = At { item, row, index: 0 };
            if let Some(place) = self.part(at, Piece::Text, TextKind::Text.implied(), sink) {
                add(sink, place, Addition::WholeText(&text));
            }
        }
        for (index, part) in (0..).zip(parts.elements()) {
            self.whole_part(At { item, row, index }, part, sink);
        }
    }

    fn whole_part(&mut self, at: At, part: Value<'_, '_>, sink: Sink<'_>) {
        let Some(object) = part.object() else {
            return unreadable(sink, Unreadable::Shape);
        };
        let said = words_of(object, "type").and_then(|kind| TextKind::of_type(&kind));
        let piece = said.map_or(Piece::Opaque, TextKind::piece);
        let Some(place) = self.part(at, piece, part.raw(), sink) else { return };
        add(sink, place, Addition::Whole(part.raw()));
        let text = object.get(if said == Some(TextKind::Refusal) { "refusal" } else { "text" });
        if let Some(text) = text.filter(|_| said.is_some()).and_then(Value::str) {
            self.has_refused |= piece == Piece::Refusal && !text.is_empty();
            add(sink, place, Addition::WholeText(&text));
        }
        sink(Event::End { place });
    }

    /// Takes what the end of the stream says of a part of a message that was whole before.
    pub(super) fn compare_part(&mut self, item: u32, index: u64, part: Value<'_, '_>, sink: Sink<'_>) {
        let Some(place) = (At { item, row: Row::Content, index }).place() else { return };
        let object = part.object().filter(|part| part.get("type").is_some_and(|kind| kind.says("output_text")));
        if let Some(text) = object.and_then(|part| words_of(part, "text"))
            && self.items.has_text(item, place)
        {
            add(sink, place, Addition::Recalled(Recalled::Text, &text));
        }
    }

    /// The place of a part, which begins with this if it has not; nothing when there cannot be
    /// such a part.
    fn part(&mut self, at: At, piece: Piece, base: &str, sink: Sink<'_>) -> Option<u32> {
        let Some(place) = at.place() else {
            unreadable(sink, Unreadable::Shape);
            return None;
        };
        match self.items.part(at.item, place, piece) {
            None => sink(Event::Begin { place, piece, base }),
            Some(known) if known == piece => {}
            Some(_) => {
                self.has_refused |= piece == Piece::Refusal;
                unreadable(sink, Unreadable::Stray);
                return None;
            }
        }
        Some(place)
    }
}
