//! Repairs a session file.

use std::borrow::Cow;
use std::cell::RefCell;

use seamline_files::Program;
use seamline_files::lines::{LineDamage, Mended, QuarantinedBytes};
use seamline_files::session::{About, FileReading, Format, KeptTexts, NewRecord, RecordRepair, ReturnedMessage, apply};

use super::check::{CheckedFile, carrier_options, checked, input};
use super::unmended::is_line_damage;
use crate::repair::{ActionKind, Dropped, RepairAction};
use crate::{Error, Finding, Options, Safety, Severity, outline};

/// How often the defects of the records are repaired; removing one may uncover another.
const PASSES_MAX: usize = 8;

/// The outcome of a repair of a session file.
///
/// ```
/// let file = br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
/// {"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}}
/// {"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":"never mind"}}
/// "#;
///
/// let repaired = seamline::files::repair("s.jsonl", file, &seamline::Options::default())?.unwrap();
/// assert_eq!((repaired.found[0].code, repaired.found[0].line), ("PAIR001", Some(2)));
/// assert!(repaired.remaining.is_empty());
///
/// let lines: Vec<&str> = std::str::from_utf8(&repaired.bytes).unwrap().lines().collect();
/// assert_eq!(lines.len(), 4);
/// assert!(lines[2].contains("tool_result") && lines[3].contains("never mind"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RepairedFile<'b> {
    /// The bytes of the file; the original bytes when no repair was needed.
    pub bytes: Cow<'b, [u8]>,
    /// The program that wrote the file.
    pub program: &'static Program,
    /// The description of the session.
    pub about: About,
    /// The dialect in which the program would send the conversation.
    pub dialect: &'static str,
    /// The provider that the conversation was repaired for.
    pub provider: &'static str,
    /// The number of messages that the program would send before the repair.
    pub messages: usize,
    /// The violations of the original file.
    pub found: Vec<Finding>,
    /// The actions of the repair.
    pub actions: Vec<RepairAction>,
    /// The parts of the conversation that were removed and are nowhere in the new file.
    pub dropped: Vec<Dropped>,
    /// The bytes that belong to no record and are not in the new file.
    pub quarantined: Vec<QuarantinedBytes>,
    /// The violations of the new file.
    pub remaining: Vec<Finding>,
    /// Why the file was not written although a repair is known, if so.
    pub refusal: Option<&'static str>,
    /// The conversation before and after the repair, as request bodies.
    pub before: String,
    /// The conversation after the repair, as a request body.
    pub after: String,
}

impl<'b> RepairedFile<'b> {
    /// The outcome of a repair that did nothing yet.
    pub(super) fn of_checked(checked: CheckedFile, bytes: &'b [u8]) -> Self {
        Self {
            bytes: Cow::Borrowed(bytes),
            program: checked.program,
            about: checked.about,
            dialect: checked.dialect,
            provider: checked.provider,
            messages: checked.messages,
            remaining: checked.findings.clone(),
            found: checked.findings,
            actions: Vec::new(),
            dropped: Vec::new(),
            quarantined: Vec::new(),
            refusal: None,
            after: checked.body.clone(),
            before: checked.body,
        }
    }
}

impl RepairedFile<'_> {
    /// Whether the file differs from the original.
    pub fn is_changed(&self) -> bool {
        matches!(self.bytes, Cow::Owned(_))
    }

    /// The same repair with the bytes in another form.
    pub(super) fn with_bytes(self, bytes: Cow<'_, [u8]>) -> RepairedFile<'_> {
        RepairedFile {
            bytes,
            program: self.program,
            about: self.about,
            dialect: self.dialect,
            provider: self.provider,
            messages: self.messages,
            found: self.found,
            actions: self.actions,
            dropped: self.dropped,
            quarantined: self.quarantined,
            remaining: self.remaining,
            refusal: self.refusal,
            before: self.before,
            after: self.after,
        }
    }
}

