//! Everything readable of a file, whatever its state.

mod markdown;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, BufRead, Read as _, Write};
use std::ops::Range;

use seamline_files::leftovers::{cut_body, leftovers, line_breaks};
use seamline_files::session::{About, CarriedMessage, FileReading, Format, KeptTexts, LeftOut};
use seamline_files::{Program, packed};

use super::check::input;
use super::saved::{SavedConversation, add_media, left_out};
use super::{RepairedFile, program_of, repair};
use crate::convert::ConvertOptions;
use crate::{Error, Finding, Options};

#[doc(inline)]
pub use seamline_files::leftovers::{Leftover, LeftoverKind};

/// The most bytes of a part of a large file, without the rest of its last line.
const PIECE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Everything readable of a file.
///
/// ```
/// let torn = br#"{"messages":[{"role":"user","content":"hello"},{"role":"assis"#;
/// let salvaged = seamline::files::salvage("body.json", torn, &seamline::Options::default());
/// assert_eq!(salvaged.body.as_deref(), Some(r#"{"messages":[{"role":"user","content":"hello"}]}"#));
///
/// let mut markdown = Vec::new();
/// salvaged.write_markdown(&mut markdown)?;
/// let markdown = String::from_utf8(markdown)?;
/// assert!(markdown.contains("hello") && markdown.contains(r#"{"role":"assis"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Salvaged<'b> {
    /// The program that wrote the file, if it is known.
    pub program: Option<&'static Program>,
    /// The description of the session.
    pub about: About,
    /// The dialect of the body.
    pub dialect: Option<&'static str>,
    /// The conversation as a request body, repaired; nothing if no conversation was found.
    pub body: Option<String>,
    /// The number of messages of the conversation.
    pub messages: usize,
    /// The violations of the file and of its conversation.
    pub findings: Vec<Finding>,
    /// Content that is in the records of the conversation and not in the body. The leftovers have these records.
    pub left_out: Vec<LeftOut>,
    /// The parts of the file that are not in the conversation.
    pub leftovers: Vec<Leftover>,
    /// The content of the file without its compression.
    bytes: Cow<'b, [u8]>,
}

/// Reads everything that can be read of a file: the conversation, if there is one, and all other values and texts. It never
/// fails: a file without anything readable gives nothing.
pub fn salvage<'b>(name: &str, bytes: &'b [u8], options: &Options) -> Salvaged<'b> {
    let mut salvaged = Salvaged::of(unpacked(bytes));
    let mut used = salvaged.read(name, options);
    if salvaged.body.is_none() {
        used = salvaged.read_values(name, options).or(used);
    }
    salvaged.add_leftovers(&used.unwrap_or_default());
    salvaged
}

/// As [`salvage`], for a session whose rows or files are lines.
pub(super) fn salvage_rows(
    name: &str,
    lines: Vec<u8>,
    (program, format): (&'static Program, &Format),
    repaired: RepairedFile<'_>,
) -> Salvaged<'static> {
    let bytes = if repaired.is_changed() { repaired.bytes.clone() } else { Cow::Borrowed(lines.as_slice()) };
    let outcome = Outcome::of(RepairedFile { bytes, ..repaired }, format, name);
    let mut salvaged = Salvaged::of(Cow::Owned(lines));
    salvaged.program = Some(program);
    let used = salvaged.add_session(name, format, outcome);
    salvaged.add_leftovers(&used.unwrap_or_default());
    salvaged
}

/// The part of a repair that `salvage` reports about a session.
struct Outcome {
    about: About,
    dialect: &'static str,
    body: String,
    left_out: Vec<LeftOut>,
    findings: Vec<Finding>,
}

impl Outcome {
    fn of(mut repaired: RepairedFile<'_>, format: &Format, name: &str) -> Self {
        let (bytes, findings) = (std::mem::take(&mut repaired.bytes), std::mem::take(&mut repaired.found));
        let saved = SavedConversation::of(repaired).with_records(format, (name, &bytes));
        Self { about: saved.about, dialect: saved.dialect, body: saved.body, left_out: saved.left_out, findings }
    }
}

