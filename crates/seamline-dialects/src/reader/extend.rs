//! Reads a body that extends one that was read before.

use std::ops::ControlFlow;

use seamline_model::{Message, Source, Span, Transcript};

use super::{Form, Reader, finish};
use crate::density::{NOTED_FREE, parts_exceeding};
use crate::json::{Document, ListVisitor, NODES_MAX, Value};

/// Reads messages that were appended to those of a transcript, which already refers to the new text. Returns nothing
/// when the whole body must be read again.
///
/// The reader of one message looks at no other message, so what was read before stays valid.
pub(crate) fn read_on<'a>(transcript: Transcript<'a>, added: &[Span], form: Form) -> Option<Transcript<'a>> {
    let source = transcript.source;
    let mut reader = Reader::new(transcript);
    reader.look_at_entries()?;
    let mut lone_surrogates = Vec::new();
    for &span in added {
        let part = Document::read_part(source, span).ok()?;
        (form.message)(&mut reader, part.root());
        lone_surrogates.extend(part.lone_surrogates);
    }
    let is_exceeded = reader.density.is_exceeded();
    (!is_exceeded).then(|| reader.finish(&lone_surrogates, None))
}

/// A body that was read before.
#[derive(Debug)]
pub struct Earlier<'e> {
    /// The bytes of the body.
    pub body: &'e [u8],
    /// The transcript of the body, [detached](Transcript::detached) from the bytes.
    pub transcript: Transcript<'static>,
}

/// A body that was read with the help of an earlier one.
#[derive(Debug)]
pub struct Extended<'a> {
    /// The transcript of the whole body.
    pub transcript: Transcript<'a>,
    /// The number of messages at its start that were not read again.
    pub messages: usize,
    /// The number of bytes of these messages and of the text between them.
    pub bytes: usize,
    /// Whether these messages are at another place than in the earlier body.
    pub is_moved: bool,
}

/// Reads a body, but not the messages at its start that an earlier body starts with as well. Returns nothing when the
/// whole body must be read: there are no such messages, the body cannot be read, or it is near a limit.
///
/// The reader of one message looks at no other message, so what was read before stays valid. All other members of the
/// body are read, wherever they are.
pub(crate) fn decode_on<'a>(body: &'a [u8], earlier: Earlier<'_>, form: Form) -> Option<Extended<'a>> {
    // A longer body may hold more values than the reader allows, and those of known messages are not counted.
    if body.len() > NODES_MAX {
        return None;
    }
    let mut reader = Reader::new(Transcript::with_room(Source::new(body), 0, 0));
    let mut kept = None;
    let messages = NewMessages { reader: &mut reader, form, earlier: Some(earlier), kept: &mut kept, lists: 0 };
    let read = Document::read_list(body, messages);
    let (messages, bytes, is_moved) = kept?;
    let transcript = finish(reader, read, form).ok()?;
    // Beyond this number, irregularities are counted instead of listed.
    let is_exact = transcript.irregularities.len() <= NOTED_FREE && parts_exceeding(&transcript).is_none();
    is_exact.then_some(Extended { transcript, messages, bytes, is_moved })
}

/// Reads the messages that an earlier body does not have.
struct NewMessages<'r, 'a, 'e> {
    reader: &'r mut Reader<'a>,
    form: Form,
    /// The earlier body, until the list of messages begins.
    earlier: Option<Earlier<'e>>,
    /// The kept part of it; nothing if all messages must be read.
    kept: &'r mut Option<(usize, usize, bool)>,
    /// The number of lists of messages that have begun.
    lists: u32,
}

impl<'a> ListVisitor<'a> for NewMessages<'_, 'a, '_> {
    fn enter(&mut self, key: Option<&str>) -> bool {
        let found = key.is_none_or(|key| key == self.form.list);
        self.lists += u32::from(found);
        if self.lists > 1 {
            *self.kept = None;
        }
        found
    }

    fn skip(&mut self, rest: &'a [u8], start: usize) -> usize {
        let Some(Earlier { body, transcript }) = self.earlier.take() else { return 0 };
        let (messages, bytes) = common_start(body, &transcript, rest);
        let by = (start as u32).wrapping_sub(transcript.list.start + 1);
        if messages > 0 && self.reader.go_on(transcript, messages, by).is_some() {
            *self.kept = Some((messages, bytes, by != 0));
            bytes
        } else {
            0
        }
    }

    fn element(&mut self, value: Value<'_, 'a>) -> ControlFlow<()> {
        // Without anything to keep, the caller reads the whole body.
        if self.kept.is_none() {
            return ControlFlow::Break(());
        }
        (self.form.message)(self.reader, value);
        if self.reader.density.is_exceeded() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The number of messages of an earlier body that the text of another list starts with, and the number of bytes of
/// these messages and of the text between them.
fn common_start(earlier: &[u8], transcript: &Transcript<'_>, list: &[u8]) -> (usize, usize) {
    let start = transcript.list.start as usize + 1;
    let (mut messages, mut bytes) = (0, 0);
    for message in &transcript.messages {
        let end = message.span.end as usize - start;
        if list.get(bytes..end) != earlier.get(start + bytes..start + end) {
            break;
        }
        (messages, bytes) = (messages + 1, end);
    }
    (messages, bytes)
}

impl Reader<'_> {
    /// Goes on from the first messages of an earlier body, which are moved by some bytes.
    fn go_on(&mut self, mut earlier: Transcript<'static>, messages: usize, by: u32) -> Option<()> {
        let source = self.transcript.source;
        let list = earlier.list;
        earlier.truncate(messages);
        let end = earlier.messages.last().map_or(list.start, |last: &Message| last.span.end);
        // Others belong to the members around the messages, which are read again.
        let is_inside = |span: Span| span.start > list.start && span.end <= end;
        earlier.irregularities.retain(|irregularity| is_inside(irregularity.span));
        if by != 0 {
            earlier.move_messages(by);
        }
        self.transcript = earlier.over(source);
        self.look_at_entries()
    }
}
