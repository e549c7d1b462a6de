//! What a check says.

use std::fmt;

/// One thing that is wrong with the tree.
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
    /// It does.
    Error,
    /// It is only said.
    Warning,
}

impl Complaint {
    /// About a whole file or folder.
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into(), weight: Weight::Error }
    }

    /// About one line, counted from 1.
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(path, message) }
    }

    /// The same, as a warning.
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
    fn a_complaint_says_where_and_what() {
        let complaint = Complaint::at("a.rs", 3, "too long");
        assert_eq!(complaint.to_string(), "error: a.rs:3: too long");
        let warning = Complaint::new("b.rs", "rather long").into_warning();
        assert_eq!(warning.to_string(), "warning: b.rs: rather long");
    }
}
