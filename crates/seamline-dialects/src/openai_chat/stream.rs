//! Reads the frames of a Chat Completions stream of any server.
//!
//! Besides the chunks of `OpenAI` and of the servers that do nearly the same, a frame may be a
//! whole response, a line of Ollama's own chat or an event of Cohere's. Logprobs are not kept.

mod calls;
mod content;
mod message;
mod native;
mod reasoning;

use seamline_frame::{Frame, FrameKind};
use seamline_model::{Addition, Event, Piece, Stop, Unreadable};

use self::calls::Calls;
use self::content::Content;
use crate::frames::{Said, Sink, add, foreign, index, is_remnant, is_told, said, unreadable, words};
use crate::json::{Alike, Kind, Object, Value};
use crate::repeated::Repeated;
use crate::streaming::StreamReader;

pub(super) use self::reasoning::{DETAILS, MEMBERS as REASONING_MEMBERS};

/// The places of blocks. The content of a message comes before its calls, so that a call that a limit cuts is the last
/// block, whatever came after it.
pub(super) mod places {
    /// The members beside the message in its choice.
    pub(in super::super) const CHOICE: u32 = 0;
    /// The other members of the message.
    pub(in super::super) const MESSAGE: u32 = 1;
    pub(in super::super) const REFUSAL: u32 = 2;
    pub(in super::super) const AUDIO: u32 = 3;
    /// The reasoning, one place for each member it may come in.
    pub(in super::super) const REASONING: u32 = 8;
    pub(in super::super) const CONTENT: u32 = 1 << 16;
    /// The one call that older servers can make.
    pub(in super::super) const LEGACY_CALL: u32 = (1 << 30) - 1;
    pub(in super::super) const CALLS: u32 = 1 << 30;
}

/// Reads one stream.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Members of the response.
    head: Repeated,
    usage: String,
    ids: Ids,
    /// The blocks of fixed places that have begun, one bit for each.
    begun: u64,
    content: Content,
    calls: Calls,
    stop: Option<Stop>,
    has_refused: bool,
    /// The word of the stop reason.
    word: String,
    /// Whether a part of the message came in pieces.
    has_deltas: bool,
    /// Whether there are other choices, or events after the end.
    has_others: bool,
    /// Whether a part of a message came.
    has_message: bool,
    /// Whether the stream gave a stop reason, or the whole message at once.
    is_whole: bool,
    is_done: bool,
    /// Whether the last frame was cut.
    is_cut: bool,
    alike: Alike,
}

/// The ids of the chunks before the message stopped.
#[derive(Debug, Default)]
enum Ids {
    #[default]
    None,
    /// All chunks have this id, given by its source.
    One(String),
    /// Every chunk has another id, so that ids mean nothing.
    Many,
}

/// Makes a reader for a new stream.
pub(super) fn reader() -> Box<dyn StreamReader> {
    Box::new(Reader::default())
}

impl StreamReader for Reader {
    fn handle_frame(&mut self, frame: &Frame<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        self.is_cut |= is_remnant(frame);
        match said(frame, &mut self.alike) {
            Said::Nothing => {}
            Said::Failure(said) => sink(Event::Failed { said: &said }),
            // An end before any message is not a response.
            Said::Done if !self.has_message => {}
            Said::Done => self.finish(sink),
            Said::Broken => {
                self.is_cut |= frame.kind == FrameKind::Cut;
                unreadable(sink, Unreadable::NotJson);
            }
            Said::Json(document) => {
                match document.root().object() {
                    Some(object) => self.frame(document.root(), object, sink),
                    None => foreign(document.root(), sink),
                }
                self.alike.keep(document);
            }
        }
    }

    fn handle_end(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        // CMP-10: many servers never send the last line.
        if self.is_whole && !self.is_cut {
            self.finish(sink);
        }
    }
}

/// The members of a frame that say what it is.
#[derive(Default)]
struct Chunk<'d, 'a> {
    choices: Option<Value<'d, 'a>>,
    usage: Option<Value<'d, 'a>>,
    error: Option<Value<'d, 'a>>,
    base: Option<Value<'d, 'a>>,
    kind: Option<Value<'d, 'a>>,
    object: Option<Value<'d, 'a>>,
    groq: Option<Value<'d, 'a>>,
    message: Option<Value<'d, 'a>>,
    done: Option<Value<'d, 'a>>,
    id: Option<Value<'d, 'a>>,
    code: Option<Value<'d, 'a>>,
    prompt_filter: Option<Value<'d, 'a>>,
}

