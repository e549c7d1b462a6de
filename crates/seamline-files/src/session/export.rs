//! Writes a conversation as a new session of a program.

use std::fmt;

use super::{About, uuid, uuid_of};
use crate::Program;

/// A conversation that is to be written as a new session.
pub struct Export<'e> {
    /// The messages as JSON, in the dialect in which the program sends them.
    pub messages: &'e [&'e str],
    /// The description of the new session: its id, folder, model and title.
    pub about: &'e About,
    /// The time of the first record, in milliseconds since 1970. Each further record is one millisecond later.
    pub time_ms: i64,
}

impl Export<'_> {
    /// The id of the new session.
    pub(crate) fn id(&self) -> &str {
        self.about.id.as_deref().unwrap_or_default()
    }

    /// The folder that the program is to work in.
    pub(crate) fn folder(&self) -> &str {
        self.about.folder.as_deref().unwrap_or(".")
    }

    /// A hash that only one part of the session has.
    pub(crate) fn hash(&self, kind: &str, index: usize) -> String {
        let seed = [self.id(), kind, &index.to_string()].join("\0");
        blake3::hash(seed.as_bytes()).to_hex().to_string()
    }

    /// The id of a record, for programs that use UUIDs.
    pub(crate) fn record_id(&self, index: usize) -> String {
        uuid(&self.hash("record", index))
    }

    /// The time of a record.
    pub(crate) fn time(&self, index: usize) -> String {
        super::time::text(self.time_ms.saturating_add(i64::try_from(index).unwrap_or(i64::MAX)))
    }
}

/// How a program's sessions are written from a conversation.
pub struct Exporter {
    /// The name of the program for commands, such as `claude-code`.
    pub name: &'static str,
    /// The program that reads the session.
    pub program: &'static Program,
    /// The provider and the dialect in which the messages have to be.
    pub side: &'static str,
    /// Writes the session; nothing if a message has a form that its records cannot hold.
    pub(crate) write: fn(&Export<'_>) -> Option<NewSession>,
}

/// A new session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The text of the file.
    pub text: String,
    /// The path of the file, with `/` between folders, below the first of the program's [places](Program::places), or
    /// below the folder of the project there.
    pub path: String,
    /// The name that the folder of the project gets, for a program that names it in a
    /// [file](super::Format::folder_file) of that folder.
    pub project: Option<String>,
}

impl Exporter {
    /// Writes a conversation as a new session; nothing if a message has a form that the program's records cannot hold.
    pub fn write(&self, export: &Export<'_>) -> Option<NewSession> {
        (self.write)(export)
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exporter").field(&self.name).finish()
    }
}

/// The id of a new session, which is made from what it holds.
pub fn session_id(program: &str, content: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(program.as_bytes()).update(&[0]).update(content);
    // Qwen Code takes only UUIDs of the versions 1 to 5 as ids of sessions.
    uuid_of(4, &hasher.finalize().to_hex())
}

/// Every non-alphanumeric character of a path becomes `-`, as in the names of folders of Claude Code and Qwen Code.
pub(crate) fn dashed(path: &str) -> String {
    path.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect()
}
