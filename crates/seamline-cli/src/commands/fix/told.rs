//! The report of the repair of a session.

use seamline::Options;

use super::{Fix, Fixed};
use crate::args::Format;
use crate::failure::Failure;
use crate::render::file::FileOutcome;
use crate::render::repair::{self, Destination, Outcome};
use crate::render::{Counts, Examined, Places, github, json, sarif};

/// The repair of a session, in a file of its own or in a store.
pub(super) struct SessionFix<'r> {
    /// The name of the session in output.
    pub(super) label: &'r str,
    /// The path of the file or the store.
    pub(super) path: &'r str,
    pub(super) outcome: &'r FileOutcome<'r>,
    pub(super) places: Places<'r>,
}

impl Fix {
    /// Tells about a repair in the requested format.
    pub(super) fn tell_session(
        &self,
        session: &SessionFix<'_>,
        destination: &Destination<'_>,
        options: &Options,
    ) -> Result<Fixed, Failure> {
        let SessionFix { label, path, outcome, places } = *session;
        let repaired = outcome.repaired;
        let options = &Options { dialect: Some(repaired.dialect.to_owned()), kept: true, ..options.clone() };
        let examined =
            Examined { label, body: repaired.after.as_bytes(), options, findings: &repaired.remaining, places };
        let text = match self.format {
            Format::Text => {
                repair::document(&examined, repaired.before.as_bytes(), &Outcome::of_file(outcome), destination)?
            }
            Format::Json => json::repaired_file(path, outcome),
            Format::Sarif => sarif::document(&examined),
            Format::Github => github::document(&examined),
        };
        Ok(Fixed {
            text,
            report: self.report.is_some().then(|| json::repaired_file(path, outcome)),
            body: None,
            changed: repaired.is_changed(),
            is_session: true,
            has_findings: !repaired.remaining.is_empty(),
            is_rejected: false,
            remaining: Counts::of(&repaired.remaining),
        })
    }
}
