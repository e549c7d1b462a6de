//! The complaint of a check.

use std::fmt;

/// One violation in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    path: String,
    line: Option<usize>,
    message: String,
    weight: Weight,
}

/// Whether a complaint fails the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The check fails.
    Error,
    /// The check prints it and passes.
    Warning,
}

impl Complaint {
    /// An error about a whole file or folder.
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into(), weight: Weight::Error }
    }

    /// An error about one line; the first line is 1.
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(path, message) }
    }

    /// Turns the complaint into a warning.
    pub(crate) fn into_warning(self) -> Self {
        Self { weight: Weight::Warning, ..self }
    }

    /// Whether it fails the check.
    pub(crate) fn weight(&self) -> Weight {
        self.weight
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = match self.weight {
            Weight::Error => "error",
            Weight::Warning => "warning",
        };
        match self.line {
            Some(line) => write!(f, "{weight}: {}:{line}: {}", self.path, self.message),
            None => write!(f, "{weight}: {}: {}", self.path, self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_shows_its_place_and_its_message() {
        let complaint = Complaint::at("a.rs", 3, "too long");
        assert_eq!(complaint.to_string(), "error: a.rs:3: too long");
        let warning = Complaint::new("b.rs", "rather long").into_warning();
        assert_eq!(warning.to_string(), "warning: b.rs: rather long");
    }
}
