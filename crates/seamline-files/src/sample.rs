//! A sample of a file: its name, its first records, and the tables of a database.

use std::borrow::Cow;

use serde_json::Value;

use crate::lines::records_on;
use crate::packed::is_packed;
use crate::sketch::Sketch;

/// The most records that are looked at.
const RECORDS_MAX: usize = 32;
/// A damaged first line makes the text wrong within this many lines: a cut value may take up the line behind it.
const DAMAGED_LINES: usize = 3;
/// The first bytes of an SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A sample of a file.
pub(crate) struct Sample<'s> {
    /// The name of the file, without its folders, in lower case.
    name: String,
    head: &'s [u8],
    /// The first records: one per line, or the only value of the file.
    records: Vec<Value>,
    /// Whether the file has several records, one per line.
    is_lines: bool,
    /// Whether the first of several lines is damaged, so that the first record is only a part of one.
    is_torn: bool,
}

impl<'s> Sample<'s> {
    /// The most bytes of a file that are looked at.
    pub(crate) const BYTES_MAX: usize = 1024 * 1024;

    pub(crate) fn of(name: &str, bytes: &'s [u8]) -> Self {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        let head = &bytes[..bytes.len().min(Self::BYTES_MAX)];
        let mut sample = Self { name: file, head, records: Vec::new(), is_lines: false, is_torn: false };
        // A file in UTF-16 has to be written as UTF-8 first: no program reads its lines, and its NUL bytes belong to it.
        let is_utf16 = matches!(
            head,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [1..=127, 0, 1..=127, 0, ..] | [0, 1..=127, 0, 1..=127, ..]
        );
        if !sample.is_database() && !is_utf16 {
            sample.read(&text_of(head));
        }
        sample
    }

    fn read(&mut self, text: &str) {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = Sketch::of(lines.next().unwrap_or_default());
        if first.is_whole && text.starts_with(['{', '[']) {
            self.records.push(first.value);
            let others = lines.take(RECORDS_MAX - 1).map(|line| Sketch::of(line).value);
            self.records.extend(others.filter(Value::is_object));
            self.is_lines = self.records.len() > 1;
            return;
        }
        // The value has several lines, or its line is longer than the sample or damaged. Its further lines may begin like
        // records: people write each message on its own line.
        let all = Sketch::of(text);
        let is_damaged = all.wrong_line.is_some_and(|line| line <= DAMAGED_LINES);
        let records = if is_damaged { records_behind(text, self.ends_with(".jsonl")) } else { Vec::new() };
        self.is_lines = !records.is_empty();
        if text.starts_with(['{', '[']) {
            self.records.push(all.value);
            self.is_torn = self.is_lines;
        }
        self.records.extend(records);
    }

    /// Whether the name of the file is one of these.
    pub(crate) fn is_named(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }

    /// Whether the name of the file starts with these letters.
    pub(crate) fn starts_with(&self, start: &str) -> bool {
        self.name.starts_with(start)
    }

    /// The end of the name of the file.
    pub(crate) fn ends_with(&self, ending: &str) -> bool {
        self.name.ends_with(ending)
    }

    /// Whether the file begins with these words, behind empty lines.
    pub(crate) fn begins(&self, words: &str) -> bool {
        self.head.trim_ascii_start().starts_with(words.as_bytes())
    }

    /// Whether the file has several records, one per line.
    pub(crate) fn is_lines(&self) -> bool {
        self.is_lines
    }

    /// The only value of the file; of lines, the first.
    pub(crate) fn root(&self) -> &Value {
        self.records.first().unwrap_or(&Value::Null)
    }

    /// The first records, without the part of one that a damaged first line begins with.
    pub(crate) fn whole(&self) -> &[Value] {
        self.records.get(usize::from(self.is_torn)..).unwrap_or_default()
    }

    /// The first record that is whole.
    pub(crate) fn first_whole(&self) -> &Value {
        self.whole().first().unwrap_or(&Value::Null)
    }

    /// The first records.
    pub(crate) fn records(&self) -> &[Value] {
        &self.records
    }

    /// Whether any record fits.
    pub(crate) fn any(&self, fits: impl Fn(&Value) -> bool) -> bool {
        self.records.iter().any(fits)
    }

    /// The objects of a list: the value itself, or a member of it.
    pub(crate) fn list(&self, member: &str) -> &[Value] {
        let root = self.root();
        let list = root.as_array().or_else(|| root.get(member).and_then(Value::as_array));
        list.map_or(&[], Vec::as_slice)
    }

    pub(crate) fn is_database(&self) -> bool {
        self.head.starts_with(SQLITE)
    }

    /// Whether the file is compressed and its content cannot be read.
    pub(crate) fn is_packed(&self) -> bool {
        is_packed(self.head)
    }

