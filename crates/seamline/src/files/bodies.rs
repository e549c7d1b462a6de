//! Files with many request bodies: each is checked and repaired by itself.

use std::borrow::Cow;
use std::io::BufRead;

use seamline_files::Program;
use seamline_files::bodies::{Bodies, HeldBody};
use seamline_files::lines::{self, Lines};
use seamline_files::session::{About, FileReading};

use super::check::{CheckedFile, file_findings};
use super::repair::RepairedFile;
use crate::repair::{Dropped, RepairAction};
use crate::{Error, Finding, Options, Severity};

/// Checks every body of a file. Only one body is in memory at a time.
pub(super) fn check(
    program: &'static Program,
    bodies: &Bodies,
    input: &mut dyn BufRead,
    options: &Options,
) -> Result<CheckedFile, Error> {
    let mut all = All::default();
    let options = &with_provider(bodies, options);
    let lines = each(bodies, input, &mut |record, index| all.add(record, index, bodies, options))?;
    let mut findings = file_findings(&reading(&lines));
    findings.extend(all.findings.into_iter().map(|(record, finding)| placed(&lines, record, finding)));
    findings.sort_by_key(|finding| finding.line.unwrap_or(usize::MAX));
    Ok(CheckedFile {
        program,
        about: About::default(),
        dialect: all.dialect,
        provider: all.provider,
        note: None,
        records: lines.records.len(),
        messages: all.messages,
        calls: all.calls,
        findings,
        body: String::new(),
    })
}

/// Totals over the bodies of a file.
#[derive(Default)]
struct All {
    dialect: &'static str,
    provider: &'static str,
    messages: usize,
    calls: usize,
    /// The findings, with the index of their record.
    findings: Vec<(usize, Finding)>,
}

impl All {
    fn add(&mut self, record: &str, index: usize, bodies: &Bodies, options: &Options) {
        let Some(body) = bodies.find(record) else { return };
        // A line that holds no conversation, such as a request for an embedding, is left alone.
        let Ok(checked) = crate::check(body.text.as_bytes(), options) else { return };
        (self.dialect, self.provider) = (checked.dialect, checked.provider);
        self.messages += checked.messages;
        self.calls += checked.calls;
        self.findings.extend(checked.findings.into_iter().map(|finding| (index, inside(finding, &body))));
    }
}

/// A finding whose places are in the record and not in the body.
fn inside(finding: Finding, body: &HeldBody<'_>) -> Finding {
    let message = finding.message_index.zip(body.messages.as_ref()).and_then(|(index, messages)| messages.get(index));
    let pointer = message.cloned().unwrap_or_else(|| format!("{}{}", body.pointer, finding.pointer));
    Finding { pointer, span: 0..0, ..finding }
}

fn placed(lines: &Lines, record: usize, finding: Finding) -> Finding {
    Finding { line: lines.records.get(record).map(|place| place.line), ..finding }
}

/// Passes each record of a file with its index.
fn each(bodies: &Bodies, input: &mut dyn BufRead, take: &mut dyn FnMut(&str, usize)) -> Result<Lines, Error> {
    let mut index = 0;
    let lines = bodies.read(input, &mut |text| {
        take(text, index);
        index += 1;
    });
    lines.map_err(|error| Error::Unreadable(error.to_string()))
}

fn reading(lines: &Lines) -> FileReading {
    FileReading { records: lines.records.clone(), damaged: lines.damaged.clone(), ..FileReading::default() }
}

/// Repairs every body of a file.
pub(super) fn repair<'b>(
    program: &'static Program,
    bodies: &Bodies,
    bytes: &'b [u8],
    options: &Options,
) -> Result<RepairedFile<'b>, Error> {
    let found = check(program, bodies, &mut &bytes[..], options)?;
    let is_wrong = found.findings.iter().any(|finding| finding.severity > Severity::Info);
    let mut outcome = RepairedFile::of_checked(found, bytes);
    if !is_wrong || !bodies.is_writable {
        outcome.refusal = is_wrong.then(|| program.refusal());
        return Ok(outcome);
    }
    let options = &with_provider(bodies, options);
    let mended = if bodies.is_document() { None } else { lines::mend(bytes) };
    let (file, quarantined) = match mended {
        Some(mended) => (Cow::Owned(mended.bytes), mended.quarantined),
        None => (Cow::Borrowed(bytes), Vec::new()),
    };
    let mut new = Repaired::default();
    let lines = each(bodies, &mut &*file, &mut |record, index| new.add(record, index, bodies, options))?;
    let after = new.write(&file, &lines);
    let line = |record: usize| lines.records.get(record).map(|place| place.line);
    let actions =
        new.actions.into_iter().map(|(record, action)| RepairAction { line: line(record), ..action }).collect();
    (outcome.actions, outcome.dropped, outcome.quarantined) = (actions, new.dropped, quarantined);
    if after != bytes {
        outcome.remaining = check(program, bodies, &mut &after[..], options)?.findings;
        outcome.bytes = Cow::Owned(after);
    }
    Ok(outcome)
}

/// The options for the bodies of a file that is for one provider.
fn with_provider(bodies: &Bodies, options: &Options) -> Options {
    let provider = options.provider.clone().or_else(|| bodies.provider.map(str::to_owned));
    Options { provider, ..options.clone() }
}

/// The repaired bodies of a file.
#[derive(Default)]
struct Repaired {
    /// The records that changed, by index.
    records: Vec<(usize, String)>,
    actions: Vec<(usize, RepairAction)>,
    dropped: Vec<Dropped>,
}

impl Repaired {
    fn add(&mut self, record: &str, index: usize, bodies: &Bodies, options: &Options) {
        let Some(held) = bodies.find(record) else { return };
        let Ok(repaired) = crate::repair(held.text.as_bytes(), options) else { return };
        if !repaired.is_changed() {
            return;
        }
        let body = String::from_utf8_lossy(&repaired.body).into_owned();
        // One record is one line, whatever the layout of the text that a repair wrote.
        let body = if !bodies.is_document() && body.contains('\n') { body.replace(['\n', '\r'], "") } else { body };
        let text = [&record[..held.span.start], &body, &record[held.span.end..]].concat();
        self.records.push((index, text));
        self.actions.extend(repaired.actions.iter().cloned().map(|action| (index, action)));
        self.dropped.extend(repaired.dropped.iter().cloned());
    }

    fn write(&self, file: &[u8], lines: &Lines) -> Vec<u8> {
        let mut out = Vec::with_capacity(file.len());
        let mut at = 0;
        for (record, text) in &self.records {
            let Some(place) = lines.records.get(*record) else { continue };
            out.extend_from_slice(&file[at..place.span.start as usize]);
            out.extend_from_slice(text.as_bytes());
            at = place.span.end as usize;
        }
        out.extend_from_slice(&file[at..]);
        out
    }
}
