//! `seamline session fork`

use clap::Args;
use seamline::store::SessionId;

use super::context::{StoreContext, exit_of};
use super::report_success;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen;

/// Make a session with the messages of another
///
/// The new session is independent and records which session it comes from. The old session does not change, and the
/// process that writes it is not disturbed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Fork {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The name of the new session
    #[arg(value_name = "NEW")]
    new: SessionId,
}

const EXAMPLES: &str = "\
Examples:
  seamline session fork s-1 s-1-other-way
  seamline session show s-1-other-way";

impl Fork {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let session = context.read_aloud(&self.name)?;
        context.warn_of_calls(&session.unresolved());
        let fork = context.wait(session.fork(self.new.clone()))?;
        let count = fork.entries().len();
        StoreContext::close(fork);
        let done = report_success(&format!("{}: {} of {}", self.new, screen::count(count, "message"), self.name));
        // The fork has only the messages that are still readable, and its own log shows no damage.
        Ok(if done == Exit::Clean { exit_of(session.health()) } else { done })
    }
}
