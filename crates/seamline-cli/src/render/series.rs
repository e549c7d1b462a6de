//! The text around and between the documents of a format.

use super::{github, json, sarif};
use crate::args::Format;
use crate::failure::Failure;

/// Documents one after the other in one format.
pub(crate) struct Series {
    format: Format,
    pieces: usize,
    failures: Vec<(String, Failure)>,
}

impl Series {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, pieces: 0, failures: Vec::new() }
    }

    /// The text before all documents.
    pub(crate) fn opening(&self) -> String {
        match self.format {
            Format::Json => json::OPENING.to_owned(),
            Format::Sarif => sarif::opening(),
            Format::Text | Format::Github => String::new(),
        }
    }

    /// A document, separated from the one before.
    pub(crate) fn next(&mut self, piece: String) -> String {
        if piece.is_empty() {
            return piece;
        }
        self.pieces += 1;
        match self.format {
            Format::Json | Format::Sarif if self.pieces > 1 => format!(",\n{piece}"),
            Format::Json | Format::Sarif | Format::Text | Format::Github => piece,
        }
    }

    /// A document that could not be read.
    pub(crate) fn next_failed(&mut self, label: &str, failure: Failure) -> String {
        match self.format {
            Format::Json => self.next(json::failed(label, &failure)),
            Format::Github => self.next(github::failed(label, &failure)),
            Format::Sarif => {
                self.failures.push((label.to_owned(), failure));
                String::new()
            }
            Format::Text => String::new(),
        }
    }

    /// The text after all documents.
    pub(crate) fn closing(&self) -> String {
        match self.format {
            Format::Json => json::CLOSING.to_owned(),
            Format::Sarif => sarif::closing(&self.failures),
            Format::Text | Format::Github => String::new(),
        }
    }
}
