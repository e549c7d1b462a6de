//! Files that are one JSON value with the records in a list: the value itself, or a member of it.
//!
//! A crash leaves such a file cut, and its program then reads nothing of it. Here every complete record is found.

mod recover;

use std::io::BufRead;

use serde::de::IgnoredAny;

use crate::json::members;
use crate::lines::{DamagedLine, LineDamage, RecordPlace};
use crate::nesting::Nesting;
use recover::Rest;

/// Where the records of a value are.
pub(crate) struct Shape {
    /// The members of the value that may be the list. If the value is a list itself, its elements are the records.
    pub(crate) members: &'static [&'static str],
    /// Whether an object has the form of a record. It tells records from objects inside of damaged ones.
    pub(crate) is_record: fn(&str) -> bool,
}

impl Shape {
    /// A list of messages with roles.
    pub(crate) const fn of_messages(members: &'static [&'static str]) -> Self {
        Self { members, is_record: |text| crate::json::members(text, &["role"]).is_ok_and(|[role]| role.is_some()) }
    }
}

/// The result of one pass over a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct List {
    /// The places of the records, in the order of the file.
    pub(crate) records: Vec<RecordPlace>,
    /// The damaged parts of the file.
    pub(crate) damaged: Vec<DamagedLine>,
    /// The value without the elements of the list. It is whole JSON only if the file is not damaged.
    pub(crate) envelope: Vec<u8>,
}

impl List {
    /// Some members of the value around the list.
    pub(crate) fn members<const N: usize>(&self, names: &[&str; N]) -> [Option<&str>; N] {
        let text = std::str::from_utf8(&self.envelope).ok().map(|text| text.trim_start_matches('\u{feff}'));
        text.and_then(|text| members(text, names).ok()).unwrap_or([None; N])
    }

    /// Notes that a record follows the one before it without a comma.
    fn glue(&mut self, line: usize, at: u64) {
        let place = RecordPlace { line, span: at..at };
        self.damaged.push(DamagedLine { damage: LineDamage::Glued, records: 2, unread_bytes: 0, place });
    }

    fn damage(&mut self, damage: LineDamage, place: RecordPlace) {
        let unread_bytes = if damage == LineDamage::BadText { 0 } else { place.span.end - place.span.start };
        self.damaged.push(DamagedLine { damage, records: self.records.len(), unread_bytes, place });
    }
}

/// Takes the text of a record, and fails if it is not one JSON object.
pub(crate) type Take<'t> = dyn FnMut(&str) -> Result<(), serde_json::Error> + 't;

/// Reads a file and passes each record to `take`. Only one record of an undamaged file is in memory at a time.
///
/// # Errors
///
/// Fails when the input cannot be read.
pub(crate) fn read(input: &mut dyn BufRead, shape: &Shape, take: &mut Take<'_>) -> std::io::Result<List> {
    let mut scan = Scan::of(shape);
    while !scan.is_lost {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        let read = bytes.iter().position(|byte| {
            scan.read(*byte, take);
            scan.is_lost
        });
        let read = read.map_or(bytes.len(), |last| last + 1);
        input.consume(read);
    }
    let mut rest = std::mem::take(&mut scan.element);
    if scan.is_lost {
        input.read_to_end(&mut rest)?;
    }
    Ok(scan.finish(&rest, take))
}

/// Where a pass is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the list, or in a value without one.
    Before,
    /// Between the elements of the list.
    Between,
    /// In an element of the list.
    Element,
    /// Behind the list.
    Behind,
    /// Behind the value.
    Ended,
}

/// A pass over the bytes of a file.
struct Scan<'s> {
    shape: &'s Shape,
    list: List,
    phase: Phase,
    at: u64,
    line: usize,
    nesting: Nesting,
    /// The depth of the elements of the list, and the place behind the list.
    list_depth: usize,
    list_end: u64,
    /// The length of the envelope up to the list, and the line at the end of the list.
    list_opened: usize,
    list_end_line: usize,
    /// The last string directly in the value: before a list, it is the key of the list.
    key: Vec<u8>,
    /// The bytes of the element that is being read, and its place.
    element: Vec<u8>,
    start: u64,
    start_line: usize,
    /// Whether the next element may begin: a comma or the start of the list comes before it.
    is_separated: bool,
    /// The place of a comma behind the last element.
    comma: Option<u64>,
    /// Whether an element is damaged, so that brackets do not tell any more where the next one begins.
    is_lost: bool,
}

