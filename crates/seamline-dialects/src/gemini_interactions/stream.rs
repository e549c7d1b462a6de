//! Reads the events of a streamed interaction.
//!
//! ```text
//!          interaction.created        interaction.completed
//! Waiting ─────────────────────▸ Open ───────────────────────▸ Ended
//! ```
//!
//! A step begins, grows and ends. Each of its contents is a block of its own, at a place behind that of the step. The
//! interaction's status says how it ended; without its last event nothing is complete.

mod steps;

use seamline_frame::Frame;
use seamline_model::{Addition, Event, Stop, Unreadable};

use self::steps::{Steps, place_of};
use crate::StreamReader;
use crate::frames::{Sink, add, document, foreign, is_told, unreadable, usage, words, words_of};
use crate::json::{Alike, Kind, Object, Value};
use crate::streamed::{after_end, members};

pub(super) use self::steps::{is_step, step_of};

/// Makes a reader for a new stream.
pub(super) fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader::default())
}

#[derive(Default)]
struct Reader {
    steps: Steps,
    /// The id of the interaction.
    id: String,
    /// Whether another interaction began. Its events are ignored.
    has_second: bool,
    /// Whether the end was given out.
    is_done: bool,
    alike: Alike,
}

impl StreamReader for Reader {
    fn handle_frame(&mut self, frame: &Frame<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        if self.is_done {
            self.take(frame, &mut |event: Event<'_>| sink(after_end(event)));
        } else {
            self.take(frame, sink);
        }
    }

    /// The end of the bytes completes nothing. Members that came in pieces are given out as far as they came.
    fn handle_end(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        self.steps.leave_open(sink);
    }
}

/// The members of an event.
#[derive(Default)]
struct Wire<'d, 'a> {
    kind: Option<Value<'d, 'a>>,
    index: Option<Value<'d, 'a>>,
    step: Option<Value<'d, 'a>>,
    delta: Option<Value<'d, 'a>>,
    interaction: Option<Value<'d, 'a>>,
    status: Option<Value<'d, 'a>>,
    usage: Option<Value<'d, 'a>>,
    error: Option<Value<'d, 'a>>,
    /// The steps of a response that came in one piece.
    listed: Option<Value<'d, 'a>>,
}

impl<'d, 'a> Wire<'d, 'a> {
    fn read(event: Value<'d, 'a>) -> Self {
        let mut wire = Self::default();
        for (key, value) in event.members() {
            let slot = match &*key.name() {
                "event_type" => &mut wire.kind,
                "index" => &mut wire.index,
                "step" => &mut wire.step,
                "delta" => &mut wire.delta,
                "interaction" => &mut wire.interaction,
                "status" => &mut wire.status,
                "usage" => &mut wire.usage,
                "error" => &mut wire.error,
                "steps" => &mut wire.listed,
                _ => continue,
            };
            *slot = Some(value);
        }
        wire
    }
}

impl Reader {
    fn take(&mut self, frame: &Frame<'_>, sink: Sink<'_>) {
        let Some(document) = document(frame, &mut self.alike, sink) else { return };
        let root = document.root();
        match root.object() {
            Some(object) => self.event(frame.name, (root, object), sink),
            None => foreign(root, sink),
        }
        self.alike.keep(document);
    }

    fn event(&mut self, name: &[u8], (root, object): (Value<'_, '_>, Object<'_, '_>), sink: Sink<'_>) {
        let wire = Wire::read(root);
        let kind = wire.kind.and_then(words).unwrap_or_else(|| String::from_utf8_lossy(name));
        match &*kind {
            _ if kind == "error" || wire.error.is_some_and(is_told) => sink(Event::Failed { said: root.raw() }),
            _ if self.has_second => {}
            "step.start" => self.steps.begin((wire.index, wire.step), sink),
            "step.delta" => self.steps.grow((wire.index, wire.delta), sink),
            "step.stop" => {
                usage(wire.usage, sink);
                self.steps.end(wire.index, sink);
            }
            "interaction.status_update" => {
                usage(wire.usage, sink);
                resume_token(object, sink);
                status(wire.status, root.raw(), sink);
            }
            _ if kind.starts_with("interaction.") => match wire.interaction.and_then(Value::object) {
                Some(interaction) => self.interaction(&kind, (wire.interaction, interaction), root.raw(), sink),
                None => unreadable(sink, Unreadable::Shape),
            },
            // The whole interaction, from a server that does not stream.
            "" if wire.listed.is_some() || object.get("object").is_some_and(|object| object.says("interaction")) => {
                self.interaction("interaction.completed", (Some(root), object), root.raw(), sink);
            }
            "" => foreign(root, sink),
            // Events of later versions of the API.
            _ => {}
        }
    }

