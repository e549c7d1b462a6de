//! Files with one record per line, and the ways in which such lines break.
//!
//! Programs append a record and a newline. A crash, two writers or a copy without its last newline leave *glued* lines (two
//! records on one line), *spliced* lines (part of a record with another record behind it), runs of NUL bytes and a *torn*
//! last line. Most programs skip such a line and lose the complete records on it. Here every complete record is found.

mod mend;
mod one_line;
mod pieces;

use std::io::BufRead;
use std::ops::Range;

pub use mend::{Mended, QuarantinedBytes, mend};
pub use one_line::on_one_line;
use pieces::{PieceKind, pieces};

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

/// What a pass over the lines of a file found.
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
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let length = input.read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(lines);
        }
        number += 1;
        let is_last = line.last() != Some(&b'\n');
        lines.add(&Raw { bytes: &line, number, is_last }, take);
        lines.bytes += length;
    }
}

/// One line as it is in the file.
struct Raw<'l> {
    bytes: &'l [u8],
    number: usize,
    /// Whether the line has no newline, so that it is the last one.
    is_last: bool,
}

impl Lines {
    fn add(&mut self, raw: &Raw<'_>, take: &mut dyn FnMut(&str) -> Result<(), serde_json::Error>) {
        let trimmed = raw.bytes.trim_ascii();
        if trimmed.is_empty() {
            return;
        }
        let start = self.bytes + (raw.bytes.trim_ascii_start().as_ptr().addr() - raw.bytes.as_ptr().addr()) as u64;
        let whole = RecordPlace { line: raw.number, span: start..start + trimmed.len() as u64 };
        if let Ok(text) = std::str::from_utf8(trimmed)
            && take(text).is_ok()
        {
            self.records.push(whole);
            return;
        }
        self.add_damaged(trimmed, raw, whole, take);
    }

    fn add_damaged(
        &mut self,
        line: &[u8],
        raw: &Raw<'_>,
        whole: RecordPlace,
        take: &mut dyn FnMut(&str) -> Result<(), serde_json::Error>,
    ) {
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
                    if take(&text).is_ok() {
                        counts.bad_text |= matches!(text, std::borrow::Cow::Owned(_));
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
            assert_eq!(&String::from_utf8_lossy(raw), text);
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
    fn other_json_and_a_missing_last_newline_are_not_damage() {
        assert_eq!(read_all(b"[1]\n\"x\"\n{\"a\":1}"), (vec!["{\"a\":1}".to_owned()], Vec::new()));
        assert_eq!(read_all(b"not json\n{}\n").1, [(LineDamage::Unreadable, 1)]);
        assert_eq!(read_all(b"{\"a\":\"\xff\"}\n").1, [(LineDamage::BadText, 1)]);
    }
}
