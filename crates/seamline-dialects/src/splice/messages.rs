//! Writing a list of messages: what stays is copied in runs, with what stood between.

use seamline_model::{Encoded, MessageIndex, Span, Transcript};

use crate::json::{Json, Style};

/// Writes the messages of a body.
pub(crate) struct MessageWriter<'t, 'a> {
    transcript: &'t Transcript<'a>,
    style: Style,
    /// How deep a message stands in the body.
    depth: usize,
    out: Encoded,
    /// What is copied next: one run of the source, for as long as nothing else comes between.
    run: Span,
    /// The last source message that was copied as it stands, and is still the newest.
    copied: Option<MessageIndex>,
}

impl<'t, 'a> MessageWriter<'t, 'a> {
    pub(crate) fn new(transcript: &'t Transcript<'a>, edit_count: usize) -> Self {
        let body = Vec::with_capacity(transcript.source.len() + transcript.source.len() / 8);
        Self {
            transcript,
            style: Style::of(transcript.source),
            depth: if transcript.is_bare_list() { 1 } else { 2 },
            out: Encoded { body, landed: vec![None; edit_count], ..Encoded::default() },
            run: Span { start: 0, end: transcript.list.start + 1 },
            copied: None,
        }
    }

    /// Copies a message as it stands.
    pub(crate) fn copy(&mut self, index: MessageIndex) {
        let span = self.transcript.message(index).span;
        match self.copied {
            // The one before it was copied too: keep what stood between them.
            Some(last) if last.next() == index => {
                self.copy_span(Span { start: self.transcript.message(last).span.end, end: span.end });
            }
            _ => {
                self.separate();
                self.copy_span(span);
            }
        }
        self.note(Some(index), span.len(), true);
        self.copied = Some(index);
    }

    /// Copies a span of the source.
    fn copy_span(&mut self, span: Span) {
        if self.run.end == span.start {
            self.run.end = span.end;
        } else {
            self.flush();
            self.run = span;
        }
    }

    /// Writes the run that is to be copied.
    fn flush(&mut self) {
        self.out.body.extend_from_slice(&self.transcript.source[self.run.range()]);
        self.run = Span::default();
    }

    /// Writes a message that changed.
    pub(crate) fn rewrite(&mut self, origin: Option<MessageIndex>, text: &str) {
        self.separate();
        self.push(text);
        self.note(origin, text.len(), false);
    }

    /// Writes a text that is not in the source.
    fn push(&mut self, text: &str) {
        self.flush();
        self.copied = None;
        self.out.body.extend_from_slice(text.as_bytes());
    }

    /// Notes the message that was just written.
    fn note(&mut self, origin: Option<MessageIndex>, len: usize, copied: bool) {
        let end = self.out.body.len() + self.run.len();
        self.out.origins.push(origin);
        self.out.spans.push(Span::new(end - len, end));
        self.out.copied.push(copied);
    }

    /// Writes a new message.
    pub(crate) fn write(&mut self, origin: Option<MessageIndex>, message: &Json<'_>) {
        let mut text = String::new();
        self.style.write(&mut text, message, self.depth);
        self.rewrite(origin, &text);
    }

    /// Notes that an edit ended up in the message written last.
    pub(crate) fn landed(&mut self, edit: usize) {
        let last = self.out.origins.len().checked_sub(1);
        if let Some(slot) = self.out.landed.get_mut(edit) {
            *slot = last.map(|index| MessageIndex(index as u32));
        }
    }

    /// A value laid out for a place `below` levels under a message.
    pub(crate) fn render(&self, json: &Json<'_>, below: usize) -> String {
        let mut text = String::new();
        self.style.write(&mut text, json, self.depth + below);
        text
    }

    /// Ends the list and the body, with a further member behind the list, if there is one.
    pub(crate) fn finish_with(self, further: Option<(&'static str, Json<'_>)>) -> Encoded {
        let transcript = self.transcript;
        let Some((key, json)) = further.filter(|_| !transcript.is_bare_list()) else {
            return self.finish();
        };
        let mut member = String::new();
        self.style.separate(&mut member, 1, self.depth - 1);
        member.push_str(&["\"", key, "\"", self.style.colon()].concat());
        self.style.write(&mut member, &json, self.depth - 1);
        let mut out = self.finish();
        let behind = transcript.source.len() - transcript.list.end as usize;
        let place = out.body.len() - behind;
        out.body.splice(place..place, member.into_bytes());
        // More than the list changed, so the whole must be read afresh.
        out.spans.clear();
        out
    }

    pub(crate) fn finish(mut self) -> Encoded {
        let tail = match self.transcript.messages.last() {
            Some(last) if !self.out.origins.is_empty() => last.span.end,
            Some(_) => self.transcript.list.end - 1,
            None => {
                self.styled(|style, out, count, depth| style.finish(out, count, depth - 1));
                self.transcript.list.end - 1
            }
        };
        self.copy_span(Span { start: tail, end: self.transcript.source.len() as u32 });
        self.flush();
        self.out
    }

    /// What stands before a message: what stands between the first two of the source, or
    /// between the bracket and the first.
    fn separate(&mut self) {
        let messages = &self.transcript.messages;
        let gap = match (self.out.origins.is_empty(), &messages[..]) {
            (true, [first, ..]) => Some(Span { start: self.transcript.list.start + 1, end: first.span.start }),
            (false, [first, second, ..]) => Some(Span { start: first.span.end, end: second.span.start }),
            _ => None,
        };
        match gap {
            Some(gap) => self.copy_span(gap),
            None => self.styled(Style::separate),
        }
    }

    /// Writes what the style of the source puts in this place: the number of messages so far
    /// and their depth decide it.
    fn styled(&mut self, write: impl Fn(&Style, &mut String, usize, usize)) {
        let mut text = String::new();
        write(&self.style, &mut text, self.out.origins.len(), self.depth);
        self.push(&text);
    }
}

/// The text of a span with patches applied. Of patches that overlap the first counts.
pub(crate) fn apply_patches(transcript: &Transcript<'_>, whole: Span, patches: &mut [(Span, String)]) -> String {
    patches.sort_by_key(|(span, _)| (span.start, span.end));
    let mut out = String::with_capacity(whole.len());
    let mut at = whole.start;
    for (span, text) in patches.iter() {
        if span.start < at || span.end > whole.end {
            continue;
        }
        out.push_str(transcript.text(Span { start: at, end: span.start }));
        out.push_str(text);
        at = span.end;
    }
    out.push_str(transcript.text(Span { start: at, end: whole.end }));
    out
}
