//! `seamline session reset`

use clap::Args;
use seamline::session::ResetOptions;
use seamline::store::SessionId;

use super::done;
use super::place::{Place, WriterArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen;

/// Start a session over
///
/// Only messages of the system stay; checkpoints and open cycles go. The last resort, for a conversation that cannot be
/// put right. What was there stays in the log, and with `--archive` as a session of its own.
#[derive(Debug, Args)]
pub(super) struct Reset {
    /// The session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// Keep the messages as a session of their own
    #[arg(long)]
    archive: bool,
    #[command(flatten)]
    writer: WriterArgs,
}

impl Reset {
    pub(super) fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let archive = self.archive;
        let result = place.write(&self.name, self.writer.options(), |session| {
            if archive {
                self.archive_name(place, session.state().generation + 1)?;
            }
            place.wait(session.reset(ResetOptions { archive }))
        })?;
        let kept = screen::count(result.remaining_messages, "message");
        let archived = result.archive.map(|archive| format!("; what was there is session {archive}"));
        Ok(done(&format!("{}: started over; {kept} left{}", self.name, archived.unwrap_or_default())))
    }

    /// Whether there is a name for what is to be kept: it is the session's own, and more.
    fn archive_name(&self, place: &Place, number: u32) -> Result<(), Failure> {
        let name = format!("{}.archive-{number}", self.name);
        if name.parse::<SessionId>().is_ok() {
            return Ok(());
        }
        Err(Failure::new(format!("the name is too long: `{name}` cannot name a session"))
            .with_hint(format!("keep the messages with {}, and start over without `--archive`", place.fork_command())))
    }
}