/// The content of a file. If a compressed file is damaged, this is the part before the damage.
fn unpacked(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !packed::is_packed(bytes) {
        return Cow::Borrowed(bytes);
    }
    let mut plain = Vec::new();
    if let Ok(mut reader) = packed::reader(bytes) {
        // An error ends the reading. What was read before it stays.
        let _ = reader.read_to_end(&mut plain);
    }
    if plain.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(plain) }
}

impl<'b> Salvaged<'b> {
    /// Nothing of a file yet.
    fn of(bytes: Cow<'b, [u8]>) -> Self {
        Self {
            program: None,
            about: About::default(),
            dialect: None,
            body: None,
            messages: 0,
            findings: Vec::new(),
            left_out: Vec::new(),
            leftovers: Vec::new(),
            bytes,
        }
    }

    /// Reads the conversation. Returns the places that it is made of.
    fn read(&mut self, name: &str, options: &Options) -> Option<Vec<Range<u64>>> {
        let Some(program) = program_of(name, &self.bytes) else { return self.add_body(options) };
        self.program = Some(program);
        let repaired = repair(name, &self.bytes, options).ok().flatten()?;
        let format = program.session?;
        let outcome = Outcome::of(repaired, format, name);
        self.add_session(name, format, outcome)
    }

    /// Reads the conversation in the complete values of the file as if each were on a line of its own: damage may hide the
    /// form of the file. Returns the places of the values that the conversation is made of.
    fn read_values(&mut self, name: &str, options: &Options) -> Option<Vec<Range<u64>>> {
        let mut values = leftovers(&self.bytes, 0, 1);
        values.retain(|part| part.kind == LeftoverKind::Value);
        let (mut text, mut starts, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for value in &values {
            starts.push(text.len() as u64);
            let bytes = &self.bytes[value.span.start as usize..value.span.end as usize];
            text.extend_from_slice(bytes);
            text.push(b'\n');
            lines.extend(std::iter::repeat_n(value.line, line_breaks(bytes) + 1));
        }
        let mut again = Self::of(Cow::Owned(text));
        let used = again.read(name, options)?;
        self.body = Some(again.body?);
        (self.program, self.about, self.left_out) = (again.program, again.about, again.left_out);
        (self.dialect, self.messages) = (again.dialect, again.messages);
        let placed = |found: Finding| Finding {
            line: found.line.and_then(|line| lines.get(line.checked_sub(1)?).copied()),
            ..found
        };
        self.findings = again.findings.into_iter().map(placed).collect();
        let place = |span: Range<u64>| {
            let index = starts.partition_point(|start| *start <= span.start).checked_sub(1)?;
            Some(values[index].span.clone())
        };
        Some(used.into_iter().filter_map(place).collect())
    }

    /// The parts that cannot be read: NUL bytes, and bytes that are not UTF-8.
    pub fn unread(&self) -> impl Iterator<Item = &Leftover> {
        self.leftovers.iter().filter(|part| part.kind == LeftoverKind::Unreadable)
    }

    /// Takes over the conversation of a session. Returns the places of the records that it is made of.
    fn add_session(&mut self, name: &str, format: &Format, outcome: Outcome) -> Option<Vec<Range<u64>>> {
        let mut reading = read(name, format, &self.bytes)?;
        (self.about, self.findings, self.left_out) = (outcome.about, outcome.findings, outcome.left_out);
        let mut used = Vec::new();
        if !reading.session.messages.is_empty() {
            self.take(outcome.body, outcome.dialect, &Options::default());
            add_media(format, &mut reading, &self.bytes);
            // A record that holds more than its messages is written as a whole, too.
            let fuller: HashSet<usize> = left_out(&reading, &self.bytes).records.into_iter().collect();
            let records = reading.session.messages.iter().flat_map(CarriedMessage::records);
            let records = records.filter(|record| !fuller.contains(record));
            used.extend(records.filter_map(|record| reading.records.get(record)).map(|place| place.span.clone()));
        }
        Some(used)
    }

    /// Takes over the conversation of a request body, even if the body is cut. Returns the places that it is made of.
    fn add_body(&mut self, options: &Options) -> Option<Vec<Range<u64>>> {
        let whole = Options { kept: true, ..options.clone() };
        let (body, used) = match self.bytes.trim_ascii().is_empty() {
            true => return None,
            false if crate::check(&self.bytes, &whole).is_ok() => {
                (self.bytes.to_vec(), std::iter::once(0..self.bytes.len() as u64).collect())
            }
            false => {
                let cut = cut_body(&mut &*self.bytes).ok()??;
                let text = |span: &Range<u64>| {
                    String::from_utf8_lossy(&self.bytes[span.start as usize..span.end as usize]).into_owned()
                };
                let list: Vec<String> = cut.messages.iter().map(text).collect();
                (format!("{{\"{}\":[{}]}}", cut.member, list.join(",")).into_bytes(), cut.messages)
            }
        };
        let checked = crate::check(&body, &whole).ok()?;
        // The history of a program becomes the body that it makes.
        if seamline_dialects::by_name(checked.dialect).is_none() {
            let to = "openai_chat".to_owned();
            let options = ConvertOptions { to, kept: true, policy: options.policy.clone(), ..Default::default() };
            let converted = crate::convert(&body, &options).ok()?;
            self.take(String::from_utf8_lossy(&converted.body).into_owned(), converted.to.dialect, &whole);
        } else {
            let repaired = crate::repair(&body, &whole).ok()?;
            self.take(String::from_utf8_lossy(&repaired.body).into_owned(), checked.dialect, &whole);
        }
        self.findings = checked.findings;
        Some(used)
    }

    fn take(&mut self, body: String, dialect: &'static str, options: &Options) {
        let options = Options { dialect: Some(dialect.to_owned()), ..options.clone() };
        self.messages = crate::outline::message_spans(body.as_bytes(), &options).map_or(0, |spans| spans.len());
        (self.dialect, self.body) = (Some(dialect), Some(body));
    }

    /// Finds everything readable between the places that the conversation is made of.
    fn add_leftovers(&mut self, used: &[Range<u64>]) {
        let mut used = used.to_vec();
        used.sort_unstable_by_key(|span| span.start);
        let (mut at, mut line) = (0, 1);
        let end = self.bytes.len() as u64;
        used.push(end..end);
        for span in used {
            if span.start > at {
                let part = &self.bytes[at as usize..span.start as usize];
                self.leftovers.extend(leftovers(part, at, line));
            }
            let next = span.end.max(at);
            line += line_breaks(&self.bytes[at as usize..next as usize]);
            at = next;
        }
    }
}

fn read(name: &str, format: &Format, bytes: &[u8]) -> Option<FileReading> {
    let mut source = bytes;
    format.read(&mut input(name, &mut source, KeptTexts::Whole)).ok()
}

/// Writes everything readable of a file of any length as Markdown, without its conversation. Only a part of the file is in
/// memory at a time. Returns the parts that cannot be read.
///
/// # Errors
///
/// Fails when the input cannot be read, or the output cannot be written.
pub fn salvage_parts(source: &mut dyn BufRead, out: &mut dyn Write) -> Result<Vec<Leftover>, Error> {
    let mut unread = Vec::new();
    let (mut at, mut line) = (0, 1);
    let failed = |error: io::Error| Error::Unreadable(error.to_string());
    markdown::write_parts_heading(out).map_err(failed)?;
    loop {
        let mut part = Vec::new();
        (&mut *source).take(PIECE_BYTES_MAX).read_to_end(&mut part).map_err(failed)?;
        if part.is_empty() {
            return Ok(unread);
        }
        // A part ends with a line, if the line is not too long.
        (&mut *source).take(PIECE_BYTES_MAX).read_until(b'\n', &mut part).map_err(failed)?;
        let found = leftovers(&part, at, line);
        markdown::write_leftovers(out, &found, &part, at).map_err(failed)?;
        unread.extend(found.into_iter().filter(|part| part.kind == LeftoverKind::Unreadable));
        line += line_breaks(&part);
        at += part.len() as u64;
    }
}
