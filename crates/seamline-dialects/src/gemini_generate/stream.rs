//! Reads the parts of a streamed message.
//!
//! Every frame is a whole response with new parts. Neighbouring texts are one part in a response that does not stream,
//! unless one of them is signed (GEM-11). There is no terminal event: a stream with a stop reason is complete when it
//! ends, or when the list closes that the stream may be.

mod calls;
mod partial;

use seamline_frame::{Frame, FrameKind};
use seamline_model::{Addition, Event, Piece, Stop, Unreadable};

use self::calls::Coming;
use crate::StreamReader;
use crate::frames::{
    Said, Sink, add, add_text, document, index, is_remnant, is_told, said, unreadable, usage, words, words_of,
};
use crate::json::{Alike, Kind, Object, Value};
use crate::repeated::Repeated;

/// Makes a reader for a new stream.
pub(super) fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader::default())
}

#[derive(Default)]
struct Reader {
    /// The number of blocks that began.
    count: u32,
    /// The text that the next text may be joined to.
    joined: Option<(u32, Piece)>,
    /// The call whose arguments come in pieces.
    coming: Option<Coming>,
    /// Whether arguments came for a call that had not begun.
    has_stray: bool,
    /// The stop reason, if it came.
    stop: Option<Stop>,
    /// Whether the last frame or the list of frames was cut.
    is_cut: bool,
    /// Whether all of the message came.
    is_over: bool,
    /// Whether a second message was noted.
    has_others: bool,
    /// Members of the response, of its candidate and of the content of that. Every frame has
    /// most of them.
    head: Repeated,
    candidate: Repeated,
    content: Repeated,
    usage: String,
    alike: Alike,
}

impl StreamReader for Reader {
    fn handle_frame(&mut self, frame: &Frame<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        if frame.kind == FrameKind::Behind {
            return self.behind(frame, sink);
        }
        self.is_cut |= is_remnant(frame);
        match said(frame, &mut self.alike) {
            Said::Failure(said) => sink(Event::Failed { said: &said }),
            Said::Nothing | Said::Done => {}
            Said::Broken => {
                self.is_cut |= frame.kind == FrameKind::Cut;
                unreadable(sink, Unreadable::NotJson);
            }
            Said::Json(document) => {
                match document.root() {
                    list if list.is(Kind::Array) => list.elements().for_each(|response| self.response(response, sink)),
                    response => self.response(response, sink),
                }
                self.alike.keep(document);
            }
        }
    }

    fn handle_end(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        self.leave(sink);
        self.close_text(sink);
        if self.stop.is_some() && !self.is_cut && !std::mem::replace(&mut self.is_over, true) {
            sink(Event::Done);
        }
    }
}

/// Whether a response says that the request failed.
fn is_error(response: Value<'_, '_>) -> bool {
    Response::read(response).error.is_some_and(|error| !error.is(Kind::Null))
}

/// The members of a response that are read as what they say.
#[derive(Default)]
struct Response<'d, 'a> {
    candidates: Option<Value<'d, 'a>>,
    usage: Option<Value<'d, 'a>>,
    feedback: Option<Value<'d, 'a>>,
    inner: Option<Value<'d, 'a>>,
    error: Option<Value<'d, 'a>>,
    /// Whether it has a member that only a response has.
    is_known: bool,
}

impl<'d, 'a> Response<'d, 'a> {
    fn read(value: Value<'d, 'a>) -> Self {
        let mut response = Self::default();
        for (key, member) in value.members() {
            let name = key.name();
            let slot = match &*name {
                "candidates" => &mut response.candidates,
                "usageMetadata" => &mut response.usage,
                "promptFeedback" => &mut response.feedback,
                "response" => &mut response.inner,
                "error" => &mut response.error,
                _ => {
                    response.is_known |= matches!(&*name, "responseId" | "modelVersion");
                    continue;
                }
            };
            *slot = Some(member);
        }
        let named = [response.candidates, response.usage, response.feedback];
        response.is_known |= named.iter().any(Option::is_some);
        response
    }
}

