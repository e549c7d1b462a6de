//! `seamline session verify`

use std::fmt::Write as _;

use clap::Args;
use seamline::session::SessionError;
use seamline::store::{Error, SessionId, replay};
use serde::Serialize;

use super::place::{Place, of_store, there};
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{json, style};
use crate::screen;

/// Check every byte that is kept
///
/// Reads all commits of a session, or of every session in the store, computes their hashes anew and follows the chain
/// from the first to the last. Whatever was altered, lost, moved or comes from another session is named.
///
/// Exit status: 0 everything is as it was written, 1 something is damaged, 2 could not be read at all.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Verify {
    /// The session; all of them when not given
    #[arg(value_name = "NAME")]
    name: Option<SessionId>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline session verify
  seamline session verify s-1 --store sqlite:backup.db";

/// What was found in one session.
#[derive(Serialize)]
struct Verified {
    session: SessionId,
    commits: usize,
    bytes: usize,
    damages: Vec<String>,
}

impl Verify {
    pub(super) fn run(&self, store: Option<&str>) -> Result<Exit, Failure> {
        let address = there(store)?;
        match Place::open(address.clone()) {
            Ok(place) => self.verify_all(&place),
            Err(Error::Damaged(what)) => Ok(self.unreadable(&address.to_string(), &what)),
            Err(error) => Err(of_store(&error)),
        }
    }

    fn verify_all(&self, place: &Place) -> Result<Exit, Failure> {
        let failed = |error: SessionError| place.failure(&error);
        let names = match (&self.name, place.sessions()) {
            (Some(name), _) => vec![name.clone()],
            (None, Ok(sessions)) => sessions.into_iter().map(|info| info.session).collect(),
            (None, Err(SessionError::Store(Error::Damaged(what)))) => {
                return Ok(self.unreadable(&place.address.to_string(), &what));
            }
            (None, Err(error)) => return Err(failed(error)),
        };
        let mut output = Output::new();
        let mut all = Vec::new();
        for name in names {
            let verified = verify(place, name).map_err(failed)?;
            if self.format == ListFormat::Text {
                output.text(&line(&verified));
            }
            all.push(verified);
            if output.is_gone() {
                break;
            }
        }
        let is_damaged = all.iter().any(|verified| !verified.damages.is_empty());
        match self.format {
            ListFormat::Json => output.text(&json::listing("sessions", &all)),
            ListFormat::Text if self.name.is_none() => output.text(&summary(&all)),
            ListFormat::Text => {}
        }
        Ok(output.finish(if is_damaged { Exit::Findings } else { Exit::Clean }))
    }
}

impl Verify {
    /// A store of which nothing can be read.
    fn unreadable(&self, address: &str, what: &str) -> Exit {
        let mut output = Output::new();
        match self.format {
            ListFormat::Text => output.text(&format!(
                "{} {}: damaged\n  {}\n",
                style::ERROR.paint("✗"),
                style::STRONG.paint(&screen::printable(address)),
                screen::printable(what)
            )),
            ListFormat::Json => {
                output.text(&(json::text(&Unreadable { version: 1, store: address, damage: what }) + "\n"));
            }
        }
        output.finish(Exit::Findings)
    }
}

/// A store of which nothing can be read, for programs.
#[derive(Serialize)]
struct Unreadable<'a> {
    version: u32,
    store: &'a str,
    damage: &'a str,
}

fn verify(place: &Place, session: SessionId) -> Result<Verified, SessionError> {
    let read = || {
        let head = place.head(&session)?;
        Ok((head, place.commits(&session)?))
    };
    match read() {
        Ok((head, commits)) => {
            let replayed = replay(&session, head, &commits);
            let bytes = commits.iter().map(|commit| commit.bytes.len()).sum();
            let damages = replayed.damages.iter().map(ToString::to_string).collect();
            Ok(Verified { session, commits: commits.len(), bytes, damages })
        }
        // What the store itself cannot read is damage, too.
        Err(SessionError::Store(Error::Damaged(what))) => {
            Ok(Verified { session, commits: 0, bytes: 0, damages: vec![format!("it cannot be read: {what}")] })
        }
        Err(error) => Err(error),
    }
}

fn line(verified: &Verified) -> String {
    let Verified { session, commits, bytes, damages } = verified;
    let about = format!("{}, {}", screen::count(*commits, "commit"), screen::count(*bytes, "byte"));
    if damages.is_empty() {
        return format!(
            "{} {session}: as it was written {}\n",
            style::GOOD.paint("✓"),
            style::FAINT.paint(&format!("({about})"))
        );
    }
    let mut out = format!(
        "{} {}: damaged {}\n",
        style::ERROR.paint("✗"),
        style::STRONG.paint(session.as_str()),
        style::FAINT.paint(&format!("({about})"))
    );
    for damage in damages {
        let _ = writeln!(out, "  {}", screen::printable(damage));
    }
    out
}

fn summary(all: &[Verified]) -> String {
    let sessions = screen::count(all.len(), "session");
    let commits = screen::count(all.iter().map(|verified| verified.commits).sum(), "commit");
    let bytes = screen::count(all.iter().map(|verified| verified.bytes).sum(), "byte");
    let damaged = all.iter().filter(|verified| !verified.damages.is_empty()).count();
    match damaged {
        0 => format!("{} {sessions}, {commits}, {bytes}: all as they were written\n", style::GOOD.paint("✓")),
        count => {
            format!("{} {sessions}, {commits}, {bytes}: {} damaged\n", style::ERROR.paint("✗"), screen::grouped(count))
        }
    }
}