impl<'d, 'a> Chunk<'d, 'a> {
    fn read(root: Value<'d, 'a>) -> Self {
        let mut chunk = Self::default();
        for (key, value) in root.members() {
            let slot = match &*key.name() {
                "choices" => &mut chunk.choices,
                "usage" => &mut chunk.usage,
                "error" => &mut chunk.error,
                "base_resp" => &mut chunk.base,
                "type" => &mut chunk.kind,
                "object" => &mut chunk.object,
                "x_groq" => &mut chunk.groq,
                "message" => &mut chunk.message,
                "done" => &mut chunk.done,
                "id" => &mut chunk.id,
                "code" => &mut chunk.code,
                "prompt_filter_results" => &mut chunk.prompt_filter,
                _ => continue,
            };
            *slot = Some(value);
        }
        chunk
    }

    /// Whether it is an error of the server in place of a response.
    fn is_failure(&self, object: Object<'_, '_>) -> bool {
        let says = |name| object.get(name).is_some_and(is_told);
        let is_error = self.object.is_some_and(|object| object.says("error"));
        let has_message = self.message.and_then(words).is_some() || self.choices.is_none() && says("message");
        let has_message = has_message && !self.code.is_some_and(is_success);
        !self.choices.is_some_and(is_told) && (is_error || has_message || says("detail") || says("errors"))
    }

    /// Whether it says beside the response that the request failed.
    fn has_error(&self) -> bool {
        let within = |value: Option<Value<'d, 'a>>, name| value.and_then(Value::object).and_then(|it| it.get(name));
        // `MiniMax` writes a number, where zero means no error.
        let code = within(self.base, "status_code").filter(|code| is_told(*code));
        let errors = [self.error, within(self.groq, "error")];
        errors.into_iter().flatten().any(is_told) || code.is_some_and(|code| index(code) != Some(0))
    }

