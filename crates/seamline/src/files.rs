//! The files of other programs, which are not request bodies.
//!
//! Seamline reads the histories of some programs, which are lists of messages in a shape of their own. Pass such a history to
//! [`check`](fn@crate::check), [`repair`](fn@crate::repair) or [`convert`](fn@crate::convert) like a request body. The
//! repaired history has the same shape and the same order, and every entry that needed no repair keeps its bytes.
//!
//! ```
//! // Opal stores the newest message first.
//! let history = br#"[
//!   {"role":"user","content":"never mind","id":"m3"},
//!   {"role":"assistant","content":"","tool_calls":[{"call_id":"c1","name":"read","arguments":{}}],"id":"m2"},
//!   {"role":"system","content":"Be brief.","id":"m1"}]"#;
//!
//! let options = seamline::Options::default();
//! let checked = seamline::check(history, &options)?;
//! assert_eq!((checked.dialect, checked.findings[0].pointer.as_str()), ("opal", "/1/tool_calls/0"));
//!
//! let repaired = seamline::repair(history, &options)?;
//! assert_eq!(repaired.origins, [Some(0), None, Some(1), Some(2)]);
//! assert!(String::from_utf8_lossy(&repaired.body).contains(r#""role":"tool_result","call_id":"c1""#));
//! # Ok::<(), seamline::Error>(())
//! ```

mod bodies;
mod check;
#[cfg(feature = "sqlite")]
pub mod database;
mod defects;
mod export;
pub mod folder;
mod repair;
mod salvage;
mod saved;
mod unmended;
mod watch;

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};

pub use check::CheckedFile;
pub use defects::{DEFECTS, DefectKind, defect, defect_documentation, defect_severity, defect_summary};
pub use export::{ExportOptions, ExportedSession, exporter};
pub use repair::RepairedFile;
pub use salvage::{Leftover, LeftoverKind, Salvaged, salvage, salvage_parts};
pub use saved::{SavedConversation, conversation};
pub use watch::{Change, SessionHealth, Writing};

use seamline_files::packed;

use crate::{Error, Options};

/// How many bytes of a file identify its program.
const HEAD_BYTES: u64 = 1024 * 1024;

/// The bytes that are read from a file at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// The first bytes of an SQLite database.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// Checks a session file: the file itself, and the conversation that its program would send. Returns nothing if the file is
/// not a session of a program that Seamline reads.
///
/// ```
/// let file = br#"{"type":"user","uuid":"u1","parentUuid":"lost","sessionId":"s","message":{"role":"user","content":"hi"}}"#;
/// let checked = seamline::files::check("s.jsonl", &mut &file[..], &seamline::Options::default())?.unwrap();
/// assert_eq!((checked.findings[0].code, checked.is_healthy()), ("FILE008", true));
///
/// let body = br#"{"messages":[{"role":"user","content":"hi"}]}"#;
/// assert!(seamline::files::check("body.json", &mut &body[..], &seamline::Options::default())?.is_none());
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// Fails when the input cannot be read, or the options name something that does not exist.
pub fn check(name: &str, input: &mut dyn BufRead, options: &Options) -> Result<Option<CheckedFile>, Error> {
    let mut start = Vec::new();
    (&mut *input).take(packed::MAGIC_BYTES).read_to_end(&mut start).map_err(unreadable)?;
    let is_packed = packed::is_packed(&start);
    let mut whole = start.as_slice().chain(input);
    if is_packed {
        return check_plain(name, &mut packed::reader(whole).map_err(unreadable)?, options);
    }
    check_plain(name, &mut whole, options)
}

