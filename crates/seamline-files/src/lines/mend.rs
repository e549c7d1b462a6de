//! Writes damaged lines again: each complete record on a line of its own.

use std::borrow::Cow;

use super::pieces::{PieceKind, pieces, without_nul};
use super::source::LineSource;
use crate::json::members;

/// Bytes that belong to no complete record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedBytes {
    /// The number of the line, from 1.
    pub line: usize,
    /// The bytes as they were.
    pub bytes: Vec<u8>,
    /// Whether the record behind them begins with the same bytes, so that nothing is lost with them.
    pub is_repeated: bool,
}

/// A file whose lines are whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The bytes that are not in the file any more. NUL bytes are not listed.
    pub quarantined: Vec<QuarantinedBytes>,
}

/// Writes each complete record of a damaged line on a line of its own. Undamaged lines keep their bytes. Returns nothing if
/// no line is damaged.
pub fn mend(file: &[u8]) -> Option<Mended> {
    let mut mended = Mended { bytes: Vec::with_capacity(file.len()), quarantined: Vec::new() };
    let ending = line_ending(file);
    let mut is_damaged = false;
    let mut input = file;
    let mut source = LineSource::of(&mut input);
    let mut line = Vec::new();
    let mut number = 0;
    // Bytes in memory can always be read.
    while source.take(&mut line).is_ok() && !line.is_empty() {
        number += 1;
        mended.end_line(ending);
        if is_whole(&line) {
            mended.bytes.extend_from_slice(&line);
            continue;
        }
        is_damaged = true;
        match source.join(&line) {
            Ok(Some(joined)) => {
                number += joined.more;
                (0..joined.more).for_each(|_| drop(source.take(&mut line)));
                mended.bytes.extend_from_slice(joined.text.as_bytes());
            }
            Ok(None) | Err(_) => mended.split(number, &line, ending),
        }
    }
    // Programs append without looking, so the last line needs its newline.
    mended.end_line(ending);
    is_damaged.then_some(mended)
}

/// The end of the lines of a file.
pub(crate) fn line_ending(file: &[u8]) -> &'static [u8] {
    let first = file.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.ends_with(b"\r\n") { b"\r\n" } else { b"\n" }
}

/// Whether a line is blank, one record, or one other JSON value.
fn is_whole(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_record = |text: &str| members(text, &[]).is_ok();
    let is_value = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    line.is_empty() || std::str::from_utf8(line).is_ok_and(|text| is_record(text) || is_value(text))
}

impl Mended {
    fn end_line(&mut self, ending: &[u8]) {
        if self.bytes.last().is_some_and(|last| *last != b'\n') {
            self.bytes.extend_from_slice(ending);
        }
    }

    fn split(&mut self, number: usize, line: &[u8], ending: &[u8]) {
        let line = line.trim_ascii();
        let found = pieces(line);
        for (at, piece) in found.iter().enumerate() {
            let bytes = &line[piece.span.clone()];
            match piece.kind {
                PieceKind::NulRun => {}
                PieceKind::Fragment => {
                    let next = found.get(at + 1).map(|next| &line[next.span.clone()]);
                    let is_repeated = next.is_some_and(|next| next.starts_with(bytes));
                    self.quarantined.push(QuarantinedBytes { line: number, bytes: bytes.to_vec(), is_repeated });
                }
                PieceKind::Record | PieceKind::Other => {
                    self.end_line(ending);
                    let text = String::from_utf8_lossy(bytes);
                    if matches!(text, Cow::Owned(_)) {
                        // The record is kept without the invalid bytes, and they are kept beside the backup.
                        let bytes = bytes.to_vec();
                        self.quarantined.push(QuarantinedBytes { line: number, bytes, is_repeated: true });
                    }
                    self.bytes.extend_from_slice(without_nul(text).as_bytes());
                    self.bytes.extend_from_slice(ending);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_get_lines_of_their_own_and_the_rest_is_kept_aside() {
        let file = b"{\"a\":1}\n{\"b\":2}{\"c\":3}\n{\"d\":{\"d\":4}\n\0\0\0{\"e\":5}\nrubbish\n{\"f\":6";
        let mended = mend(file).unwrap();
        let expected = "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n{\"d\":4}\n{\"e\":5}\n";
        assert_eq!(String::from_utf8(mended.bytes.clone()).unwrap(), expected);
        let kept: Vec<_> =
            mended.quarantined.iter().map(|kept| (kept.line, &kept.bytes[..], kept.is_repeated)).collect();
        let expected: [(usize, &[u8], bool); 3] =
            [(3, b"{\"d\":", true), (5, b"rubbish", false), (6, b"{\"f\":6", false)];
        assert_eq!(kept, expected);
        assert_eq!(mend(&mended.bytes), None);
    }

    #[test]
    fn records_are_joined_and_lines_keep_their_ending() {
        let mended = mend(b"{\"a\":1}\r\n{\"b\":2}{\"c\":3}\r\n{\"d\":\"4\r\n5\0\"}\r\n{\"e\":6}").unwrap();
        let expected = "{\"a\":1}\r\n{\"b\":2}\r\n{\"c\":3}\r\n{\"d\":\"4\\r\\n5\"}\r\n{\"e\":6}\r\n";
        assert_eq!(String::from_utf8(mended.bytes).unwrap(), expected);
        assert_eq!(mended.quarantined, []);
    }

    #[test]
    fn whole_lines_keep_their_bytes_and_a_missing_newline() {
        assert_eq!(mend(b"{\"a\":1}\n\n [2] \n{\"b\":3}"), None);
    }
}
