//! `seamline session list`

use clap::Args;
use seamline::store::{OpenedCommit, Record, SessionInfo, Switch};
use serde::Serialize;

use super::address::Address;
use super::context::{PAGE_BYTES, StoreContext};
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
/// One line per session: when it began, its size, its title, its provider, and the process that writes it.
///
/// As JSON: `version` and `sessions`, each with `session`, `head` (`epoch`, `seq`, `hash`), `commits`, `bytes`,
/// `holder` (the process that writes it, or `null`), `writer` (the state of that process: `alive`, `gone`, `unknown` or
/// `null`), `began` in milliseconds since 1970, the current `dialect` and `provider`, `switched_from` (the first `dialect` and
/// `provider` of a session that was switched, or `null`) and `title`.
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

/// The start of a record of a switch in the bytes of a commit.
const SWITCH: &[u8] = b"{\"switch\"";

/// A session of the list.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    info: SessionInfo,
    /// The state of the process that writes it.
    writer: Option<&'static str>,
    /// When it began, in milliseconds since 1970, if its first commit is readable.
    began: Option<u64>,
    dialect: Option<String>,
    provider: Option<String>,
    /// The first dialect and provider, if the session was switched.
    switched_from: Option<Side>,
    title: Option<String>,
}

impl List {
    pub(super) fn run(&self, store: Option<&str>) -> Result<Exit, Failure> {
        // A missing default store has no sessions; a store that an option or a variable names must exist.
        let address = Address::of(store)?;
        let is_unused = !address.is_there() && !address.is_named();
        let listed = if is_unused { Vec::new() } else { listed(&StoreContext::to_read(store)?)? };
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
        Ok(output.finish(Exit::Clean))
    }
}

fn listed(context: &StoreContext) -> Result<Vec<Listed>, Failure> {
    let sessions = context.list_sessions().map_err(|error| context.failure(&error))?;
    Ok(sessions.into_iter().map(|info| beginning(context, info)).collect())
}

/// Opens the first commit of a session and those with a switch. The others are read, but not opened.
fn beginning(context: &StoreContext, info: SessionInfo) -> Listed {
    let first = context.wait(context.store.read(&info.session, 0, 1)).ok();
    let first = first.and_then(|commits| OpenedCommit::open(&commits.first()?.bytes).ok());
    let began = first.as_ref().map(|commit| commit.at);
    let records = first.map(|commit| commit.records).unwrap_or_default();
    let begin =
        records.into_iter().find_map(|record| if let Record::Begin(begin) = record { Some(begin) } else { None });
    let switch = if info.commits > 1 { last_switch(context, &info) } else { None };
    let Sides { current, original } = Sides::of(begin.as_ref(), switch.as_ref());
    let (dialect, provider) = current.map(|side| (side.dialect, side.provider)).unzip();
    let title = begin.and_then(|begin| begin.title);
    let writer = info.holder.as_ref().map(writer::word);
    Listed { info, writer, began, dialect, provider: provider.flatten(), switched_from: original, title }
}

/// The last switch of a session, as far as its commits can be read.
fn last_switch(context: &StoreContext, info: &SessionInfo) -> Option<Switch> {
    let (mut after, mut last) = (0, None);
    loop {
        let page = context.wait(context.store.read(&info.session, after, PAGE_BYTES)).unwrap_or_default();
        let end = page.last().map_or(after, |commit| commit.seq);
        // A damaged store must not cause an endless loop.
        if end <= after {
            return last;
        }
        after = end;
        for commit in page.iter().filter(|commit| has_switch(&commit.bytes)) {
            let records = OpenedCommit::open(&commit.bytes).map(|commit| commit.records).unwrap_or_default();
            let switches = records
                .into_iter()
                .filter_map(|record| if let Record::Switch(switch) = record { Some(switch) } else { None });
            last = switches.last().or(last);
        }
    }
}

/// Whether a commit may have a record of a switch: its messages may contain the same bytes.
fn has_switch(bytes: &[u8]) -> bool {
    bytes.windows(SWITCH.len()).any(|window| window == SWITCH)
}

fn row(listed: &Listed) -> [String; 4] {
    let Listed { info, began, dialect, provider, switched_from, title, .. } = listed;
    let writer = info.holder.as_ref().map(writer::brief);
    let side = provider.clone().or_else(|| dialect.clone());
    let side = match switched_from {
        Some(original) => side.map(|side| format!("{side} (switched from {})", original.brief())),
        None => side,
    };
    let what = [title.clone(), side, writer];
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
