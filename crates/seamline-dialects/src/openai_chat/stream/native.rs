//! Reads streams of servers that have their own API beside the compatible one.

use seamline_model::{Event, Unreadable};

use super::Reader;
use crate::frames::{Sink, is_told, number, unreadable, words_of};
use crate::json::{Kind, Object, Value};

/// The events of Cohere's v2 chat (COH-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cohere {
    /// Something of the message comes: its start, its plan, a part or a piece of one, a call or
    /// a piece of one.
    Delta,
    ContentStart,
    ContentEnd,
    CallEnd,
    Citation,
    MessageEnd,
    /// An event that repeats what others say.
    Other,
}

impl Cohere {
    /// The event that is called this.
    pub(super) fn of(kind: Value<'_, '_>) -> Option<Self> {
        Some(match &*kind.str()? {
            "message-start" | "tool-plan-delta" | "content-delta" | "tool-call-start" | "tool-call-delta" => {
                Self::Delta
            }
            "content-start" => Self::ContentStart,
            "content-end" => Self::ContentEnd,
            "tool-call-end" => Self::CallEnd,
            "citation-start" => Self::Citation,
            "message-end" => Self::MessageEnd,
            "citation-end" | "debug" => Self::Other,
            _ => return None,
        })
    }
}

impl Reader {
    /// Takes an event of Cohere's.
    pub(super) fn cohere(&mut self, kind: Cohere, event: Object<'_, '_>, sink: Sink<'_>) {
        if let Some(id) = event.get("id").filter(|id| is_told(*id)) {
            sink(Event::Member { name: "id", json: id.raw() });
        }
        let delta = event.get("delta").and_then(Value::object);
        let message = delta.and_then(|delta| delta.get("message"));
        self.calls.around(event.get("index"));
        match kind {
            Cohere::Other => {}
            Cohere::ContentEnd => self.content.close(sink),
            Cohere::CallEnd => self.calls.close(sink),
            Cohere::MessageEnd => self.message_end(delta, sink),
            Cohere::ContentStart => {
                self.content.close(sink);
                if let Some(part) = message.and_then(Value::object).and_then(|message| message.get("content")) {
                    self.content.part(part, sink);
                }
            }
            Cohere::Delta => match message {
                Some(message) => self.message(message, false, sink),
                None => unreadable(sink, Unreadable::Shape),
            },
            Cohere::Citation => {
                let citation = message.and_then(Value::object).and_then(|message| message.get("citations"));
                if let Some(citation) = citation {
                    self.citation(citation, sink);
                }
            }
        }
    }

    /// Citations come one by one, though not in a list.
    fn citation(&mut self, citation: Value<'_, '_>, sink: Sink<'_>) {
        if citation.is(Kind::Object) {
            self.element("citations", citation, sink);
        }
    }

    fn message_end(&mut self, delta: Option<Object<'_, '_>>, sink: Sink<'_>) {
        if let Some(error) = delta.and_then(|delta| delta.get("error")).filter(|error| is_told(*error)) {
            sink(Event::Failed { said: error.raw() });
        }
        if let Some(usage) = delta.and_then(|delta| delta.get("usage")) {
            self.usage(usage, sink);
        }
        if let Some(word) = delta.and_then(|delta| words_of(delta, "finish_reason")) {
            self.stop(&word, sink);
        }
        self.finish(sink);
    }

    /// Emits a message outside a choice: a line of Ollama's own chat (OLL-1), which says whether it is the last one, or a
    /// whole response of Cohere's.
    pub(super) fn emit_unlisted(&mut self, frame: Object<'_, '_>, message: Option<Value<'_, '_>>, sink: Sink<'_>) {
        let is_response = frame.get("done").is_none();
        if let Some(message) = message {
            self.message(message, is_response && self.has_deltas, sink);
        }
        for name in ["finish_reason", "done_reason"] {
            if let Some(word) = words_of(frame, name) {
                self.stop(&word, sink);
            }
        }
        let count = |name| frame.get(name).and_then(number);
        if let (Some(asked), Some(said)) = (count("prompt_eval_count"), count("eval_count")) {
            sink(Event::Usage { name: "prompt_tokens", json: &asked.to_string() });
            sink(Event::Usage { name: "completion_tokens", json: &said.to_string() });
        }
        if frame.get("done").is_some_and(|done| done.is(Kind::True)) {
            self.finish(sink);
        }
    }
}
