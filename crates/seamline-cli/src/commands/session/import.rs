//! `seamline session import`

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use seamline::session::{Follower, NoMessage, SessionError};
use seamline::store::{Error, MemoryStore, SessionId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::context::{StoreContext, wait, with_key};
use super::export::End;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, Source};
use crate::output::{self, Output};
use crate::render::style;
use crate::screen;

/// Import sessions that another store exported
///
/// Imports them byte for byte under their own name, because every commit and every hash contains the name. It first checks
/// every seal and the whole chain; it refuses a truncated or altered file and reports the place.
///
/// With `--as` it imports a session under another name, for example after `erase`, which blocks the old name. The result is
/// a copy as `fork` makes one, not byte for byte: a new chain that begins with the current messages and records where they
/// come from. The copy has no checkpoints, incidents, open cycles or undone records of the old session.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Import {
    /// The file that `seamline session export` wrote, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Import the session under this name, as a copy if the name differs
    #[arg(long = "as", value_name = "NAME")]
    name: Option<SessionId>,
}

const EXAMPLES: &str = "\
Examples:
  seamline session import s-1.jsonl --store sqlite:other.db
  seamline session import s-1.jsonl --as s-2    # a copy under another name
  seamline session export s-1 |
    seamline session import - --store sqlite:third.db";

/// The commits of one session.
struct Exported {
    end: End,
    commits: Vec<Vec<u8>>,
}

impl Import {
    pub(super) fn run(&self, store: Option<&str>) -> Result<Exit, Failure> {
        let label = self.file.display().to_string();
        let about = |failure: Failure| Failure {
            message: format!("{}: {}", output::named(&label), failure.message),
            ..failure
        };
        let bytes = self.read().map_err(|error| about(Failure::io("read", &error)))?;
        Failure::of_program(&self.source(), &bytes).map_err(about)?;
        let sessions = read_exports(bytes).map_err(about)?;
        self.refuse_one_name(sessions.len()).map_err(about)?;
        for Exported { end, commits } in &sessions {
            check_chain(end, commits).map_err(about)?;
        }
        let context = StoreContext::make(store)?;
        let mut output = Output::new();
        for session in &sessions {
            let taken = match &self.name {
                Some(name) if *name != session.end.session => import_copy(&context, session, name),
                _ => import_unchanged(&context, session),
            };
            output.text(&taken.map_err(about)?);
        }
        Ok(output.finish(Exit::Clean))
    }

    fn refuse_one_name(&self, sessions: usize) -> Result<(), Failure> {
        if self.name.is_none() || sessions == 1 {
            return Ok(());
        }
        Err(Failure::new(format!("`--as` gives a name to one session, and the file has {sessions} sessions"))
            .with_hint("without `--as` each is imported under its own name"))
    }

    fn source(&self) -> Source {
        if self.file.as_os_str() == "-" { Source::Stdin } else { Source::Path(self.file.clone()) }
    }

