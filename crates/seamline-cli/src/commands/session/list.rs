//! `seamline session list`

use clap::Args;
use seamline::store::{OpenedCommit, Record, SessionInfo};
use serde::Serialize;

use super::address::Address;
use super::context::StoreContext;
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::render::session::writer;
use crate::render::{json, style, table};
use crate::{screen, time};

/// List the sessions of a store
///
/// One line per session: when it began, its size, its title, its provider, and the process that writes it.
///
/// As JSON: `version` and `sessions`, each with `session`, `head` (`epoch`, `seq`, `hash`), `commits`, `bytes`,
/// `holder` (the process that writes it, or `null`), `writer` (the state of that process: `alive`, `gone`, `unknown` or
/// `null`), `began` in milliseconds since 1970, `dialect`, `provider` and `title`.
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

/// The first record of a session.
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
    let sessions = context.sessions().map_err(|error| context.failure(&error))?;
    Ok(sessions.into_iter().map(|info| beginning(context, info)).collect())
}

/// Reads only the first commit of a session.
fn beginning(context: &StoreContext, info: SessionInfo) -> Listed {
    let first = context.wait(context.store.read(&info.session, 0, 1)).ok();
    let first = first.and_then(|commits| OpenedCommit::open(&commits.first()?.bytes).ok());
    let began = first.as_ref().map(|commit| commit.at);
    let records = first.map(|commit| commit.records).unwrap_or_default();
    let begin =
        records.into_iter().find_map(|record| if let Record::Begin(begin) = record { Some(begin) } else { None });
    let (dialect, provider, title) =
        begin.map_or((None, None, None), |begin| (Some(begin.dialect), begin.provider, begin.title));
    let writer = info.holder.as_ref().map(writer::word);
    Listed { info, writer, began, dialect, provider, title }
}

fn row(listed: &Listed) -> [String; 4] {
    let Listed { info, began, dialect, provider, title, .. } = listed;
    let writer = info.holder.as_ref().map(writer::brief);
    let what = [title.clone(), provider.clone().or_else(|| dialect.clone()), writer];
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
