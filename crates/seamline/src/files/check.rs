//! Checks a session file.

use std::io::BufRead;

use seamline_files::Program;
use seamline_files::lines::LineDamage;
use seamline_files::session::{
    About, DefectKind, FileInput, FileReading, Format, KeptTexts, by_damage, gap_in_numbers, time,
};
use serde::Serialize;

use super::defect_severity;
use crate::finding::FixSummary;
use crate::{Error, Finding, Options, Safety, Severity};

/// The outcome of a check of a session file.
///
/// ```
/// let file = br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}
/// {"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m","role":"assistant","#;
///
/// let checked = seamline::files::check("s.jsonl", &mut &file[..], &seamline::Options::default())?.unwrap();
/// assert_eq!((checked.program.name, checked.messages), ("Claude Code", 1));
/// assert_eq!((checked.findings[0].name, checked.findings[0].line), ("torn-line", Some(2)));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CheckedFile {
    /// The program that wrote the file.
    #[serde(serialize_with = "program_name")]
    pub program: &'static Program,
    /// The description of the session.
    #[serde(skip)]
    pub about: About,
    /// The dialect in which the program would send the conversation.
    pub dialect: &'static str,
    /// The provider that the conversation was checked for.
    pub provider: &'static str,
    /// A note that the demands of the provider in this dialect are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The number of records of the file.
    pub records: usize,
    /// The number of messages that the program would send.
    pub messages: usize,
    /// The number of tool calls in them.
    pub calls: usize,
    /// The violations, in the order of the file.
    pub findings: Vec<Finding>,
    /// The conversation that the program would send, as a request body. The places of findings refer to it.
    #[serde(skip)]
    pub body: String,
}

impl CheckedFile {
    /// Whether the program can continue the session and the provider would accept it.
    ///
    /// ```
    /// let file = br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#;
    ///
    /// let checked = seamline::files::check("s.jsonl", &mut &file[..], &seamline::Options::default())?.unwrap();
    /// assert!(checked.is_healthy());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_healthy(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity < Severity::Error)
    }
}

/// Checks a session file, if its bytes are one. Only one record is in memory at a time, and of long texts only the start is
/// kept where the file is longer than `WHOLE_BYTES`.
///
/// # Errors
///
/// Fails when the input cannot be read, or the options name something that does not exist.
pub(super) fn check(
    program: &'static Program,
    format: &Format,
    input: &mut FileInput<'_>,
    options: &Options,
) -> Result<CheckedFile, Error> {
    let mut reading = format.read(input).map_err(|error| Error::Unreadable(error.to_string()))?;
    let body = reading.session.take_body();
    let looked = Looked::of(&reading);
    drop(reading);
    looked.check(program, body, options)
}

/// The most bytes of a file whose texts are kept whole for a check.
pub(super) const WHOLE_BYTES: u64 = 64 * 1024 * 1024;

/// How much of a file of a length is kept.
pub(super) fn content(length: u64) -> KeptTexts {
    if length > WHOLE_BYTES { KeptTexts::Abridged } else { KeptTexts::Whole }
}

/// Checks what a reading found.
pub(super) fn checked(
    program: &'static Program,
    reading: &FileReading,
    options: &Options,
) -> Result<CheckedFile, Error> {
    Looked::of(reading).check(program, reading.session.body(), options)
}

/// The part of a reading that a check needs besides its body: much less than the places of all records.
struct Looked {
    about: About,
    dialect: &'static str,
    provider: Option<&'static str>,
    records: usize,
    lines: MessageLines,
    /// The findings about the file itself.
    findings: Vec<Finding>,
}

/// The description of a session with the time of its last change as a date: some programs write a number.
fn with_date(about: About) -> About {
    let date = |time: String| match time.parse::<f64>() {
        Ok(_) => time::parse(&time).map_or(time, time::text),
        Err(_) => time,
    };
    About { updated: about.updated.map(date), ..about }
}

impl Looked {
    fn of(reading: &FileReading) -> Self {
        Self {
            about: with_date(reading.session.about.clone()),
            dialect: reading.session.dialect,
            provider: reading.session.provider,
            records: reading.records.len(),
            lines: MessageLines::of(reading),
            findings: file_findings(reading),
        }
    }

