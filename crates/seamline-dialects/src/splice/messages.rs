//! Writes a list of messages. Messages that stay are referred to by their spans, with the text between them.

use seamline_model::{Encoded, MessageIndex, Role, Span, Transcript};

use super::{MessagePlan, Plan};
use crate::json::{Json, Style};

/// Writes the messages of a body.
pub(crate) struct MessageWriter<'t, 'a> {
    transcript: &'t Transcript<'a>,
    style: Style,
    /// The nesting depth of a message in the body.
    depth: usize,
    out: Encoded,
    /// The source message that was copied last, if nothing was written after it.
    copied: Option<MessageIndex>,
}

impl<'t, 'a> MessageWriter<'t, 'a> {
    /// Makes a writer for the result of so many edits of a transcript.
    pub(crate) fn new(transcript: &'t Transcript<'a>, edit_count: usize, plan: &Plan<'_>) -> Self {
        let count = transcript.messages.len() + edit_count;
        let mut writer = Self {
            transcript,
            style: Style::of(&transcript.source.head(Style::HEAD_BYTES)),
            depth: if transcript.is_bare_list() { 1 } else { 2 },
            out: Encoded { landed: vec![None; edit_count], ..Encoded::of(transcript.source, count) },
            copied: None,
        };
        writer.out.written.reserve(plan.bytes(transcript));
        writer.copy_span(Span { start: 0, end: transcript.list.start + 1 });
        writer
    }

    /// Copies a message unchanged.
    pub(crate) fn copy(&mut self, index: MessageIndex) {
        let span = self.transcript.message(index).span;
        let lead = match self.copied {
            // The one before it was copied too: keep the text between them.
            Some(last) if last.next() == index => self.copy_span(self.transcript.lead(index)),
            _ => self.separate(),
        };
        self.copy_span(span);
        self.note(Noted { origin: Some(index), lead, span, copied: true });
        self.copied = Some(index);
    }

    /// Copies a span of the source, by a reference.
    fn copy_span(&mut self, span: Span) -> Span {
        self.out.push(span.range(), self.transcript.source.body);
        span
    }

    /// Writes a message that changed.
    pub(crate) fn rewrite(&mut self, origin: Option<MessageIndex>, text: &str) {
        let lead = self.separate();
        let start = self.out.written.len();
        self.out.written.extend_from_slice(text.as_bytes());
        self.note_written(origin, lead, start);
    }

    /// Writes a message with patches applied, without a copy of its text.
    pub(crate) fn rewrite_patched(&mut self, origin: MessageIndex, mut patches: Vec<(Span, String)>) {
        let lead = self.separate();
        let transcript = self.transcript;
        let start = self.out.written.len();
        let whole = transcript.message(origin).span;
        let replaced = patches.iter().map(|(span, _)| span.len()).sum::<usize>();
        let bytes = patches.iter().map(|(_, text)| text.len()).sum::<usize>();
        self.out.written.reserve(whole.len().saturating_sub(replaced) + bytes);
        patch(transcript, whole, &mut patches, |text| self.out.written.extend_from_slice(text.as_bytes()));
        self.note_written(Some(origin), lead, start);
    }

    /// Notes a message whose text was written from `start` on.
    fn note_written(&mut self, origin: Option<MessageIndex>, lead: Span, start: usize) {
        let span = self.out.note_written(start, self.transcript.source.body);
        self.note(Noted { origin, lead, span, copied: false });
        self.copied = None;
    }

    /// Writes a text that is not in the source.
    fn push(&mut self, text: &str) -> Span {
        self.out.write(text, self.transcript.source.body)
    }

    /// Notes the message that was just written.
    fn note(&mut self, Noted { origin, lead, span, copied }: Noted) {
        self.out.origins.push(origin);
        self.out.layout.leads.push(lead);
        self.out.spans.push(span);
        self.out.copied.push(copied);
    }

    /// Writes a new message.
    pub(crate) fn write(&mut self, origin: Option<MessageIndex>, message: &Json<'_>) {
        let lead = self.separate();
        let start = self.out.written.len();
        self.out.written.reserve(self.style.room_for(message, self.depth));
        self.style.write(&mut self.out.written, message, self.depth);
        self.note_written(origin, lead, start);
    }