    /// Whether the schema of a database has all these words: names of tables and columns.
    pub(crate) fn has_schema(&self, words: &[&str]) -> bool {
        if !self.is_database() {
            return false;
        }
        let text: Cow<'_, str> = String::from_utf8_lossy(self.head);
        words.iter().all(|word| text.contains(word))
    }
}

/// Bytes as text, without the NUL bytes that a crash may leave anywhere. Nearly all files are text as they are.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    };
    if text.contains('\0') { text.replace('\0', "").into() } else { text }
}

/// The complete records on a damaged first line and on the lines behind it; none if most of these lines are something else.
/// A name for lines tells enough about a file with two of them: the damaged one, and what a writer left of it behind it.
fn records_behind(text: &str, is_named_for_lines: bool) -> Vec<Value> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = records_on(lines.next().unwrap_or_default());
    let sketches: Vec<Sketch> = lines.take(RECORDS_MAX - 1).map(Sketch::of).collect();
    let count = sketches.len();
    let records: Vec<Value> = sketches
        .into_iter()
        .filter(|sketch| sketch.is_whole && sketch.value.is_object())
        .map(|sketch| sketch.value)
        .collect();
    let is_short = is_named_for_lines && count < 2 && !first.is_empty();
    if records.len() * 2 <= count && !is_short {
        return Vec::new();
    }
    first.into_iter().map(|record| Sketch::of(record).value).chain(records).collect()
}

/// Whether an object has all these members.
pub(crate) fn has(value: &Value, members: &[&str]) -> bool {
    members.iter().all(|member| value.get(member).is_some())
}

/// Whether a member of an object is one of these texts.
pub(crate) fn says(value: &Value, member: &str, words: &[&str]) -> bool {
    value.get(member).and_then(Value::as_str).is_some_and(|said| words.contains(&said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_from_one_value() {
        let read = |text: &str| {
            let sample = Sample::of("x", text.as_bytes());
            (sample.is_lines(), sample.records().len())
        };
        assert_eq!(read("{\"a\":1}\n"), (false, 1));
        assert_eq!(read("{\"a\":1}\n{\"a\":2}\n"), (true, 2));
        assert_eq!(read("{\n \"a\": [\n 1 ]\n}\n"), (false, 1));
        assert_eq!(read("{\"messages\":[{\"role\":\"user\"},\n{\"role\":\"user\"},\n{}]}\n"), (false, 1));
        assert_eq!(read("{\"messages\":[\n{\"role\":\"user\"}\n]}\n"), (false, 1));
        assert_eq!(read("data: {\"a\":1}\n"), (false, 0));
        assert_eq!(read(""), (false, 0));
    }

    #[test]
    fn records_are_found_behind_a_damaged_first_line() {
        let read = |text: &str| {
            let sample = Sample::of("x", text.as_bytes());
            (sample.is_lines(), sample.any(|record| has(record, &["b"])))
        };
        let records = "{\"b\":1}\n{\"b\":2}\n";
        for first in ["\0\0\0", "\0\0\n", "{\"a\":\"cut\n", "{\"a\":\n", "{\"a\":1,{\"c\":1}\n", "rest\"}\n"] {
            assert_eq!(read(&[first, records].concat()), (true, true), "{first}");
        }
        let first = |text: &str| Sample::of("x", [text, records].concat().as_bytes()).first_whole().clone();
        assert_eq!(first("{{\"c\":1}\n\"a\":1}\n"), serde_json::json!({"c": 1}));
        assert_eq!(first(""), serde_json::json!({"b": 1}));
        let spliced = Sample::of("x", b"{\"a\":\"c{\"a\":{\"b\":1},\"head\":1}\n{\"b\":1}\n");
        assert!(spliced.any(|record| has(record, &["head"])));
        assert_eq!(read("a log\nof lines\n{\"b\":1}\n"), (false, false));
    }

    #[test]
    fn the_name_tells_about_a_file_with_hardly_a_line() {
        for text in ["{\"a\":\"c{\"b\":1}\n", "{\"a\":\"c{\"b\":1}\nut\"}\n"] {
            let finds = |name: &str| Sample::of(name, text.as_bytes()).any(|record| has(record, &["b"]));
            assert_eq!((finds("s.jsonl"), finds("s.json")), (true, false), "{text}");
        }
    }

    #[test]
    fn a_file_in_utf_16_has_no_records() {
        let bytes: Vec<u8> = "\u{feff}{\"a\":1}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(Sample::of("x", &bytes).records().is_empty());
    }

    #[test]
    fn the_name_has_no_folders() {
        assert!(Sample::of("/a/b/API_Conversation_History.json", b"[]").is_named(&["api_conversation_history.json"]));
        assert!(Sample::of(r"C:\x\y.traj", b"{}").ends_with(".traj"));
    }
}
