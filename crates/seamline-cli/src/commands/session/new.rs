//! `seamline session new`

use std::path::PathBuf;

use clap::Args;
use seamline::Error;
use seamline::session::{Clock as _, Session, SessionOptions, SystemClock};
use seamline::store::SessionId;

use super::name;
use super::place::Place;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::screen;

/// Make a session, and print its name
///
/// The store is made, too, if it is not there. A name has 1 to 128 letters, digits, `.`, `_`, `-` or `:`; without one
/// the session gets a UUID that sorts by time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct New {
    /// Its name
    #[arg(value_name = "NAME")]
    name: Option<SessionId>,
    /// The dialect of its messages; the one that the provider serves when not given, else `anthropic_messages`
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<String>,
    /// The provider they are meant for
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// What people call it
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The policy that the session stores: the name of a preset, or a TOML file (see `seamline policies`)
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
        let options = SessionOptions {
            provider: self.provider.clone(),
            title,
            policy: args::policy(&self.policy)?,
            ..self.options()?
        };
        let made_up = || name::made_up(SystemClock.now()).ok_or_else(|| Failure::new("no name could be made up"));
        let name = self.name.clone().map_or_else(made_up, Ok)?;
        let place = Place::make(store)?;
        let session = place.wait(Session::create(place.store.clone(), name.clone(), options))?;
        place.wait(session.close())?;
        let mut output = Output::new();
        output.text(&format!("{name}\n"));
        Ok(output.finish(Exit::Clean))
    }

    /// What dialect and provider say together.
    fn options(&self) -> Result<SessionOptions, Failure> {
        let default = SessionOptions::default();
        let dialects = seamline::dialect_names();
        let asked = match &self.dialect {
            Some(name) => {
                Some(dialects.iter().find(|known| *known == name).ok_or_else(|| Error::UnknownDialect(name.clone()))?)
            }
            None => None,
        };
        let Some(name) = &self.provider else {
            let dialect = asked.map_or(default.dialect.clone(), |asked| (*asked).to_owned());
            return Ok(SessionOptions { dialect, ..default });
        };
        let provider = seamline::providers::by_name(name).ok_or_else(|| Error::UnknownProvider(name.clone()))?;
        match asked {
            Some(asked) if *asked != provider.dialect => {
                Err(Error::WrongProvider { provider: provider.name, serves: provider.dialect, asked }.into())
            }
            _ => Ok(SessionOptions { dialect: provider.dialect.to_owned(), ..default }),
        }
    }
}
