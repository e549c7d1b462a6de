//! The conversation of a session, ready to be converted.

use seamline_files::Program;
use seamline_files::lines::QuarantinedBytes;
use seamline_files::session::{About, Format, KeptTexts};
use seamline_model::conversation::Fate;

use super::RepairedFile;
use super::check::input;
use crate::convert::{Carried, ConvertOptions, Converted};
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
    /// The number of images in tool results of the session that are not in the body.
    pub left_out: usize,
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
    Ok(Some(SavedConversation::of(repaired).with_media(format, (name, &file))))
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
            left_out: 0,
        }
    }

    /// Adds the images and the thinking that the records of a file hold besides the messages.
    pub(super) fn with_media(mut self, format: &Format, (name, bytes): (&str, &[u8])) -> Self {
        let mut source = bytes;
        let input = &mut input(name, &mut source, KeptTexts::Whole);
        let Some(Ok(mut reading)) = format.has_media().then(|| format.read(input)) else { return self };
        // A repair that the records cannot hold is in none of them.
        let options = Options { dialect: Some(self.dialect.to_owned()), ..Options::default() };
        let count = outline::message_spans(self.body.as_bytes(), &options).map(|spans| spans.len());
        if count.ok() != Some(reading.session.messages.len()) {
            return self;
        }
        for message in &mut reading.session.messages {
            let place = &reading.records[message.record].span;
            let record = String::from_utf8_lossy(&bytes[place.start as usize..place.end as usize]);
            if let Some(full) = format.with_media(&record, &message.text) {
                message.text = full.text;
                self.left_out += full.left_out;
            }
        }
        self.body = reading.session.take_body();
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
            left_out: 0,
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
        let unread = self.quarantined.iter().filter(|kept| !kept.is_repeated).map(|kept| Carried {
            what: format!("{} bytes of line {}", kept.bytes.len(), kept.line),
            pointer: String::new(),
            fate: Fate::Dropped,
            note: "they belong to no complete record".to_owned(),
        });
        let images = (self.left_out > 0).then(|| Carried {
            what: match self.left_out {
                1 => "1 image in a tool result".to_owned(),
                count => format!("{count} images in tool results"),
            },
            pointer: String::new(),
            fate: Fate::Dropped,
            note: "only their text is converted".to_owned(),
        });
        Ok(Converted {
            repairs: self.repairs.iter().chain(&converted.repairs).cloned().collect(),
            lost: unread.chain(images).chain(converted.lost.iter().cloned()).collect(),
            ..converted
        })
    }
}

/// The model that a request body names.
fn model(body: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        model: Option<String>,
    }
    serde_json::from_slice::<Named>(body).ok().and_then(|named| named.model)
}
