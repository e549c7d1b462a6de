//! Files with one record per line, and the ways in which such lines break.
//!
//! Programs append a record and a newline. A crash, two writers or a copy without its last newline leave *glued* lines (two
//! records on one line), *spliced* lines (part of a record with another record behind it), *split* records (a newline inside
//! of a record), runs of NUL bytes and a *torn* last line. Most programs skip such a line and lose the complete records on it. Here every complete record is found.

mod mend;
mod one_line;
mod pieces;
mod source;

use std::io::BufRead;
use std::ops::Range;

pub(crate) use mend::line_ending;
pub use mend::{Mended, QuarantinedBytes, mend};
pub use one_line::on_one_line;
use pieces::{PieceKind, pieces, without_nul};
pub(crate) use pieces::{end_without_nul, records_on};
use source::LineSource;

/// The place of a record in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordPlace {
    /// The number of the line, from 1.
    pub line: usize,
    /// The bytes of the record.
    pub span: Range<u64>,
}

/// A kind of damage to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineDamage {
    /// Two or more complete records share the line.
    Glued,
    /// Part of a record is followed by a complete record.
    Spliced,
    /// The line has a run of NUL bytes.
    NulRun,
    /// The last line of the file is cut.
    Torn,
    /// No complete record is on the line.
    Unreadable,
    /// The line has bytes that are not UTF-8; the record is complete without them.
    BadText,
    /// The file is one JSON value and ends inside of it.
    Cut,
    /// A record is on several lines: it is written that way, or it has raw newlines in its texts.
    Split,
}

/// A damaged line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedLine {
    /// The kind of the damage.
    pub damage: LineDamage,
    /// The place of the line.
    pub place: RecordPlace,
    /// The number of complete records on the line.
    pub records: usize,
    /// The number of bytes that belong to no complete record.
    pub unread_bytes: u64,
}

/// The result of one pass over the lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The places of the records, in the order of the file.
    pub records: Vec<RecordPlace>,
    /// The damaged lines.
    pub damaged: Vec<DamagedLine>,
    /// The number of bytes of the file.
    pub bytes: u64,
}

/// Reads a file line by line and passes each record to `take`, which fails if the text is not one JSON object. Only one
/// line is in memory at a time.
///
/// # Errors
///
/// Fails when the input cannot be read.
pub fn read(
    input: &mut dyn BufRead,
    take: &mut dyn FnMut(&str) -> Result<(), serde_json::Error>,
) -> std::io::Result<Lines> {
    let mut lines = Lines::default();
    let mut source = LineSource::of(input);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        source.take(&mut line)?;
        if line.is_empty() {
            return Ok(lines);
        }
        number += 1;
        let raw = Raw { bytes: &line, number, is_last: line.last() != Some(&b'\n') };
        let length = line.len() as u64;
        if lines.add_whole(&raw, take) {
            lines.bytes += length;
            continue;
        }
        let Some(joined) = source.join(&line)?.filter(|joined| take(&joined.text).is_ok()) else {
            lines.add_damaged(&raw, take);
            lines.bytes += length;
            continue;
        };
        let start = raw.trimmed_start(lines.bytes);
        lines.bytes += length;
        number += joined.more;
        let mut end = lines.bytes;
        for _ in 0..joined.more {
            source.take(&mut line)?;
            end = lines.bytes + line.trim_ascii_end().len() as u64;
            lines.bytes += line.len() as u64;
        }
        let place = RecordPlace { line: number - joined.more, span: start..end };
        lines.records.push(place.clone());
        lines.damaged.push(DamagedLine { damage: LineDamage::Split, place, records: 1, unread_bytes: 0 });
    }
}

/// One line as it is in the file.
struct Raw<'l> {
    bytes: &'l [u8],
    number: usize,
    /// Whether the line has no newline, so that it is the last one.
    is_last: bool,
}

impl Raw<'_> {
    /// The place of the first byte that is not a space, in a file in which the line begins at `start`.
    fn trimmed_start(&self, start: u64) -> u64 {
        start + (self.bytes.len() - self.bytes.trim_ascii_start().len()) as u64
    }
}

impl Lines {
    /// Adds a line that is blank or exactly one record. Returns whether it is.
    fn add_whole(&mut self, raw: &Raw<'_>, take: &mut dyn FnMut(&str) -> Result<(), serde_json::Error>) -> bool {
        let trimmed = raw.bytes.trim_ascii();
        if trimmed.is_empty() {
            return true;
        }
        let is_record = std::str::from_utf8(trimmed).is_ok_and(|text| take(text).is_ok());
        if is_record {
            self.records.push(self.place(raw));
        }
        is_record
    }

    /// The place of a line without the spaces around it.
    fn place(&self, raw: &Raw<'_>) -> RecordPlace {
        let start = raw.trimmed_start(self.bytes);
        RecordPlace { line: raw.number, span: start..start + raw.bytes.trim_ascii().len() as u64 }
    }

