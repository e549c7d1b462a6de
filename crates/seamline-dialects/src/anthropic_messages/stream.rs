//! Reads the events of a streamed message.
//!
//! ```text
//!            message_start          message_stop
//! Waiting ─────────────────▸ Open ─────────────────▸ Ended
//!    │   or any block         │                        │
//!    └────────────────────────┴── another message ─────┴──▸ Spliced
//! ```
//!
//! Events after the splice of two messages belong to the second message and are not added to the first.

mod blocks;

use seamline_frame::Frame;
use seamline_model::{Addition, Event, Stop, Unreadable};

use crate::StreamReader;
use crate::frames::{Said, Sink, add, document, foreign, is_told, said_in, unreadable, usage, words, words_of};
use crate::json::{Alike, Document, Kind, Object, Value};
use crate::streamed::{Slots, after_end, base64, members};

/// Makes a reader for a new stream.
pub(super) fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader {
        slots: Slots::default(),
        id: String::new(),
        state: State::Waiting,
        stop: None,
        is_done: false,
        is_again: false,
        alike: Alike::default(),
    })
}

struct Reader {
    slots: Slots,
    /// The id of the message.
    id: String,
    state: State,
    /// The stop reason. A message without one is not complete (ANT-60).
    stop: Option<Stop>,
    /// Whether the end was given out.
    is_done: bool,
    /// Whether the message began again, and no block has come since.
    is_again: bool,
    alike: Alike,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Open,
    Ended,
    Spliced,
}

/// An event, and the members that nearly every one has.
struct Usual<'d, 'a> {
    event: Value<'d, 'a>,
    kind: Option<Value<'d, 'a>>,
    index: Option<Value<'d, 'a>>,
    delta: Option<Value<'d, 'a>>,
    error: Option<Value<'d, 'a>>,
}

impl<'d, 'a> Usual<'d, 'a> {
    fn read(event: Value<'d, 'a>) -> Self {
        let mut usual = Self { event, kind: None, index: None, delta: None, error: None };
        for (key, value) in event.members() {
            let slot = match &*key.name() {
                "type" => &mut usual.kind,
                "index" => &mut usual.index,
                "delta" => &mut usual.delta,
                "error" => &mut usual.error,
                _ => continue,
            };
            *slot = Some(value);
        }
        usual
    }
}

