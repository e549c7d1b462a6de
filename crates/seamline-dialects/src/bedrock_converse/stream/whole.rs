//! Reads a response that came in one piece instead of a stream.

use seamline_model::{Addition, Event, Piece, Unreadable};

use super::Reader;
use super::deltas::emit_reasoning;
use crate::frames::{Sink, add, unreadable, usage, words_of};
use crate::json::{Object, Value};
use crate::streamed::{members, start_input};

impl Reader {
    /// Takes the response of a server that does not stream.
    pub(super) fn whole(
        &mut self,
        root: Value<'_, '_>,
        object: Object<'_, '_>,
        message: Value<'_, '_>,
        sink: Sink<'_>,
    ) {
        if !self.slots.is_empty() {
            unreadable(sink, Unreadable::SecondMessage);
            return;
        }
        members(root, sink, &["output", "stopReason", "usage"]);
        members(message, sink, &["content"]);
        usage(object.get("usage"), sink);
        let content = message.object().and_then(|message| message.get("content"));
        for (index, block) in (0..).zip(content.into_iter().flat_map(Value::elements)) {
            self.whole_block(index, block, sink);
        }
        self.stop(object, sink);
    }

    fn whole_block(&mut self, index: u32, value: Value<'_, '_>, sink: Sink<'_>) {
        let Some(block) = value.object() else {
            unreadable(sink, Unreadable::Shape);
            return;
        };
        let inner = |key| block.get(key).and_then(Value::object);
        let (said, call, reasoning) = (block.get("text"), inner("toolUse"), inner("reasoningContent"));
        let piece = match (said, call, reasoning) {
            (Some(_), ..) => Piece::Text,
            (_, Some(call), _) if words_of(call, "type").is_some() => Piece::ServerCall,
            (_, Some(_), _) => Piece::Call,
            (_, _, Some(_)) => Piece::Reasoning,
            _ => Piece::Opaque,
        };
        let id = call.and_then(|call| words_of(call, "toolUseId")).unwrap_or_default();
        let Some((place, _)) = self.begin_at(index, (piece, &id), value.raw(), sink) else { return };
        if let Some(said) = said.and_then(Value::str) {
            add(sink, place, Addition::Text(&said));
        }
        if let Some(call) = call {
            add(sink, place, Addition::Id(&id));
            add(sink, place, Addition::Name(&words_of(call, "name").unwrap_or_default()));
            start_input(call.get("input"), place, sink);
        }
        let plain = reasoning.and_then(|reasoning| reasoning.get("reasoningText"));
        if let Some(plain) = plain.and_then(Value::object) {
            emit_reasoning(plain, place, sink);
        }
        add(sink, place, Addition::Whole(value.raw()));
        self.slots.close(index);
        sink(Event::End { place });
    }
}
