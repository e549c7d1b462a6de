//! Reads the blocks of a streamed message and their deltas.

use seamline_model::{Addition, Event, Piece, Unreadable};

use super::Reader;
use crate::frames::{self, Sink, add, is_told, unreadable, words, words_of};
use crate::json::{Kind, Object, Value};
use crate::streamed::{Begun, Slot, arguments, present, start_input};

impl Reader {
    /// Takes the blocks inside a message that begins (ANT-56).
    pub(super) fn content(&mut self, content: Option<Value<'_, '_>>, sink: Sink<'_>) {
        let Some(content) = content else { return };
        if let Some(text) = content.str().filter(|text| !text.is_empty()) {
            if let Some(Begun::New(place)) = self.slots.begin(0, Piece::Text, "") {
                sink(Event::Begin { place, piece: Piece::Text, base: "" });
                add(sink, place, Addition::Text(&text));
            }
            return;
        }
        for (index, block) in (0..).zip(content.elements()) {
            self.begin(index, Some(block), sink);
            if let Some(place) = self.slots.close(index) {
                sink(Event::End { place });
            }
        }
    }

    pub(super) fn begin(&mut self, index: u32, block: Option<Value<'_, '_>>, sink: Sink<'_>) {
        let Some((value, block)) = block.and_then(|block| Some((block, block.object()?))) else {
            unreadable(sink, Unreadable::Shape);
            return;
        };
        let kind = words_of(block, "type").unwrap_or_default();
        let piece = piece(&kind);
        let id = words_of(block, "id").unwrap_or_default();
        let place = match self.slots.begin(index, piece, &id) {
            Some(Begun::New(place)) => place,
            Some(Begun::Again(place)) => {
                sink(Event::Begin { place, piece, base: value.raw() });
                return;
            }
            None => {
                unreadable(sink, Unreadable::Shape);
                return;
            }
        };
        sink(Event::Begin { place, piece, base: value.raw() });
        if kind == "fallback" {
            // ANT-41: another model responds in place of the one that made calls, so these get no results.
            self.slots.calls().for_each(|call| add(sink, call, Addition::Unfinished));
        }
        match piece {
            Piece::Text | Piece::Refusal => {
                add_text(block.get("text"), place, sink);
                if let Some(citations) = block.get("citations").filter(|list| list.elements().next().is_some()) {
                    add(sink, place, Addition::Member("citations", citations.raw()));
                }
            }
            Piece::Reasoning => {
                add(sink, place, Addition::NeedsSignature);
                add_text(block.get("thinking"), place, sink);
                add_signature(block, place, sink);
            }
            Piece::Call | Piece::ServerCall => {
                add(sink, place, Addition::Id(&id));
                add(sink, place, Addition::Name(&words_of(block, "name").unwrap_or_default()));
                let input = block.get("input");
                start_input(input, place, sink);
                if input.is_some_and(is_told) {
                    self.slots.note_input(index);
                }
            }
            Piece::Opaque => {}
        }
    }

    pub(super) fn delta(&mut self, index: u32, delta: Object<'_, '_>, sink: Sink<'_>) {
        let [kind, text, json] = delta.values(["type", "text", "partial_json"]);
        let kind = kind.and_then(words).unwrap_or_default();
        let begins = begun_by(&kind);
        let (place, piece) = match self.slots.get(index) {
            Some(slot) if slot.is_open => (slot.place, slot.piece),
            None if begins.is_some() => {
                let piece = begins.unwrap_or(Piece::Opaque);
                let Some(Begun::New(place) | Begun::Again(place)) = self.slots.begin(index, piece, "") else {
                    unreadable(sink, Unreadable::Shape);
                    return;
                };
                sink(Event::Begin { place, piece, base: "" });
                if piece != Piece::Call {
                    // A call without a start has no name, which is found anyway.
                    add(sink, place, Addition::Unbegun);
                }
                if piece == Piece::Reasoning {
                    add(sink, place, Addition::NeedsSignature);
                }
                (place, piece)
            }
            slot => {
                // The input arrives after the call was closed, so the closed call has no complete input.
                let is_bare = |slot: &&Slot| slot.piece == Piece::Call && !slot.has_input;
                if let Some(slot) = slot.filter(is_bare).filter(|_| json.is_some_and(is_told)) {
                    add(sink, slot.place, Addition::Unfinished);
                }
                unreadable(sink, Unreadable::Stray);
                return;
            }
        };
        match (&*kind, piece) {
            ("text_delta", Piece::Text) => add_text(text, place, sink),
            ("citations_delta", Piece::Text) => match present(delta, "citation") {
                Some(citation) => add(sink, place, Addition::Element("citations", citation.raw())),
                None => unreadable(sink, Unreadable::Shape),
            },
            ("thinking_delta", Piece::Reasoning) => add_text(delta.get("thinking"), place, sink),
            ("signature_delta", Piece::Reasoning) => add_signature(delta, place, sink),
            ("input_json_delta", Piece::Call | Piece::ServerCall) => {
                if json.is_some_and(is_told) {
                    self.slots.note_input(index);
                }
                arguments(json, place, sink);
            }
            ("compaction_delta", Piece::Opaque) => {
                for name in ["content", "encrypted_content"] {
                    if let Some(value) = present(delta, name) {
                        add(sink, place, Addition::Member(name, value.raw()));
                    }
                }
            }
            // It was meant for a call.
            ("input_json_delta", _) if json.is_some_and(is_told) => unreadable(sink, Unreadable::Stray),
            _ => unreadable(sink, Unreadable::Shape),
        }
    }
}

fn add_text(value: Option<Value<'_, '_>>, place: u32, sink: Sink<'_>) {
    match value.map(|value| (value, value.kind())) {
        Some((text, Kind::String)) => frames::add_text(sink, place, text, false),
        Some((_, Kind::Null)) | None => {}
        Some(_) => unreadable(sink, Unreadable::Shape),
    }
}

fn add_signature(object: Object<'_, '_>, place: u32, sink: Sink<'_>) {
    if let Some(signature) = words_of(object, "signature") {
        add(sink, place, Addition::Signature(&signature));
    }
}

/// Finds the piece for a type of block.
fn piece(kind: &str) -> Piece {
    match kind {
        "text" => Piece::Text,
        "thinking" => Piece::Reasoning,
        "tool_use" => Piece::Call,
        _ if kind.ends_with("_tool_use") => Piece::ServerCall,
        _ => Piece::Opaque,
    }
}

/// Finds the piece that a delta begins, if no event began its block.
fn begun_by(kind: &str) -> Option<Piece> {
    match kind {
        "text_delta" | "citations_delta" => Some(Piece::Text),
        "thinking_delta" | "signature_delta" => Some(Piece::Reasoning),
        "input_json_delta" => Some(Piece::Call),
        _ => None,
    }
}
