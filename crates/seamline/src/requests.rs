//! Repairs the requests of one conversation, each of which extends an earlier one.
//!
//! An agent sends the whole conversation with every request, and only the last few messages are new. [`Requests`] keeps
//! the last body and what was read of it, so that the next one is compared with it and read only where it differs.

mod around;
mod looks;
mod size;

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use seamline_dialects::{Dialect, Earlier, Extended};
use seamline_model::Transcript;
use seamline_rules::Found;

pub(crate) use self::around::Around;
pub(crate) use self::looks::{Look, Looks};
pub(crate) use self::size::{BODY_BYTES_MAX, may_be_kept};
use crate::check::look_on;
use crate::native::Native;
use crate::repair::{Repaired, repair_looked};
use crate::subject::{COMPARED_BYTES_MAX, Subject};
use crate::{Error, Options, log};

/// The requests of one conversation. A request that extends the last one is read and checked only from its first new
/// message on; the outcome is always that of [`repair`](fn@crate::repair).
///
/// The messages and the members around them may change in any way from one request to the next: only an equal start is
/// not read again. Keep one value for each conversation; a request of another conversation replaces the kept one. The options should name the dialect: to detect it, a part of the body is read
/// each time.
///
/// ```
/// use bytes::Bytes;
/// use seamline::requests::Requests;
///
/// let options = seamline::Options { dialect: Some("openai_chat".to_owned()), ..Default::default() };
/// let mut requests = Requests::new();
/// let first = Bytes::from_static(br#"{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}"#);
/// requests.repair(&first, &options)?;
///
/// let second = Bytes::from_static(br#"{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"hello"},
///     {"role":"assistant","content":"hi"},{"role":"user","content":"what is new?"}]}"#);
/// let repaired = requests.repair(&second, &options)?;
/// assert!(!repaired.is_changed() && repaired.messages == 3);
/// assert!(std::ptr::eq(&*second, &*repaired.body), "the bytes are borrowed");
/// assert_eq!(requests.unread().messages, 1);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Default)]
pub struct Requests {
    kept: Option<Kept>,
    unread: Unread,
}

/// The start of a request that was not read again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unread {
    /// The number of messages.
    pub messages: usize,
    /// The number of bytes of these messages and of the text between them.
    pub bytes: usize,
}

/// A body with its transcript and its settled checks.
struct Kept {
    dialect: &'static Dialect,
    body: Bytes,
    /// The transcript of the body, without its text.
    transcript: Transcript<'static>,
    history: History,
}

/// The state that is carried over from body to body.
#[derive(Default)]
struct History {
    /// The settled checks, by their options.
    looks: Looks,
    /// The bytes of messages that were read and are gone since. The names of their tools stay in the transcript.
    gone: usize,
}

/// A body that was read, with the results of the request before it.
struct Read<'b> {
    dialect: &'static Dialect,
    transcript: Transcript<'b>,
    history: History,
    unread: Unread,
}