    /// Takes what an event says of the whole interaction.
    fn interaction(
        &mut self,
        event: &str,
        (value, interaction): (Option<Value<'_, '_>>, Object<'_, '_>),
        said: &str,
        sink: Sink<'_>,
    ) {
        let id = words_of(interaction, "id").unwrap_or_default();
        if !self.id.is_empty() && !id.is_empty() && *id != *self.id {
            self.has_second = true;
            return unreadable(sink, Unreadable::SecondMessage);
        }
        if self.id.is_empty() {
            self.id = id.into_owned();
        }
        if let Some(value) = value {
            members(value, sink, &["steps", "usage"]);
        }
        usage(interaction.get("usage"), sink);
        if let Some(steps) = interaction.get("steps").filter(|steps| steps.is(Kind::Array)) {
            self.steps.take_listed(steps, sink);
        }
        if !matches!(event, "interaction.created" | "interaction.start") {
            self.close(event, interaction, said, sink);
        }
    }

    /// Gives out how the interaction ended: its status, or else the name of its last event.
    fn close(&mut self, event: &str, interaction: Object<'_, '_>, said: &str, sink: Sink<'_>) {
        let ended = event.strip_prefix("interaction.").unwrap_or_default();
        let status = words_of(interaction, "status").unwrap_or(ended.into());
        let has_errors = || ["error", "errors"].iter().any(|name| interaction.get(name).is_some_and(is_told));
        let stop = match &*status {
            "failed" => return sink(Event::Failed { said }),
            // An interaction that reached its end may list errors that it recovered from.
            status if !matches!(status, "completed" | "requires_action") && has_errors() => {
                return sink(Event::Failed { said });
            }
            // It is over, and says of itself that it is not.
            "in_progress" | "queued" => return unreadable(sink, Unreadable::Shape),
            "completed" | "complete" if self.steps.has_calls() => Stop::Calls,
            "requires_action" => Stop::Calls,
            "incomplete" | "budget_exceeded" => Stop::Length,
            "requires_continuation" => Stop::Pause,
            word => Stop::of_word(word),
        };
        self.steps.finish(sink);
        for call in self.steps.unfinished_calls(stop) {
            add(sink, place_of(call), Addition::Unfinished);
        }
        self.is_done = true;
        sink(Event::Stop { stop, word: &status });
        sink(Event::Done);
    }
}

/// Keeps the token with which a client resumes an interaction whose stream broke.
fn resume_token(update: Object<'_, '_>, sink: Sink<'_>) {
    const NAME: &str = "continuation_token";
    if let Some(token) = update.get(NAME).filter(|token| is_told(*token)) {
        sink(Event::Member { name: NAME, json: token.raw() });
    }
}

/// Takes a change of the status between steps. Only a failure ends the interaction.
fn status(status: Option<Value<'_, '_>>, said: &str, sink: Sink<'_>) {
    let Some(status) = status else { return };
    sink(Event::Member { name: "status", json: status.raw() });
    if status.says("failed") {
        sink(Event::Failed { said });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streamed::tests::{events, survives};

    fn read(frames: &[&str]) -> Vec<String> {
        let frames: Vec<_> = frames.iter().map(|data| ("", *data)).collect();
        events(reader(), &frames)
    }

    const CALL: &str =
        r#"{"event_type":"step.start","index":1,"step":{"type":"function_call","id":"a","name":"x","arguments":{}}}"#;
    const END: &str = r#"{"event_type":"interaction.completed","interaction":{"id":"i","status":"requires_action"}}"#;

    fn delta(index: &str, delta: &str) -> String {
        format!(r#"{{"event_type":"step.delta"{index},"delta":{delta}}}"#)
    }

    #[test]
    fn arguments_belong_to_the_call_whatever_index_they_have() {
        let thought = r#"{"event_type":"step.start","index":0,"step":{"type":"thought"}}"#;
        let piece = r#"{"type":"arguments_delta","arguments":"{}"}"#;
        let older = r#"{"type":"arguments","partial_arguments":"{}"}"#;
        for (index, piece) in [(r#","index":1"#, piece), ("", piece), (r#","index":0"#, piece), ("", older)] {
            let said = read(&[thought, CALL, &delta(index, piece), END]);
            assert!(said.contains(&"4096 Arguments(\"{}\")".to_owned()), "{said:?}");
            assert!(!said.iter().any(|said| said.ends_with("Unfinished")), "{said:?}");
        }
    }

    #[test]
    fn a_signature_in_pieces_is_given_out_once_it_is_whole() {
        let start = r#"{"event_type":"step.start","index":0,"step":{"type":"thought","signature":""}}"#;
        let piece =
            |text: &str| delta(r#","index":0"#, &format!(r#"{{"type":"thought_signature","signature":"{text}"}}"#));
        let stop = r#"{"event_type":"step.stop","index":0}"#;
        let said = read(&[start, &piece("ab"), &piece("cd"), stop]);
        assert_eq!(said, ["0 Reasoning", "0 NeedsSignature", "0 Signature(\"abcd\")", "0 End"]);
        assert!(!read(&[start, &piece("ab")]).iter().any(|said| said.contains("Signature(")));
        // No step ends, but the interaction does.
        assert!(read(&[start, &piece("ab"), END]).contains(&"0 Signature(\"ab\")".to_owned()));
    }

    #[test]
    fn the_status_says_how_it_ended() {
        for (status, ended) in [
            ("completed", "Stop { stop: Turn, word: \"completed\" }"),
            ("requires_action", "Stop { stop: Calls, word: \"requires_action\" }"),
            ("incomplete", "Stop { stop: Length, word: \"incomplete\" }"),
            ("budget_exceeded", "Stop { stop: Length, word: \"budget_exceeded\" }"),
            ("requires_continuation", "Stop { stop: Pause, word: \"requires_continuation\" }"),
            ("cancelled", "Stop { stop: Failure, word: \"cancelled\" }"),
            ("in_progress", "Unreadable { what: Shape }"),
        ] {
            let end = format!(r#"{{"event_type":"interaction.completed","interaction":{{"status":"{status}"}}}}"#);
            assert!(read(&[&end]).contains(&ended.to_owned()), "{status}");
        }
    }

    #[test]
    fn errors_of_an_interaction_that_reached_its_end_do_not_fail_it() {
        let ended = |status: &str| {
            let members = format!(r#""status":"{status}","errors":[{{"code":"tool","message":"no"}}]"#);
            read(&[&format!(r#"{{"event_type":"interaction.completed","interaction":{{{members}}}}}"#)])
        };
        let has_failed = |said: &[String]| said.iter().any(|said| said.starts_with("Failed"));
        assert!(!has_failed(&ended("completed")) && !has_failed(&ended("requires_action")));
        assert!(has_failed(&ended("failed")) && has_failed(&ended("incomplete")));
    }

    #[test]
    fn the_token_that_resumes_a_stream_is_kept() {
        let update = r#"{"event_type":"interaction.status_update","status":"in_progress","continuation_token":"t1"}"#;
        assert!(read(&[update]).contains(&r#"continuation_token="t1""#.to_owned()));
    }

    #[test]
    fn odd_events_lose_nothing_in_silence() {
        let text = r#"{"type":"text","text":"a"}"#;
        assert!(read(&[&delta("", text)]).contains(&"1 Text(\"a\")".to_owned()));
        assert!(read(&[&delta("", r#"{"type":"later","x":1}"#)]).contains(&"Unreadable { what: Stray }".to_owned()));
        assert_eq!(read(&[r#"{"event_type":"step.start","index":-1,"step":{}}"#]), ["Unreadable { what: Shape }"]);
        assert_eq!(read(&[r#"{"event_type":"interaction.later"}"#]), ["Unreadable { what: Shape }"]);
        let piece = delta(r#","index":1"#, r#"{"type":"arguments_delta","arguments":"{}"}"#);
        survives(reader, &[("", CALL), ("", &piece), ("", END)]);
    }
}
