//! Reads a message or a delta.

use seamline_model::{Addition, Event, Piece, Unreadable};

use super::reasoning::Reasoning;
use super::{Reader, places};
use crate::frames::{Sink, add, add_text, is_told, unreadable, words};
use crate::json::{Kind, Value};

impl Reader {
    /// Takes a message: a delta, or all of it.
    pub(super) fn message(&mut self, message: Value<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        if message.object().is_none() {
            return unreadable(sink, Unreadable::Shape);
        }
        let mut reasoning = Reasoning::default();
        for (key, value) in message.members() {
            let name = key.name();
            match &*name {
                "content" => self.content.take(value, is_whole, sink),
                "tool_calls" => self.calls.take(value, is_whole, sink),
                "function_call" => self.calls.take_legacy(value, is_whole, sink),
                "refusal" => self.refusal(value, is_whole, sink),
                "error" if is_told(value) => sink(Event::Failed { said: value.raw() }),
                // Its place is beside the message.
                "finish_reason" => {
                    if let Some(word) = words(value) {
                        self.stop(&word, sink);
                    }
                }
                "audio" if !is_whole && value.is(Kind::Object) => self.audio(value, sink),
                "role" if !value.is(Kind::String) || value.says("assistant") => {}
                // MIS-9: a place of the choice, which says nothing here.
                "index" => {}
                _ if reasoning.takes(&name, value) => {}
                _ if is_told(value) => self.member(&name, value, is_whole, sink),
                _ => {}
            }
        }
        self.reasoning(&reasoning, is_whole, sink);
    }

    fn refusal(&mut self, refusal: Value<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        if !refusal.is(Kind::String) || !is_told(refusal) {
            return;
        }
        self.has_refused = true;
        self.begin(places::REFUSAL, Piece::Refusal, sink);
        add_text(sink, places::REFUSAL, refusal, is_whole);
    }

    /// Takes audio. The data and the transcript come in pieces; the rest comes once.
    fn audio(&mut self, audio: Value<'_, '_>, sink: Sink<'_>) {
        self.begin(places::AUDIO, Piece::Opaque, sink);
        for (key, value) in audio.members() {
            let name = key.name();
            let is_piece = matches!(&*name, "data" | "transcript") && value.is(Kind::String);
            let json = value.raw();
            add(
                sink,
                places::AUDIO,
                if is_piece { Addition::Element(&name, json) } else { Addition::Member(&name, json) },
            );
        }
    }

    /// Keeps any other member. Lists come in pieces.
    pub(super) fn member(&mut self, name: &str, value: Value<'_, '_>, is_whole: bool, sink: Sink<'_>) {
        self.begin(places::MESSAGE, Piece::Opaque, sink);
        if is_whole || !value.is(Kind::Array) {
            return add(sink, places::MESSAGE, Addition::Member(name, value.raw()));
        }
        for element in value.elements() {
            add(sink, places::MESSAGE, Addition::Element(name, element.raw()));
        }
    }

    /// Keeps one more element of a member that is a list.
    pub(super) fn element(&mut self, name: &str, element: Value<'_, '_>, sink: Sink<'_>) {
        self.begin(places::MESSAGE, Piece::Opaque, sink);
        add(sink, places::MESSAGE, Addition::Element(name, element.raw()));
    }
}