impl RepairedFile<'_> {
    /// The outcome with bytes of its own.
    pub(super) fn into_owned(self) -> RepairedFile<'static> {
        RepairedFile { bytes: Cow::Owned(self.bytes.into_owned()), ..self }
    }

    /// The outcome of a repair that changes nothing.
    pub(super) fn unchanged(self, refusal: Option<&'static str>) -> RepairedFile<'static> {
        let kept = |found: &Finding| found.clone();
        let is_refused = refusal.is_some();
        RepairedFile {
            bytes: Cow::Borrowed(&[]),
            remaining: if is_refused { self.found.iter().map(kept).collect() } else { self.remaining },
            actions: if is_refused { Vec::new() } else { self.actions },
            dropped: if is_refused { Vec::new() } else { self.dropped },
            after: if is_refused { self.before.clone() } else { self.after },
            refusal: refusal.or(self.refusal),
            quarantined: self.quarantined,
            ..self
        }
    }
}

/// Why a repair was not written.
pub(super) const CANNOT_HOLD: &str = "the records of this program cannot hold the repaired conversation";

/// Why a file without a complete record is not repaired.
const NO_RECORD: &str = "no complete record is in the file";

/// Why a file is not repaired whose readable bytes would be fewer than those that go to quarantine.
const MOSTLY_UNREADABLE: &str = "most of the file belongs to no complete record";

/// How many unreadable parts show that a file has another form and not a damaged record.
const LOST_PARTS_MIN: usize = 3;

/// Repairs a session file.
pub(super) fn repair<'b>(
    program: &'static Program,
    format: &Format,
    file: (&str, &'b [u8]),
    options: &Options,
) -> Result<RepairedFile<'b>, Error> {
    let (name, bytes) = file;
    Work { program, format, name, options, rows: None }.repair(bytes)
}

/// A repair of lines that are rows or files of their own. Such a line stays with its row even if it is damaged.
pub(super) struct RepairedRows<'b> {
    pub(super) repaired: RepairedFile<'b>,
    /// For each record after the repair, the index of the record that it was; nothing for a new one.
    pub(super) origins: Vec<Option<usize>>,
}

/// Repairs a session whose rows are lines.
pub(super) fn repair_rows<'b>(
    program: &'static Program,
    format: &Format,
    lines: (&str, &'b [u8]),
    options: &Options,
) -> Result<RepairedRows<'b>, Error> {
    let (name, bytes) = lines;
    let work = Work { program, format, name, options, rows: Some(RefCell::default()) };
    let repaired = work.repair(bytes)?;
    Ok(RepairedRows { repaired, origins: work.rows.map(RefCell::into_inner).unwrap_or_default() })
}

/// One repair.
struct Work<'w> {
    program: &'static Program,
    format: &'w Format,
    name: &'w str,
    options: &'w Options,
    /// For rows, the index of the row that each record was.
    rows: Option<RefCell<Vec<Option<usize>>>>,
}