/// Checks a session file that is not compressed.
fn check_plain(name: &str, input: &mut dyn Read, options: &Options) -> Result<Option<CheckedFile>, Error> {
    let mut head = Vec::new();
    (&mut *input).take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    let Some(program) = program_of(name, &head) else { return Ok(None) };
    if let Some(bodies) = program.bodies {
        let mut whole = BufReader::new(head.as_slice().chain(input));
        return bodies::check(program, bodies, &mut whole, options).map(Some);
    }
    let Some(format) = program.session else { return Ok(None) };
    // The length of the rest is not known.
    let length = if (head.len() as u64) < HEAD_BYTES { 0 } else { u64::MAX };
    let mut whole = BufReader::with_capacity(BUFFER_BYTES, head.as_slice().chain(input));
    check::check(program, format, &mut check::input(name, &mut whole, check::content(length)), options).map(Some)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that `map_err` asks for")]
fn unreadable(error: std::io::Error) -> Error {
    Error::Unreadable(error.to_string())
}

/// Repairs a session file: the file itself, and the conversation that its program would send. Returns nothing if the file
/// is not a session of a program that Seamline reads. The bytes of a compressed file are compressed again.
///
/// ```
/// let file = b"{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s\"}{\"type\":\"summary\",\"leafUuid\":\"u1\"}";
/// let repaired = seamline::files::repair("s.jsonl", file, &seamline::Options::default())?.unwrap();
/// assert_eq!((repaired.found[0].name, repaired.bytes.iter().filter(|byte| **byte == b'\n').count()), ("glued-records", 2));
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// Fails when a compressed file cannot be read, or the options name something that does not exist. A file that cannot be
/// repaired is not an error: it is returned unchanged, with the remaining violations.
pub fn repair<'b>(name: &str, bytes: &'b [u8], options: &Options) -> Result<Option<RepairedFile<'b>>, Error> {
    let plain = match packed::unpack(bytes).map_err(unreadable)? {
        Cow::Borrowed(bytes) => return repair_plain(name, bytes, options),
        Cow::Owned(plain) => plain,
    };
    let Some(repaired) = repair_plain(name, &plain, options)? else { return Ok(None) };
    let packed = match &repaired.bytes {
        Cow::Borrowed(_) => Cow::Borrowed(bytes),
        Cow::Owned(new) => Cow::Owned(packed::pack(new).map_err(unreadable)?),
    };
    Ok(Some(repaired.with_bytes(packed)))
}

/// Repairs a session file that is not compressed.
fn repair_plain<'b>(name: &str, bytes: &'b [u8], options: &Options) -> Result<Option<RepairedFile<'b>>, Error> {
    let Some(program) = program_of(name, bytes) else { return Ok(None) };
    if let Some(bodies) = program.bodies {
        return bodies::repair(program, bodies, bytes, options).map(Some);
    }
    let Some(format) = program.session else { return Ok(None) };
    repair::repair(program, format, (name, bytes), options).map(Some)
}

/// How a program's sessions are written from a conversation.
#[doc(inline)]
pub use seamline_files::session::Exporter;

/// The programs whose sessions can be written from a conversation.
#[doc(inline)]
pub use seamline_files::EXPORTERS;

/// The program that wrote a file. The sessions of a database are in its rows, and part of them may be in the log beside it.
fn program_of(name: &str, head: &[u8]) -> Option<&'static Program> {
    recognise(name, head).filter(|_| !head.starts_with(DATABASE))
}

/// The description of a session.
#[doc(inline)]
pub use seamline_files::session::About;

/// How the sessions of one program are read and written.
#[doc(inline)]
pub use seamline_files::session::Format;

/// How the records of a file are separated.
#[doc(inline)]
pub use seamline_files::session::FileLayout;

/// Content of the records of a session that its messages do not hold.
#[doc(inline)]
pub use seamline_files::session::{LeftKind, LeftOut};

/// A text as one word of a shell.
///
/// ```
/// assert_eq!(seamline::files::shell_word("my file"), "'my file'");
/// ```
#[doc(inline)]
pub use seamline_files::session::shell_word;

/// Bytes of a file that belong to no complete record.
#[doc(inline)]
pub use seamline_files::lines::QuarantinedBytes;

/// Recognises the program that wrote a file, by the file's name and its first bytes.
///
/// ```
/// let line = br#"{"type":"session_start","id":"s","cwd":"/tmp"}"#;
/// let program = seamline::files::recognise("session.jsonl", line).unwrap();
/// assert_eq!((program.name, program.what), ("Factory Droid", "a session log of Factory Droid"));
/// ```
#[doc(inline)]
pub use seamline_files::recognise;

/// Every program whose files are recognised.
#[doc(inline)]
pub use seamline_files::ALL;

/// A program that keeps conversations in files of its own.
#[doc(inline)]
pub use seamline_files::Program;

/// A folder in which a program keeps its sessions.
///
/// ```
/// let line = br#"{"type":"session_start","id":"s","cwd":"/tmp"}"#;
/// let program = seamline::files::recognise("session.jsonl", line).unwrap();
/// assert_eq!((program.places[0].home, program.places[0].path), (".factory", "sessions"));
/// ```
#[doc(inline)]
pub use seamline_files::SessionFolder;

/// The shapes of the histories that Seamline reads, one per program.
///
/// ```
/// let names: Vec<_> = seamline::files::SHAPES.iter().map(|shape| shape.name).collect();
/// assert_eq!(names, ["opal", "openclaw", "llxprt"]);
/// ```
#[doc(inline)]
pub use seamline_files::native::ALL as SHAPES;

/// How one program writes the messages of a history.
#[doc(inline)]
pub use seamline_files::native::Shape;

/// The order in which a history is stored.
#[doc(inline)]
pub use seamline_files::native::Order;
