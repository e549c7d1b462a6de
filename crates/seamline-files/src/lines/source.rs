//! Lines of an input, with a look at the lines that follow.

use std::collections::VecDeque;
use std::io::BufRead;

use crate::nesting::Nesting;

/// The most lines that one record may be split into.
const LINES_MAX: usize = 4096;

/// The most bytes of a record that is split into lines. All of them are in memory at once.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// How many times the bytes of an input may be read while lines are joined.
const READS_MAX: usize = 32;

/// The lines of an input, each with its newline.
pub(super) struct LineSource<'i> {
    input: &'i mut dyn BufRead,
    /// Lines that were looked at and not taken yet.
    ahead: VecDeque<Vec<u8>>,
    /// The number of bytes that may still be read while lines are joined.
    budget: usize,
}

/// A record that newlines split into several lines.
pub(super) struct JoinedRecord {
    /// The record on one line. Newlines in its texts are escaped.
    pub(super) text: String,
    /// How many lines behind the first one it has.
    pub(super) more: usize,
}

impl<'i> LineSource<'i> {
    pub(super) fn of(input: &'i mut dyn BufRead) -> Self {
        Self { input, ahead: VecDeque::new(), budget: BYTES_MAX }
    }

    /// Takes the next line. `line` is empty at the end of the input.
    pub(super) fn take(&mut self, line: &mut Vec<u8>) -> std::io::Result<()> {
        line.clear();
        match self.ahead.pop_front() {
            Some(next) => *line = next,
            None => drop(self.input.read_until(b'\n', line)?),
        }
        self.budget = self.budget.saturating_add(line.len().saturating_mul(READS_MAX));
        Ok(())
    }

    fn look(&mut self, index: usize) -> std::io::Result<Option<&[u8]>> {
        while self.ahead.len() <= index {
            let mut line = Vec::new();
            if self.input.read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            self.ahead.push_back(line);
        }
        Ok(self.ahead.get(index).map(Vec::as_slice))
    }

    /// The record that begins on a line and is complete with the lines behind it: its texts have raw newlines, or it is
    /// written over several lines.
    pub(super) fn join(&mut self, first: &[u8]) -> std::io::Result<Option<JoinedRecord>> {
        let mut nesting = Nesting::default();
        let mut text = Vec::new();
        // An indented line is a part of a value that began on an earlier line.
        let is_indented = !first.starts_with(b"{");
        let Some(mut ending) = read_line(&mut nesting, first.trim_ascii_start(), &mut text) else { return Ok(None) };
        if !text.starts_with(b"{") {
            return Ok(None);
        }
        for index in 0..LINES_MAX {
            text.extend_from_slice(ending);
            if text.len() > BYTES_MAX || self.budget < text.len() || is_indented && !nesting.in_string {
                return Ok(None);
            }
            let Some(next) = self.look(index)? else { return Ok(None) };
            let length = next.len();
            if begins_record(&nesting, &text, next) {
                return Ok(None);
            }
            let next = if nesting.in_string { next } else { next.trim_ascii_start() };
            let read = read_line(&mut nesting, next, &mut text);
            self.budget = self.budget.saturating_sub(length);
            match read {
                Some(next) => ending = next,
                None if nesting.in_string || nesting.depth > 0 => return Ok(None),
                None => {
                    let text = String::from_utf8_lossy(&text).trim_end().to_owned();
                    let is_record = crate::json::members(&text, &[]).is_ok();
                    return Ok(is_record.then_some(JoinedRecord { text, more: index + 1 }));
                }
            }
        }
        Ok(None)
    }
}

/// Whether a line that follows a part of a record begins another record. A string cannot go on with a quote that is not
/// escaped, and an object goes on with an object only behind a colon, a comma or a bracket.
fn begins_record(nesting: &Nesting, text: &[u8], next: &[u8]) -> bool {
    let goes_on = || matches!(text.trim_ascii_end().last(), Some(b':' | b',' | b'['));
    next.trim_ascii_start().starts_with(b"{\"") && (nesting.in_string || !goes_on())
}

/// Reads a line without its newline and without NUL bytes. Returns what replaces the newline if the record goes on behind
/// it: the escaped newline inside of a string, nothing between two values.
fn read_line(nesting: &mut Nesting, line: &[u8], text: &mut Vec<u8>) -> Option<&'static [u8]> {
    let (line, ending): (_, &[u8]) = match line {
        [line @ .., b'\r', b'\n'] => (line, b"\\r\\n"),
        [line @ .., b'\n'] => (line, b"\\n"),
        _ => (line, b""),
    };
    for byte in line.iter().copied().filter(|byte| *byte != 0) {
        text.push(byte);
        nesting.step(byte);
    }
    match nesting {
        _ if ending.is_empty() || nesting.is_escaped => None,
        Nesting { in_string: true, .. } => Some(ending),
        Nesting { depth: 1.., .. } => Some(b""),
        Nesting { .. } => None,
    }
}
