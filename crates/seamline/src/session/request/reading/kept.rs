//! Messages with their body, their transcript and the settled checks.

use seamline_dialects::Dialect;
use seamline_model::{Source, Span, Transcript};
use seamline_rules::Left;
use seamline_store::{Entry, Raw};

use super::head::{CLOSING, Head};
use crate::check::{Checked, check_transcript, look_on};
use crate::repair::repair_transcript;
use crate::requests::{Around, BODY_BYTES_MAX, Look, Looks, may_be_kept};
use crate::session::wire::Wire;
use crate::session::{Request, SessionError};
use crate::subject::Subject;
use crate::{Error, Options};

/// Messages with their body, their transcript and the settled checks.
pub(super) struct Kept {
    dialect: &'static Dialect,
    /// The messages, to compare with those of the session.
    messages: Vec<Raw>,
    /// The head, the messages, and the closing of the list and the body.
    body: Vec<u8>,
    /// The head of the body: that of the last request.
    head: Head,
    /// The head of a body that has only messages, which checks use.
    plain: Head,
    /// The messages of the body, without its text.
    transcript: Transcript<'static>,
    /// The bytes of messages that were read and removed since. The names of their tools stay in the transcript.
    pub(super) gone: usize,
    /// The settled checks, by their options.
    pub(super) looks: Looks,
}

impl Kept {
    /// Reads all messages.
    pub(super) fn read(wire: &Wire, entries: &[Entry], options: &Options) -> Result<Self, SessionError> {
        let messages: Vec<Raw> = entries.iter().map(|entry| entry.message.clone()).collect();
        let body = wire.body("{}", messages.iter())?;
        let dialect = Subject::dialect(&body, options)?;
        let transcript = dialect.decode(&body).map_err(Error::from)?.detached();
        let plain = Head::plain(wire.head("{}")?, &transcript);
        let head = plain.clone();
        Ok(Self { dialect, messages, body, head, plain, transcript, gone: 0, looks: Looks::default() })
    }

    /// Whether it is of this dialect.
    pub(super) fn is_of(&self, dialect: &str) -> bool {
        self.dialect.name() == dialect
    }

    /// The number of messages.
    pub(super) fn count(&self) -> usize {
        self.messages.len()
    }

    /// Whether it is small enough to be kept.
    pub(super) fn may_be_kept(&self) -> bool {
        may_be_kept(&self.body, &self.transcript)
    }

    /// Updates it to the current messages and reads only the new ones. Returns `None` when all must be read again.
    pub(super) fn update(mut self, entries: &[Entry]) -> Option<Self> {
        let both = self.messages.iter().zip(entries);
        let same = both.take_while(|(read, entry)| is_same(read, &entry.message)).count();
        if same == self.messages.len() && same == entries.len() {
            return Some(self);
        }
        self.cut(same)?;
        self.looks.keep_start(same);
        let added = self.append(&entries[same..])?;
        let transcript = self.dialect.read_on(self.transcript.over(Source::new(&self.body)), &added)?;
        debug_assert!(reads_the_same(self.dialect, &transcript, &self.head.around), "the kept transcript is outdated");
        Some(Self { transcript: transcript.detached(), ..self })
    }

    /// Removes all messages after the first ones. Returns `None` when more bytes were removed by now than stay.
    fn cut(&mut self, messages: usize) -> Option<()> {
        let start = self.transcript.list.start as usize + 1;
        let end = match messages.checked_sub(1) {
            Some(last) => self.transcript.messages.get(last)?.span.range().end,
            None => start,
        };
        let closing = self.transcript.closing().range().start;
        self.gone += closing.checked_sub(end)?;
        if self.gone > end {
            return None;
        }
        self.messages.truncate(messages);
        self.transcript.truncate(messages);
        self.body.truncate(end);
        Some(())
    }

    /// Appends messages, closes the body again and returns their spans. Returns `None` when it gets too long.
    fn append(&mut self, entries: &[Entry]) -> Option<Vec<Span>> {
        let bytes: usize = entries.iter().map(|entry| entry.message.as_bytes().len() + 1).sum();
        if self.body.len() + bytes + CLOSING.len() > BODY_BYTES_MAX {
            return None;
        }
        let start = self.transcript.list.start as usize + 1;
        let mut spans = Vec::with_capacity(entries.len());
        for Entry { message, .. } in entries {
            if self.body.len() > start {
                self.body.push(b',');
            }
            let at = self.body.len();
            self.body.extend_from_slice(message.as_bytes());
            spans.push(Span::new(at, self.body.len()));
            self.messages.push(message.clone());
        }
        self.transcript.list.end = self.body.len() as u32 + 1;
        self.body.extend_from_slice(CLOSING);
        Some(spans)
    }