impl<'s> Scan<'s> {
    fn of(shape: &'s Shape) -> Self {
        Self {
            shape,
            list: List::default(),
            phase: Phase::Before,
            at: 0,
            line: 1,
            nesting: Nesting::default(),
            list_depth: 0,
            list_end: 0,
            list_opened: 0,
            list_end_line: 1,
            key: Vec::new(),
            element: Vec::new(),
            start: 0,
            start_line: 1,
            is_separated: true,
            comma: None,
            is_lost: false,
        }
    }

    fn read(&mut self, byte: u8, take: &mut Take<'_>) {
        match self.phase {
            Phase::Before | Phase::Behind => self.read_around(byte),
            Phase::Between => self.read_between(byte),
            Phase::Element => self.read_element(byte, take),
            Phase::Ended => self.read_behind_the_end(byte),
        }
        self.at += 1;
        self.line += usize::from(byte == b'\n');
    }

    fn read_around(&mut self, byte: u8) {
        self.list.envelope.push(byte);
        if self.nesting.in_string && self.nesting.depth == 1 && self.phase == Phase::Before {
            self.key.push(byte);
        }
        let was_in_string = self.nesting.in_string;
        self.nesting.step(byte);
        if was_in_string || byte.is_ascii_whitespace() {
            return;
        }
        match byte {
            b'"' => self.key.clear(),
            b'[' if self.phase == Phase::Before && self.is_list() => {
                (self.phase, self.list_depth) = (Phase::Between, self.nesting.depth);
                self.list_opened = self.list.envelope.len();
            }
            b']' | b'}' if self.nesting.depth == 0 => self.phase = Phase::Ended,
            _ => {}
        }
    }

    /// Whether the bracket that was just read opens the list of records.
    fn is_list(&self) -> bool {
        let key = self.key.strip_suffix(b"\"").unwrap_or_default();
        self.nesting.depth == 1
            || self.nesting.depth == 2 && self.shape.members.iter().any(|member| member.as_bytes() == key)
    }

    fn read_between(&mut self, byte: u8) {
        match byte {
            b',' => {
                if std::mem::replace(&mut self.is_separated, true) {
                    self.surplus_comma(self.at);
                }
                self.comma = Some(self.at);
            }
            _ if byte.is_ascii_whitespace() => {}
            b']' => {
                if let Some(comma) = self.comma {
                    self.surplus_comma(comma);
                }
                (self.phase, self.list_end, self.list_end_line) = (Phase::Behind, self.at + 1, self.line);
                self.read_around(byte);
            }
            _ => {
                (self.phase, self.start, self.start_line) = (Phase::Element, self.at, self.line);
                self.comma = None;
                if byte == b'{' && !std::mem::take(&mut self.is_separated) {
                    self.list.glue(self.line, self.at);
                }
                self.element.push(byte);
                self.nesting.step(byte);
                // Numbers and words are not records, and no bracket ends them.
                self.is_lost = self.nesting.depth == self.list_depth && !self.nesting.in_string;
            }
        }
    }

    /// Notes a comma that separates nothing: no parser takes it.
    fn surplus_comma(&mut self, at: u64) {
        let place = RecordPlace { line: self.line, span: at..at + 1 };
        if self.list.damaged.last().is_none_or(|last| last.place != place) {
            self.list.damage(LineDamage::Unreadable, place);
        }
    }

    fn read_element(&mut self, byte: u8, take: &mut Take<'_>) {
        self.element.push(byte);
        self.nesting.step(byte);
        if self.nesting.depth != self.list_depth || self.nesting.in_string {
            return;
        }
        let text = std::str::from_utf8(&self.element);
        if text.is_ok_and(|text| text.starts_with('{') && take(text).is_ok()) {
            let place = RecordPlace { line: self.start_line, span: self.start..self.at + 1 };
            self.list.records.push(place);
            self.element.clear();
            self.phase = Phase::Between;
        } else {
            self.is_lost = true;
        }
    }

    fn read_behind_the_end(&mut self, byte: u8) {
        if !byte.is_ascii_whitespace() {
            (self.start, self.start_line) = (self.at, self.line);
            self.element.push(byte);
            self.is_lost = true;
        }
    }

