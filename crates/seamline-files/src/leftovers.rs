//! Everything readable in bytes that no format reads: complete JSON values and text, wherever they are.

use std::io::BufRead;
use std::ops::Range;

use serde::de::IgnoredAny;

use crate::json::members;
use crate::list::{self, Shape};

/// How many times the bytes may be read while values are searched in them.
const READS_MAX: usize = 32;

/// A part of a file that belongs to no conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The kind of the part.
    pub kind: LeftoverKind,
    /// The number of its first line, from 1.
    pub line: usize,
    /// The bytes of the part.
    pub span: Range<u64>,
}

/// The kind of a part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverKind {
    /// A complete JSON object or list.
    Value,
    /// Text that is not a complete value.
    Text,
    /// NUL bytes, or bytes that are not UTF-8.
    Unreadable,
}

/// Finds everything readable in bytes, which begin at a place of a file. Brackets and commas between values do not count.
pub fn leftovers(bytes: &[u8], start: u64, line: usize) -> Vec<Leftover> {
    let budget = bytes.len().saturating_mul(READS_MAX);
    let mut search = Search { bytes, start, line, counted: 0, budget, found: Vec::new() };
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        let end = at + chunk.valid().len();
        while at < end {
            at = search.next(at, end);
        }
        at = search.add(LeftoverKind::Unreadable, at..at + chunk.invalid().len());
    }
    let is_content = |found: &Leftover| {
        let text = &bytes[(found.span.start - start) as usize..(found.span.end - start) as usize];
        found.kind != LeftoverKind::Text || text.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
    };
    search.found.retain(is_content);
    search.found
}

/// The number of line breaks in bytes.
pub fn line_breaks(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

struct Search<'b> {
    bytes: &'b [u8],
    start: u64,
    line: usize,
    /// The place up to which lines are counted.
    counted: usize,
    /// The number of bytes that may still be read.
    budget: usize,
    found: Vec<Leftover>,
}

impl Search<'_> {
    /// Adds the part at a place in valid text that ends at `end`, and returns the place behind it.
    fn next(&mut self, at: usize, end: usize) -> usize {
        let rest = &self.bytes[at..end];
        let same = |fits: fn(&u8) -> bool| rest.iter().take_while(|byte| fits(byte)).count();
        match rest[0] {
            0 => self.add(LeftoverKind::Unreadable, at..at + same(|byte| *byte == 0)),
            byte if byte.is_ascii_whitespace() => at + same(u8::is_ascii_whitespace),
            b'{' | b'[' => match self.value(at, end) {
                Some(behind) => self.add(LeftoverKind::Value, at..behind),
                None => self.text(at, end),
            },
            _ => self.text(at, end),
        }
    }

    /// The place behind the value at a place, if one is complete there.
    fn value(&mut self, at: usize, end: usize) -> Option<usize> {
        let rest = &self.bytes[at..end];
        if self.budget == 0 {
            return None;
        }
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        let is_value = matches!(values.next(), Some(Ok(IgnoredAny)));
        let read = if is_value { values.byte_offset() } else { rest.len() };
        self.budget = self.budget.saturating_sub(read);
        is_value.then_some(at + read)
    }

    /// Adds the text up to the end of its line, or up to a place where a value may begin.
    fn text(&mut self, at: usize, end: usize) -> usize {
        let rest = &self.bytes[at..end];
        let is_start = |place: usize| rest[place] == b'{' && matches!(rest.get(place + 1), Some(b'"'));
        let length = (1..rest.len()).find(|place| matches!(rest[*place], b'\n' | 0) || is_start(*place));
        self.add(LeftoverKind::Text, at..at + length.unwrap_or(rest.len()))
    }

    /// Adds a part, and returns the place behind it. Text joins the text before it.
    fn add(&mut self, kind: LeftoverKind, span: Range<usize>) -> usize {
        if span.is_empty() {
            return span.end;
        }
        self.line += line_breaks(&self.bytes[self.counted..span.start]);
        self.counted = span.start;
        let place = self.start + span.start as u64..self.start + span.end as u64;
        match self.found.last_mut() {
            Some(last) if last.kind == kind && kind != LeftoverKind::Value => last.span.end = place.end,
            _ => self.found.push(Leftover { kind, line: self.line, span: place }),
        }
        span.end
    }
}

/// The messages of a request body that is cut or damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutBody {
    /// The member that holds the list.
    pub member: &'static str,
    /// The places of the complete messages.
    pub messages: Vec<Range<u64>>,
}

/// Finds the complete messages of a request body that is cut or damaged. Returns nothing if there are none.
///
/// # Errors
///
/// Fails when the input cannot be read.
pub fn cut_body(input: &mut dyn BufRead) -> std::io::Result<Option<CutBody>> {
    let is_record = |text: &str| members(text, &["role", "type"]).is_ok_and(|found| found.iter().any(Option::is_some));
    let lists = seamline_dialects::message_lists();
    let shape = Shape { members: lists, is_record };
    let mut are_messages = true;
    let list = list::read(input, &shape, &mut |text| {
        are_messages &= is_record(text);
        members(text, &[]).map(drop)
    })?;
    let envelope = String::from_utf8_lossy(&list.envelope);
    let member = lists.iter().copied().rfind(|name| envelope.contains(&format!("\"{name}\"")));
    let messages: Vec<Range<u64>> = list.records.into_iter().map(|place| place.span).collect();
    Ok((are_messages && !messages.is_empty()).then(|| CutBody { member: member.unwrap_or(lists[0]), messages }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Vec<(LeftoverKind, usize, String)> {
        let text = |part: &Leftover| {
            String::from_utf8_lossy(&bytes[part.span.start as usize..part.span.end as usize]).into_owned()
        };
        leftovers(bytes, 0, 1).iter().map(|part| (part.kind, part.line, text(part))).collect()
    }

    #[test]
    fn values_and_texts_are_found_wherever_they_are() {
        use LeftoverKind::{Text, Unreadable, Value};
        let bytes = b"log line\nnext {\"a\":{\"b\":1}} tail\n\0\0[1,\n2]\n{\"cut\":\"x{\"c\":2}\nend \xff.";
        let expected = [
            (Text, 1, "log line\nnext ".to_owned()),
            (Value, 2, "{\"a\":{\"b\":1}}".to_owned()),
            (Text, 2, "tail".to_owned()),
            (Unreadable, 3, "\0\0".to_owned()),
            (Value, 3, "[1,\n2]".to_owned()),
            (Text, 5, "{\"cut\":\"x".to_owned()),
            (Value, 5, "{\"c\":2}".to_owned()),
            (Text, 6, "end ".to_owned()),
            (Unreadable, 6, "\u{fffd}".to_owned()),
        ];
        assert_eq!(found(bytes), expected);
        assert_eq!(found(b" ,\n ]}\n"), []);
        assert_eq!(leftovers(b"x", 10, 3), [Leftover { kind: Text, line: 3, span: 10..11 }]);
    }

    #[test]
    fn hostile_bytes_take_bounded_work() {
        let bytes = "{\"a\":".repeat(40_000);
        assert_eq!(found(bytes.as_bytes()).len(), 1);
    }

    #[test]
    fn a_cut_body_gives_its_complete_messages() {
        let body = br#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"ro"#;
        let cut = cut_body(&mut &body[..]).unwrap().unwrap();
        assert_eq!((cut.member, cut.messages), ("messages", vec![25..54, 55..89]));
        assert_eq!(cut_body(&mut &b"[{\"a\":1}"[..]).unwrap(), None);
    }
}