    /// Notes that an edit ended up in the message written last.
    pub(crate) fn note_landed(&mut self, edit: usize) {
        let last = self.out.origins.len().checked_sub(1);
        if let Some(slot) = self.out.landed.get_mut(edit) {
            *slot = last.map(|index| MessageIndex(index as u32));
        }
    }

    /// Notes that the edits of a message ended up in the message written last.
    pub(crate) fn note_edits(&mut self, plan: Option<&MessagePlan<'_>>) {
        for &edit in plan.map_or(&[][..], |plan| &plan.edits) {
            self.note_landed(edit);
        }
    }

    /// Writes the new messages that go before a message. `message` writes one with this role and text.
    pub(crate) fn insert<'j>(&mut self, plan: Option<&MessagePlan<'_>>, message: impl Fn(Role, &str) -> Json<'j>) {
        for new in plan.map_or(&[][..], |plan| &plan.before) {
            self.write(None, &message(new.role, new.text));
            self.note_landed(new.edit);
        }
    }

    /// A value laid out for a place `below` levels under a message.
    pub(crate) fn render(&self, json: &Json<'_>, below: usize) -> String {
        self.style.text(json, self.depth + below)
    }

    /// Ends the list and the body.
    pub(crate) fn finish(self) -> Encoded {
        self.finish_with(None)
    }

    /// Ends the list and the body, with a further member behind the list, if there is one.
    pub(crate) fn finish_with(mut self, further: Option<(&'static str, Json<'_>)>) -> Encoded {
        let transcript = self.transcript;
        self.out.layout.closing = match transcript.messages.is_empty() {
            false if self.out.origins.is_empty() => Span::default(),
            false => self.copy_span(transcript.closing()),
            true => self.write_styled(|style, out, count, depth| style.finish(out, count, depth - 1)),
        };
        let end = transcript.list.end;
        self.copy_span(Span { start: end - 1, end });
        if let Some((key, json)) = further.filter(|_| !transcript.is_bare_list()) {
            let mut member = String::new();
            self.style.separate(&mut member, 1, self.depth - 1);
            member.push_str(&["\"", key, "\"", self.style.colon()].concat());
            self.style.write(&mut member, &json, self.depth - 1);
            self.push(&member);
            // More than the list changed, so the whole must be read afresh.
            self.out.spans.clear();
        }
        self.copy_span(Span::new(end as usize, transcript.source.body.len()));
        self.out
    }

    /// The separator before a message: the bytes between the first two messages of the source, or between the bracket
    /// and the first.
    fn separate(&mut self) -> Span {
        let is_first = self.out.origins.is_empty();
        let pattern = MessageIndex(u32::from(!is_first));
        if pattern.get() < self.transcript.messages.len() {
            self.copy_span(self.transcript.lead(pattern))
        } else {
            self.write_styled(Style::separate)
        }
    }

    /// Writes the commas and white space that the style of the source has in this place. The number of messages so far
    /// and their depth select them.
    fn write_styled(&mut self, write: impl Fn(&Style, &mut String, usize, usize)) -> Span {
        let mut text = String::new();
        write(&self.style, &mut text, self.out.origins.len(), self.depth);
        self.push(&text)
    }
}

/// A message that was written.
struct Noted {
    origin: Option<MessageIndex>,
    /// The text before it.
    lead: Span,
    span: Span,
    copied: bool,
}

/// The text of a span with patches applied. If patches overlap, the first one is applied.
pub(crate) fn apply_patches(transcript: &Transcript<'_>, whole: Span, patches: &mut [(Span, String)]) -> String {
    let mut out = String::with_capacity(whole.len());
    patch(transcript, whole, patches, |text| out.push_str(text));
    out
}

/// Passes on the text of a span with patches applied, piece by piece. If patches overlap, the first one is applied.
fn patch(transcript: &Transcript<'_>, whole: Span, patches: &mut [(Span, String)], mut push: impl FnMut(&str)) {
    patches.sort_by_key(|(span, _)| (span.start, span.end));
    let mut at = whole.start;
    for (span, text) in patches.iter() {
        if span.start < at || span.end > whole.end {
            continue;
        }
        push(transcript.text(Span { start: at, end: span.start }));
        push(text);
        at = span.end;
    }
    push(transcript.text(Span { start: at, end: whole.end }));
}
