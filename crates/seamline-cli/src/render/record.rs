//! The places of records that are not lines of a file.

use seamline::Finding;

use super::{Examined, Places};

/// The place of a record that is not a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// The file that holds it.
    pub(crate) file: String,
    /// The table and the key of a row; nothing for a record that is a file of its own.
    pub(crate) row: Option<String>,
}

impl Record {
    /// The place in a few words.
    pub(crate) fn short(&self) -> &str {
        let name = || self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file);
        self.row.as_deref().unwrap_or_else(name)
    }

    /// The place with the path of its file.
    pub(crate) fn whole(&self) -> String {
        match &self.row {
            Some(row) => format!("{}: {row}", self.file),
            None => self.file.clone(),
        }
    }
}

/// The record with a number, from 1.
pub(crate) fn record_at(records: &[Record], line: Option<usize>) -> Option<&Record> {
    records.get(line?.checked_sub(1)?)
}

impl Examined<'_> {
    /// The file that a finding is in.
    pub(crate) fn file_of(&self, finding: &Finding) -> &str {
        match self.places {
            Places::Records(records) => {
                record_at(records, finding.line).or(records.first()).map_or(self.label, |record| &record.file)
            }
            Places::Body | Places::Joined | Places::File => self.label,
        }
    }
}
