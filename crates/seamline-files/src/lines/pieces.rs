//! The pieces of a line that is not exactly one record.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use crate::json::value_length;

/// One piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// A complete JSON object. It may have NUL bytes that do not belong to it.
    Record,
    /// A complete JSON value that is not an object.
    Other,
    NulRun,
    /// Bytes that belong to no complete value, such as the start of a record.
    Fragment,
}

/// How many times the bytes of a line may be read while a record is searched in it.
const READS_MAX: usize = 32;

/// The complete records of a damaged line.
pub(crate) fn records_on(line: &str) -> Vec<&str> {
    let records = pieces(line.as_bytes()).into_iter().filter(|piece| piece.kind == PieceKind::Record);
    records.filter_map(|piece| line.get(piece.span)).collect()
}

/// A text without NUL bytes.
pub(super) fn without_nul(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "")) } else { text }
}

/// The longest run of NUL bytes inside of a record. A longer one may have been written over the end of one record and the
/// start of the next, so that the bytes around it belong to two records.
const NUL_RUN_MAX: usize = 8;

/// The end of the complete JSON value at the beginning of bytes, if it is complete without the NUL bytes in it.
pub(crate) fn end_without_nul(bytes: &[u8]) -> Option<usize> {
    if !bytes.contains(&0) {
        return None;
    }
    let ascii: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).map(ascii).collect();
    let mut values = serde_json::Deserializer::from_slice(&ascii).into_iter::<IgnoredAny>();
    let is_value = matches!(values.next(), Some(Ok(IgnoredAny)));
    // The last byte of the value has this number among the bytes that are not NUL.
    let last = values.byte_offset().checked_sub(1).filter(|_| is_value)?;
    let end = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0).nth(last).map(|(place, _)| place + 1)?;
    let has_long_run = bytes[..end].split(|byte| *byte != 0).any(|run| run.len() > NUL_RUN_MAX);
    (!has_long_run).then_some(end)
}

/// A byte of a text in which every byte that is not ASCII is one ASCII character, so that places stay the same.
fn ascii(byte: u8) -> u8 {
    if byte.is_ascii() { byte } else { b'?' }
}

/// Cuts a line into pieces. Spaces between pieces belong to none.
pub(super) fn pieces(line: &[u8]) -> Vec<Piece> {
    let is_text = std::str::from_utf8(line).is_ok();
    let mut search = Search { line, is_text, budget: line.len().saturating_mul(READS_MAX), pieces: Vec::new() };
    let mut at = 0;
    while at < line.len() {
        at = search.next(at);
    }
    search.pieces
}

struct Search<'l> {
    line: &'l [u8],
    /// Whether all bytes of the line are UTF-8.
    is_text: bool,
    /// The number of bytes that may still be read.
    budget: usize,
    pieces: Vec<Piece>,
}