impl Requests {
    /// Makes a value that has seen no request yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks a request body and repairs it as far as the policy allows. The outcome is that of
    /// [`repair`](fn@crate::repair) of the same bytes. Keeps the body for the next request, without a copy.
    ///
    /// ```
    /// use bytes::Bytes;
    ///
    /// let body = Bytes::from_static(br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#);
    /// let mut requests = seamline::requests::Requests::new();
    /// let repaired = requests.repair(&body, &seamline::Options::default())?;
    /// assert!(repaired.is_changed() && repaired.remaining.is_empty());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails as [`repair`](fn@crate::repair) does.
    pub fn repair<'b>(&mut self, body: &'b Bytes, options: &Options) -> Result<Repaired<'b>, Error> {
        let repaired = self.repair_on(body, options);
        if body.len() <= COMPARED_BYTES_MAX {
            debug_assert_eq!(repaired, crate::repair(body, options), "the outcome differs from one made from scratch");
        }
        repaired
    }

    /// The start of the last request that was not read again.
    pub fn unread(&self) -> Unread {
        self.unread
    }

    /// The place of the list of messages in the last body, with its brackets; `None` where nothing of it is kept.
    ///
    /// ```
    /// use bytes::Bytes;
    ///
    /// let body = Bytes::from_static(br#"{"messages":[{"role":"user","content":"hello"}],"n":1}"#);
    /// let mut requests = seamline::requests::Requests::new();
    /// requests.repair(&body, &seamline::Options::default())?;
    /// let list = requests.list().unwrap_or_default();
    /// assert_eq!(&body[list], br#"[{"role":"user","content":"hello"}]"#);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn list(&self) -> Option<Range<usize>> {
        self.kept.as_ref().map(|kept| kept.transcript.list.range())
    }

    /// The number of bytes of memory that are kept for the next request, with the last body.
    ///
    /// ```
    /// use bytes::Bytes;
    ///
    /// let body = Bytes::from_static(br#"{"messages":[{"role":"user","content":"hello"}]}"#);
    /// let mut requests = seamline::requests::Requests::new();
    /// requests.repair(&body, &seamline::Options::default())?;
    /// assert!(requests.held_bytes() > body.len());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn held_bytes(&self) -> usize {
        self.kept.as_ref().map_or(0, |kept| {
            kept.body.len() + size::transcript_bytes(&kept.transcript) + kept.history.looks.held_bytes()
        })
    }

    fn repair_on<'b>(&mut self, body: &'b Bytes, options: &Options) -> Result<Repaired<'b>, Error> {
        let kept = self.kept.take();
        self.unread = Unread::default();
        if let Some(native) = Native::named(body, options)? {
            return native.repair();
        }
        let _span = log::enter("repair", body);
        let read = read(kept, body, options).and_then(|read| look(read, options));
        let (looked, kept) = match read {
            Ok((looked, rest)) => (Ok(looked), Some(rest)),
            Err(error) => (Err(error), None),
        };
        if let Some(native) = Native::suspected(body, options, &looked)? {
            return native.repair();
        }
        let (subject, transcript, found) = looked?;
        let repaired = repair_looked(&subject, &transcript, found, options);
        if let Some((history, unread)) = kept {
            self.unread = unread;
            if may_be_kept(body, &transcript) {
                let transcript = transcript.detached();
                self.kept = Some(Kept { dialect: subject.dialect, body: body.clone(), transcript, history });
            }
        }
        Ok(repaired)
    }
}

/// Reads a body, and reads again nothing of the messages that the kept body starts with as well.
fn read<'b>(kept: Option<Kept>, body: &'b Bytes, options: &Options) -> Result<Read<'b>, Error> {
    let dialect = Subject::dialect(body, options)?;
    let kept = kept.filter(|kept| kept.dialect.name() == dialect.name());
    if let Some(read) = kept.and_then(|kept| kept.extended(body)) {
        return Ok(read);
    }
    let transcript = dialect.decode(body)?;
    Ok(Read { dialect, transcript, history: History::default(), unread: Unread::default() })
}

impl Kept {
    /// Reads a body that starts with messages of this one. Returns `None` when the whole body must be read.
    fn extended(self, body: &Bytes) -> Option<Read<'_>> {
        let Self { dialect, body: earlier, transcript, mut history } = self;
        let start = transcript.list.start as usize + 1;
        let end = transcript.closing().range().start;
        let Extended { transcript, messages, bytes, is_moved } =
            dialect.decode_on(body, Earlier { body: &earlier, transcript })?;
        debug_assert!(reads_the_same(dialect, &transcript), "the kept transcript is outdated");
        history.gone += end.saturating_sub(start + bytes);
        if history.gone > body.len() {
            return None;
        }
        history.looks.keep_start(messages);
        if is_moved {
            history.looks.forget_places();
        }
        Some(Read { dialect, transcript, history, unread: Unread { messages, bytes } })
    }
}

/// A body with its violations, and the results that the next request reuses.
type Looked<'b> = ((Subject, Transcript<'b>, Found), (History, Unread));

/// Finds the violations of a body without checking settled messages.
fn look<'b>(read: Read<'b>, options: &Options) -> Result<Looked<'b>, Error> {
    let Read { dialect, transcript, mut history, unread } = read;
    let transcript = Subject::with_messages(dialect, transcript, options)?;
    let mut look = history.looks.take(options, &Around::of(&transcript));
    let (subject, found) = look_on(dialect, &transcript, options, &mut look.settled)?;
    history.looks.put(look);
    Ok(((subject, transcript, found), (history, unread)))
}

/// Whether a body that is read from scratch equals its transcript.
fn reads_the_same(dialect: &Dialect, read: &Transcript<'_>) -> bool {
    read.source.len() > COMPARED_BYTES_MAX
        || dialect.decode(read.source.body).is_ok_and(|fresh| {
            fresh.says_the_same(read)
                && (fresh.list, fresh.entries, &fresh.marked) == (read.list, read.entries, &read.marked)
        })
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages = self.kept.as_ref().map(|kept| kept.transcript.messages.len());
        f.debug_struct("Requests").field("messages", &messages).field("unread", &self.unread).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