    /// The error that a server reports beside a response, with a code and a message of its own. Some servers also write
    /// them for success.
    fn own_error(&self) -> Option<String> {
        let code = self.code.filter(|code| is_told(*code) && !is_success(*code))?;
        let message = self.message.filter(|message| message.is(Kind::String) && is_told(*message))?;
        Some([r#"{"error":{"code":"#, code.raw(), r#","message":"#, message.raw(), "}}"].concat())
    }

    /// Whether it is a chunk, though one without choices.
    fn is_bare(&self) -> bool {
        let is_named = self.object.and_then(Value::str).is_some_and(|object| object.starts_with("chat.completion"));
        is_named || self.choices.is_some() || self.usage.is_some() || self.id.is_some() || self.groq.is_some()
    }
}

/// Whether the code that a server writes beside a response reports success.
fn is_success(code: Value<'_, '_>) -> bool {
    let is_word = |word: &str| ["ok", "success"].iter().any(|good| word.eq_ignore_ascii_case(good));
    matches!(index(code), Some(0 | 200)) || code.str().is_some_and(|word| is_word(&word))
}

/// The members that nearly every choice has.
#[derive(Default)]
struct Choice<'d, 'a> {
    place: Option<Value<'d, 'a>>,
    delta: Option<Value<'d, 'a>>,
    message: Option<Value<'d, 'a>>,
    reason: Option<Value<'d, 'a>>,
    /// Whether it has others.
    has_others: bool,
}

impl<'d, 'a> Choice<'d, 'a> {
    fn read(value: Value<'d, 'a>) -> Self {
        let mut choice = Self::default();
        for (key, value) in value.members() {
            let slot = match &*key.name() {
                "index" => &mut choice.place,
                "delta" => &mut choice.delta,
                "message" => &mut choice.message,
                "finish_reason" => &mut choice.reason,
                "logprobs" => continue,
                _ => {
                    choice.has_others = true;
                    continue;
                }
            };
            *slot = Some(value);
        }
        choice
    }
}

impl Reader {
    fn frame(&mut self, root: Value<'_, '_>, object: Object<'_, '_>, sink: Sink<'_>) {
        let text = root.raw();
        let chunk = Chunk::read(root);
        let groq = chunk.groq.and_then(Value::object);
        let own_error = chunk.own_error();
        let has_failed = own_error.is_some() || chunk.has_error();
        if has_failed {
            sink(Event::Failed { said: own_error.as_deref().unwrap_or(text) });
        }
        if self.is_done {
            if !has_failed {
                self.behind(&chunk, sink);
            }
            return;
        }
        if self.is_of_another(&chunk) {
            return self.pass_over(sink);
        }
        if let Some(kind) = chunk.kind.and_then(native::Cohere::of) {
            self.has_message = true;
            self.cohere(kind, object, sink);
            return;
        }
        if chunk.choices.is_none() && (chunk.message.is_some_and(|it| it.is(Kind::Object)) || chunk.done.is_some()) {
            self.head(root, sink);
            self.has_message = true;
            self.emit_unlisted(object, chunk.message, sink);
        } else if chunk.is_failure(object) {
            if !has_failed {
                sink(Event::Failed { said: text });
            }
        } else if chunk.is_bare() {
            self.head(root, sink);
            let is_response = chunk.object.is_some_and(|object| object.says("chat.completion"));
            if chunk.choices.is_some_and(|choices| is_told(choices) && !choices.is(Kind::Array)) {
                unreadable(sink, Unreadable::Shape);
            }
            for (at, choice) in chunk.choices.into_iter().flat_map(Value::elements).enumerate() {
                self.choice((at, choice), is_response, text, sink);
            }
        } else if !has_failed {
            foreign(root, sink);
        }
        // AZR-3
        if chunk.prompt_filter.is_some_and(|results| results.elements().any(|result| is_filtered(result.object()))) {
            self.stop(FILTERED, sink);
        }
        for usage in [chunk.usage, groq.and_then(|groq| groq.get("usage"))].into_iter().flatten() {
            self.usage(usage, sink);
        }
    }

    /// Takes a chunk after the end: one with the stop reason of this response, or one of another response.
    fn behind(&mut self, chunk: &Chunk<'_, '_>, sink: Sink<'_>) {
        let choice = chunk.choices.and_then(|choices| choices.elements().next()).map(Choice::read);
        let word = choice.and_then(|choice| words(choice.reason?));
        let word = word.filter(|word| matches!(Stop::of_word(word), Stop::Filter | Stop::Refusal));
        match word.filter(|_| !self.is_of_another(chunk)) {
            Some(word) => self.stop(&word, sink),
            None => self.pass_over(sink),
        }
    }

    /// Whether a chunk belongs to another response: it has another id, after the first has stopped.
    fn is_of_another(&mut self, chunk: &Chunk<'_, '_>) -> bool {
        let id = chunk.id.filter(|id| id.is(Kind::String) && is_told(*id)).map(Value::raw);
        let Some(id) = id.filter(|_| chunk.choices.is_some_and(is_told)) else { return false };
        match &self.ids {
            Ids::One(known) if known == id => {}
            Ids::One(_) if self.stop.is_some() => return true,
            Ids::One(_) => self.ids = Ids::Many,
            Ids::None if self.stop.is_none() => self.ids = Ids::One(id.to_owned()),
            Ids::None | Ids::Many => {}
        }
        false
    }

    /// Skips a chunk of another message.
    fn pass_over(&mut self, sink: Sink<'_>) {
        if !self.has_others {
            unreadable(sink, Unreadable::SecondMessage);
        }
        self.has_others = true;
    }

    /// Gives out the changed members of the response around the message.
    fn head(&mut self, root: Value<'_, '_>, sink: Sink<'_>) {
        self.head.each_new(
            root,
            |name, value| {
                let is_read = matches!(
                    name,
                    "choices" | "usage" | "error" | "object" | "obfuscation" | "message" | "done" | "finish_reason"
                );
                is_read || value.is(Kind::Null)
            },
            |name, value| sink(Event::Member { name, json: value.raw() }),
        );
    }

    fn usage(&mut self, usage: Value<'_, '_>, sink: Sink<'_>) {
        let json = usage.raw();
        if usage.is(Kind::Object) && self.usage != json {
            json.clone_into(&mut self.usage);
            crate::frames::usage(Some(usage), sink);
        }
    }

    fn choice(&mut self, (at, choice): (usize, Value<'_, '_>), is_response: bool, text: &str, sink: Sink<'_>) {
        if !choice.is(Kind::Object) {
            return unreadable(sink, Unreadable::Shape);
        }
        self.has_message = true;
        let Choice { place, delta, message, reason, has_others } = Choice::read(choice);
        // A choice without an index has its position in the list.
        let place = place.filter(|place| is_told(*place));
        if !place.map_or(at == 0, |place| index(place) == Some(0)) {
            return self.pass_over(sink);
        }
        if has_others {
            self.beside(choice, text, sink);
        }
        if delta.is_some_and(|delta| is_told(delta) && !delta.is(Kind::Object)) {
            unreadable(sink, Unreadable::Shape);
        }
        match (delta.filter(|delta| delta.is(Kind::Object)), message) {
            (Some(delta), _) => {
                self.message(delta, false, sink);
                self.has_deltas = true;
            }
            (None, Some(message)) => {
                // Some servers repeat all of it at the end.
                self.message(message, is_response || self.has_deltas, sink);
                self.is_whole |= is_response;
            }
            (None, None) => {}
        }
        match reason.filter(|reason| is_told(*reason)) {
            Some(reason) if reason.is(Kind::String) => self.stop(&words(reason).unwrap_or_default(), sink),
            Some(_) => unreadable(sink, Unreadable::Shape),
            None => {}
        }
    }

    /// Takes the members beside the message in its choice.
    fn beside(&mut self, choice: Value<'_, '_>, text: &str, sink: Sink<'_>) {
        for (key, value) in choice.members() {
            let name = key.name();
            match &*name {
                "index" | "delta" | "message" | "finish_reason" | "logprobs" => {}
                // KIM-9
                "usage" => self.usage(value, sink),
                "error" if is_told(value) => sink(Event::Failed { said: text }),
                _ if is_told(value) => {
                    self.judge(&name, value, sink);
                    self.begin(places::CHOICE, Piece::Opaque, sink);
                    add(sink, places::CHOICE, Addition::Member(&name, value.raw()));
                }
                _ => {}
            }
        }
    }

    /// Looks for signs of a filter beside the stop reason.
    fn judge(&mut self, name: &str, value: Value<'_, '_>, sink: Sink<'_>) {
        let is_filter = match name {
            // AZR-3
            "content_filter_results" => is_any_filtered(value),
            // The stop reason of the model behind a gateway.
            "native_finish_reason" => words(value).is_some_and(|word| Stop::of_word(&word) == Stop::Filter),
            _ => false,
        };
        if is_filter {
            self.stop(FILTERED, sink);
        }
    }

    /// Begins a block of a fixed place, once.
    fn begin(&mut self, place: u32, piece: Piece, sink: Sink<'_>) {
        let bit = 1_u64.checked_shl(place).unwrap_or_default();
        if self.begun & bit == 0 {
            self.begun |= bit;
            sink(Event::Begin { place, piece, base: "" });
        }
    }

    fn stop(&mut self, word: &str, sink: Sink<'_>) {
        // DashScope writes it so where others write nothing.
        if word == "null" {
            return;
        }
        self.is_whole = true;
        let stop = match Stop::of_word(word) {
            // OAC-16
            Stop::Turn | Stop::Calls if self.has_refused => Stop::Refusal,
            stop => stop,
        };
        if stop.counts_after(self.stop) {
            self.stop = Some(stop);
            word.clone_into(&mut self.word);
            sink(Event::Stop { stop, word });
        }
    }

    fn finish(&mut self, sink: Sink<'_>) {
        if !self.is_done {
            self.is_done = true;
            // OAC-16: a refusal may have any stop reason, or one that came before.
            if self.has_refused && matches!(self.stop, None | Some(Stop::Turn | Stop::Calls)) {
                let word = if self.word.is_empty() { "refusal" } else { &self.word };
                sink(Event::Stop { stop: Stop::Refusal, word });
            }
            sink(Event::Done);
        }
    }
}

/// The stop reason of a filtered response.
const FILTERED: &str = "content_filter";

/// Whether the results of the filter say that the prompt was filtered.
fn is_filtered(result: Option<Object<'_, '_>>) -> bool {
    result.and_then(|result| result.get("content_filter_results")).is_some_and(is_any_filtered)
}

/// Whether any filter of Azure removed something.
fn is_any_filtered(results: Value<'_, '_>) -> bool {
    let mut filters = results.members().filter_map(|(_, filter)| filter.object()?.get("filtered"));
    filters.any(|filtered| filtered.is(Kind::True))
}

#[cfg(test)]
mod tests;
