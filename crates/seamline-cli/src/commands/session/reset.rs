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
    name: SessionId,
    /// Keep the messages as a session of their own
    #[arg(long)]
    archive: bool,
    #[command(flatten)]
    writer: WriterArgs,
}

impl Reset {
    pub(super) fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let archive = self.archive;
        let result = place
            .write(&self.name, self.writer.options(), |session| place.wait(session.reset(ResetOptions { archive })))?;
        let kept = screen::count(result.remaining_messages, "message");
        let archived = result.archive.map(|archive| format!("; what was there is session {archive}"));
        Ok(done(&format!("{}: started over; {kept} left{}", self.name, archived.unwrap_or_default())))
    }
}
