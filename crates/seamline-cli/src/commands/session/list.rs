//! `seamline session list`

use clap::Args;
use seamline::session::{Follower, SessionError};
use seamline::store::{Error, SessionId, SessionInfo};
use serde::Serialize;

use super::address::Address;
use super::context::{StoreContext, wait};
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::render::session::side::{Side, Sides};
use crate::render::session::writer;
use crate::render::{json, style, table};
use crate::{screen, time};

/// List the sessions of a store
///
/// One line per session: when it began, its size, its title, its provider, the process that writes it, and whether it is
/// degraded, so that messages may be missing.
///
/// As JSON: `version` and `sessions`, each with `session`, `head` (`epoch`, `seq`, `hash`), `commits`, `bytes`,
/// `holder` (the process that writes it, or `null`), `writer` (the state of that process: `alive`, `gone`, `unknown` or
/// `null`), `began` in milliseconds since 1970, the current `dialect` and `provider`, `switched_from` (the first `dialect` and
/// `provider` of a session that was switched, or `null`), `title` and `health` (`whole`,
/// `degraded`, or `locked` if it is sealed with a key that was not given).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct List {
    /// The format of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline session list
  seamline session list --format json | jq -r '.sessions[].session'";

/// A session of the list.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    info: SessionInfo,
    /// The state of the process that writes it.
    writer: Option<&'static str>,
    /// When it began, in milliseconds since 1970, if its first commit is readable.
    began: Option<u64>,
    provider: Option<String>,
    /// The first dialect and provider, if the session was switched.
    switched_from: Option<Side>,
    title: Option<String>,
    /// Whether its messages are all there.
    health: ListedHealth,
}

/// Whether the messages of a session are all there, as a list shows it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ListedHealth {
    /// All messages are there.
    Whole,
    /// Some may be missing.
    Degraded,
    /// Their seals need another key.
    Locked,
}

impl ListedHealth {
    /// The mark of a session that is not whole.
    fn mark(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::Degraded => Some("degraded"),
            Self::Locked => Some("locked"),
        }
    }
}

impl List {
    pub(super) fn run(&self, store: Option<&str>) -> Result<Exit, Failure> {
        // A missing default store has no sessions; a store that an option or a variable names must exist.
        let address = Address::of(store)?;
        let is_unused = !address.is_there() && !address.is_named();
        let listed = if is_unused { Vec::new() } else { listed(&StoreContext::to_read(store)?)? };
        let degraded = listed.iter().filter(|listed| listed.health == ListedHealth::Degraded).count();
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => output.text(&json::listing("sessions", &listed)),
            ListFormat::Text if listed.is_empty() => {
                output.text(&format!("no sessions in `{}`\n", screen::printable(&address.to_string())));
                output::say(&format!("hint: `seamline session new NAME{}` creates one\n", address.option()));
            }
            ListFormat::Text => {
                let rows: Vec<_> = listed.iter().map(row).collect();
                let paints = [style::STRONG, style::FAINT, style::FAINT, style::PLAIN];
                output.text(&table::render(&rows, paints, screen::width()));
            }
        }
        if degraded > 0 {
            let (degraded, all) = (screen::count(degraded, "session"), address.option());
            output::say(&format!("seamline: {degraded} degraded: messages may be missing\n"));
            output::say(&format!("hint: `seamline session verify{all}` lists all damage\n"));
        }
        Ok(output.finish(Exit::Clean))
    }
}

fn listed(context: &StoreContext) -> Result<Vec<Listed>, Failure> {
    let sessions = context.list_sessions().map_err(|error| context.failure(&error))?;
    let losses = context.wait(context.store.losses())?;
    if !losses.is_empty() {
        StoreContext::warn_of_losses(&losses);
    }
    Ok(sessions.into_iter().map(|info| of_session(context, info)).collect())
}

/// Reads and checks a session. If it cannot be read, only the facts of the store are shown.
fn of_session(context: &StoreContext, mut info: SessionInfo) -> Listed {
    let read = wait(Follower::open(context.store.clone(), info.session.clone()));
    let health = match &read {
        Ok(read) if read.health().is_whole() => ListedHealth::Whole,
        Err(SessionError::Store(Error::SealKey(_))) => ListedHealth::Locked,
        _ => ListedHealth::Degraded,
    };
    let read = read.ok();
    let state = read.as_ref().map(Follower::state);
    let (begin, switch) = (state.and_then(|state| state.begin.as_ref()), state.and_then(|state| state.switch.as_ref()));
    let Sides { current, original } = Sides::of(begin, switch);
    let (dialect, provider) = current.map(|side| (side.dialect, side.provider)).unzip();
    info.dialect = dialect.map(Into::into).or(info.dialect);
    Listed {
        writer: info.holder.as_ref().map(writer::word),
        began: began(context, &info.session),
        provider: provider.flatten(),
        switched_from: original,
        title: begin.and_then(|begin| begin.title.clone()),
        health,
        info,
    }
}

/// When a session began, in milliseconds since 1970, if its first commit is readable.
fn began(context: &StoreContext, session: &SessionId) -> Option<u64> {
    let first = context.wait(context.store.read(session, 0, 1)).ok()?;
    Some(context.open_commit(first.first()?).ok()?.at)
}

fn row(listed: &Listed) -> [String; 4] {
    let Listed { info, began, provider, switched_from, title, .. } = listed;
    let writer = info.holder.as_ref().map(writer::brief);
    let side = provider.clone().or_else(|| info.dialect.as_ref().map(ToString::to_string));
    let side = match switched_from {
        Some(original) => side.map(|side| format!("{side} (switched from {})", original.brief())),
        None => side,
    };
    let mark = listed.health.mark().map(str::to_owned);
    let what = [mark, title.clone(), side, writer];
    let what: Vec<String> = what.into_iter().flatten().map(|part| screen::printable(&part).into_owned()).collect();
    [
        info.session.to_string(),
        began.map_or_else(|| "start unknown".to_owned(), minute),
        screen::bytes(info.bytes),
        what.join(" · "),
    ]
}

/// When a session began, to the minute.
fn minute(ms: u64) -> String {
    let mut written = time::of_ms(ms).replace('T', " ");
    written.truncate("2026-11-15 06:20".len());
    written
}
