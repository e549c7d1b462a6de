//! Checks a session file.

use std::io::BufRead;

use seamline_files::Program;
use seamline_files::lines::LineDamage;
use seamline_files::session::{About, DefectKind, FileInput, FileReading, Format, KeptTexts, by_damage};
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
    /// What to know about the check: the demands of the provider in this dialect are not known.
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
    let reading = format.read(input).map_err(|error| Error::Unreadable(error.to_string()))?;
    checked(program, &reading, options)
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
    let session = &reading.session;
    let body = session.body();
    let options = carrier_options(reading, options);
    let mut findings = file_findings(reading);
    let (mut provider, mut note, mut calls) = (session.provider.unwrap_or_default(), None, 0);
    if !session.messages.is_empty() {
        let checked = crate::check::check_body(body.as_bytes(), &options)?;
        (provider, note, calls) = (checked.provider, checked.note, checked.calls);
        findings.extend(checked.findings.into_iter().map(|finding| placed(reading, finding)));
    }
    findings.sort_by_key(|finding| finding.line.unwrap_or(usize::MAX));
    Ok(CheckedFile {
        program,
        about: session.about.clone(),
        dialect: session.dialect,
        provider,
        note,
        records: reading.records.len(),
        messages: session.messages.len(),
        calls,
        findings,
        body,
    })
}

/// The options for the conversation of a session.
pub(super) fn carrier_options(reading: &FileReading, options: &Options) -> Options {
    let session = &reading.session;
    let provider = options.provider.clone().or_else(|| session.provider.map(str::to_owned));
    Options {
        dialect: Some(session.dialect.to_owned()),
        provider,
        kept: true,
        order: None,
        policy: options.policy.clone(),
    }
}

/// A finding of the conversation, with the line of its record.
pub(super) fn placed(reading: &FileReading, finding: Finding) -> Finding {
    let message = finding.message_index.and_then(|index| reading.session.messages.get(index));
    let record = message.map(|message| message.record_of(finding.block_index));
    let line = record.and_then(|record| reading.records.get(record)).map(|place| place.line);
    Finding { line, ..finding }
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
