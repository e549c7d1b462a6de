//! `seamline session new`

use std::path::PathBuf;

use clap::Args;
use seamline::Error;
use seamline::session::{Clock as _, Session, SessionOptions, SystemClock};
use seamline::store::SessionId;

use super::context::StoreContext;
use super::name;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::screen;

/// Create a session, and print its name
///
/// Creates the store if it is missing. A name has 1 to 128 letters, digits, `.`, `_`, `-` or `:`; without a name the
/// session gets a UUID that sorts by time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct New {
    /// The name of the session
    #[arg(value_name = "NAME")]
    name: Option<SessionId>,
    /// The dialect of its messages [default: the provider's dialect, else `anthropic_messages`]
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<String>,
    /// The provider that gets the messages
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// A title for lists
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The policy that the session stores: a preset or a TOML file (see `seamline policies`)
    #[arg(long, value_name = "NAME|FILE", default_value = "lossless")]
    policy: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  seamline session new fix-1 --provider anthropic --title 'fix the build'
  seamline session new fix-2 --policy clawos
  name=$(seamline session new --provider openai)";

impl New {
    pub(super) fn run(&self, store: Option<&str>) -> Result<Exit, Failure> {
        let title = self.title.as_deref().map(|title| screen::printable(title).into_owned());
        let policy = args::policy(&self.policy)?;
        let options = SessionOptions { provider: self.provider.clone(), title, policy, ..self.options()? };
        let made_up = || name::made_up(SystemClock.now()).ok_or_else(|| Failure::new("the system gave no random name"));
        let name = self.name.clone().map_or_else(made_up, Ok)?;
        let context = StoreContext::make(store)?;
        let session = context.wait(Session::create(context.store.clone(), name.clone(), options))?;
        StoreContext::close(session);
        let mut output = Output::new();
        output.text(&format!("{name}\n"));
        Ok(output.finish(Exit::Clean))
    }

    /// The dialect that the options select.
    fn options(&self) -> Result<SessionOptions, Failure> {
        let default = SessionOptions::default();
        let dialects = seamline::providers::dialect_names();
        let asked = match &self.dialect {
            Some(name) => {
                Some(dialects.iter().find(|known| *known == name).ok_or_else(|| Error::UnknownDialect(name.clone()))?)
            }
            None => None,
        };
        if let Some(name) = &self.provider {
            seamline::providers::by_name(name).ok_or_else(|| Error::UnknownProvider(name.clone()))?;
        }
        Ok(SessionOptions { dialect: asked.map(|asked| (*asked).to_owned()), ..default })
    }
}
