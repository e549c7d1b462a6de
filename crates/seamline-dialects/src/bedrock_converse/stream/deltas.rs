//! Reads the deltas of a streamed message.

use seamline_model::{Addition, Piece, Unreadable};

use crate::frames::{Sink, add, add_text, is_told, unreadable, words_of};
use crate::json::{Kind, Object, Value};
use crate::streamed::{arguments, present};

/// The member of a block that holds where its text was found.
pub(in crate::bedrock_converse) const CITATIONS: &str = "citations";

/// The member of reasoning that only the provider can read.
pub(in crate::bedrock_converse) const REDACTED: &str = "redactedContent";

/// Finds the piece that a delta begins, if no event began its block: only calls, results and pictures have an event
/// for their begin (BED-16).
pub(super) fn begun_by(name: &str) -> Option<Piece> {
    match name {
        "text" | "citation" => Some(Piece::Text),
        "reasoningContent" => Some(Piece::Reasoning),
        "toolUse" => Some(Piece::Call),
        _ => None,
    }
}

/// Emits the addition to a block that a member of a delta makes.
pub(super) fn addition(name: &str, value: Value<'_, '_>, (place, piece): (u32, Piece), sink: Sink<'_>) {
    match (name, piece, value.object(), value.kind()) {
        ("text", Piece::Text, _, Kind::String) => add_text(sink, place, value, false),
        ("citation", Piece::Text, Some(_), _) => add(sink, place, Addition::Element(CITATIONS, value.raw())),
        ("toolUse", Piece::Call | Piece::ServerCall, Some(call), _) => arguments(call.get("input"), place, sink),
        ("reasoningContent", Piece::Reasoning, Some(reasoning), _) => {
            emit_reasoning(reasoning, place, sink);
            if let Some(redacted) = present(reasoning, REDACTED) {
                add(sink, place, Addition::Member(REDACTED, redacted.raw()));
            }
        }
        ("toolResult", Piece::Opaque, ..) if value.is(Kind::Array) => {
            for element in value.elements() {
                add(sink, place, Addition::Element("content", element.raw()));
            }
        }
        ("image", Piece::Opaque, Some(image), _) => {
            if let Some(source) = present(image, "source") {
                add(sink, place, Addition::Member("source", source.raw()));
            }
        }
        // It was meant for a call.
        ("toolUse", ..) => unreadable(sink, Unreadable::Stray),
        _ => unreadable(sink, Unreadable::Shape),
    }
}

/// Emits the text and the signature of reasoning.
pub(super) fn emit_reasoning(reasoning: Object<'_, '_>, place: u32, sink: Sink<'_>) {
    if let Some(said) = reasoning.get("text").filter(|said| said.is(Kind::String) && is_told(*said)) {
        add_text(sink, place, said, false);
    }
    if let Some(signature) = words_of(reasoning, "signature") {
        add(sink, place, Addition::Signature(&signature));
    }
}
