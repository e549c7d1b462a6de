//! The conversation of a session, ready to be converted.

use std::borrow::Cow;

use seamline_files::Program;
use seamline_files::lines::{QuarantinedBytes, RecordPlace};
use seamline_files::session::{About, FileReading, Format, KeptTexts, LeftKind, LeftOut, LeftOutOf};
use seamline_model::conversation::Fate;

use super::RepairedFile;
use super::check::input;
use crate::convert::{ConversionLoss, ConvertOptions, Converted};
use crate::repair::RepairAction;
use crate::{Error, Options, outline};

/// The conversation that a program would send, after the repair of its session.
///
/// ```
/// let file = br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#;
/// let saved = seamline::files::conversation("s.jsonl", file, &seamline::Options::default())?.unwrap();
/// assert_eq!((saved.program.unwrap().name, saved.dialect), ("Claude Code", "anthropic_messages"));
///
/// let options = seamline::convert::ConvertOptions { to: "openai".to_owned(), ..Default::default() };
/// let converted = saved.convert(&options)?;
/// assert_eq!(converted.body, br#"{"messages":[{"role":"user","content":"hi"}]}"#);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SavedConversation {
    /// The program that wrote the session; nothing for a request body.
    pub program: Option<&'static Program>,
    /// The description of the session.
    pub about: About,
    /// The dialect of the body.
    pub dialect: &'static str,
    /// The provider that the program sends it to.
    pub provider: &'static str,
    /// The conversation as a request body.
    pub body: String,
    /// The number of messages.
    pub messages: usize,
    /// The repairs of the session.
    pub repairs: Vec<RepairAction>,
    /// The bytes of the file that belong to no record.
    pub quarantined: Vec<QuarantinedBytes>,
    /// Content that is in the records of the session and not in the body, such as images in tool results.
    pub left_out: Vec<LeftOut>,
}

/// Reads the conversation of a session file and repairs it as [`repair`](fn@super::repair) does. Returns nothing if the file
/// is not a session of a program that Seamline reads.
///
/// # Errors
///
/// Fails when a compressed file cannot be read, or the options name something that does not exist.
pub fn conversation(name: &str, bytes: &[u8], options: &Options) -> Result<Option<SavedConversation>, Error> {
    let Some(mut repaired) = super::repair(name, bytes, options)? else { return Ok(None) };
    // A file with many request bodies has no conversation of its own.
    let Some(format) = repaired.program.session else { return Ok(None) };
    let file = std::mem::take(&mut repaired.bytes);
    Ok(Some(SavedConversation::of(repaired).with_records(format, (name, &file))))
}

impl SavedConversation {
    pub(super) fn of(repaired: RepairedFile<'_>) -> Self {
        Self {
            program: Some(repaired.program),
            about: repaired.about,
            dialect: repaired.dialect,
            provider: repaired.provider,
            body: repaired.after,
            messages: repaired.messages,
            repairs: repaired.actions,
            quarantined: repaired.quarantined,
            left_out: Vec::new(),
        }
    }

    /// Adds the images and the thinking that the records of a file hold besides the messages, and notes what the messages
    /// cannot hold.
    pub(super) fn with_records(mut self, format: &Format, (name, bytes): (&str, &[u8])) -> Self {
        let mut source = bytes;
        let Ok(mut reading) = format.read(&mut input(name, &mut source, KeptTexts::Whole)) else { return self };
        // A repair that the records cannot hold is in none of them.
        let options = Options { dialect: Some(self.dialect.to_owned()), ..Options::default() };
        let count = outline::message_spans(self.body.as_bytes(), &options).map(|spans| spans.len());
        let is_full = format.has_media() && count.ok() == Some(reading.session.messages.len());
        if is_full {
            add_media(format, &mut reading, bytes);
        }
        self.left_out = left_out(&reading, bytes).content;
        if is_full {
            self.body = reading.session.take_body();
        }
        self
    }

    /// Takes a request body as a conversation, to write it as a session.
    ///
    /// # Errors
    ///
    /// Fails when the body is not JSON, or its dialect cannot be detected.
    pub fn of_request(body: &[u8]) -> Result<Self, Error> {
        let checked = crate::check(body, &Options { kept: true, ..Options::default() })?;
        Ok(Self {
            program: None,
            about: About { model: model(body), ..About::default() },
            dialect: checked.dialect,
            provider: checked.provider,
            body: String::from_utf8_lossy(body).into_owned(),
            messages: checked.messages,
            repairs: Vec::new(),
            quarantined: Vec::new(),
            left_out: Vec::new(),
        })
    }

    /// Converts the conversation into a request body for another provider. The report also lists the repairs of the session
    /// and the bytes that belong to no record.
    ///
    /// # Errors
    ///
    /// Fails when the options name something that does not exist.
    pub fn convert(&self, options: &ConvertOptions) -> Result<Converted, Error> {
        let side = match self.provider {
            "" => self.dialect.to_owned(),
            provider => format!("{provider}/{}", self.dialect),
        };
        let from = options.from.clone().or(Some(side));
        let options = ConvertOptions { from, order: None, kept: true, ..options.clone() };
        let converted = crate::convert(self.body.as_bytes(), &options)?;
        let unread = self.quarantined.iter().filter(|kept| !kept.is_repeated).map(|kept| ConversionLoss {
            what: format!("{} bytes of line {}", kept.bytes.len(), kept.line),
            pointer: String::new(),
            fate: Fate::Dropped,
            note: "they belong to no complete record".to_owned(),
        });
        let left_out = self.left_out.iter().map(|left| ConversionLoss {
            what: counted(left),
            pointer: String::new(),
            fate: Fate::Dropped,
            note: "the conversation is read without it".to_owned(),
        });
        Ok(Converted {
            repairs: self.repairs.iter().chain(&converted.repairs).cloned().collect(),
            lost: unread.chain(left_out).chain(converted.lost.iter().cloned()).collect(),
            ..converted
        })
    }
}

/// Adds the images and the thinking in the records of a file to their messages.
pub(super) fn add_media(format: &Format, reading: &mut FileReading, bytes: &[u8]) {
    for message in &mut reading.session.messages {
        let record = record(&reading.records, bytes, message.record);
        if let Some(full) = format.with_media(&record, &message.text) {
            message.text = full;
        }
    }
}

/// Lists the content of records that their messages do not hold.
pub(super) fn left_out(reading: &FileReading, bytes: &[u8]) -> LeftOutOf {
    reading.session.left_out(|at| record(&reading.records, bytes, at))
}

fn record<'b>(records: &[RecordPlace], bytes: &'b [u8], at: usize) -> Cow<'b, str> {
    let place = &records[at].span;
    String::from_utf8_lossy(&bytes[place.start as usize..place.end as usize])
}

/// Content that is left out, with its number, such as `2 images`.
pub(super) fn counted(left: &LeftOut) -> String {
    let (one, several) = match left.kind {
        LeftKind::Image => ("image", "images"),
        LeftKind::Audio => ("recording of sound", "recordings of sound"),
        LeftKind::Video => ("film", "films"),
        LeftKind::File => ("file", "files"),
        LeftKind::Reasoning => ("part of reasoning", "parts of reasoning"),
        LeftKind::Call => ("tool call without an id", "tool calls without an id"),
    };
    format!("{} {}", left.count, if left.count == 1 { one } else { several })
}

/// The model that a request body names.
fn model(body: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        model: Option<String>,
    }
    serde_json::from_slice::<Named>(body).ok().and_then(|named| named.model)
}
