//! `seamline session tail`

use std::time::Duration;

use clap::Args;
use seamline::session::Follower;
use seamline::store::SessionId;

use super::context::{StoreContext, exit_of};
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::session;
use crate::render::style;
use crate::screen;

/// How often the store is asked for new messages.
const PAUSE: Duration = Duration::from_millis(300);

/// Print the last messages of a session, and new ones as they arrive
///
/// It only reads and does not disturb the process that writes the session. With `--follow` it continues until it is
/// interrupted.
///
/// As JSON: one object per line, each with `version`, `session`, `index`, `role`, `origin` (`said`, `synthetic` or
/// `summary`), `seq` (the record that added it), `bytes` and `message`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Tail {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// Continue, and print new messages as they arrive
    #[arg(long, short)]
    follow: bool,
    /// How many of the last messages to print first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    lines: usize,
    /// The format of messages; JSON is one object per line
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline session tail s-1 --follow
  seamline session tail s-1 -n 1 --format json";

impl Tail {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let mut session = context.read_aloud(&self.name)?;
        let mut output = Output::new();
        let count = session.state().view.len();
        self.print(context, &session, count.saturating_sub(self.lines), &mut output)?;
        let mut seen = session.state().view.hashes();
        while self.follow && !output.is_gone() {
            std::thread::sleep(PAUSE);
            if !context.wait(session.refresh())? {
                continue;
            }
            let now = session.state().view.hashes();
            let same = seen.iter().zip(&now).take_while(|(one, other)| one == other).count();
            let gone = seen.len() - same;
            if gone > 0 && self.format == ListFormat::Text {
                let gone = screen::count(gone, "message");
                output.text(&format!("{}\n", style::FAINT.paint(&format!("⋮ {gone} undone or replaced"))));
            }
            self.print(context, &session, same, &mut output)?;
            seen = now;
        }
        Ok(output.finish(exit_of(session.health())))
    }

    fn print(
        &self,
        context: &StoreContext,
        session: &Follower,
        from: usize,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let count = session.state().view.len();
        if from == count {
            return Ok(());
        }
        let messages = super::show::messages(context, session, from..count)?;
        match self.format {
            ListFormat::Text => output.text(&session::messages(&messages, screen::width())),
            ListFormat::Json => output.text(&session::message_lines(&self.name, &messages)),
        }
        Ok(())
    }
}
