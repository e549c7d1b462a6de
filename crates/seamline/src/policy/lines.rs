//! Finds the lines of a policy file that an error is about.

use toml::de::DeTable;

use super::{PolicyError, PolicyErrorKind};

/// The names that lead to a line of a policy, from the outermost table to the key.
pub(super) type KeyPath = Vec<String>;

/// An error, and the path of the key that it is about.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) path: KeyPath,
    pub(super) kind: Box<PolicyErrorKind>,
    /// The path of the earlier key, where the key contradicts one.
    pub(super) earlier: Option<KeyPath>,
}

impl Wrong {
    pub(super) fn at(path: &[&str], kind: PolicyErrorKind) -> Self {
        Self { path: path.iter().map(|&name| name.to_owned()).collect(), kind: Box::new(kind), earlier: None }
    }

    /// The error of a policy that is not in a file.
    pub(super) fn into_error(self) -> PolicyError {
        PolicyError { line: None, kind: *self.kind }
    }

    /// The error of a policy that was read from this text.
    pub(super) fn in_text(self, text: &str) -> PolicyError {
        let Self { path, mut kind, earlier } = self;
        let mut line = line_of(text, &path);
        let before = earlier.and_then(|path| line_of(text, &path));
        if let PolicyErrorKind::Contradiction { one, one_line, other, .. } = &mut *kind {
            *one_line = before;
            // Sections are read in the order of the knobs, which may not be that of the file.
            if let (Some(first), Some(second)) = (*one_line, line)
                && first > second
            {
                std::mem::swap(one, other);
                (*one_line, line) = (Some(second), Some(first));
            }
        }
        PolicyError { line, kind: *kind }
    }
}

/// The number of the line with the last name of a path, counted from 1.
fn line_of(text: &str, path: &[String]) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = Some(document.get_ref());
    let mut start = None;
    for name in path {
        let (key, value) = table?.iter().find(|(key, _)| key.get_ref() == name)?;
        start = Some(key.span().start);
        table = value.get_ref().as_table();
    }
    Some(text.get(..start?)?.matches('\n').count() + 1)
}
