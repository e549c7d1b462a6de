//! `seamline session show`

use std::ops::Range;

use clap::Args;
use seamline::session::Follower;
use seamline::store::{SessionId, SessionInfo};

use super::context::{StoreContext, exit_of};
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::session::{self, Message, Overview, records};
use crate::screen;

/// How many of the last messages are shown by default.
const MESSAGES_MAX: usize = 10;

/// Show a session
///
/// Shows its messages with their roles, sizes and origins, its checkpoints, its open cycles, the last incidents, the process
/// that writes it and whether that process is still alive, and any damage. It changes nothing and does not disturb the
/// process that writes the session.
///
/// As JSON: `version`, `session`, `head`, `commits`, `bytes`, `holder` and `writer` as in `list`; the current `dialect` and
/// `provider`, and those before a switch as `switched_from`; `title`, `parent` (the session it comes from); `policy`, as it is
/// stored; `health` (`whole` or `degraded`) and `damages`; `resets`, the number of
/// messages in the `inbox` and of `quarantined` pieces; `messages`, each with `index`, `role`, `origin`, `seq`, `bytes` and
/// `message`; `calls` of open cycles as in `recover`; `checkpoints` and the last 1,000 `incidents` as in the commands of
/// these names. With `--messages`: `version`, `session` and `messages`. With `--records`: `version`, `session` and
/// `records`, each with `seq`, `at`, `commit` and `record`, or with `seq` and `damage`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Show {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// Show all messages, and nothing else
    #[arg(long)]
    messages: bool,
    /// Show the log: every record, including those that were undone
    #[arg(long, conflicts_with = "messages")]
    records: bool,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline session show s-1
  seamline session show s-1 --messages
  seamline session show s-1 --records --format json";

impl Show {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let mut output = Output::new();
        if self.records {
            // Each damaged record has its own line.
            output.text(&self.records(context)?);
            return Ok(output.finish(Exit::Clean));
        }
        let session = context.read(&self.name)?;
        output.text(&if self.messages {
            context.warn_of_damage(&self.name, session.health());
            self.all_messages(context, &session)?
        } else {
            self.overview(context, &session)?
        });
        Ok(output.finish(exit_of(session.health())))
    }

    fn records(&self, context: &StoreContext) -> Result<String, Failure> {
        let commits = context.commits(&self.name).map_err(|error| context.failure(&error))?;
        Ok(match self.format {
            ListFormat::Text => records::text(&commits, context.store.seal_key()),
            ListFormat::Json => records::json(&self.name, &commits, context.store.seal_key()),
        })
    }

    fn all_messages(&self, context: &StoreContext, session: &Follower) -> Result<String, Failure> {
        let messages = messages(context, session, 0..session.state().view.len())?;
        Ok(match self.format {
            ListFormat::Text if messages.is_empty() => "no messages\n".to_owned(),
            ListFormat::Text => session::messages(&messages, screen::width()),
            ListFormat::Json => session::message_list(&self.name, &messages),
        })
    }

    fn overview(&self, context: &StoreContext, session: &Follower) -> Result<String, Failure> {
        let info = self.info(context)?;
        let inbox = context.wait(context.store.count_inbox(&self.name))? as usize;
        let quarantined = context.wait(context.store.read_quarantine(&self.name))?.len();
        let count = session.state().view.len();
        let from = match self.format {
            ListFormat::Text => count.saturating_sub(MESSAGES_MAX),
            ListFormat::Json => 0,
        };
        let messages = messages(context, session, from..count)?;
        let calls = session.unresolved();
        let overview = Overview {
            state: session.state(),
            health: session.health(),
            info: &info,
            messages: &messages,
            calls: &calls,
            inbox,
            quarantined,
            incidents: &context.command("incidents"),
        };
        Ok(match self.format {
            ListFormat::Text => overview.text(),
            ListFormat::Json => overview.json(),
        })
    }

    /// The entry of the session in the list of the store.
    fn info(&self, context: &StoreContext) -> Result<SessionInfo, Failure> {
        let sessions = context.list_sessions().map_err(|error| context.failure(&error))?;
        let found = sessions.into_iter().find(|info| info.session == self.name);
        found.ok_or_else(|| Failure::new(format!("session `{}` was erased just now", self.name)))
    }
}

/// Some messages at a glance.
pub(super) fn messages<'s>(
    context: &StoreContext,
    session: &'s Follower,
    range: Range<usize>,
) -> Result<Vec<Message<'s>>, Failure> {
    let failed = |error| context.failure(&error);
    let outline = session.outline(range.clone()).map_err(failed)?;
    let entries = session.state().view.entries()[range.clone()].iter();
    let mut outline = outline.into_iter();
    Ok(range.zip(entries).map(|(index, entry)| Message { index, entry, outline: outline.next() }).collect())
}