    /// Reads the remaining bytes, which begin at the damage. There are none in an intact file.
    fn finish(mut self, rest: &[u8], take: &mut Take<'_>) -> List {
        let (line, start) = if rest.is_empty() { (self.line, self.at) } else { (self.start_line, self.start) };
        let rest = Rest { bytes: rest, start, line };
        match self.phase {
            Phase::Between | Phase::Element => recover::recover(&mut self.list, self.shape, &rest, take),
            Phase::Behind => {
                // The list is whole, and the members behind it are cut.
                self.list.damage(LineDamage::Cut, RecordPlace { line: self.line, span: self.list_end..self.at });
            }
            Phase::Ended if !rest.bytes.is_empty() && !is_json(&self.list.envelope) => {
                let end = rest.start + rest.bytes.len() as u64;
                self.list.damage(LineDamage::Unreadable, RecordPlace { line: 1, span: 0..end });
            }
            Phase::Ended if !rest.bytes.is_empty() => {
                let damage = if rest.bytes.contains(&0) { LineDamage::NulRun } else { LineDamage::Unreadable };
                self.list.damage(damage, rest.place(0..rest.bytes.len()));
            }
            Phase::Before | Phase::Ended => self.check_envelope(),
        }
        self.list
    }

    /// Notes damage to the value around the list. The records may be whole and its program still cannot read the file.
    fn check_envelope(&mut self) {
        let parts = std::mem::take(&mut self.list.envelope);
        let without_mark = parts.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&parts);
        if !without_mark.trim_ascii().is_empty() && self.list.damaged.is_empty() {
            let is_text = std::str::from_utf8(without_mark).is_ok();
            let readable: Vec<u8> = String::from_utf8_lossy(without_mark).bytes().filter(|byte| *byte != 0).collect();
            let has_list = self.phase == Phase::Ended && self.list_end > 0;
            match () {
                () if is_text && is_json(without_mark) => {}
                () if has_list && is_json(&readable) => self.damage_around(&parts),
                () => {
                    let damage = if parts.contains(&0) { LineDamage::NulRun } else { LineDamage::Unreadable };
                    self.list.damage(damage, RecordPlace { line: 1, span: 0..self.at });
                }
            }
        }
        self.list.envelope = parts;
    }

    /// Notes the damage before and behind the list, where the value is whole without it.
    fn damage_around(&mut self, envelope: &[u8]) {
        let (before, behind) = envelope.split_at(self.list_opened);
        let damage = |part: &[u8]| match () {
            () if part.contains(&0) => Some(LineDamage::NulRun),
            () => std::str::from_utf8(part).is_err().then_some(LineDamage::BadText),
        };
        let first = self.list_end.saturating_sub(1);
        let parts = [
            (before, RecordPlace { line: 1, span: 0..before.len() as u64 }),
            (behind, RecordPlace { line: self.list_end_line, span: first..first + behind.len() as u64 }),
        ];
        for (part, place) in parts {
            if let Some(damage) = damage(part) {
                self.list.damage(damage, place);
            }
        }
    }
}

