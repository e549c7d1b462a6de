//! `seamline session switch`

use clap::Args;
use seamline::store::SessionId;

use super::context::{StoreContext, WriterArgs};
use super::report_success;
use crate::exit::Exit;
use crate::failure::Failure;

/// Switch a session to another provider
///
/// New messages are in the dialect of that provider, and requests are made for it. Stored messages do not change; each
/// request converts them for the provider. Tool calls may be open.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Switch {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The provider or dialect to switch to, or both, such as `groq/openai_responses`
    #[arg(long, value_name = "NAME")]
    provider: String,
    #[command(flatten)]
    writer: WriterArgs,
}

const EXAMPLES: &str = "\
Examples:
  seamline session switch s-1 --provider openai
  seamline session switch s-1 --provider deepseek/openai_responses
  seamline session request s-1";

impl Switch {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let dialect = context.write(&self.name, self.writer.options(), |session| {
            context.wait(session.switch_provider(&self.provider))?;
            Ok(session.dialect())
        })?;
        Ok(report_success(&format!("{}: new messages and requests are of {dialect}", self.name)))
    }
}
