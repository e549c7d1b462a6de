//! The repair of session files of other programs.

use seamline::Options;

use super::told::SessionFix;
use super::{Fix, Fixed, about};
use crate::failure::Failure;
use crate::files::times::Times;
use crate::files::undo::{self, Force, SessionRepair};
use crate::files::{replace, replace_session};
use crate::input::Source;
use crate::render::Places;
use crate::render::file::FileOutcome;
use crate::render::repair::Destination;

impl Fix {
    /// Repairs a session file; `times` are those that it had before it was read.
    pub(super) fn repair_session(
        &self,
        source: &Source,
        before: &[u8],
        times: Option<Times>,
        options: &Options,
    ) -> Result<Fixed, Failure> {
        let label = &source.label();
        let unread = || Failure::new("the session could not be read");
        let repaired = seamline::files::repair(&source.name(), before, options)?.ok_or_else(unread)?;
        let destination = self.destination(source);
        let mut outcome = FileOutcome::of(&repaired, before, label);
        let mut body = None;
        match destination {
            Destination::Nowhere | Destination::Session(_) => {}
            Destination::Stdout => body = Some(repaired.bytes.to_vec()),
            Destination::File(path) => {
                replace::write(path, &[&repaired.bytes], source.path()).map_err(|failure| about(path, failure))?;
            }
            Destination::InPlace(path) if !repaired.is_changed() => replace_session::remove_leftovers(path),
            Destination::InPlace(path) => {
                let force = if self.force { Force::Yes } else { Force::No };
                let repair = SessionRepair::of(before, &repaired, times, force);
                outcome.quarantine = undo::repair_session(path, &repair)?;
            }
        }
        let told = SessionFix { label, path: label, outcome: &outcome, places: Places::File };
        Ok(Fixed { body, ..self.tell_session(&told, &destination, options)? })
    }
}
