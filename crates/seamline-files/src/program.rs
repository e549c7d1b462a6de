//! A program whose files are recognised.

use std::fmt;

use crate::bodies::Bodies;
use crate::place::SessionFolder;
use crate::programs::cline;
use crate::sample::Sample;
use crate::session::Format;

/// A program that keeps conversations in files of its own.
pub struct Program {
    /// The name of the program or of the format, such as `Claude Code`.
    pub name: &'static str,
    /// What the file is, with its article, such as `a session log of Claude Code`.
    pub what: &'static str,
    /// Where the program keeps its sessions.
    pub places: &'static [SessionFolder],
    /// A shell command that writes a request body with the messages of `FILE`, if there is one.
    pub extract: Option<&'static str>,
    /// What to do where no command helps.
    pub advice: &'static str,
    /// Whether a sample is of a file of this program.
    pub(crate) detect: fn(&Sample<'_>) -> bool,
    /// How its sessions are read and written; nothing if its files are only recognised.
    pub session: Option<&'static Format>,
    /// Where the request bodies are in a file of many; nothing for other files.
    pub bodies: Option<&'static Bodies>,
}

impl Program {
    /// The advice for programs that show the body that they send.
    pub(crate) const GIVE_BODY: &str = "give the request body that the program sends to its provider";
}

impl Program {
    /// How to continue a session in a program that no command starts.
    ///
    /// ```
    /// let history = br#"[{"role":"user","content":[{"type":"text","text":"<task>go</task>"}],"ts":1}]"#;
    /// let program = seamline_files::recognise("api_conversation_history.json", history).unwrap();
    /// assert!(program.next_step().unwrap().contains("History"));
    /// ```
    pub fn next_step(&self) -> Option<&'static str> {
        (*self == cline::PROGRAM).then_some(cline::NEXT_STEP)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Program").field(&self.name).finish()
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.what) == (other.name, other.what)
    }
}

impl Eq for Program {}