impl Reader {
    /// Takes a frame after the list. Only a failure concerns the message in the list.
    fn behind(&mut self, frame: &Frame<'_>, sink: Sink<'_>) {
        self.handle_end(sink);
        let Some(document) = document(frame, &mut self.alike, sink) else { return };
        let root = document.root();
        if is_error(root) || root.elements().any(is_error) {
            sink(Event::Failed { said: root.raw() });
        } else {
            self.note_others(sink);
        }
    }

    /// Notes once that there is more than one message.
    fn note_others(&mut self, sink: Sink<'_>) {
        if !std::mem::replace(&mut self.has_others, true) {
            unreadable(sink, Unreadable::SecondMessage);
        }
    }

    fn response(&mut self, value: Value<'_, '_>, sink: Sink<'_>) {
        if !value.is(Kind::Object) {
            unreadable(sink, Unreadable::Shape);
            return;
        }
        let mut read = Response::read(value);
        if read.error.is_some_and(|error| !error.is(Kind::Null)) {
            sink(Event::Failed { said: value.raw() });
            return;
        }
        self.head(value, sink);
        // Code Assist puts another object around it.
        if let Some(inner) = read.inner.filter(|inner| inner.is(Kind::Object)) {
            self.head(inner, sink);
            read = Response::read(inner);
        }
        let Response { candidates, usage, feedback, .. } = read;
        if !read.is_known {
            unreadable(sink, Unreadable::Shape);
        }
        self.usage(usage, sink);
        for (at, candidate) in (0..).zip(candidates.into_iter().flat_map(Value::elements)) {
            self.candidate(at, candidate, sink);
        }
        if let Some(reason) = feedback.and_then(Value::object).and_then(|feedback| words_of(feedback, "blockReason"))
            && reason != "BLOCK_REASON_UNSPECIFIED"
            && reason != "BLOCKED_REASON_UNSPECIFIED"
        {
            self.stop(Stop::Filter, &reason, sink);
        }
    }

    /// Gives out the changed members of the response around the message.
    fn head(&mut self, response: Value<'_, '_>, sink: Sink<'_>) {
        self.head.each_new(
            response,
            |name, _| matches!(name, "candidates" | "usageMetadata" | "response" | "error"),
            |name, member| sink(Event::Member { name, json: member.raw() }),
        );
    }

    fn usage(&mut self, value: Option<Value<'_, '_>>, sink: Sink<'_>) {
        if let Some(json) = value.map(Value::raw).filter(|json| *json != self.usage) {
            json.clone_into(&mut self.usage);
            usage(value, sink);
        }
    }

    /// Takes the new parts of the first message. Other messages are only noted.
    fn candidate(&mut self, at: u32, value: Value<'_, '_>, sink: Sink<'_>) {
        let Some(candidate) = value.object() else {
            unreadable(sink, Unreadable::Shape);
            return;
        };
        let [place, content, reason] = candidate.values(["index", "content", "finishReason"]);
        let place = place.filter(|place| !place.is(Kind::Null));
        if !place.map_or(at == 0, |place| index(place) == Some(0)) {
            return self.note_others(sink);
        }
        let content = content.filter(|content| !content.is(Kind::Null));
        beside("content", value, CANDIDATE, &mut self.candidate, sink);
        if let Some(content) = content {
            beside("parts", content, CONTENT, &mut self.content, sink);
        }
        let parts = content.and_then(Value::object).and_then(|content| content.get("parts"));
        if parts.is_some_and(|parts| is_told(parts) && !parts.is(Kind::Array)) {
            unreadable(sink, Unreadable::Shape);
        }
        for part in parts.into_iter().flat_map(Value::elements) {
            self.part(part, sink);
        }
        if let Some(word) = reason.and_then(words).filter(|word| word != "FINISH_REASON_UNSPECIFIED") {
            self.stop(Stop::of_word(&word), &word, sink);
        }
    }