    /// Checks the body of the messages.
    fn check(self, program: &'static Program, body: String, options: &Options) -> Result<CheckedFile, Error> {
        let is_asked = options.provider.is_some();
        let options = carrier_options(self.dialect, self.provider, options);
        let mut findings = self.findings;
        let (mut provider, mut note, mut calls) = (self.provider.unwrap_or_default(), None, 0);
        let messages = self.lines.count();
        if messages > 0 {
            let checked = crate::check::check_body(body.as_bytes(), &options)?;
            // The caller did not choose the provider, so that a note about it does not help.
            (provider, note, calls) = (checked.provider, checked.note.filter(|_| is_asked), checked.calls);
            let placed = |finding: Finding| Finding { line: self.lines.of_finding(&finding), ..finding };
            findings.extend(checked.findings.into_iter().map(placed));
        }
        findings.sort_by_key(|finding| finding.line.unwrap_or(usize::MAX));
        let (about, dialect, records) = (self.about, self.dialect, self.records);
        Ok(CheckedFile { program, about, dialect, provider, note, records, messages, calls, findings, body })
    }
}

/// The lines of the messages of a reading.
struct MessageLines {
    /// The line of each message; of a message of several records, that of each block.
    lines: Vec<u32>,
    /// The end of the lines of each message.
    ends: Vec<u32>,
}

/// In place of the line of a record that is not in the file.
const NO_LINE: u32 = u32::MAX;

impl MessageLines {
    fn of(reading: &FileReading) -> Self {
        let messages = &reading.session.messages;
        let count = messages.iter().map(|message| message.owners.len().max(1)).sum();
        let mut lines = Self { lines: Vec::with_capacity(count), ends: Vec::with_capacity(messages.len()) };
        let line = |record: &usize| reading.records.get(*record).map_or(NO_LINE, |place| place.line as u32);
        for message in messages {
            match message.owners.as_slice() {
                [] => lines.lines.push(line(&message.record)),
                owners => lines.lines.extend(owners.iter().map(line)),
            }
            lines.ends.push(lines.lines.len() as u32);
        }
        lines
    }

    fn count(&self) -> usize {
        self.ends.len()
    }

    /// The line of the record that a finding is about.
    fn of_finding(&self, finding: &Finding) -> Option<usize> {
        let message = finding.message_index?;
        let end = *self.ends.get(message)? as usize;
        let start = message.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let lines = &self.lines[start..end];
        let line = finding.block_index.and_then(|block| lines.get(block)).or_else(|| lines.first())?;
        Some(*line as usize).filter(|_| *line != NO_LINE)
    }
}

/// The options for the conversation of a session.
pub(super) fn carrier_options(dialect: &'static str, provider: Option<&'static str>, options: &Options) -> Options {
    let provider = options.provider.clone().or_else(|| provider.map(str::to_owned));
    Options {
        dialect: Some(dialect.to_owned()),
        provider,
        kept: true,
        policy: options.policy.clone(),
        ..Options::default()
    }
}

/// The findings about the file itself.
pub(super) fn file_findings(reading: &FileReading) -> Vec<Finding> {
    let damaged = reading.damaged.iter().map(|line| {
        let unread = match line.unread_bytes {
            0 => String::new(),
            bytes => format!(", {bytes} bytes belong to no complete record"),
        };
        let records = match line.records {
            _ if line.damage == LineDamage::Cut => "the file ends inside of its list of records".to_owned(),
            _ if line.damage == LineDamage::Split => "a record goes on behind this line".to_owned(),
            0 => "no complete record is on this line".to_owned(),
            1 => "one complete record is on this line".to_owned(),
            count => format!("{count} complete records are on this line"),
        };
        finding(by_damage(line.damage), line.place.line, records + &unread, Some(Safety::Safe))
    });
    let defects = reading.session.defects.iter().map(|defect| {
        let line = reading.records.get(defect.record).map_or(0, |place| place.line);
        let safety = (!defect.edits.is_empty()).then_some(Safety::Safe);
        finding(defect.kind, line, defect.message.clone(), safety)
    });
    damaged.chain(defects).collect()
}

/// The finding about a file that does not have the next number.
pub(super) fn ordinal_gap(line: usize, message: String) -> Finding {
    finding(gap_in_numbers(), line, message, None)
}

fn finding(kind: &'static DefectKind, line: usize, message: String, safety: Option<Safety>) -> Finding {
    Finding {
        code: kind.code,
        name: kind.name,
        severity: defect_severity(kind),
        message,
        pointer: String::new(),
        message_index: None,
        block_index: None,
        call_id: None,
        predicts: None,
        fix: safety.map(|safety| FixSummary { safety, title: kind.fix.to_owned() }),
        related: Vec::new(),
        more: 0,
        span: 0..0,
        line: Some(line),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn program_name<S: serde::Serializer>(program: &&'static Program, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(program.name)
}

/// The input of a check, from bytes.
pub(super) fn input<'i>(name: &'i str, bytes: &'i mut dyn BufRead, content: KeptTexts) -> FileInput<'i> {
    FileInput { bytes, name, content }
}
