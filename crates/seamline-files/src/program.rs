//! A program whose files are recognised.

use std::fmt;

use crate::bodies::Bodies;
use crate::place::SessionFolder;
use crate::programs::cline;
use crate::sample::Sample;
use crate::session::{FileLayout, Format};

/// A program that keeps conversations in files of its own.
pub struct Program {
    /// The name of the program or of the format, such as `Claude Code`.
    pub name: &'static str,
    /// The kind of the file with its article, such as `a session log of Claude Code`.
    pub what: &'static str,
    /// Where the program keeps its sessions.
    pub places: &'static [SessionFolder],
    /// A shell command that writes a request body with the messages of `FILE`, if there is one.
    pub extract: Option<&'static str>,
    /// The advice for users where no command helps.
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

    /// A program whose sessions are read. Nothing tells where it keeps them.
    pub(crate) const fn of_sessions(
        name: &'static str,
        what: &'static str,
        detect: fn(&Sample<'_>) -> bool,
        session: &'static Format,
    ) -> Self {
        Self { session: Some(session), ..Self::recognised(name, what, detect) }
    }

    /// A program that writes files of many request bodies.
    pub(crate) const fn of_bodies(
        name: &'static str,
        what: &'static str,
        detect: fn(&Sample<'_>) -> bool,
        bodies: &'static Bodies,
    ) -> Self {
        Self { bodies: Some(bodies), ..Self::recognised(name, what, detect) }
    }

    /// A program whose files are only recognised.
    pub(crate) const fn recognised(name: &'static str, what: &'static str, detect: fn(&Sample<'_>) -> bool) -> Self {
        let advice = Self::GIVE_BODY;
        Self { name, what, places: &[], extract: None, advice, detect, session: None, bodies: None }
    }

    /// Whether the conversations of its files are checked.
    pub fn is_read(&self) -> bool {
        self.session.is_some() || self.bodies.is_some()
    }

    /// Whether broken conversations are repaired in its files.
    pub fn is_written(&self) -> bool {
        self.session.is_some_and(Format::is_writable) || self.bodies.is_some_and(|bodies| bodies.is_writable)
    }

    /// Whether its files have one record per line.
    pub fn has_lines(&self) -> bool {
        let has_lines = |format: &Format| format.document == FileLayout::Lines;
        self.session.is_some_and(has_lines) || self.bodies.is_some_and(|bodies| !bodies.is_document())
    }

    /// Why a broken session of a program without a writer stays as it is, and what to do about it if that is known.
    pub fn refusal(&self) -> &'static str {
        match self.advice {
            Self::GIVE_BODY => "Seamline reads the sessions of this program and does not write them",
            advice => advice,
        }
    }
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