impl Search<'_> {
    /// Adds the piece at a place, and returns the place behind it.
    fn next(&mut self, at: usize) -> usize {
        let rest = &self.line[at..];
        let same = |fits: fn(&u8) -> bool| rest.iter().take_while(|byte| fits(byte)).count();
        match rest[0] {
            0 => self.add(PieceKind::NulRun, at..at + same(|byte| *byte == 0)),
            b' ' | b'\t' | b'\r' | b'\n' => at + same(u8::is_ascii_whitespace),
            first => {
                let kind = if first == b'{' { PieceKind::Record } else { PieceKind::Other };
                // A complete object is a record whatever follows it, if no fragment comes before it.
                let is_whole = kind == PieceKind::Record && self.is_behind_record(at);
                let end = self.value_end(at).or_else(|| self.end_without_nul(at));
                match end {
                    Some(end) if is_whole || self.is_boundary(end) => self.add(kind, at..end),
                    _ => {
                        let end = self.fragment_end(at);
                        self.add(PieceKind::Fragment, at..end)
                    }
                }
            }
        }
    }

    fn add(&mut self, kind: PieceKind, span: Range<usize>) -> usize {
        let end = span.end;
        self.pieces.push(Piece { kind, span });
        end
    }

    /// Whether a place is at the start of the line, or right behind a complete record.
    fn is_behind_record(&self, at: usize) -> bool {
        let Some(before) = self.pieces.last() else { return at == 0 };
        before.kind == PieceKind::Record && self.line[before.span.end..at].iter().all(u8::is_ascii_whitespace)
    }

    /// The end of the complete JSON value at a place. The value has no NUL bytes.
    fn value_end(&mut self, at: usize) -> Option<usize> {
        if self.budget == 0 {
            return None;
        }
        let length = value_length(&self.line[at..]);
        self.budget = self.budget.saturating_sub(length.unwrap_or_else(|read| read).max(1));
        match length {
            Ok(length) => Some(at + length),
            Err(_) => self.lossy_end(at),
        }
    }

    /// As [`Self::value_end`], for a line with bytes that are not UTF-8.
    fn lossy_end(&mut self, at: usize) -> Option<usize> {
        let rest = &self.line[at..];
        if self.is_text {
            return None;
        }
        self.budget = self.budget.checked_sub(rest.len())?;
        let ascii: Vec<u8> = rest.iter().copied().map(ascii).collect();
        let mut values = serde_json::Deserializer::from_slice(&ascii).into_iter::<IgnoredAny>();
        matches!(values.next(), Some(Ok(IgnoredAny))).then(|| at + values.byte_offset())
    }

    /// The end of the value that is complete without the NUL bytes in it. Behind a fragment it may be a part of another
    /// record, so there is none.
    fn end_without_nul(&mut self, at: usize) -> Option<usize> {
        if self.pieces.iter().any(|piece| piece.kind == PieceKind::Fragment) {
            return None;
        }
        let rest = self.line.get(at..).filter(|rest| rest.starts_with(b"{") && rest.contains(&0))?;
        self.budget = self.budget.checked_sub(rest.len())?;
        end_without_nul(rest).map(|end| at + end)
    }

    /// Whether a record may end here: at the end of the line, or before another piece.
    fn is_boundary(&self, at: usize) -> bool {
        let rest = self.line[at..].trim_ascii_start();
        rest.first().is_none_or(|next| matches!(next, b'{' | 0))
    }

    /// The end of a fragment: the next place where a complete record or a run of NUL bytes begins.
    fn fragment_end(&mut self, at: usize) -> usize {
        let mut from = at + 1;
        while let Some(offset) =
            self.line.get(from..).and_then(|rest| rest.iter().position(|byte| matches!(byte, b'{' | 0)))
        {
            let place = from + offset;
            if self.line[place] == 0 || self.starts_record(place) {
                return place;
            }
            if self.budget == 0 {
                break;
            }
            from = place + 1;
        }
        self.line.len()
    }

    /// Whether a complete record begins inside of a fragment. NUL bytes in a candidate hide the end of one record and the
    /// start of another, so such a candidate is none.
    fn starts_record(&mut self, at: usize) -> bool {
        // A record begins with a key. This saves most attempts inside text.
        if !self.line[at + 1..].trim_ascii_start().starts_with(b"\"") {
            return false;
        }
        self.value_end(at).is_some_and(|end| self.is_boundary(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(line: &str) -> Vec<(PieceKind, &str)> {
        pieces(line.as_bytes()).into_iter().map(|piece| (piece.kind, &line[piece.span])).collect()
    }

    #[test]
    fn an_object_inside_a_fragment_is_not_a_record() {
        let line = r#"{"a":{"b":1},"c":"cut{"type":"x","d":{"e":[{}]}}"#;
        let expected =
            [(PieceKind::Fragment, r#"{"a":{"b":1},"c":"cut"#), (PieceKind::Record, r#"{"type":"x","d":{"e":[{}]}}"#)];
        assert_eq!(cut(line), expected);
    }

    #[test]
    fn nul_runs_separate_pieces() {
        let expected =
            [(PieceKind::Fragment, "{\"a\":"), (PieceKind::NulRun, "\0\0"), (PieceKind::Record, "{\"a\":1}")];
        assert_eq!(cut("{\"a\":\0\0{\"a\":1}"), expected);
    }

    #[test]
    fn bytes_behind_a_complete_record_do_not_spoil_it() {
        let record = r#"{"a":{"b":1}}"#;
        for rest in ["}", ",", "# edited", r#"or":{"c":1}}"#, "null}"] {
            let line = format!("{record}{rest}");
            assert_eq!(cut(&line), [(PieceKind::Record, record), (PieceKind::Fragment, rest)], "{line}");
        }
        let line = format!("{record},{record}");
        let expected = [(PieceKind::Record, record), (PieceKind::Fragment, ","), (PieceKind::Record, record)];
        assert_eq!(cut(&line), expected);
    }

    #[test]
    fn nul_bytes_inside_of_a_fragment_join_no_record() {
        let line = "{\"a\":[{\"b\":\"cut\0\0\0\"},{\"c\":1";
        assert!(cut(line).iter().all(|(kind, _)| *kind != PieceKind::Record));
    }

    #[test]
    fn hostile_lines_take_bounded_work() {
        let line = "{\"a\":".repeat(40_000);
        assert_eq!(cut(&line), [(PieceKind::Fragment, line.as_str())]);
    }
}
