//! What was read of the messages of a session, kept from one check to the next.
//!
//! A check comes before every send, and only the last few messages are new then. So the body that is checked and the
//! transcript that was read of it are kept: messages that stand there as they stood are not read again, and the rules
//! run over the whole transcript. Nobody has to say that something changed: what is kept holds the messages themselves,
//! and goes as far as they are those of the session.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline_dialects::{Dialect, NODES_MAX};
use seamline_model::{Source, Span, Transcript};
use seamline_store::{Entry, Raw};

use super::wire::Wire;
use super::{Session, SessionError};
use crate::check::{Checked, check_transcript};
use crate::subject::Subject;
use crate::{Error, Options};

/// The longest body of which the reading is kept. One that is no longer cannot hold more values than may be read, so
/// they need not be counted while it grows.
const BODY_BYTES_MAX: usize = NODES_MAX;

/// How many bytes a transcript may take to be kept: so many times those of its body, or as many as these.
const TRANSCRIPT_SHARE: usize = 4;
const TRANSCRIPT_BYTES: usize = 1024 * 1024;

/// The most findings of a report that is kept.
const FINDINGS_MAX: usize = 64;

/// What was read of the messages of a session. Whoever checks takes it out meanwhile: another one reads all of it.
#[derive(Default)]
pub(super) struct Reading(Mutex<Option<Kept>>);

impl Reading {
    /// Checks messages, and reads only those that were not read before.
    pub(super) fn check(&self, wire: &Wire, entries: &[Entry], options: &Options) -> Result<Checked, SessionError> {
        let kept = self.kept().take().filter(|kept| kept.dialect.name() == wire.dialect);
        let read = match kept.and_then(|kept| kept.brought_to(entries)) {
            Some(read) => read,
            None => Kept::read(wire, entries, options)?,
        };
        let (read, checked) = read.check(options)?;
        if read.may_be_kept() {
            *self.kept() = Some(read);
        }
        Ok(checked)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages = self.kept().as_ref().map(|kept| kept.messages.len());
        f.debug_struct("Reading").field("messages", &messages).finish_non_exhaustive()
    }
}

impl Session {
    /// Lets go of what checks keep for the next one, which then reads all messages again: the messages as one body, which
    /// takes once or twice their bytes, and what was read of it, which takes one or two hundred bytes for each of their
    /// blocks and at most four times the bytes of the body (or a MiB). Where it would be more, or there are more than
    /// 64 MiB of messages, nothing is kept.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Session, SessionOptions};
    /// use seamline::store::MemoryStore;
    ///
    /// # futures_executor::block_on(async {
    /// let store = Arc::new(MemoryStore::new());
    /// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
    /// session.append(r#"{"role":"user","content":"hello"}"#).await?;
    /// let checked = session.check()?;
    /// session.forget_reading();
    /// assert_eq!(session.check()?, checked);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn forget_reading(&self) {
        *self.reading.kept() = None;
    }
}

/// Messages, and what was read of them.
struct Kept {
    dialect: &'static Dialect,
    /// The messages themselves, so that it can be told whether they are still the same.
    messages: Vec<Raw>,
    /// A body with nothing but these messages.
    body: Vec<u8>,
    /// What the body says, without its text.
    transcript: Transcript<'static>,
    /// How many bytes of messages were read and are gone since. The names of their tools stay in the transcript.
    gone: usize,
    /// What the last check found, if it was little, and what it was told.
    report: Option<(Options, Checked)>,
}

impl Kept {
    /// Reads messages.
    fn read(wire: &Wire, entries: &[Entry], options: &Options) -> Result<Self, SessionError> {
        let messages: Vec<Raw> = entries.iter().map(|entry| entry.message.clone()).collect();
        let body = wire.body("{}", messages.iter())?;
        let dialect = Subject::dialect(&body, options)?;
        let transcript = dialect.decode(&body).map_err(Error::from)?.detached();
        Ok(Self { dialect, messages, body, transcript, gone: 0, report: None })
    }

    /// Whether it takes little enough to be kept.
    fn may_be_kept(&self) -> bool {
        let Transcript { messages, blocks, members, irregularities, items, .. } = &self.transcript;
        let read = size_of_val(&**messages)
            + size_of_val(&**blocks)
            + size_of_val(&**members)
            + size_of_val(&**irregularities)
            + size_of_val(&**items);
        self.body.len() <= BODY_BYTES_MAX && read <= TRANSCRIPT_BYTES.max(TRANSCRIPT_SHARE * self.body.len())
    }

    /// The same for the messages that there are now, of which only those are read that were not there before. Nothing
    /// when all must be read afresh.
    fn brought_to(mut self, entries: &[Entry]) -> Option<Self> {
        let both = self.messages.iter().zip(entries);
        let same = both.take_while(|(read, entry)| is_same(read, &entry.message)).count();
        if same == self.messages.len() && same == entries.len() {
            return Some(self);
        }
        self.cut(same)?;
        let added = self.put_behind(&entries[same..])?;
        let transcript = self.dialect.read_on(self.transcript.over(Source::new(&self.body)), &added)?;
        debug_assert!(reads_the_same(self.dialect, &transcript), "what was kept says something else now");
        Some(Self { transcript: transcript.detached(), report: None, ..self })
    }

    /// Takes out all messages behind the first so many. Nothing when more went by now than stays.
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

    /// Puts messages behind the others, closes the body again and says where they stand. Nothing when it gets too long.
    fn put_behind(&mut self, entries: &[Entry]) -> Option<Vec<Span>> {
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

    /// Runs the rules, unless they were run before on the same.
    fn check(self, options: &Options) -> Result<(Self, Checked), Error> {
        if let Some((told, checked)) = &self.report
            && told == options
        {
            let checked = checked.clone();
            return Ok((self, checked));
        }
        let transcript = self.transcript.over(Source::new(&self.body));
        let transcript = Subject::with_messages(self.dialect, transcript, options)?;
        let checked = check_transcript(self.dialect, &transcript, options)?;
        let transcript = transcript.detached();
        let report = (checked.findings.len() <= FINDINGS_MAX).then(|| (options.clone(), checked.clone()));
        Ok((Self { transcript, report, ..self }, checked))
    }
}

/// What stands behind the last message of the body.
const CLOSING: &[u8] = b"]}";

/// Whether two messages are the same. Most are one and the same in memory.
fn is_same(one: &Raw, other: &Raw) -> bool {
    std::ptr::eq(one.as_str(), other.as_str()) || one == other
}

/// Whether the body says what was read of it when all of it is read afresh.
fn reads_the_same(dialect: &Dialect, read: &Transcript<'_>) -> bool {
    dialect.decode(read.source.body).is_ok_and(|fresh| {
        fresh.says_the_same(read)
            && (fresh.list, fresh.entries, &fresh.marked) == (read.list, read.entries, &read.marked)
    })
}

#[cfg(test)]
mod tests;