    fn read(&self) -> std::io::Result<Vec<u8>> {
        if self.file.as_os_str() != "-" {
            return std::fs::read(&self.file);
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Imports a session as it is, and returns the line to print.
fn import_unchanged(context: &StoreContext, Exported { end, commits }: &Exported) -> Result<String, Failure> {
    let head = wait(context.store.import(&end.session, commits)).map_err(|error| refused(context, &error))?;
    let records = screen::count(head.seq as usize, "record");
    let commits = screen::count(commits.len(), "commit");
    Ok(format!("{} {}: imported {commits} with {records}\n", style::GOOD.paint("✓"), end.session))
}

/// Imports the messages of a session under another name, and returns the line to print.
fn import_copy(
    context: &StoreContext,
    Exported { end, commits }: &Exported,
    name: &SessionId,
) -> Result<String, Failure> {
    let aside = with_key(Arc::new(MemoryStore::new())).map_err(|error| context.failure(&error.into()))?;
    wait(aside.import(&end.session, commits)).map_err(|error| context.failure(&error))?;
    let session = context.wait(Follower::open(aside, end.session.clone()))?;
    let fork =
        wait(session.fork_into(context.store.clone(), name.clone())).map_err(|error| refused(context, &error))?;
    let messages = screen::count(fork.entries().len(), "message");
    StoreContext::close(fork);
    let mut out = format!("{} {name}: imported a copy of {} with {messages}\n", style::GOOD.paint("✓"), end.session);
    for line in screen::wrap(NOT_ALL, screen::width().saturating_sub(2)) {
        let _ = writeln!(out, "  {}", style::FAINT.paint(&line));
    }
    Ok(out)
}

const NOT_ALL: &str = "not byte for byte: a new chain that begins with the current messages; \
                       checkpoints, incidents, open cycles and undone records are in the file only";

/// Explains why a session was not imported; the hint names `--as`.
fn refused(context: &StoreContext, error: &SessionError) -> Failure {
    let another = match error {
        SessionError::Store(Error::Erased(_)) => "a name cannot be used again after `seamline session erase`",
        SessionError::Store(Error::Exists(_)) => "continue the existing session",
        _ => return context.failure(error),
    };
    let hint = format!("{another}; `--as NAME` imports a copy under another name");
    Failure { hint: Some(hint), ..context.failure(error) }
}

/// Reads the sessions of a file. A commit may contain line breaks between its values, as its messages had.
fn read_exports(bytes: Vec<u8>) -> Result<Vec<Exported>, Failure> {
    let cut = "export the session again; this file is truncated or altered";
    let text = input::text(bytes).map_err(|failure| {
        let hint = failure.hint.unwrap_or_else(|| cut.to_owned());
        Failure { hint: Some(hint), ..Failure::new(format!("not an export: {}", failure.message)) }
    })?;
    let mut sessions = Vec::new();
    let mut commits = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter::<&RawValue>() {
        let value = value.map_err(|error| {
            Failure::new(format!("not an export: after commit {}: {error}", commits.len())).with_hint(cut)
        })?;
        if sessions.is_empty()
            && commits.is_empty()
            && let Some(other) = no_commit(value.get())
        {
            return Err(other);
        }
        match serde_json::from_str::<End>(value.get()) {
            Ok(end) => sessions.push(Exported { end, commits: std::mem::take(&mut commits) }),
            Err(_) => commits.push(value.get().as_bytes().to_vec()),
        }
    }
    if commits.is_empty() && !sessions.is_empty() {
        return Ok(sessions);
    }
    let end = if commits.is_empty() {
        "the file is empty".to_owned()
    } else {
        format!("it ends after commit {} without the last line of an export", commits.len())
    };
    Err(Failure::new(format!("incomplete export: {end}")).with_hint(cut))
}

/// Identifies the first value of a file that is not an export.
fn no_commit(value: &str) -> Option<Failure> {
    #[derive(Deserialize)]
    struct Commit {
        #[serde(rename = "records")]
        _records: IgnoredAny,
    }
    if serde_json::from_str::<Commit>(value).is_ok() || serde_json::from_str::<End>(value).is_ok() {
        return None;
    }
    let (what, hint) = match NoMessage::of(None, value) {
        None => ("these are messages", "`seamline session append NAME FILE` adds messages to a session"),
        Some(NoMessage::Request { .. }) => {
            ("this is a request body", "`seamline session append NAME FILE --body` adds its messages to a session")
        }
        Some(_) => ("it does not begin with a commit", "give a file that `seamline session export` wrote"),
    };
    Some(Failure::new(format!("not an export: {what}")).with_hint(hint))
}

/// Checks that the chain is whole and ends where the last line says. A store checks it, too, but the whole file is
/// checked before any session is imported.
fn check_chain(end: &End, commits: &[Vec<u8>]) -> Result<(), Failure> {
    if end.seamline_export > End::VERSION {
        return Err(Failure::new(format!(
            "the export has format {}, this version knows {}",
            end.seamline_export,
            End::VERSION
        ))
        .with_hint("use a newer version of seamline"));
    }
    let (head, _) = seamline::store::chain(&end.session, commits)
        .map_err(|error| Failure::new(error.message()).with_hint("nothing was imported; export the session again"))?;
    if (head.seq, head.hash, commits.len()) == (end.seq, end.hash, end.commits) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "session `{}` ends at record {} of commit {}, but its last line says record {} of commit {}",
        end.session,
        head.seq,
        commits.len(),
        end.seq,
        end.commits
    ))
    .with_hint("commits are missing from the file; export the session again"))
}
