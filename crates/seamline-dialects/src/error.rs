//! The errors of reading a body.

use crate::by_name;
use crate::json::{Syntax, SyntaxKind};

/// The reason why a body could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not UTF-8.
    #[error("not UTF-8 at byte {offset} ({position})")]
    NotUtf8 {
        /// The offset of the first such byte.
        offset: usize,
        /// Its line and column.
        position: Position,
    },
    /// The text is not JSON.
    #[error("not JSON at {position} (byte {}): {}", syntax.offset, syntax.kind)]
    NotJson {
        /// The syntax error.
        syntax: Syntax,
        /// Its line and column.
        position: Position,
    },
    /// The JSON is not a conversation in this dialect.
    #[error("not a request body (read as {dialect}): {found}")]
    Envelope {
        /// The dialect that was asked for or detected.
        dialect: &'static str,
        /// A description of what was found instead.
        found: String,
    },
    /// The body has signs of several dialects, and none prevails.
    #[error(
        "this body looks like {} and like {}: {} against {}",
        dialects[0], dialects[1], evidence[0], evidence[1]
    )]
    Split {
        /// The two dialects with the most signs, that with more of them first.
        dialects: [&'static str; 2],
        /// The signs of each in words.
        evidence: [String; 2],
    },
    /// The body is written for Ollama's own interface.
    #[error("this body is written for `/api/chat` of Ollama, whose calls and results have no ids; it is left as it is")]
    OllamaNative,
    /// The body has more parts than a body of its size may have.
    #[error("{parts} parts or more in {bytes} bytes are too many for a request body")]
    TooManyParts {
        /// The number of parts that were read.
        parts: usize,
        /// The number of bytes.
        bytes: usize,
    },
    /// The list has entries, but none of them is a message.
    #[error("not a request body (read as {dialect}): nothing in the list is a message")]
    NoMessage {
        /// The dialect that was asked for or detected.
        dialect: &'static str,
        /// Whether the entries hold messages inside, as session logs do.
        is_log: bool,
    },
}

impl Error {
    /// Says what to do about it, if there is one thing to do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotUtf8 { .. } => Some(NOT_UTF8),
            Self::NotJson { syntax, .. } => match syntax.kind {
                SyntaxKind::Empty => Some("give a request body, such as an object with a `messages` list"),
                SyntaxKind::Unfinished => Some("the body seems to be cut off; take it from a log that has all of it"),
                SyntaxKind::ControlInString(_) => Some("escape control characters in strings, a line break as `\\n`"),
                SyntaxKind::Trailing => {
                    Some("give one body per file; lines that are one message each become a body with `jq -s . FILE`")
                }
                SyntaxKind::TooManyValues | SyntaxKind::TooManyBytes => {
                    Some("providers refuse bodies over 32 MB; split the conversation first")
                }
                SyntaxKind::Unexpected(_) if syntax.offset == 0 => Some(BODY_ALONE),
                SyntaxKind::Unexpected(char) => Some(unexpected(char)),
                SyntaxKind::Escape => Some("write a backslash in a string as `\\\\`"),
                SyntaxKind::Number => Some(NUMBER),
                SyntaxKind::NotUtf8 => Some(NOT_UTF8),
            },
            Self::NoMessage { is_log: true, .. } => {
                Some("this looks like a session log; give the messages inside its entries as a list")
            }
            Self::NoMessage { .. } => Some("give a list of messages: objects with a `role` and content"),
            Self::TooManyParts { .. } => Some(TOO_MANY_PARTS),
            Self::OllamaNative => {
                Some("send it as Chat Completions to `/v1/chat/completions`, which Ollama serves as well")
            }
            Self::Split { .. } => Some("name the dialect that it is written in; without it nothing is changed"),
            Self::Envelope { dialect, .. } => by_name(dialect).map(|dialect| dialect.form.hint),
        }
    }
}

const NOT_UTF8: &str = "save the body as UTF-8; `iconv -c -t UTF-8` drops what cannot be read";
const TOO_MANY_PARTS: &str = "look for a list that repeats tiny or empty entries; no provider accepts as many";
const NUMBER: &str = "write `0.5`, not `.5`, `5.` or `+5`, and no leading zero";
const BODY_ALONE: &str = "give the request body alone, without log lines, headers or code around it";

/// The usual cause of a character that JSON does not allow at its place.
fn unexpected(char: char) -> &'static str {
    match char {
        'T' | 'F' | 'N' | 'u' => "write `true`, `false` and `null`; Python's `json.dumps` writes a dict as JSON",
        '\'' | 'A'..='Z' | 'a'..='z' | '_' => {
            "quote strings and keys with `\"`; Python's `json.dumps` writes a dict as JSON"
        }
        '0'..='9' | '.' | '+' | '-' => NUMBER,
        '/' | '#' => "take comments out; JSON has none",
        '}' | ']' => "look right before it for a comma too many or a value that is missing",
        '"' | '{' | '[' => "look right before it for a comma or colon that is missing",
        _ => BODY_ALONE,
    }
}

/// A line and a column of a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, in bytes from 1.
    pub column: usize,
}

impl Position {
    /// Finds the line and column of a byte.
    pub fn of(bytes: &[u8], offset: usize) -> Self {
        let before = &bytes[..offset.min(bytes.len())];
        let line = before.split(|&byte| byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        Self { line, column }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}
