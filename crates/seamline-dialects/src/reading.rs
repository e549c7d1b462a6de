//! What the dialects share when reading.

use std::borrow::Cow;

use seamline_model::{BlockIndex, Emptiness, Irregularity, IrregularityKind, MessageIndex, Parts, Span, Transcript};

use crate::json::{Document, Kind, Value};
use crate::{Error, Position};

/// Texts longer than this are never taken for what a repair made up.
const SYNTHETIC_BYTES_MAX: usize = 512;

/// How much text a string holds.
pub(crate) fn emptiness(value: Value<'_, '_>) -> Emptiness {
    let raw = value.raw_str();
    if raw.is_empty() {
        return Emptiness::Empty;
    }
    match raw.trim_start().as_bytes().first() {
        None => Emptiness::Blank,
        // It starts with an escape, which may be white space too.
        Some(b'\\') => match value.str() {
            Some(text) if text.trim().is_empty() => Emptiness::Blank,
            _ => Emptiness::Present,
        },
        Some(_) => Emptiness::Present,
    }
}

/// The text of a part, if it is a text part.
pub(crate) fn part_text<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let part = part.object()?;
    part.get("type").filter(|kind| kind.says("text"))?;
    part.get("text").filter(|text| text.is(Kind::String))
}

/// What a result's content holds.
pub(crate) fn parts(content: Value<'_, '_>) -> Parts {
    match content.kind() {
        Kind::String => Parts::Text(emptiness(content)),
        Kind::Null => Parts::Missing,
        Kind::Array => {
            let (mut empty_text, mut media) = (false, false);
            for part in content.elements() {
                match part_text(part) {
                    Some(text) => empty_text |= emptiness(text) != Emptiness::Present,
                    None => media = true,
                }
            }
            Parts::List { empty_text, media }
        }
        _ => Parts::Unreadable,
    }
}

/// What a content says, when it is a string or a single text part and short: what a
/// repair makes up is never long.
pub(crate) fn only_text<'a>(content: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    let text = match content.kind() {
        Kind::String => content,
        Kind::Array => {
            let mut elements = content.elements();
            let first = elements.next().filter(|_| elements.next().is_none())?;
            part_text(first)?
        }
        _ => return None,
    };
    if text.raw_str().len() > SYNTHETIC_BYTES_MAX { None } else { text.str() }
}

/// Whether a block type is something to look at or listen to.
pub(crate) fn is_media_type(kind: &str) -> bool {
    matches!(
        kind,
        "image"
            | "document"
            | "image_url"
            | "input_audio"
            | "audio"
            | "file"
            | "video"
            | "video_url"
            | "search_result"
            | "container_upload"
    )
}

/// Keys met while reading: repeated ones and ones another program chose.
#[derive(Default)]
pub(crate) struct Keys {
    found: Vec<Irregularity>,
    /// The message and block being read.
    message: Option<MessageIndex>,
    block: Option<BlockIndex>,
}

impl Keys {
    /// Everything from here on is in this message.
    pub(crate) fn enter(&mut self, message: MessageIndex, block: Option<BlockIndex>) {
        self.message = Some(message);
        self.block = block;
    }

    /// Puts the value of a key into its slot. Of several the last counts, as it does for
    /// every reader we know; the one before is noted.
    pub(crate) fn set<'d, 'a>(&mut self, slot: &mut Option<Value<'d, 'a>>, value: Value<'d, 'a>) {
        if let Some(earlier) = slot.replace(value)
            && earlier.key().raw_str() == value.key().raw_str()
        {
            self.note_duplicate(earlier);
        }
    }

    /// Puts a value into a slot that keys of several names fill; `own` wins.
    pub(crate) fn set_one_of<'d, 'a>(&mut self, slot: &mut Option<Value<'d, 'a>>, value: Value<'d, 'a>, own: bool) {
        if slot.is_none() || own {
            self.set(slot, value);
        }
    }

    fn note_duplicate(&mut self, earlier: Value<'_, '_>) {
        let key = earlier.key();
        // The member that repeats the key follows, so there is a next one.
        let cut = Span { start: key.span().start, end: earlier.after().span().start };
        let kind = IrregularityKind::DuplicateKey { key: key.raw_str().to_owned(), cut };
        self.note(kind, key.span());
    }

    /// What an id says. One that is a number is read by its digits, and noted.
    pub(crate) fn id<'a>(&mut self, value: Value<'_, 'a>) -> Option<Cow<'a, str>> {
        if value.is(Kind::Number) {
            self.note(IrregularityKind::UnquotedId, value.span());
            return Some(Cow::Borrowed(value.raw()));
        }
        value.str()
    }

    /// Notes a key that this dialect calls differently.
    pub(crate) fn foreign(&mut self, key: Span, expected: &'static str) {
        self.note(IrregularityKind::ForeignKey { expected }, key);
    }

    pub(crate) fn note(&mut self, kind: IrregularityKind, span: Span) {
        self.found.push(Irregularity { kind, span, message: self.message, block: self.block });
    }
}

/// The list of messages in a body: its `messages` member, or the body itself.
pub(crate) fn messages<'d, 'a>(document: &'d Document<'a>, dialect: &'static str) -> Result<Value<'d, 'a>, Error> {
    let root = document.root();
    let wrong = |found: String| Err(Error::Envelope { dialect, found });
    match root.kind() {
        Kind::Array => Ok(root),
        Kind::Object => match root.object().and_then(|body| body.get("messages")) {
            Some(list) if list.is(Kind::Array) => Ok(list),
            Some(other) => wrong(format!("`messages` is {}, not a list", other.kind().as_str())),
            None => wrong("there is no `messages`".to_owned()),
        },
        other => wrong(format!("the body is {}, not an object", other.as_str())),
    }
}

/// What stands where a readable message should.
pub(crate) fn unreadable(message: Value<'_, '_>, role: Option<Value<'_, '_>>) -> &'static str {
    match (message.kind(), role) {
        (Kind::Object, Some(_)) => "an unknown role",
        (Kind::Object, None) => "no role",
        (other, _) => other.as_str(),
    }
}

/// Puts what was met while reading into the transcript, in the order of the source.
pub(crate) fn note_irregularities(transcript: &mut Transcript<'_>, document: &Document<'_>, keys: Keys) {
    let mut found = keys.found;
    for &span in &document.lone_surrogates {
        let message = message_at(transcript, span);
        found.push(Irregularity { kind: IrregularityKind::LoneSurrogate, span, message, block: None });
    }
    if let Some(span) = document.byte_order_mark {
        found.push(Irregularity { kind: IrregularityKind::ByteOrderMark, span, message: None, block: None });
    }
    if found.len() > 1 {
        found.sort_by_key(|irregularity| irregularity.span);
    }
    transcript.irregularities = found;
}

fn message_at(transcript: &Transcript<'_>, span: Span) -> Option<MessageIndex> {
    let after = transcript.messages.partition_point(|message| message.span.start <= span.start);
    let index = after.checked_sub(1)?;
    (transcript.messages[index].span.end >= span.end).then_some(MessageIndex(index as u32))
}

impl<'a> Document<'a> {
    /// Reads the bytes of a body.
    ///
    /// # Errors
    ///
    /// When the bytes are not UTF-8 or the text is not JSON.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let offset = error.valid_up_to();
            Error::NotUtf8 { offset, position: Position::of(bytes, offset) }
        })?;
        Self::read(text).map_err(|syntax| Error::NotJson { syntax, position: Position::of(bytes, syntax.offset) })
    }
}
