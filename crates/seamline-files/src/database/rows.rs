//! The rows of one session, as lines.

use std::io::{self, BufRead, Read};

use rusqlite::Connection;

use super::error::DatabaseError;
use super::schema::{Listed, RowPlace, Schema};
use crate::lines::on_one_line;
use crate::session::{FileInput, Format, KeptTexts};

/// The rows of one session: their places, and each row as a record on one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The id of the session.
    pub session: String,
    /// The places of the rows, in the order of the program.
    pub places: Vec<RowPlace>,
    pub(super) texts: Vec<String>,
}

/// A row of a repaired session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    /// The index of the row that it was; nothing for a new one.
    pub origin: Option<usize>,
    /// The record as JSON.
    pub text: String,
}

impl Rows {
    pub(super) fn load(connection: &Connection, schema: &Schema, session: &str) -> Result<Self, DatabaseError> {
        let read = || {
            let listed = (schema.rows)(connection, session)?;
            let mut texts = Vec::with_capacity(listed.len());
            let mut places = Vec::with_capacity(listed.len());
            for row in listed {
                texts.push(text_of(connection, schema, &row)?);
                places.push(row.place);
            }
            Ok(Self { session: session.to_owned(), places, texts })
        };
        read().map_err(|error| DatabaseError::of_reading(&error))
    }

    /// The rows as the bytes of a file with one record per line.
    pub fn lines(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for text in &self.texts {
            lines.extend_from_slice(text.as_bytes());
            lines.push(b'\n');
        }
        lines
    }

    /// The rows after a repair that changed [`Self::lines`] into other bytes. `origins` has for each record of the new bytes
    /// the index of the record that it was. Rows without a record stay where they are.
    ///
    /// # Errors
    ///
    /// Fails when the bytes cannot be read as records.
    pub fn changed(&self, format: &Format, bytes: &[u8], origins: &[Option<usize>]) -> io::Result<Vec<NewRow>> {
        let read = |mut bytes: &[u8]| {
            let reading =
                format.read(&mut FileInput { bytes: &mut bytes, name: &self.session, content: KeptTexts::Whole })?;
            Ok::<_, io::Error>(reading.records)
        };
        // Each row is one line.
        let rows: Vec<usize> = read(&self.lines())?.iter().map(|place| place.line - 1).collect();
        let mut new: Vec<NewRow> = Vec::new();
        for (place, origin) in read(bytes)?.iter().zip(origins) {
            let text = &bytes[place.span.start as usize..place.span.end as usize];
            let origin = origin.and_then(|record| rows.get(record)).copied();
            new.push(NewRow { origin, text: String::from_utf8_lossy(text).into_owned() });
        }
        for row in (0..self.texts.len()).filter(|row| rows.binary_search(row).is_err()) {
            let at = new.iter().position(|new| new.origin > Some(row)).unwrap_or(new.len());
            new.insert(at, NewRow { origin: Some(row), text: self.texts[row].clone() });
        }
        Ok(new)
    }
}

fn text_of(connection: &Connection, schema: &Schema, row: &Listed) -> rusqlite::Result<String> {
    let text = match &row.text {
        Some(text) => text.clone(),
        None => (schema.text)(connection, &row.place)?,
    };
    Ok(on_one_line(text))
}

/// Reads rows as lines, one at a time.
pub(super) struct RowLines<'r> {
    connection: &'r Connection,
    schema: &'r Schema,
    rows: std::slice::Iter<'r, Listed>,
    line: Vec<u8>,
    at: usize,
}

impl<'r> RowLines<'r> {
    pub(super) fn new(connection: &'r Connection, schema: &'r Schema, rows: &'r [Listed]) -> Self {
        Self { connection, schema, rows: rows.iter(), line: Vec::new(), at: 0 }
    }
}

impl BufRead for RowLines<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.line.len()
            && let Some(row) = self.rows.next()
        {
            let text = text_of(self.connection, self.schema, row).map_err(io::Error::other)?;
            self.line = text.into_bytes();
            self.line.push(b'\n');
            self.at = 0;
        }
        Ok(&self.line[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

impl Read for RowLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
