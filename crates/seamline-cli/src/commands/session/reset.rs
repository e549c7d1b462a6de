//! `seamline session reset`

use clap::Args;
use seamline::session::ResetOptions;
use seamline::store::SessionId;

use super::done;
use super::place::{Place, WriterArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::screen;

/// Start a session over
///
/// Keeps only system messages; checkpoints and open cycles are removed. It is the last resort for a conversation that cannot
/// be repaired. The old messages stay in the log, where `show --records` lists them, and with `--archive` in a session of
/// their own. On a terminal it asks first; otherwise it requires `--yes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Reset {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// Keep the old messages as a separate session
    #[arg(long)]
    archive: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    writer: WriterArgs,
}

const EXAMPLES: &str = "\
Examples:
  seamline session reset s-1 --archive --yes
  seamline session show s-1.archive-1";

impl Reset {
    pub(super) fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let name = &self.name;
        if !self.yes && !self.is_wanted(place)? {
            return Err(Failure::new(format!("session `{name}` was left as it is")));
        }
        let (before, result) = place.write(name, self.writer.options(), |session| {
            place.refuse_calls(&session.unresolved(), "its archive would have nothing of it")?;
            let before = session.entries().len();
            Ok((before, place.wait(session.reset(ResetOptions { archive: self.archive }))?))
        })?;
        let left = screen::count(result.remaining_messages, "message");
        let what = if let Some(archive) = result.archive {
            format!("{} kept as session {archive}, {left} left", screen::count(before, "message"))
        } else {
            let gone = screen::count(before.saturating_sub(result.remaining_messages), "message");
            format!("{gone} taken out, {left} left; {} still lists them", place.command("show --records"))
        };
        Ok(done(&format!("{name}: started over; {what}")))
    }

    /// Asks the user at the terminal; without a terminal it refuses.
    fn is_wanted(&self, place: &Place) -> Result<bool, Failure> {
        let name = &self.name;
        let messages = screen::count(place.read(name)?.state().view.len(), "message");
        let into = if self.archive { "into a session of their own" } else { "out of what is to be seen" };
        let what = format!("take the {messages} of session `{name}` {into}");
        if let Some(is_wanted) = output::ask(&format!("This will {what}; only those of the system stay. Go on?")) {
            return Ok(is_wanted);
        }
        let archive = if self.archive { "" } else { "; `--archive` keeps them as a session of their own" };
        Err(Failure::new(format!("this would {what}; only those of the system would stay"))
            .with_hint(format!("`--yes` does it{archive}")))
    }
}
