//! Writes damaged lines again: each complete record on a line of its own.

use std::borrow::Cow;

use super::pieces::{PieceKind, pieces};
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
    let mut is_damaged = false;
    for (index, line) in file.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if is_whole(line) {
            end_line(&mut mended.bytes);
            mended.bytes.extend_from_slice(line);
        } else {
            is_damaged = true;
            mended.split(index + 1, line);
        }
    }
    // Programs append without looking, so the last line needs its newline.
    end_line(&mut mended.bytes);
    is_damaged.then_some(mended)
}

/// Whether a line is blank, one record, or one other JSON value.
fn is_whole(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_record = |text: &str| members(text, &[]).is_ok();
    let is_value = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    line.is_empty() || std::str::from_utf8(line).is_ok_and(|text| is_record(text) || is_value(text))
}

fn end_line(bytes: &mut Vec<u8>) {
    if bytes.last().is_some_and(|last| *last != b'\n') {
        bytes.push(b'\n');
    }
}

impl Mended {
    fn split(&mut self, number: usize, line: &[u8]) {
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
                    end_line(&mut self.bytes);
                    match String::from_utf8_lossy(bytes) {
                        Cow::Borrowed(_) => self.bytes.extend_from_slice(bytes),
                        Cow::Owned(text) => {
                            // The record is kept without the invalid bytes, and they are kept beside the backup.
                            self.quarantined.push(QuarantinedBytes {
                                line: number,
                                bytes: bytes.to_vec(),
                                is_repeated: true,
                            });
                            self.bytes.extend_from_slice(text.as_bytes());
                        }
                    }
                    self.bytes.push(b'\n');
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
        let file = b"{\"a\":1}\r\n{\"b\":2}{\"c\":3}\n{\"d\":{\"d\":4}\n\0\0\0{\"e\":5}\nrubbish\n{\"f\":6";
        let mended = mend(file).unwrap();
        let expected = "{\"a\":1}\r\n{\"b\":2}\n{\"c\":3}\n{\"d\":4}\n{\"e\":5}\n";
        assert_eq!(String::from_utf8(mended.bytes.clone()).unwrap(), expected);
        let kept: Vec<_> =
            mended.quarantined.iter().map(|kept| (kept.line, &kept.bytes[..], kept.is_repeated)).collect();
        let expected: [(usize, &[u8], bool); 3] =
            [(3, b"{\"d\":", true), (5, b"rubbish", false), (6, b"{\"f\":6", false)];
        assert_eq!(kept, expected);
        assert_eq!(mend(&mended.bytes), None);
    }

    #[test]
    fn whole_lines_keep_their_bytes_and_a_missing_newline() {
        assert_eq!(mend(b"{\"a\":1}\n\n [2] \n{\"b\":3}"), None);
    }
}
