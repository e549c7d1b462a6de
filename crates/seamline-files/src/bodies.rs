//! Files with many request bodies: one in each record.

use std::borrow::Cow;
use std::io::BufRead;
use std::ops::Range;

use crate::json::offset;
use crate::lines::{self, Lines, RecordPlace};

/// How a file with many request bodies is read.
pub struct Bodies {
    /// Finds the records of a file that is one JSON value; nothing for files with one record per line.
    pub(crate) document: Option<FindRecords>,
    /// Finds the body in a record; nothing if the record holds none.
    pub(crate) find: fn(record: &str) -> Option<HeldBody<'_>>,
    /// The provider that the bodies are for, if there is only one.
    pub provider: Option<&'static str>,
    /// Whether a repaired body can be written into its record.
    pub is_writable: bool,
}

/// Finds the records in a JSON value; nothing if the value has another form.
pub(crate) type FindRecords = fn(&str) -> Option<Vec<&str>>;

impl Bodies {
    /// A file with one record per line, each of which can be written.
    pub(crate) const fn lines(find: fn(&str) -> Option<HeldBody<'_>>) -> Self {
        Self { document: None, find, provider: None, is_writable: true }
    }

    /// Finds the body in a record; nothing if the record holds none.
    pub fn find<'r>(&self, record: &'r str) -> Option<HeldBody<'r>> {
        (self.find)(record)
    }

    /// Whether the file is one JSON value, unless it cannot be read as one.
    pub fn is_document(&self) -> bool {
        self.document.is_some()
    }

    /// Reads a file and passes each record to `take`. If the file has one record per line, only one line is in
    /// memory at a time.
    ///
    /// # Errors
    ///
    /// Fails when the input cannot be read.
    pub fn read(&self, input: &mut dyn BufRead, take: &mut dyn FnMut(&str)) -> std::io::Result<Lines> {
        let Some(document) = self.document else { return each_line(input, take) };
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some(records) = document(text) else { return each_line(&mut &*bytes, take) };
        let start = bytes.len() - text.len();
        let mut found = Lines { bytes: bytes.len() as u64, ..Lines::default() };
        let (mut line, mut counted) = (1, 0);
        for record in records {
            let at = offset(text, record);
            line += text[counted..at].matches('\n').count();
            counted = at;
            let first = (start + at) as u64;
            found.records.push(RecordPlace { line, span: first..first + record.len() as u64 });
            take(record);
        }
        Ok(found)
    }
}

fn each_line(input: &mut dyn BufRead, take: &mut dyn FnMut(&str)) -> std::io::Result<Lines> {
    lines::read(input, &mut |text| {
        serde_json::from_str::<serde::de::IgnoredAny>(text)?;
        take(text);
        Ok(())
    })
}

/// A request body inside a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBody<'r> {
    /// The request body.
    pub text: Cow<'r, str>,
    /// The bytes of the record that hold it.
    pub span: Range<usize>,
    /// The JSON pointer of the body in the record.
    pub pointer: &'static str,
    /// The JSON pointers of the messages in the record, for a body that was made from another form.
    pub messages: Option<Vec<String>>,
}

impl<'r> HeldBody<'r> {
    /// A body that is the whole record.
    pub(crate) fn whole(record: &'r str) -> Self {
        Self { text: Cow::Borrowed(record), span: 0..record.len(), pointer: "", messages: None }
    }

    /// A body that is a member of the record.
    pub(crate) fn member(record: &'r str, value: &'r str, pointer: &'static str) -> Self {
        let start = offset(record, value);
        Self { text: Cow::Borrowed(value), span: start..start + value.len(), pointer, messages: None }
    }
}