    fn add_damaged(&mut self, raw: &Raw<'_>, take: &mut dyn FnMut(&str) -> Result<(), serde_json::Error>) {
        let (line, whole) = (raw.bytes.trim_ascii(), self.place(raw));
        let found = pieces(line);
        let mut counts = Counts::default();
        for piece in found {
            let place = RecordPlace {
                line: raw.number,
                span: whole.span.start + piece.span.start as u64..whole.span.start + piece.span.end as u64,
            };
            let bytes = &line[piece.span.clone()];
            match piece.kind {
                PieceKind::Record => {
                    let text = String::from_utf8_lossy(bytes);
                    let is_bad_text = matches!(text, std::borrow::Cow::Owned(_));
                    let has_nul = bytes.contains(&0);
                    if take(&without_nul(text)).is_ok() {
                        counts.bad_text |= is_bad_text;
                        counts.nul |= has_nul;
                        counts.records += 1;
                        self.records.push(place);
                    } else {
                        counts.unread += bytes.len() as u64;
                    }
                }
                PieceKind::Other => counts.others += 1,
                PieceKind::NulRun => {
                    counts.nul = true;
                    counts.unread += bytes.len() as u64;
                }
                PieceKind::Fragment => {
                    counts.fragments += 1;
                    counts.unread += bytes.len() as u64;
                }
            }
        }
        if let Some(damage) = counts.damage(raw.is_last) {
            let (records, unread_bytes) = (counts.records, counts.unread);
            self.damaged.push(DamagedLine { damage, place: whole, records, unread_bytes });
        }
    }
}

/// The contents of a line that is not exactly one record.
#[derive(Default)]
struct Counts {
    records: usize,
    /// JSON values that are not objects.
    others: usize,
    fragments: usize,
    nul: bool,
    bad_text: bool,
    unread: u64,
}

impl Counts {
    fn damage(&self, is_last: bool) -> Option<LineDamage> {
        match (self.records, self.fragments) {
            _ if self.nul => Some(LineDamage::NulRun),
            (0, 0) => None,
            (0, _) if is_last => Some(LineDamage::Torn),
            (0, _) => Some(LineDamage::Unreadable),
            (_, 1..) => Some(LineDamage::Spliced),
            (2.., 0) => Some(LineDamage::Glued),
            (1, 0) if self.bad_text => Some(LineDamage::BadText),
            (1, 0) => (self.others > 0).then_some(LineDamage::Glued),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::members;

    fn read_all(bytes: &[u8]) -> (Vec<String>, Vec<(LineDamage, usize)>) {
        let mut texts = Vec::new();
        let lines = read(&mut &bytes[..], &mut |text| {
            members(text, &["a"])?;
            texts.push(text.to_owned());
            Ok(())
        })
        .unwrap();
        for (place, text) in lines.records.iter().zip(&texts) {
            let raw = &bytes[place.span.start as usize..place.span.end as usize];
            assert_eq!(&String::from_utf8_lossy(raw).replace('\0', "").replace('\n', "\\n"), text);
        }
        (texts, lines.damaged.iter().map(|line| (line.damage, line.place.line)).collect())
    }

    #[test]
    fn every_complete_record_of_a_damaged_line_is_found() {
        let file = b"{\"a\":1}\n{\"a\":2}{\"a\":3}\r\n{\"a\":\"cut{\"a\":4}\n\0\0\0{\"a\":5}\n\n{\"a\":6";
        let (texts, damaged) = read_all(file);
        assert_eq!(texts, ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}", "{\"a\":4}", "{\"a\":5}"]);
        let expected =
            [(LineDamage::Glued, 2), (LineDamage::Spliced, 3), (LineDamage::NulRun, 4), (LineDamage::Torn, 6)];
        assert_eq!(damaged, expected);
    }

    #[test]
    fn a_record_is_complete_without_nul_bytes_and_with_raw_newlines() {
        let (texts, damaged) =
            read_all(b"{\"a\":\"x\0\0y\"}\n{\"a\":\"1\n2\n\n3\"}\n{\"a\":\"\0z\"}\0{\"a\":\"cut\n{\"a\":4}\n");
        assert_eq!(texts, ["{\"a\":\"xy\"}", "{\"a\":\"1\\n2\\n\\n3\"}", "{\"a\":\"z\"}", "{\"a\":4}"]);
        assert_eq!(damaged, [(LineDamage::NulRun, 1), (LineDamage::Split, 2), (LineDamage::NulRun, 6)]);
    }

    #[test]
    fn a_record_that_is_written_over_several_lines_is_one_record() {
        let file = "{\n  \"a\": {\n    \"b\": [\n      1,\n      {\"c\": 2}\n    ]\n  }\n}\n{\n  \"a\": 3\n}\n";
        let lines = read(&mut file.as_bytes(), &mut |text| members(text, &["a"]).map(drop)).unwrap();
        assert_eq!(lines.records.iter().map(|place| place.line).collect::<Vec<_>>(), [1, 9]);
        assert!(lines.damaged.iter().all(|line| line.damage == LineDamage::Split));
        let mended = mend(file.as_bytes()).unwrap();
        let expected = "{\"a\": {\"b\": [1,{\"c\": 2}]}}\n{\"a\": 3}\n";
        assert_eq!((String::from_utf8(mended.bytes).unwrap().as_str(), &mended.quarantined[..]), (expected, &[][..]));
        // A cut record takes no other record with it, and hostile lines take bounded work.
        let (texts, damaged) = read_all(b"{\"a\":[\n{\"a\":1}\n{\"a\":2}\n");
        assert_eq!((texts.len(), damaged), (2, vec![(LineDamage::Unreadable, 1)]));
        assert_eq!(read_all("{\n".repeat(200_000).as_bytes()).0.len(), 0);
    }

    #[test]
    fn other_json_and_a_missing_last_newline_are_not_damage() {
        assert_eq!(read_all(b"[1]\n\"x\"\n{\"a\":1}"), (vec!["{\"a\":1}".to_owned()], Vec::new()));
        assert_eq!(read_all(b"not json\n{}\n").1, [(LineDamage::Unreadable, 1)]);
        assert_eq!(read_all(b"{\"a\":\"\xff\"}\n").1, [(LineDamage::BadText, 1)]);
    }
}
