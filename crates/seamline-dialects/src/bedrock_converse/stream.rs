//! Reads the events of a streamed message.
//!
//! In the provider's own framing the frame names the event. In lines of JSON the only member of an object names it.

mod deltas;
mod whole;

pub(super) use self::deltas::{CITATIONS, REDACTED};

use seamline_frame::Frame;
use seamline_model::{Addition, Event, Piece, Stop, Unreadable};

use self::deltas::{addition, begun_by};
use crate::StreamReader;
use crate::frames::{Sink, add, document, exception, foreign, is_told, unreadable, usage, words_of};
use crate::json::{Alike, Kind, Object, Value};
use crate::streamed::{Begun, Slots, after_end, members, present, start_input};

/// Makes a reader for a new stream.
pub(super) fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader {
        slots: Slots::default(),
        is_done: false,
        is_spliced: false,
        unsaid: None,
        alike: Alike::default(),
    })
}

struct Reader {
    slots: Slots,
    /// Whether the message ended. Only usage or a failure may follow.
    is_done: bool,
    /// Whether a second message began before the first ended. Later events are not added to the first.
    is_spliced: bool,
    /// The block that began last without a type. Its first delta says what it is.
    unsaid: Option<u32>,
    alike: Alike,
}

/// The events of a stream.
const EVENTS: [&str; 6] =
    ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"];