/// Whether bytes are JSON, behind a byte order mark or without one. Their texts may be damaged.
fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Object;

    const SHAPE: Shape = Shape {
        members: &["messages"],
        is_record: |text| Object::of(text).is_some_and(|object| object.get("id").is_some()),
    };

    /// The records of a file, its damage, and the text that each damage covers.
    fn read_all(file: &str) -> (Vec<String>, Vec<(LineDamage, usize, String)>) {
        let mut texts = Vec::new();
        let mut take = |text: &str| {
            members(text, &["id"])?;
            texts.push(text.to_owned());
            Ok(())
        };
        // A small buffer, so that records are split between its fillings.
        let mut input = std::io::BufReader::with_capacity(3, file.as_bytes());
        let list = read(&mut input, &SHAPE, &mut take).unwrap();
        let covered = |place: &RecordPlace| file[place.span.start as usize..place.span.end as usize].to_owned();
        for (place, text) in list.records.iter().zip(&texts) {
            assert_eq!(&covered(place), text);
        }
        let damaged = list.damaged.iter().map(|part| (part.damage, part.place.line, covered(&part.place)));
        (texts, damaged.collect())
    }

    #[test]
    fn the_elements_of_a_list_are_records() {
        let one = r#"{"id":1,"x":"]}\"[{"}"#;
        for file in [
            format!("[{one} , {one}]\n"),
            format!("{{\n \"a\": [1, {{}}], \"messages\": [\n  {one},\n  {one}\n ],\n \"b\": [2]\n}}"),
            format!("{{\"b\":\"messages\",\"c\":{{\"messages\":[3]}},\"messages\":[{one},null,\"x\",4,{one}]}}"),
        ] {
            assert_eq!(read_all(&file), (vec![one.to_owned(), one.to_owned()], Vec::new()), "{file}");
        }
        assert_eq!(read_all(r#"{"messages":[]}"#), (Vec::new(), Vec::new()));
        assert_eq!(read_all(r#"{"a":1}"#), (Vec::new(), Vec::new()));
    }

    #[test]
    fn the_value_around_the_list_is_read() {
        let file = "\u{feff}{\"a\": 1, \"messages\": [{\"id\":1}], \"b\": [2]}\n";
        let list = read(&mut file.as_bytes(), &SHAPE, &mut |_| Ok(())).unwrap();
        assert_eq!(list.members(&["a", "b", "messages"]), [Some("1"), Some("[2]"), Some("[]")]);
    }

    #[test]
    fn a_cut_file_gives_its_complete_records() {
        let file = "{\n\"messages\": [\n{\"id\":1},\n{\"id\":2,\"x\":[{\"y\":3}]}\n],\n\"b\":1}";
        for end in file.find('[').unwrap() + 1..file.len() {
            let (texts, damaged) = read_all(&file[..end]);
            let complete = [file.find("1}").unwrap() + 2, file.find("]}").unwrap() + 2];
            assert_eq!(texts.len(), complete.iter().filter(|complete| end >= **complete).count(), "{}", &file[..end]);
            assert_eq!(damaged.len(), 1, "{}", &file[..end]);
            assert_eq!(damaged[0].0, LineDamage::Cut);
        }
    }

    #[test]
    fn damage_around_the_list_is_found() {
        let damaged = |text: &str| read_all(text).1;
        let all = |kind: LineDamage, text: &str| vec![(kind, 1, text.to_owned())];
        for text in ["{\"a\":1 \"messages\":[{\"id\":1}]}", "{\"messages\":{\"id\":1}]}", "{\"mess", "{\"a\":x}"] {
            assert_eq!(damaged(text), all(LineDamage::Unreadable, text), "{text}");
        }
        let text = "{\"a\":\"x\0\0\",\"messages\":[{\"id\":1}],\"b\":\"\0\"}";
        let expected = [
            (LineDamage::NulRun, 1, "{\"a\":\"x\0\0\",\"messages\":[".to_owned()),
            (LineDamage::NulRun, 1, "],\"b\":\"\0\"}".to_owned()),
        ];
        assert_eq!(damaged(text), expected);
        assert_eq!(damaged("[{\"id\":1},,{\"id\":2},]").len(), 2);
        assert_eq!(damaged("[,{\"id\":1}]").len(), 1);
        let list = read(&mut &b"{\"a\":\"\xff\",\"messages\":[{\"id\":1}]}"[..], &SHAPE, &mut |_| Ok(())).unwrap();
        assert_eq!(list.damaged[0].damage, LineDamage::BadText);
    }

    #[test]
    fn records_behind_damage_are_found() {
        let damaged = |text: &str| read_all(text).1;
        let file = "{\"messages\":[{\"id\":1},\n{\"id\":2,\"x\":\"\0\0\0\n{\"id\":3},{\"id\":4}],\"b\":[5]}";
        let (texts, found) = read_all(file);
        assert_eq!(texts, [r#"{"id":1}"#, r#"{"id":3}"#, r#"{"id":4}"#]);
        assert_eq!(found, [(LineDamage::NulRun, 2, "{\"id\":2,\"x\":\"\0\0\0".to_owned())]);
        let file = "[{\"id\":1},{\"id\":2,\"x\":[{\"y\":1},{\"id\":3}]";
        assert_eq!(read_all(file).0, [r#"{"id":1}"#, r#"{"id":3}"#]);
        assert_eq!(
            damaged("[{\"id\":1},{\"id\":2,\"x\":tru}]"),
            [(LineDamage::Unreadable, 1, "{\"id\":2,\"x\":tru}".to_owned())]
        );
        assert_eq!(damaged("[{\"id\":1}]\n\0\0"), [(LineDamage::NulRun, 2, "\0\0".to_owned())]);
        assert_eq!(damaged("[{\"id\":1}\0\0"), [(LineDamage::NulRun, 1, "\0\0".to_owned())]);
        assert_eq!(damaged("[{\"id\":1}\n{\"id\":2},{\"id\":3}]"), [(LineDamage::Glued, 2, String::new())]);
        let twice = [(LineDamage::NulRun, 1, "\0".to_owned()), (LineDamage::Glued, 1, String::new())];
        assert_eq!(damaged("[\0{\"id\":1}{\"id\":2}]"), twice);
    }
}
