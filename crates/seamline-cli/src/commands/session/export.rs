//! `seamline session export`

use std::path::PathBuf;

use clap::Args;
use seamline::session::SessionError;
use seamline::store::{Damage, SessionId, StoredCommit, replay_with};
use serde::{Deserialize, Serialize};

use super::context::{StoreContext, exit_of};
use super::report_success;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::replace;
use crate::output::{self, Output};
use crate::render::json;
use crate::screen;

/// Export a session for another store
///
/// Writes the commits one after the other, byte for byte as they were sealed, and a last line with their count and the end
/// of the chain, so that a truncated file is detected. `seamline session import` reads them. With `--messages` it writes
/// only the current messages. Messages that wait in the inbox are not written, because they are not part of the session yet.
///
/// Only the owner can read a file that `--output` creates; an existing file keeps its mode.
///
/// Exit status: 0 all of it is written, 1 the session is degraded, so that messages may be missing, 2 the command failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Export {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the messages only
    #[arg(long)]
    messages: bool,
}

const EXAMPLES: &str = "\
Examples:
  seamline session export s-1 --output s-1.jsonl
  seamline session import s-1.jsonl --store sqlite:other.db
  seamline session export s-1 --messages | jq -r .role";

/// The last line of an export.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct End {
    /// The version of the export format.
    pub(super) seamline_export: u32,
    pub(super) session: SessionId,
    pub(super) commits: usize,
    /// The number of the last record.
    pub(super) seq: u64,
    /// The hash of the last commit.
    pub(super) hash: seamline::store::Hash,
}

impl End {
    pub(super) const VERSION: u32 = 1;
}

impl Export {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let (pieces, what, health) = if self.messages { self.messages(context)? } else { self.commits(context)? };
        self.tell_of_inbox(context);
        let pieces: Vec<&[u8]> = pieces.iter().flat_map(|piece| [piece.as_slice(), b"\n".as_slice()]).collect();
        if let Some(path) = &self.output {
            let shown = path.display().to_string();
            replace::write_private(path, &pieces)
                .map_err(|failure| Failure { message: format!("{shown}: {}", failure.message), ..failure })?;
            let said = format!("{}: {what} written to {}", self.name, screen::printable(&shown));
            return Ok(report_success(&said).max(health));
        }
        let mut output = Output::new();
        output.bytes(&pieces.concat());
        let exit = if output.is_gone() { Exit::Failed } else { health };
        Ok(output.finish(exit))
    }

    /// Notes on standard error what an export leaves out. An unreadable inbox is reported by `verify`.
    fn tell_of_inbox(&self, context: &StoreContext) {
        let waiting = context.wait(context.store.count_inbox(&self.name)).map_or(0, |waiting| waiting as usize);
        if waiting > 0 {
            let waiting = screen::count(waiting, "message");
            output::say(&format!("seamline: {waiting} of the inbox not written; the next writer adds them\n"));
        }
    }

    /// The lines of the messages, what they are, and the exit status that the health of the session gives.
    fn messages(&self, context: &StoreContext) -> Result<(Vec<Vec<u8>>, String, Exit), Failure> {
        let session = context.read_aloud(&self.name)?;
        let entries = session.state().view.entries().iter();
        let messages: Vec<Vec<u8>> = entries.map(|entry| entry.message.as_bytes().to_vec()).collect();
        let what = screen::count(messages.len(), "message");
        Ok((messages, what, exit_of(session.health())))
    }

    fn commits(&self, context: &StoreContext) -> Result<(Vec<Vec<u8>>, String, Exit), Failure> {
        let failed = |error: SessionError| context.failure(&error);
        let (head, commits) = context.up_to_head(&self.name).map_err(failed)?;
        let replayed = replay_with(&self.name, head, &commits, context.store.seal_key());
        if let Some(error) = replayed.wrong_key() {
            return Err(failed(error.into()));
        }
        // A damaged index loses no commit.
        let is_loss = |damage: &&Damage| damage.kind.is_loss();
        if let Some(damage) = replayed.damages.iter().find(is_loss) {
            return Err(Failure::new(format!("session `{}` is damaged: {damage}", self.name)).with_hint(format!(
                "{} writes the readable messages, and {} makes a session of them",
                context.command("export --messages"),
                context.fork_command()
            )));
        }
        let end = End {
            seamline_export: End::VERSION,
            session: self.name.clone(),
            commits: commits.len(),
            seq: head.seq,
            hash: head.hash,
        };
        let what = screen::count(commits.len(), "commit");
        let mut pieces: Vec<Vec<u8>> = commits.into_iter().map(|StoredCommit { bytes, .. }| bytes).collect();
        pieces.push(json::text(&end).into_bytes());
        // The chain of commits is whole, but the store may have lost later ones.
        let losses = context.wait(context.store.losses())?;
        let is_degraded = losses.iter().any(|loss| loss.damage(&self.name, head).is_some());
        if is_degraded {
            StoreContext::warn_of_losses(&losses);
        }
        Ok((pieces, what, if is_degraded { Exit::Findings } else { Exit::Clean }))
    }
}