impl StreamReader for Reader {
    fn handle_frame(&mut self, frame: &Frame<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        if self.is_done {
            self.take(frame, &mut |event: Event<'_>| sink(after_end(event)));
        } else {
            self.take(frame, sink);
        }
    }

    fn handle_end(&mut self, _: &mut dyn FnMut(Event<'_>)) {}
}

impl Reader {
    fn take(&mut self, frame: &Frame<'_>, sink: Sink<'_>) {
        if is_exception(frame.name) {
            return sink(Event::Failed { said: &exception(frame) });
        }
        let Some(document) = document(frame, &mut self.alike, sink) else { return };
        let root = document.root();
        let name = std::str::from_utf8(frame.name).unwrap_or_default();
        if EVENTS.contains(&name) {
            self.event(name, root, sink);
        } else if let Some(object) = root.object() {
            self.members(root, object, !name.is_empty(), sink);
        } else {
            unreadable(sink, Unreadable::Shape);
        }
        self.alike.keep(document);
    }

    /// Takes an object whose members are events, a whole response, or an error.
    fn members(&mut self, root: Value<'_, '_>, object: Object<'_, '_>, is_named: bool, sink: Sink<'_>) {
        // `values` is compiled into this function, unlike `get`; this runs for every frame.
        let [output] = object.values(["output"]);
        if let Some(message) = output.and_then(Value::object).and_then(|output| output.get("message")) {
            self.whole(root, object, message, sink);
            return;
        }
        let mut is_known = is_named;
        for (key, value) in root.members() {
            let name = key.name();
            if is_exception(name.as_bytes()) && !value.is(Kind::Null) {
                sink(Event::Failed { said: root.raw() });
                return;
            }
            if EVENTS.contains(&&*name) {
                self.event(&name, value, sink);
            }
            // Events that are yet to come are objects.
            is_known |= value.is(Kind::Object);
        }
        if is_known {
            return;
        }
        // An error in place of the stream.
        if ["message", "Message", "__type"].iter().any(|key| present(object, key).is_some()) {
            sink(Event::Failed { said: root.raw() });
        } else {
            foreign(root, sink);
        }
    }

    fn event(&mut self, name: &str, value: Value<'_, '_>, sink: Sink<'_>) {
        let Some(object) = value.object() else {
            unreadable(sink, Unreadable::Shape);
            return;
        };
        match name {
            _ if self.is_spliced => {}
            "messageStart" if self.slots.is_empty() => {
                if let Some(role) = present(object, "role") {
                    sink(Event::Member { name: "role", json: role.raw() });
                }
            }
            "messageStart" => {
                self.is_spliced = true;
                unreadable(sink, Unreadable::SecondMessage);
            }
            "contentBlockStart" => self.begin(object, sink),
            "contentBlockDelta" => self.delta(object, sink),
            "contentBlockStop" => {
                let index = self.slots.known_index(object.get(INDEX));
                match index.and_then(|index| self.slots.close(index)) {
                    Some(place) => sink(Event::End { place }),
                    None if index.is_some() && index == self.unsaid => {}
                    None => unreadable(sink, Unreadable::Stray),
                }
            }
            "messageStop" => {
                members(value, sink, &["stopReason", "p"]);
                self.stop(object, sink);
            }
            _ => {
                usage(object.get("usage"), sink);
                members(value, sink, &["usage", "p"]);
            }
        }
    }

    fn begin(&mut self, object: Object<'_, '_>, sink: Sink<'_>) {
        let index = self.slots.new_index(object.get(INDEX));
        let start = object.get("start").filter(|start| start.is(Kind::Object));
        let (Some(index), Some(start)) = (index, start) else {
            unreadable(sink, Unreadable::Shape);
            return;
        };
        if start.members().next().is_none() && object.get(INDEX).is_some() {
            // A text, or whatever its first delta is.
            self.unsaid = Some(index);
            return;
        }
        let call = start.object().and_then(|start| start.get("toolUse")).and_then(Value::object);
        let piece = match call.map(|call| words_of(call, "type").unwrap_or_default()) {
            // Those that the provider answers itself have a type.
            Some(kind) if kind.is_empty() => Piece::Call,
            Some(_) => Piece::ServerCall,
            None if start.members().next().is_none() => Piece::Text,
            None => Piece::Opaque,
        };
        let id = call.and_then(|call| words_of(call, "toolUseId")).unwrap_or_default();
        let Some((place, is_new)) = self.begin_at(index, (piece, &id), start.raw(), sink) else { return };
        if let Some(call) = call.filter(|_| is_new) {
            add(sink, place, Addition::Id(&id));
            add(sink, place, Addition::Name(&words_of(call, "name").unwrap_or_default()));
            let input = call.get("input");
            start_input(input, place, sink);
            if input.is_some_and(is_told) {
                self.slots.note_input(index);
            }
        }
    }

    /// Begins a block. Returns its place, and whether it is a new one.
    fn begin_at(&mut self, index: u32, (piece, id): (Piece, &str), base: &str, sink: Sink<'_>) -> Option<(u32, bool)> {
        let (place, is_new) = match self.slots.begin(index, piece, id) {
            Some(Begun::New(place)) => (place, true),
            Some(Begun::Again(place)) => (place, false),
            None => {
                unreadable(sink, Unreadable::Shape);
                return None;
            }
        };
        sink(Event::Begin { place, piece, base });
        Some((place, is_new))
    }

    fn delta(&mut self, object: Object<'_, '_>, sink: Sink<'_>) {
        let [index, delta] = object.values([INDEX, "delta"]);
        let delta = delta.filter(|delta| delta.is(Kind::Object));
        let (Some(index), Some(delta)) = (self.slots.known_index(index), delta) else {
            unreadable(sink, Unreadable::Shape);
            return;
        };
        for (key, value) in delta.members().filter(|(_, value)| !value.is(Kind::Null)) {
            let name = key.name();
            let (place, piece) = match (self.slots.get(index), begun_by(&name)) {
                (Some(slot), _) if slot.is_open => (slot.place, slot.piece),
                (None, Some(piece)) => match self.begin_at(index, (piece, ""), "", sink) {
                    Some((place, _)) => (place, piece),
                    None => continue,
                },
                (slot, _) => {
                    // The input arrives after the call was closed, so the closed call has no complete input.
                    if let Some(slot) = slot.filter(|slot| slot.piece == Piece::Call && !slot.has_input) {
                        add(sink, slot.place, Addition::Unfinished);
                    }
                    unreadable(sink, Unreadable::Stray);
                    continue;
                }
            };
            let has_input = piece == Piece::Call && value.object().is_some_and(says_input);
            if has_input {
                self.slots.note_input(index);
            }
            addition(&name, value, (place, piece), sink);
        }
    }

    fn stop(&mut self, object: Object<'_, '_>, sink: Sink<'_>) {
        if let Some(word) = words_of(object, "stopReason") {
            self.is_done = true;
            let stop = Stop::of_word(&word);
            for place in self.slots.unfinished_calls(stop) {
                add(sink, place, Addition::Unfinished);
            }
            sink(Event::Stop { stop, word: &word });
            sink(Event::Done);
        }
    }
}

/// Whether a piece of a call holds something of its input.
fn says_input(call: Object<'_, '_>) -> bool {
    call.get("input").is_some_and(is_told)
}

/// The member that says which block an event is about.
const INDEX: &str = "contentBlockIndex";

/// Whether an event of this name says that the request failed.
fn is_exception(name: &[u8]) -> bool {
    name.ends_with(b"Exception") || name == b"error"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streamed::tests::{events, survives};

    const CALL: (&str, &str) =
        ("contentBlockStart", r#"{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"n"}},"p":"ab"}"#);
    const INPUT: (&str, &str) = ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{}"}}}"#);
    const STOP: (&str, &str) = ("messageStop", r#"{"stopReason":"tool_use","p":"abcd"}"#);
    const USAGE: (&str, &str) = ("metadata", r#"{"usage":{"inputTokens":1},"metrics":{"latencyMs":2}}"#);

    /// The same event as a line of JSON.
    fn line((name, data): (&str, &str)) -> String {
        format!(r#"{{"{name}":{data}}}"#)
    }

    #[test]
    fn frames_and_lines_say_the_same() {
        let frames = [
            ("messageStart", r#"{"role":"assistant"}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"a"}}"#),
            ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
            CALL,
            INPUT,
            ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
            STOP,
            USAGE,
        ];
        let lines = frames.map(line);
        let lines: Vec<_> = lines.iter().map(|data| ("", data.as_str())).collect();
        let wanted = [
            "role=\"assistant\"",
            "0 Text",
            "0 Text(\"a\")",
            "0 End",
            "1 Call",
            "1 Id(\"t\")",
            "1 Name(\"n\")",
            "1 Arguments(\"{}\")",
            "1 End",
            "Stop { stop: Calls, word: \"tool_use\" }",
            "Done",
            "usage.inputTokens=1",
            "metrics={\"latencyMs\":2}",
        ];
        assert_eq!(events(reader(), &frames), wanted);
        assert_eq!(events(reader(), &lines), wanted);
    }

    #[test]
    fn an_exception_is_a_failure_in_every_form() {
        let said = r#"{"throttlingException":{"message":"Too many requests"}}"#;
        for frame in [("", said), ("throttlingException", r#"{"message":"Too many requests"}"#)] {
            assert_eq!(events(reader(), &[CALL, frame]).pop(), Some(format!("Failed {{ said: {said:?} }}")));
        }
        let plain = r#"{"message":"The security token is expired"}"#;
        assert_eq!(events(reader(), &[("", plain)]), [format!("Failed {{ said: {plain:?} }}")]);
        let mut failed = Vec::new();
        let frame = Frame { kind: seamline_frame::FrameKind::Exception, name: b"", data: b"no json" };
        reader().handle_frame(&frame, &mut |event: Event<'_>| failed.push(format!("{event:?}")));
        assert_eq!(failed, [r#"Failed { said: "{\"\":\"no json\"}" }"#]);
    }

    #[test]
    fn frames_after_the_end_and_second_messages_are_reported() {
        let last = |frames: &[_]| events(reader(), frames).pop();
        assert_eq!(last(&[CALL, STOP, INPUT]).as_deref(), Some("Unreadable { what: Stray }"));
        let again = ("messageStart", r#"{"role":"assistant"}"#);
        assert_eq!(last(&[CALL, again, INPUT, STOP]).as_deref(), Some("Unreadable { what: SecondMessage }"));
        assert_eq!(last(&[("", r#"{"later":{}}"#)]), None);
        assert_eq!(last(&[("", r#"{"later":1}"#)]).as_deref(), Some("Unreadable { what: Shape }"));
    }

    #[test]
    fn no_piece_of_a_call_is_lost_in_silence() {
        for (data, said) in [
            (r#"{"contentBlockIndex":"1","delta":{"toolUse":{"input":"{}"}}}"#, r#"1 Arguments("{}")"#),
            (r#"{"contentBlockIndex":1.0,"delta":{"toolUse":{"input":"{}"}}}"#, r#"1 Arguments("{}")"#),
            (r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":5}}}"#, "Unreadable { what: Shape }"),
            (r#"{"contentBlockIndex":1,"delta":{"toolUse":{}}}"#, "Unreadable { what: Shape }"),
            (r#"{"contentBlockIndex":1,"delta":{"later":{"input":"{}"}}}"#, "Unreadable { what: Shape }"),
            (r#"{"contentBlockIndex":1,"delta":"{}"}"#, "Unreadable { what: Shape }"),
            (r#"{"contentBlockIndex":-1,"delta":{"toolUse":{"input":"{}"}}}"#, "Unreadable { what: Shape }"),
        ] {
            assert_eq!(events(reader(), &[CALL, ("contentBlockDelta", data)]).pop().as_deref(), Some(said), "{data}");
        }
    }

    #[test]
    fn no_value_anywhere_breaks_the_reader() {
        survives(
            reader,
            &[
                ("messageStart", r#"{"role":"assistant"}"#),
                CALL,
                INPUT,
                ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
                ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"text":"a","citation":{"title":"b"}}}"#),
                (
                    "contentBlockDelta",
                    r#"{"contentBlockIndex":3,"delta":{"reasoningContent":{"text":"a","signature":"s","redactedContent":"r"}}}"#,
                ),
                ("contentBlockStart", r#"{"contentBlockIndex":4,"start":{"toolResult":{"toolUseId":"t"}}}"#),
                ("contentBlockDelta", r#"{"contentBlockIndex":4,"delta":{"toolResult":[{"text":"a"}]}}"#),
                ("contentBlockStart", r#"{"contentBlockIndex":5,"start":{"image":{"format":"png"}}}"#),
                ("contentBlockDelta", r#"{"contentBlockIndex":5,"delta":{"image":{"source":{"bytes":"a"}}}}"#),
                STOP,
                USAGE,
                ("", r#"{"contentBlockDelta":{"contentBlockIndex":6,"delta":{"text":"a"}}}"#),
                ("", r#"{"validationException":{"message":"a"}}"#),
            ],
        );
        survives(
            reader,
            &[(
                "",
                r#"{"output":{"message":{"role":"assistant","content":[{"text":"a"},{"toolUse":{"toolUseId":"t","name":"n","input":{}}},{"reasoningContent":{"reasoningText":{"text":"a","signature":"s"}}},{"image":{}}]}},"stopReason":"end_turn","usage":{"inputTokens":1}}"#,
            )],
        );
    }
}
