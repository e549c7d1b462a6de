//! `seamline session verify`

use std::fmt::Write as _;

use clap::Args;
use seamline::session::SessionError;
use seamline::store::{Error, Hash, SessionId, replay_with};
use serde::Serialize;

use super::address::Address;
use super::context::{StoreContext, find_address, unopened, wait};
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{json, style};
use crate::screen;

/// Verify every stored byte
///
/// Reads all commits of a session, or of every session in the store, computes their hashes and follows the chain from the
/// first to the last. It reports everything that was altered, lost, moved or belongs to another session, in commits, in the
/// inbox and in quarantined bytes. Another process may write meanwhile.
///
/// As JSON: `version` and `sessions`, each with `session`, `commits`, `bytes` and `damages`, a list of sentences; if nothing
/// of the store is readable, `version`, `store` and `damage`.
///
/// Exit status: 0 all bytes are as they were written, 1 bytes are damaged, 2 the store could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Verify {
    /// The name of the session [default: all sessions]
    #[arg(value_name = "NAME")]
    name: Option<SessionId>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline session verify
  seamline session verify s-1 --store sqlite:backup.db";

/// The result for one session.
#[derive(Serialize)]
struct Verified {
    session: SessionId,
    commits: usize,
    bytes: usize,
    damages: Vec<String>,
}

impl Verify {
    pub(super) fn run(&self, store: Option<&str>) -> Result<Exit, Failure> {
        let asked = Address::of(store)?;
        if asked.is_emptied() {
            return Ok(self.unreadable(&asked.to_string(), "the file is empty"));
        }
        let address = find_address(store)?;
        match StoreContext::open_to_read(address.clone()) {
            Ok(context) => self.verify_all(&context),
            Err(Error::Damaged(cause)) => Ok(self.unreadable(&address.to_string(), &cause.to_string())),
            Err(error) => Err(unopened(&address, &error)),
        }
    }

    fn verify_all(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let failed = |error: SessionError| context.failure(&error);
        let names = match (&self.name, context.list_sessions()) {
            (Some(name), _) => vec![name.clone()],
            (None, Ok(sessions)) => sessions.into_iter().map(|info| info.session).collect(),
            (None, Err(SessionError::Store(Error::Damaged(cause)))) => {
                return Ok(self.unreadable(&context.address.to_string(), &cause.to_string()));
            }
            (None, Err(error)) => return Err(failed(error)),
        };
        let mut output = Output::new();
        let mut all = Vec::new();
        for name in names {
            let verified = verify(context, name).map_err(failed)?;
            if self.format == ListFormat::Text {
                output.text(&line(&verified));
            }
            all.push(verified);
            if output.is_gone() {
                break;
            }
        }
        // A session can be lost as a whole, so the losses of the store count without one.
        let losses = wait(context.store.losses()).map_err(failed)?;
        let is_lost = self.name.is_none() && !losses.is_empty();
        let is_damaged = is_lost || all.iter().any(|verified| !verified.damages.is_empty());
        match self.format {
            ListFormat::Json => output.text(&json::listing("sessions", &all)),
            ListFormat::Text if self.name.is_none() => output.text(&summary(&all, is_lost)),
            ListFormat::Text => {}
        }
        if is_lost {
            StoreContext::warn_of_losses(&losses);
        }
        Ok(output.finish(if is_damaged { Exit::Findings } else { Exit::Clean }))
    }
}

impl Verify {
    /// Reports a store that cannot be read at all.
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

/// The report about a store that cannot be read at all, for programs.
#[derive(Serialize)]
struct Unreadable<'a> {
    version: u32,
    store: &'a str,
    damage: &'a str,
}

fn verify(context: &StoreContext, session: SessionId) -> Result<Verified, SessionError> {
    let mut damages = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    if let Some((head, commits)) = readable(context.up_to_head(&session), "it", &mut damages)? {
        count = commits.len();
        bytes = commits.iter().map(|commit| commit.bytes.len()).sum();
        let replayed = replay_with(&session, head, &commits, context.store.seal_key());
        match replayed.wrong_key() {
            // None of its commits can be checked, so one sentence says it for all.
            Some(error) => damages.push(error.message()),
            None => damages.extend(replayed.damages.iter().map(ToString::to_string)),
        }
        let losses = readable(wait(context.store.losses()), "its losses", &mut damages)?.unwrap_or_default();
        damages.extend(losses.iter().filter_map(|loss| loss.damage(&session, head)).map(|damage| damage.to_string()));
    }
    let inbox = readable(wait(context.store.check_inbox(&session)), "its inbox", &mut damages)?;
    damages.extend(inbox.into_iter().flatten().map(|damage| damage.to_string()));
    let aside = readable(wait(context.store.read_quarantine(&session)), "its quarantine", &mut damages)?;
    let altered = aside.iter().flatten().filter(|piece| Hash::of(&piece.bytes) != piece.hash).count();
    if altered > 0 {
        damages.push(format!("{} of the quarantine altered", screen::count(altered, "piece")));
    }
    Ok(Verified { session, commits: count, bytes, damages })
}

/// Returns the value; an error of the store while reading counts as damage.
fn readable<T>(
    read: Result<T, SessionError>,
    what: &str,
    damages: &mut Vec<String>,
) -> Result<Option<T>, SessionError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(SessionError::Store(Error::Damaged(cause))) => {
            damages.push(format!("{what} cannot be read: {cause}"));
            Ok(None)
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

fn summary(all: &[Verified], is_lost: bool) -> String {
    let sessions = screen::count(all.len(), "session");
    let commits = screen::count(all.iter().map(|verified| verified.commits).sum(), "commit");
    let bytes = screen::count(all.iter().map(|verified| verified.bytes).sum(), "byte");
    let damaged = all.iter().filter(|verified| !verified.damages.is_empty()).count();
    match damaged {
        0 if is_lost => {
            format!(
                "{} {sessions}, {commits}, {bytes}: as they were written, but others are lost\n",
                style::ERROR.paint("✗")
            )
        }
        0 => format!("{} {sessions}, {commits}, {bytes}: all as they were written\n", style::GOOD.paint("✓")),
        count => {
            format!("{} {sessions}, {commits}, {bytes}: {} damaged\n", style::ERROR.paint("✗"), screen::grouped(count))
        }
    }
}
