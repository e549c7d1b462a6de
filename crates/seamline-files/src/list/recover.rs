//! Finds complete records in the rest of a damaged file.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::{List, Shape, Take};
use crate::json::value_length;
use crate::lines::{DamagedLine, LineDamage, RecordPlace, end_without_nul};

/// How many times the bytes of the rest may be read while a record is searched.
const READS_MAX: usize = 32;
/// How many places are tried as the end of the list.
const ENDS_MAX: usize = 64;

/// The bytes of a file from the first damaged element on.
pub(super) struct Rest<'r> {
    pub(super) bytes: &'r [u8],
    /// The place of the first byte in the file, and its line.
    pub(super) start: u64,
    pub(super) line: usize,
}

impl Rest<'_> {
    /// The place of some of the bytes.
    pub(super) fn place(&self, span: Range<usize>) -> RecordPlace {
        let line = self.line + self.bytes[..span.start].split(|byte| *byte == b'\n').count() - 1;
        RecordPlace { line, span: self.start + span.start as u64..self.start + span.end as u64 }
    }
}

/// Reads the complete records of the rest into the list, and notes the bytes that belong to none.
pub(super) fn recover(list: &mut List, shape: &Shape, rest: &Rest<'_>, take: &mut Take<'_>) {
    let budget = rest.bytes.len().saturating_mul(READS_MAX);
    let mut search = Search { list, shape, rest, budget };
    let mut at = 0;
    let mut is_behind_record = false;
    loop {
        let separator = at;
        at = search.skip(at);
        let is_separated = rest.bytes[separator..at].contains(&b',');
        if is_behind_record && !is_separated && rest.bytes.get(at) == Some(&b'{') {
            let place = rest.place(at..at);
            search.list.glue(place.line, place.span.start);
        }
        let before = search.list.records.len();
        match rest.bytes.get(at) {
            // The file ends inside of the list.
            None => {
                let is_known = search.list.damaged.last().is_some_and(|last| search.skip_to(last) == at);
                if !is_known {
                    search.list.damage(LineDamage::Cut, rest.place(at..at));
                }
                return;
            }
            Some(b']') if search.is_end(at) => {
                search.list.envelope.extend_from_slice(&rest.bytes[at..]);
                return;
            }
            Some(_) => at = search.next(at, take),
        }
        is_behind_record = search.list.records.len() > before;
    }
}

struct Search<'s> {
    list: &'s mut List,
    shape: &'s Shape,
    rest: &'s Rest<'s>,
    /// The number of bytes that may still be read.
    budget: usize,
}

impl Search<'_> {
    /// The place of the next element or damage.
    fn skip(&self, at: usize) -> usize {
        let is_between = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
        at + self.rest.bytes[at..].iter().take_while(|byte| is_between(byte)).count()
    }

    /// The place of the first byte behind a damaged part and the separator behind it.
    fn skip_to(&self, damaged: &DamagedLine) -> usize {
        self.skip(damaged.place.span.end.saturating_sub(self.rest.start) as usize)
    }

    /// Reads the element or the damage at a place, and returns the place behind it.
    fn next(&mut self, at: usize, take: &mut Take<'_>) -> usize {
        if let Some(end) = self.value_end(at) {
            let bytes = &self.rest.bytes[at..end];
            let text = String::from_utf8_lossy(bytes);
            let is_record = bytes.starts_with(b"{") && take(&text).is_ok();
            if is_record {
                let place = self.rest.place(at..end);
                self.list.records.push(place.clone());
                if matches!(text, Cow::Owned(_)) {
                    self.list.damage(LineDamage::BadText, place);
                }
            }
            if is_record || !bytes.starts_with(b"{") {
                return end;
            }
        }
        if let Some(end) = self.end_without_nul(at) {
            let text = String::from_utf8_lossy(&self.rest.bytes[at..end]).replace('\0', "");
            if take(&text).is_ok() {
                let place = self.rest.place(at..end);
                self.list.records.push(place.clone());
                self.list.damage(LineDamage::NulRun, place);
                return end;
            }
        }
        let end = self.damage_end(at);
        let bytes = &self.rest.bytes[at..end];
        let damage = match () {
            () if bytes.contains(&0) => LineDamage::NulRun,
            () if end == self.rest.bytes.len() => LineDamage::Cut,
            () => LineDamage::Unreadable,
        };
        let separator = bytes.iter().rev().take_while(|byte| **byte == b',' || byte.is_ascii_whitespace()).count();
        self.list.damage(damage, self.rest.place(at..end - separator));
        end
    }

    /// The end of the complete JSON value at a place, if the next element or the end of the list follows.
    fn value_end(&mut self, at: usize) -> Option<usize> {
        if self.budget == 0 {
            return None;
        }
        let length = value_length(&self.rest.bytes[at..]);
        self.budget = self.budget.saturating_sub(length.unwrap_or_else(|read| read).max(1));
        let end = at + length.ok()?;
        self.is_boundary(end).then_some(end)
    }

    /// As [`Self::value_end`], for a record that is complete without the NUL bytes in it.
    fn end_without_nul(&mut self, at: usize) -> Option<usize> {
        let rest = self.rest.bytes.get(at..).filter(|rest| rest.starts_with(b"{") && rest.contains(&0))?;
        self.budget = self.budget.checked_sub(rest.len())?;
        let end = at + end_without_nul(rest)?;
        let text = String::from_utf8_lossy(&self.rest.bytes[at..end]).replace('\0', "");
        (self.is_boundary(end) && (self.shape.is_record)(&text)).then_some(end)
    }

    /// Whether an element may end here: before the next one, or the end of the list.
    fn is_boundary(&self, at: usize) -> bool {
        let next = self.rest.bytes[at..].trim_ascii_start().first();
        next.is_none_or(|next| matches!(next, b',' | b']' | b'{' | 0))
    }

    /// The end of damaged bytes: the next record, or the end of the list, or the end of the file.
    fn damage_end(&mut self, at: usize) -> usize {
        let mut from = at + 1;
        while let Some(offset) = self.rest.bytes.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'{'))
        {
            let place = from + offset;
            if self.starts_record(place) {
                return place;
            }
            if self.budget == 0 {
                break;
            }
            from = place + 1;
        }
        self.list_end(at).unwrap_or(self.rest.bytes.len())
    }

    fn starts_record(&mut self, at: usize) -> bool {
        // A record begins with a key. This saves most attempts inside of text.
        if !self.rest.bytes[at + 1..].trim_ascii_start().starts_with(b"\"") {
            return false;
        }
        let end = self.value_end(at);
        end.is_some_and(|end| (self.shape.is_record)(&String::from_utf8_lossy(&self.rest.bytes[at..end])))
    }

    /// The place where the list ends behind damage: what follows closes the value.
    fn list_end(&self, at: usize) -> Option<usize> {
        let brackets = (at..self.rest.bytes.len()).rev().filter(|place| self.rest.bytes[*place] == b']');
        let end = brackets.take(ENDS_MAX).find(|place| self.is_end(*place))?;
        // The spaces before the bracket belong to it, so that it stays on a line of its own.
        let spaces = self.rest.bytes[at..end].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        Some(end - spaces)
    }

    /// Whether the bytes from a bracket on close the value.
    fn is_end(&self, at: usize) -> bool {
        let value = [&self.list.envelope, &self.rest.bytes[at..]].concat();
        let value = value.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&value);
        serde_json::from_slice::<IgnoredAny>(value).is_ok()
    }
}
