//! `seamline session reset`

use clap::Args;
use seamline::session::ResetOptions;
use seamline::store::SessionId;

use super::context::{StoreContext, WriterArgs};
use super::report_success;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::screen;

/// Start a session over
///
/// Keeps only system messages; checkpoints and open cycles are removed. It is the last resort for a conversation that
/// cannot be repaired. The old messages stay in the log, where `show --records` lists them, and with `--archive` in a
/// separate session. On a terminal it asks first; otherwise it requires `--yes`.
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
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let name = &self.name;
        if !self.yes && !self.is_wanted(context)? {
            return Err(Failure::new(format!("session `{name}` was not changed")));
        }
        let (before, result) = context.write(name, self.writer.options(), |session| {
            context.refuse_calls(&session.unresolved(), "the archive would not contain it")?;
            let before = session.entries().len();
            Ok((before, context.wait(session.reset(ResetOptions { archive: self.archive }))?))
        })?;
        let left = screen::count(result.remaining_messages, "message");
        let what = if let Some(archive) = result.archive {
            format!("{} kept as session {archive}, {left} left", screen::count(before, "message"))
        } else {
            let gone = screen::count(before.saturating_sub(result.remaining_messages), "message");
            format!("{gone} hidden, {left} left; {} still lists them", context.command("show --records"))
        };
        Ok(report_success(&format!("{name}: started over; {what}")))
    }

    /// Asks the user at the terminal; without a terminal it refuses.
    fn is_wanted(&self, context: &StoreContext) -> Result<bool, Failure> {
        let name = &self.name;
        let messages = screen::count(context.read(name)?.state().view.len(), "message");
        let (verb, to) = if self.archive { ("move", " to a separate session") } else { ("hide", "") };
        let what = format!("{verb} the {messages} of session `{name}`{to}");
        if let Some(is_wanted) = output::ask(&format!("This will {what}; only system messages stay. Continue?")) {
            return Ok(is_wanted);
        }
        let archive = if self.archive { "" } else { "; `--archive` keeps them as a separate session" };
        Err(Failure::new(format!("this would {what}; only system messages would stay"))
            .with_hint(format!("`--yes` does it{archive}")))
    }
}
