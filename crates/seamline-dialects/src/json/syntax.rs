//! Syntax errors of JSON.

use super::scan::{BYTES_MAX, NODES_MAX};

/// A syntax error: the reason why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// The offset at which reading stopped.
    pub offset: usize,
    /// The kind of error.
    pub kind: SyntaxKind,
}

/// The ways a text can fail to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxKind {
    /// The text is empty.
    Empty,
    /// The text ends inside a value.
    Unfinished,
    /// A character that JSON does not allow here.
    Unexpected(char),
    /// A control character inside a string.
    ControlInString(u8),
    /// An escape that JSON does not have.
    Escape,
    /// A number that JSON does not have.
    Number,
    /// More text after the value.
    Trailing,
    /// More than [`NODES_MAX`] values.
    TooManyValues,
    /// More than [`BYTES_MAX`] bytes.
    TooManyBytes,
    /// Bytes that are not UTF-8.
    NotUtf8,
}

impl std::fmt::Display for SyntaxKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no value"),
            Self::Unfinished => f.write_str("the text ends inside a value"),
            Self::Unexpected(char) => write!(f, "unexpected {char:?}"),
            Self::ControlInString(byte) => {
                write!(f, "control character 0x{byte:02x} inside a string")
            }
            Self::Escape => f.write_str("unknown escape in a string"),
            Self::Number => f.write_str("malformed number"),
            Self::Trailing => f.write_str("more text after the value"),
            Self::TooManyValues => write!(f, "more than {NODES_MAX} values"),
            Self::TooManyBytes => write!(f, "more than {BYTES_MAX} bytes"),
            Self::NotUtf8 => f.write_str("the bytes are not UTF-8"),
        }
    }
}