impl StreamReader for Reader {
    fn handle_frame(&mut self, frame: &Frame<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        if self.state == State::Ended && self.stop.is_some() {
            self.take(frame, &mut |event: Event<'_>| sink(after_end(event)));
        } else {
            self.take(frame, sink);
        }
    }

    fn handle_end(&mut self, _: &mut dyn FnMut(Event<'_>)) {}
}

impl Reader {
    fn take(&mut self, frame: &Frame<'_>, sink: Sink<'_>) {
        let Some(document) = document(frame, &mut self.alike, sink) else { return };
        self.json(frame.name, &document, sink);
        self.alike.keep(document);
    }

    fn json(&mut self, name: &[u8], document: &Document<'_>, sink: Sink<'_>) {
        let Some(object) = document.root().object() else {
            foreign(document.root(), sink);
            return;
        };
        let usual = Usual::read(document.root());
        // Bedrock wraps the events of its models.
        let Some(bytes) = usual.kind.is_none().then(|| words_of(object, "bytes")).flatten() else {
            self.event(name, object, &usual, sink);
            return;
        };
        let bytes = base64(&bytes).unwrap_or_default();
        let Said::Json(document) = said_in(&bytes) else {
            unreadable(sink, Unreadable::NotJson);
            return;
        };
        let root = document.root();
        match root.object() {
            Some(object) => self.event(b"", object, &Usual::read(root), sink),
            None => unreadable(sink, Unreadable::Shape),
        }
    }

    fn event(&mut self, name: &[u8], object: Object<'_, '_>, usual: &Usual<'_, '_>, sink: Sink<'_>) {
        let root = usual.event;
        let Usual { kind: named, index, delta, error, .. } = *usual;
        let kind = named.and_then(words).unwrap_or_else(|| String::from_utf8_lossy(name));
        // Gateways put errors into events of any name.
        let has_failed = kind == "error" || error.is_some_and(is_told);
        match &*kind {
            _ if has_failed => sink(Event::Failed { said: root.raw() }),
            _ if self.state == State::Spliced => {}
            "message_start" => match object.get("message").and_then(Value::object).zip(object.get("message")) {
                Some((message, value)) => self.message_start(value, message, sink),
                None => unreadable(sink, Unreadable::Shape),
            },
            // The whole of it, by a server that does not stream.
            "message" if object.get("content").is_some() => {
                self.message_start(root, object, sink);
                self.message_stop(root, sink);
            }
            "content_block_start" => match self.slots.new_index(index) {
                Some(index) => {
                    self.begin_again(index, sink);
                    self.begin(index, object.get("content_block"), sink);
                }
                None => unreadable(sink, Unreadable::Shape),
            },
            "content_block_delta" => match (self.slots.known_index(index), delta.and_then(Value::object)) {
                (Some(index), Some(delta)) => {
                    // It goes on where it was.
                    self.is_again = false;
                    self.delta(index, delta, sink);
                }
                _ => unreadable(sink, Unreadable::Shape),
            },
            "content_block_stop" => {
                let index = self.slots.known_index(index);
                match index.and_then(|index| self.slots.close(index)) {
                    Some(place) => sink(Event::End { place }),
                    None => unreadable(sink, Unreadable::Stray),
                }
            }
            "message_delta" => self.message_delta(root, object, sink),
            "message_stop" => self.message_stop(root, sink),
            "" => foreign(root, sink),
            // Pings, and events that are yet to come.
            _ => {}
        }
    }

    fn message_start(&mut self, value: Value<'_, '_>, message: Object<'_, '_>, sink: Sink<'_>) {
        let id = words_of(message, "id").unwrap_or_default();
        let is_first = self.state == State::Waiting && self.slots.is_empty();
        if !is_first {
            // A gateway that connects again repeats what it said (ANT-57).
            let is_again = self.id == id && (!id.is_empty() || self.slots.is_empty());
            if !is_again {
                self.state = State::Spliced;
                unreadable(sink, Unreadable::SecondMessage);
            }
            self.is_again = is_again && !self.is_done;
            return;
        }
        if message.get("error").is_some_and(is_told) {
            sink(Event::Failed { said: value.raw() });
        }
        self.state = State::Open;
        self.id = id.into_owned();
        members(value, sink, &["content", "usage", "stop_reason"]);
        usage(message.get("usage"), sink);
        self.content(message.get("content"), sink);
        self.stop(message, sink);
    }

    /// Drops the blocks before a message began again, if they come again too.
    fn begin_again(&mut self, index: u32, sink: Sink<'_>) {
        if std::mem::take(&mut self.is_again) && self.slots.get(index).is_some() {
            self.slots = Slots::default();
            self.state = State::Open;
            self.stop = None;
            sink(Event::Again);
        }
    }

    fn message_delta(&mut self, root: Value<'_, '_>, object: Object<'_, '_>, sink: Sink<'_>) {
        usage(object.get("usage"), sink);
        let delta = object.get("delta");
        for value in [Some(root), delta].into_iter().flatten() {
            for (key, member) in value.members().filter(|(_, member)| !member.is(Kind::Null)) {
                let name = key.name();
                if !matches!(&*name, "type" | "index" | "delta" | "usage" | "stop_reason") {
                    sink(Event::Member { name: &name, json: member.raw() });
                }
            }
        }
        // Some servers leave the object around it out.
        self.stop(object, sink);
        if let Some(delta) = delta.and_then(Value::object) {
            self.stop(delta, sink);
        }
        if self.state == State::Ended {
            self.done(sink);
        }
    }

    fn stop(&mut self, object: Object<'_, '_>, sink: Sink<'_>) {
        if let Some(word) = words_of(object, "stop_reason") {
            let stop = Stop::of_word(&word);
            if stop.counts_after(self.stop) {
                self.stop = Some(stop);
            }
            sink(Event::Stop { stop, word: &word });
        }
    }

    fn message_stop(&mut self, root: Value<'_, '_>, sink: Sink<'_>) {
        if self.state == State::Spliced {
            return;
        }
        self.state = State::Ended;
        // The counts of Bedrock.
        if let Some((key, metrics)) = root.object().and_then(|root| root.member("amazon-bedrock-invocationMetrics")) {
            sink(Event::Member { name: &key.name(), json: metrics.raw() });
        }
        self.done(sink);
    }

    /// Ends the message once. It is complete if it has a stop reason.
    fn done(&mut self, sink: Sink<'_>) {
        let Some(stop) = self.stop.filter(|_| !self.is_done) else { return };
        self.is_done = true;
        for place in self.slots.unfinished_calls(stop) {
            add(sink, place, Addition::Unfinished);
        }
        sink(Event::Done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streamed::tests::{events, survives};

    /// The frames of a message with this content, none of which has a name.
    fn read(frames: &[&str]) -> Vec<String> {
        let frames: Vec<_> = frames.iter().map(|data| ("", *data)).collect();
        events(reader(), &frames)
    }

    const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","content":[]}}"#;
    const STOP: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null}}"#;
    const END: &str = r#"{"type":"message_stop"}"#;

    #[test]
    fn an_event_is_named_by_its_frame_or_by_itself() {
        let frames = [
            (
                "content_block_start",
                r#"{"index":0,"content_block":{"type":"tool_use","id":"a","name":"x","input":{}}}"#,
            ),
            ("", r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#),
            ("content_block_stop", r#"{"index":0}"#),
            ("ping", "{}"),
            ("message_delta", r#"{"stop_reason":"tool_use","usage":{"output_tokens":4}}"#),
            ("message_stop", "{}"),
            ("", "[DONE]"),
        ];
        let wanted = [
            "0 Call",
            "0 Id(\"a\")",
            "0 Name(\"x\")",
            "0 StartInput(\"{}\")",
            "0 Arguments(\"{}\")",
            "0 End",
            "usage.output_tokens=4",
            "Stop { stop: Calls, word: \"tool_use\" }",
            "Done",
        ];
        assert_eq!(events(reader(), &frames), wanted);
    }

    #[test]
    fn a_message_that_only_ends_is_not_done() {
        assert!(!read(&[START, END]).contains(&"Done".to_owned()));
        assert!(!read(&[START, STOP]).contains(&"Done".to_owned()));
        assert!(read(&[START, STOP, END]).contains(&"Done".to_owned()));
    }

    #[test]
    fn a_message_ends_once() {
        let call =
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"x"}}"#;
        let said = read(&[START, call, STOP, END, END, STOP, END]);
        assert_eq!(said.iter().filter(|said| *said == "Done").count(), 1);
        assert_eq!(said.iter().filter(|said| *said == "0 Unfinished").count(), 1);
    }

    #[test]
    fn a_message_that_begins_again_goes_on_or_replaces_what_came() {
        let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
        let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
        let again = |said: Vec<String>| said.contains(&"Again".to_owned());
        assert!(again(read(&[START, start, delta, START, start, delta])));
        assert!(!again(read(&[START, start, delta, START, delta])));
        assert!(!again(read(&[START, START, start, delta])));
    }

    #[test]
    fn of_two_messages_that_are_spliced_the_second_is_not_read() {
        let block = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
        let other = r#"{"type":"message_start","message":{"id":"msg_2"}}"#;
        let said = read(&[START, START, block, other, block, STOP, END]);
        let wanted = ["id=\"msg_1\"", "0 Text", "0 Unbegun", "0 Text(\"a\")", "Unreadable { what: SecondMessage }"];
        assert_eq!(said, wanted);
    }

    #[test]
    fn blocks_on_one_index_are_told_apart() {
        let call = |id: &str| {
            format!(r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"{id}"}}}}"#)
        };
        let stop = r#"{"type":"content_block_stop","index":0}"#;
        let delta =
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#;
        let said = read(&[&call("a"), delta, stop, &call("b"), delta, stop, delta, &call("b")]);
        let wanted = [
            "0 Call",
            "0 Id(\"a\")",
            "0 Name(\"\")",
            "0 Arguments(\"{}\")",
            "0 End",
            "1 Call",
            "1 Id(\"b\")",
            "1 Name(\"\")",
            "1 Arguments(\"{}\")",
            "1 End",
            "Unreadable { what: Stray }",
            "1 Call",
        ];
        assert_eq!(said, wanted);
    }

    #[test]
    fn no_piece_of_a_call_is_lost_in_silence() {
        let start = r#"{"type":"content_block_start","index":"0","content_block":{"type":"tool_use","id":"a"}}"#;
        let delta =
            |index: &str, delta: &str| format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#);
        let whole = r#"{"type":"input_json_delta","partial_json":"{}"}"#;
        for (frame, said) in [
            (delta("0.0", whole), r#"0 Arguments("{}")"#),
            (delta("\"0\"", whole), r#"0 Arguments("{}")"#),
            (delta("-1", whole), "Unreadable { what: Shape }"),
            (delta("true", whole), "Unreadable { what: Shape }"),
            (delta("0", r#"{"type":"input_json_delta","partial_json":5}"#), "Unreadable { what: Shape }"),
            (delta("0", r#"{"type":"input_json_delta"}"#), "Unreadable { what: Shape }"),
            (delta("0", r#"{"type":"later_delta","partial_json":"{}"}"#), "Unreadable { what: Shape }"),
            (delta("0", r#"{"partial_json":"{}"}"#), "Unreadable { what: Shape }"),
            (delta("0", r#""{}""#), "Unreadable { what: Shape }"),
        ] {
            assert_eq!(read(&[start, &frame]).pop().as_deref(), Some(said), "{frame}");
        }
    }

    #[test]
    fn an_error_is_recognised_at_any_place() {
        for frame in [
            ("error", "Overloaded"),
            ("Error", "Overloaded"),
            ("error", r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
            ("", r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
            ("", r#"{"error":{"message":"no"}}"#),
            ("error", r#"{"type":"overloaded_error","message":"Overloaded"}"#),
            ("error", ""),
            ("", r#"{"type":"upstream_error","error":{"message":"no"}}"#),
            ("vertex_event", r#"{"error":{"code":429,"message":"Quota exceeded"}}"#),
            ("vertex_event", r#"{"type":"vertex_event","error":{"code":429,"message":"Quota exceeded"}}"#),
        ] {
            let said = events(reader(), &[frame]);
            assert_eq!(said, [format!("Failed {{ said: {:?} }}", frame.1)]);
        }
    }

    #[test]
    fn frames_that_bedrock_wraps_are_unwrapped() {
        // {"type":"message_stop"}, and something else.
        let said = read(&[STOP, r#"{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdG9wIn0=","p":"abc"}"#, r#"{"bytes":"?"}"#]);
        let wanted = [r#"Stop { stop: Turn, word: "end_turn" }"#, "Done", "Unreadable { what: NotJson }"];
        assert_eq!(said, wanted);
    }

    #[test]
    fn no_value_anywhere_breaks_the_reader() {
        survives(
            reader,
            &[
                (
                    "message_start",
                    r#"{"type":"message_start","message":{"id":"m","content":[{"type":"text","text":"a","citations":[{}]},{"type":"thinking","thinking":"b","signature":"s"}],"stop_reason":null,"usage":{"input_tokens":1}}}"#,
                ),
                (
                    "content_block_start",
                    r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"n","input":{"a":1}}}"#,
                ),
                (
                    "content_block_delta",
                    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
                ),
                ("content_block_stop", r#"{"type":"content_block_stop","index":2}"#),
                (
                    "content_block_delta",
                    r#"{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}}"#,
                ),
                (
                    "content_block_delta",
                    r#"{"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"a":1}}}"#,
                ),
                (
                    "content_block_delta",
                    r#"{"type":"content_block_delta","index":4,"delta":{"type":"signature_delta","signature":"a"}}"#,
                ),
                (
                    "content_block_start",
                    r#"{"type":"content_block_start","index":5,"content_block":{"type":"compaction","content":null}}"#,
                ),
                (
                    "content_block_delta",
                    r#"{"type":"content_block_delta","index":5,"delta":{"type":"compaction_delta","content":"a"}}"#,
                ),
                (
                    "message_delta",
                    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","container":{"id":"c"}},"usage":{"output_tokens":1}}"#,
                ),
                ("message_stop", r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{}}"#),
                ("chunk", r#"{"bytes":"e30="}"#),
                ("message", r#"{"type":"message","id":"n","content":"text","stop_reason":"end_turn"}"#),
                ("error", r#"{"type":"error","error":{"type":"api_error"}}"#),
            ],
        );
    }
}