    /// Notes the stop reason.
    fn stop(&mut self, stop: Stop, word: &str, sink: Sink<'_>) {
        if stop.counts_after(self.stop) {
            self.stop = Some(stop);
            sink(Event::Stop { stop, word });
        }
    }

    fn part(&mut self, value: Value<'_, '_>, sink: Sink<'_>) {
        let Some(part) = value.object() else {
            unreadable(sink, Unreadable::Shape);
            return;
        };
        let [text, call] = part.values(["text", "functionCall"]);
        if call.is_some_and(|call| is_told(call) && !call.is(Kind::Object)) {
            unreadable(sink, Unreadable::Shape);
        }
        match (call.and_then(Value::object), text.filter(|text| text.is(Kind::String))) {
            (Some(call), _) => self.call(value, part, call, sink),
            (None, Some(said)) => self.text(value, part, said, sink),
            (None, None) => {
                if let Some(place) = self.begin(Piece::Opaque, value.raw(), sink) {
                    sink(Event::End { place });
                }
            }
        }
    }

    fn text(&mut self, value: Value<'_, '_>, part: Object<'_, '_>, said: Value<'_, '_>, sink: Sink<'_>) {
        let is_thought = part.get("thought").is_some_and(|thought| thought.is(Kind::True));
        let piece = if is_thought { Piece::Reasoning } else { Piece::Text };
        let is_plain = value.members().all(|(key, _)| key.says("text") || key.says("thought"));
        match self.joined {
            // A part that says nothing follows many a call.
            _ if is_plain && !is_told(said) => {}
            Some((place, before)) if is_plain && before == piece => add_text(sink, place, said, false),
            _ => {
                let Some(place) = self.begin(piece, value.raw(), sink) else { return };
                add_text(sink, place, said, false);
                add_signature(part, place, sink);
                if is_plain {
                    self.joined = Some((place, piece));
                } else {
                    sink(Event::End { place });
                }
            }
        }
    }

    fn begin(&mut self, piece: Piece, base: &str, sink: Sink<'_>) -> Option<u32> {
        self.close_text(sink);
        let place = self.count;
        self.count = place.checked_add(1)?;
        sink(Event::Begin { place, piece, base });
        Some(place)
    }

    fn close_text(&mut self, sink: Sink<'_>) {
        if let Some((place, _)) = self.joined.take() {
            sink(Event::End { place });
        }
    }
}

/// The prefixes of the names of members of the candidate, and of its content.
pub(super) const CANDIDATE: &str = "/candidates/0/";
pub(super) const CONTENT: &str = "/candidates/0/content/";

/// Gives out the changed members of an object, except the one that holds the message.
fn beside(message: &str, object: Value<'_, '_>, before: &str, repeated: &mut Repeated, sink: Sink<'_>) {
    repeated.each_new(
        object,
        |name, _| name == message,
        |name, member| sink(Event::Member { name: &[before, name].concat(), json: member.raw() }),
    );
}

