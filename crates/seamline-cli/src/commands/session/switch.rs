//! `seamline session switch`

use clap::Args;
use seamline::store::SessionId;

use super::done;
use super::place::{Place, WriterArgs};
use crate::exit::Exit;
use crate::failure::Failure;

/// Switch a session to another provider
///
/// New messages are of the dialect of that provider, and requests are for it. Messages that are kept stay as they are,
/// byte for byte; each request writes them for the provider. Calls may be open.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Switch {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The provider or dialect to switch to
    #[arg(long, value_name = "NAME")]
    provider: String,
    #[command(flatten)]
    writer: WriterArgs,
}

const EXAMPLES: &str = "\
Examples:
  seamline session switch s-1 --provider openai
  seamline session request s-1";

impl Switch {
    pub(super) fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let dialect = place.write(&self.name, self.writer.options(), |session| {
            place.wait(session.switch_provider(&self.provider))?;
            Ok(session.dialect())
        })?;
        Ok(done(&format!("{}: new messages and requests are of {dialect}", self.name)))
    }
}