impl Work<'_> {
    fn repair<'b>(&self, bytes: &'b [u8]) -> Result<RepairedFile<'b>, Error> {
        let original = self.read(bytes)?;
        let found = checked(self.program, &original, self.options)?;
        let mut outcome = RepairedFile::of_checked(found, bytes);
        let is_wrong = outcome.found.iter().any(|finding| finding.severity > Severity::Info);
        if !is_wrong || !self.options.policy.allows(Safety::Safe) {
            return Ok(outcome);
        }
        if !self.format.is_writable() {
            outcome.refusal = Some(self.program.refusal());
            return Ok(outcome);
        }
        if let Some(rows) = &self.rows {
            rows.replace((0..original.records.len()).map(Some).collect());
        }
        self.run(bytes, &original, &mut outcome)?;
        Ok(outcome)
    }

    fn read(&self, bytes: &[u8]) -> Result<FileReading, Error> {
        let mut source = bytes;
        let read = self.format.read(&mut input(self.name, &mut source, KeptTexts::Whole));
        read.map_err(|error| Error::Unreadable(error.to_string()))
    }

    fn run(&self, bytes: &[u8], original: &FileReading, outcome: &mut RepairedFile<'_>) -> Result<(), Error> {
        let mut file = bytes.to_vec();
        let mut actions = Vec::new();
        let mut quarantined = Vec::new();
        if self.rows.is_none()
            && let Some(mended) = self.format.document.mend(&file, original)
        {
            outcome.refusal = self.loses_too_much(original, &mended)?;
            if outcome.refusal.is_some() {
                return Ok(());
            }
            (file, quarantined) = (mended.bytes, mended.quarantined);
        }
        actions.extend(outcome.found.iter().filter(|found| found.message_index.is_none()).filter_map(action_of));
        for _ in 0..PASSES_MAX {
            match self.without_defects(&file)? {
                Some(next) => file = next,
                None => break,
            }
        }
        let reading = self.read(&file)?;
        let conversation = self.conversation(&file, &reading)?;
        let mut dropped = Vec::new();
        match conversation {
            Conversation::Whole => {}
            Conversation::Repaired { bytes, repaired } => {
                file = bytes;
                let line = |action: &RepairAction| {
                    // Lines that were split have other numbers in the original file.
                    let is_same = |found: &&Finding| (found.code, &found.call_id) == (action.code, &action.call_id);
                    let found = outcome.found.iter().find(is_same).filter(|_| action.call_id.is_some());
                    let message = action.message_index.and_then(|index| reading.session.messages.get(index));
                    let record = message.and_then(|message| reading.records.get(message.record));
                    found.and_then(|found| found.line).or(record.map(|place| place.line))
                };
                let lined = repaired.actions.iter().map(|action| RepairAction { line: line(action), ..action.clone() });
                actions.extend(lined);
                dropped = repaired.dropped;
            }
            Conversation::CannotHold => outcome.refusal = Some(CANNOT_HOLD),
        }
        if file == bytes {
            return Ok(());
        }
        let after = self.read(&file)?;
        let checked = checked(self.program, &after, self.options)?;
        let errors = |findings: &[Finding]| findings.iter().filter(|found| found.severity == Severity::Error).count();
        if errors(&checked.findings) > errors(&outcome.found) {
            outcome.refusal = Some(CANNOT_HOLD);
            return Ok(());
        }
        outcome.remaining = checked.findings;
        if self.rows.is_some() {
            // A damaged row stays with its row: a repair writes only the records.
            outcome.remaining.retain(|found| !is_line_damage(found));
            outcome.remaining.extend(outcome.found.iter().filter(|found| is_line_damage(found)).cloned());
            outcome.remaining.sort_by_key(|found| found.line.unwrap_or(usize::MAX));
        }
        outcome.after = checked.body;
        outcome.actions = actions;
        outcome.dropped = dropped;
        outcome.quarantined = quarantined;
        outcome.bytes = Cow::Owned(file);
        Ok(())
    }

    /// Why a file is not mended, if most of it is not readable as records.
    fn loses_too_much(&self, original: &FileReading, mended: &Mended) -> Result<Option<&'static str>, Error> {
        let torn = original.damaged.iter().filter(|line| matches!(line.damage, LineDamage::Torn | LineDamage::Cut));
        let torn: Vec<usize> = torn.map(|line| line.place.line).collect();
        // The end of a file that was cut is lost anyway. A part that is there again is not lost.
        let is_lost = |part: &&QuarantinedBytes| !part.is_repeated && !torn.contains(&part.line);
        let parts = mended.quarantined.iter();
        let (count, lost) =
            parts.clone().filter(is_lost).fold((0, 0), |(count, sum), part| (count + 1, sum + part.bytes.len()));
        let reading = self.read(&mended.bytes)?;
        if reading.records.is_empty() && parts.clone().next().is_some() {
            return Ok(Some(NO_RECORD));
        }
        let kept: u64 = reading.records.iter().map(|place| place.span.end - place.span.start).sum();
        let is_most = count >= LOST_PARTS_MIN && lost as u64 > kept;
        Ok((is_most && !self.options.policy.allows(Safety::Unsafe)).then_some(MOSTLY_UNREADABLE))
    }

    /// Keeps for each record the index of the row that it was.
    fn follow(&self, new: &[NewRecord]) {
        if let Some(rows) = &self.rows {
            let before = rows.take();
            rows.replace(new.iter().map(|record| before.get(record.origin?).copied().flatten()).collect());
        }
    }

    /// The file without the defects of its records; nothing if it has none that can be removed.
    fn without_defects(&self, file: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let reading = self.read(file)?;
        let edits: Vec<_> = reading.session.defects.iter().flat_map(|defect| defect.edits.clone()).collect();
        if edits.is_empty() {
            return Ok(None);
        }
        let records = records(file, &reading)?;
        let new = apply(&records, &edits);
        let written = self.format.document.write(file, &reading.records, &new);
        if written == file {
            return Ok(None);
        }
        self.follow(&new);
        Ok(Some(written))
    }

    fn conversation(&self, file: &[u8], reading: &FileReading) -> Result<Conversation, Error> {
        if reading.session.messages.is_empty() {
            return Ok(Conversation::Whole);
        }
        let body = reading.session.body();
        let options = carrier_options(reading.session.dialect, reading.session.provider, self.options);
        let repaired = crate::repair::repair_leaving(body.as_bytes(), &options, seamline_rules::Left::Nothing, |_| {})?;
        if !repaired.is_changed() {
            return Ok(Conversation::Whole);
        }
        let spans = outline::message_spans(&repaired.body, &options)?;
        let texts: Vec<&str> =
            spans.iter().map(|span| std::str::from_utf8(&repaired.body[span.clone()]).unwrap_or_default()).collect();
        let sources = repaired.origins.iter().copied().chain(std::iter::repeat(None));
        let messages: Vec<_> =
            texts.iter().zip(sources).map(|(text, origin)| ReturnedMessage { origin, text }).collect();
        let records = records(file, reading)?;
        let new =
            self.format.write(&RecordRepair { records: &records, reading: &reading.session, messages: &messages });
        let Some(new) = new else { return Ok(Conversation::CannotHold) };
        let bytes = self.format.document.write(file, &reading.records, &new);
        self.follow(&new);
        let repaired = Changes { actions: repaired.actions.clone(), dropped: repaired.dropped.clone() };
        Ok(Conversation::Repaired { bytes, repaired })
    }
}

/// The outcome of a repair of the conversation.
enum Conversation {
    /// It needs no repair.
    Whole,
    Repaired {
        bytes: Vec<u8>,
        repaired: Changes,
    },
    /// The records cannot hold the repaired conversation.
    CannotHold,
}

/// The outcome of a repair of the conversation.
struct Changes {
    actions: Vec<RepairAction>,
    dropped: Vec<Dropped>,
}

/// The texts of the records.
fn records<'f>(file: &'f [u8], reading: &FileReading) -> Result<Vec<&'f str>, Error> {
    let text = |bytes: &'f [u8]| std::str::from_utf8(bytes).map_err(|error| Error::Unreadable(error.to_string()));
    reading.records.iter().map(|place| text(&file[place.span.start as usize..place.span.end as usize])).collect()
}

/// The action that removes a finding about the file.
fn action_of(finding: &Finding) -> Option<RepairAction> {
    finding.fix.as_ref()?;
    Some(RepairAction {
        code: finding.code,
        action: ActionKind::Rewrite,
        pointer: None,
        message_index: None,
        call_id: None,
        from_call_id: None,
        removed: None,
        synthetic: false,
        before_hash: None,
        after_hash: None,
        line: finding.line,
    })
}