fn add_signature(part: Object<'_, '_>, place: u32, sink: Sink<'_>) {
    if let Some(signature) = words_of(part, "thoughtSignature") {
        add(sink, place, Addition::Signature(&signature));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streamed::tests::{events, survives};

    fn read(frames: &[&str]) -> Vec<String> {
        let frames: Vec<_> = frames.iter().map(|data| ("", *data)).collect();
        let mut events = events(reader(), &frames);
        events.retain(|event| !event.starts_with('/') && !event.starts_with("usage"));
        events
    }

    fn parts(parts: &str, finish: &str) -> String {
        format!(r#"{{"candidates":[{{"content":{{"parts":{parts},"role":"model"}},"index":0{finish}}}]}}"#)
    }

    const STOP: &str = r#","finishReason":"STOP""#;

    #[test]
    fn texts_of_one_kind_are_joined_unless_one_is_signed() {
        let frames = [
            parts(r#"[{"text":"Hm","thought":true}]"#, ""),
            parts(r#"[{"text":"m.","thought":true},{"text":"One"}]"#, ""),
            parts(r#"[{"text":", two"}]"#, ""),
            parts(r#"[{"text":"","thoughtSignature":"sig"},{"text":"three"}]"#, ""),
            parts(r#"[{"text":""}]"#, STOP),
        ];
        let said = read(&frames.each_ref().map(String::as_str));
        let wanted = [
            "0 Reasoning",
            "0 Text(\"Hm\")",
            "0 Text(\"m.\")",
            "0 End",
            "1 Text",
            "1 Text(\"One\")",
            "1 Text(\", two\")",
            "1 End",
            "2 Text",
            "2 Text(\"\")",
            "2 Signature(\"sig\")",
            "2 End",
            "3 Text",
            "3 Text(\"three\")",
            "Stop { stop: Turn, word: \"STOP\" }",
            "3 End",
            "Done",
        ];
        assert_eq!(said, wanted);
    }

    #[test]
    fn unfinished_arguments_are_not_json() {
        let begin = parts(r#"[{"functionCall":{"name":"look","willContinue":true}}]"#, "");
        let more = |end: &str| {
            let values = r#"[{"jsonPath":"$.at","stringValue":"here"}]"#;
            parts(&format!(r#"[{{"functionCall":{{"partialArgs":{values}{end}}}}}]"#), "")
        };
        let end = parts(r#"[{"functionCall":{}}]"#, STOP);
        let stop = parts(r#"[{"text":""}]"#, STOP);
        let going = more(r#","willContinue":true"#);
        for (frames, whole) in [
            ([&begin, &going, &end], true),
            ([&begin, &more(""), &stop], true),
            ([&begin, &going, &stop], false),
            ([&begin, &going, &begin], false),
        ] {
            let said = read(&frames.map(String::as_str));
            let arguments =
                if whole { r#"0 Arguments("{\"at\":\"here\"}")"# } else { r#"0 Arguments("{\"at\":\"here\"")"# };
            assert!(said.iter().any(|event| event == arguments), "{said:?}");
        }
    }

    #[test]
    fn a_blocked_response_stays_blocked() {
        let blocked = read(&[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, &parts("[]", STOP)]);
        let wanted = [r#"promptFeedback={"blockReason":"SAFETY"}"#, r#"Stop { stop: Filter, word: "SAFETY" }"#, "Done"];
        assert_eq!(blocked, wanted);
    }

    #[test]
    fn a_frame_that_is_called_an_error_is_one() {
        for data in [r#"{"message":"no"}"#, "no", "", &parts("[]", STOP)] {
            assert_eq!(events(reader(), &[("error", data)]), [format!("Failed {{ said: {data:?} }}")]);
        }
    }

    #[test]
    fn a_second_candidate_is_told_once() {
        let both =
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]},"index":1}]}"#;
        let said = read(&[both, both]);
        let wanted = ["0 Text", "0 Text(\"a\")", "Unreadable { what: SecondMessage }", "0 Text(\"a\")", "0 End"];
        assert_eq!(said, wanted);
    }

    #[test]
    fn no_value_anywhere_breaks_the_reader() {
        survives(
            reader,
            &[
                (
                    "",
                    r#"{"response":{"candidates":[{"content":{"parts":[{"text":"a","thought":true}]},"index":0}]},"traceId":"t"}"#,
                ),
                (
                    "",
                    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"x","id":"1","args":{"a":1}},"thoughtSignature":"s"}]}}]}"#,
                ),
                (
                    "",
                    r#"[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"y","args":{},"willContinue":true}}]}}]}]"#,
                ),
                (
                    "",
                    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0]","stringValue":"b","willContinue":true},{"jsonPath":"$.c","numberValue":1}],"willContinue":true}}]}}]}"#,
                ),
                (
                    "",
                    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"args":{"a":1}}},{"executableCode":{"code":"1"}}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"totalTokenCount":1},"promptFeedback":{"blockReason":"SAFETY"}}"#,
                ),
                ("error", r#"{"error":{"code":503}}"#),
            ],
        );
    }
}