    /// Puts a head before the messages. Returns `None` when it cannot be read, or the body gets too long.
    fn put_head(&mut self, head: &str) -> Option<()> {
        if self.head.bytes == head.as_bytes() {
            return Some(());
        }
        let head = Head::read(self.dialect, head)?;
        let before = self.head.bytes.len();
        if self.body.len() - before + head.bytes.len() > BODY_BYTES_MAX {
            return None;
        }
        self.body.splice(..before, head.bytes.iter().copied());
        self.transcript.move_messages((head.bytes.len() as u32).wrapping_sub(before as u32));
        self.looks.forget_places();
        self.head = head;
        Some(())
    }

    /// Checks the messages as a body that has only messages, unless an earlier report still holds.
    pub(super) fn check(&mut self, options: &Options) -> Result<Checked, Error> {
        let mut look = self.looks.take(options, &self.plain.around);
        let checked = match look.report() {
            Some(checked) => checked.clone(),
            None => self.check_plain(options, &mut look)?,
        };
        self.looks.put(look);
        Ok(checked)
    }

    fn check_plain(&mut self, options: &Options, look: &mut Look) -> Result<Checked, Error> {
        let transcript = std::mem::replace(&mut self.transcript, nothing());
        let transcript = around(transcript.over(Source::new(&self.body)), &self.plain.around);
        let mut transcript = Subject::with_messages(self.dialect, transcript, options)?;
        let mut checked = check_transcript(self.dialect, &transcript, options, &mut look.settled)?;
        self.plain.around.take_from(&mut transcript);
        self.transcript = transcript.detached();
        // The body has another head than the checked one.
        let (here, there) = (self.head.bytes.len(), self.plain.bytes.len());
        for finding in checked.findings.iter_mut().filter(|finding| finding.span != (0..0)) {
            finding.span = finding.span.start + there - here..finding.span.end + there - here;
        }
        look.keep_report(&checked);
        Ok(checked)
    }

    /// Makes a request from the messages. Returns `None` when it must be made from scratch.
    pub(super) fn request(&mut self, head: &str, options: &Options) -> Option<Request> {
        self.put_head(head)?;
        let mut look = self.looks.take(options, &self.head.around);
        let transcript = std::mem::replace(&mut self.transcript, nothing());
        let transcript = around(transcript.over(Source::new(&self.body)), &self.head.around);
        let mut transcript = Subject::with_messages(self.dialect, transcript, options).ok()?;
        let (subject, found) = look_on(self.dialect, &transcript, options, &mut look.settled).ok()?;
        let policy = options.policy.repair_for(subject.provider.name);
        let request = Request::of(repair_transcript(&subject, &transcript, found, &policy, Left::Nothing));
        self.head.around.take_from(&mut transcript);
        self.transcript = transcript.detached();
        self.looks.put(look);
        debug_assert_eq!(
            Some(&request),
            Request::from_body(&self.body, options).ok().as_ref(),
            "the request differs from one made from scratch"
        );
        Some(request)
    }
}

/// Adds content around a transcript of messages.
fn around<'a>(mut transcript: Transcript<'a>, around: &Around) -> Transcript<'a> {
    around.put_around(&mut transcript);
    transcript
}

/// An empty transcript, in place of one that is in use.
fn nothing() -> Transcript<'static> {
    Transcript::with_room(Source::default(), 0, 0)
}

/// Whether two messages are equal. Most share their memory.
pub(super) fn is_same(one: &Raw, other: &Raw) -> bool {
    std::ptr::eq(one.as_str(), other.as_str()) || one == other
}

/// Whether a body that is read from scratch equals its transcript.
fn reads_the_same(dialect: &Dialect, read: &Transcript<'_>, around: &Around) -> bool {
    let read = self::around(read.clone(), around);
    dialect.decode(read.source.body).is_ok_and(|fresh| {
        fresh.says_the_same(&read)
            && (fresh.list, fresh.entries, &fresh.marked) == (read.list, read.entries, &read.marked)
    })
}
