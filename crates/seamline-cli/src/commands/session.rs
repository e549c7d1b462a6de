//! `seamline session`

mod address;
mod append;
mod check;
mod checkpoints;
pub(super) mod context;
mod erase;
mod export;
mod fork;
mod import;
mod incidents;
mod list;
mod name;
mod new;
mod recover;
mod repair;
mod request;
mod reset;
mod show;
mod switch;
mod tail;
mod verify;

use clap::{Args, Subcommand};
use context::StoreContext;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen;

/// Keep conversations in a store
///
/// A session keeps the messages of a conversation byte for byte, as a chain of commits. Each commit contains the hash of the
/// one before it. A crash loses no acknowledged write, and `verify` detects altered bytes. `undo` reverts a repair, and
/// `rollback` returns to a checkpoint. Only `erase` removes stored messages. `docs/sessions.md` explains sessions.
///
/// `$SEAMLINE_SEAL_KEY` is a secret of at least 16 characters that seals commits, so that only those who have it can write
/// messages that later commands accept. Without it a seal detects corruption, not tampering.
///
/// The store is the URL of `--store`, else of `$SEAMLINE_STORE`, else `$XDG_STATE_HOME/seamline/sessions.db` or
/// `~/.local/state/seamline/sessions.db`.
///
/// With `--format json` a command prints one object with the member `version`, which is 1; its help lists the members. Later
/// releases may add members under the same version; they remove and change none.
///
/// Exit status: 0 success and no findings, 1 findings remain, bytes are damaged or the session is degraded, 2 the command
/// failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Session {
    /// The URL of the store: `sqlite:FILE` or `postgres://…`
    #[arg(long, value_name = "URL", global = true, display_order = 900)]
    store: Option<String>,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  seamline session new fix-1 --provider anthropic
  echo '{\"role\":\"user\",\"content\":\"hello\"}' | seamline session append fix-1
  seamline session show fix-1                              # show the session
  seamline session request fix-1 --envelope envelope.json  # the body to send
  seamline session checkpoint fix-1                        # mark this context
  seamline session rollback fix-1                          # return to it
  seamline session verify                                  # check all bytes";

#[derive(Debug, Subcommand)]
enum Command {
    New(new::New),
    List(list::List),
    Append(append::Append),
    Show(show::Show),
    Tail(tail::Tail),
    Check(check::Check),
    Repair(repair::Repair),
    Undo(repair::Undo),
    Request(request::Request),
    Switch(switch::Switch),
    Checkpoint(checkpoints::MakeCheckpoint),
    Commit(checkpoints::Commit),
    Rollback(checkpoints::Rollback),
    Checkpoints(checkpoints::Checkpoints),
    Prune(checkpoints::Prune),
    Recover(recover::Recover),
    Reset(reset::Reset),
    Incidents(incidents::Incidents),
    Verify(verify::Verify),
    Fork(fork::Fork),
    Export(export::Export),
    Import(import::Import),
    Erase(erase::Erase),
}

impl Session {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.store.as_deref();
        let of = |name| StoreContext::of_session(store, name);
        let reading = |name| StoreContext::of_session_to_read(store, name);
        match &self.command {
            Command::New(args) => args.run(store),
            Command::Import(args) => args.run(store),
            Command::List(args) => args.run(store),
            Command::Append(args) => args.run(&of(&args.name)?),
            Command::Show(args) => args.run(&reading(&args.name)?),
            Command::Tail(args) => args.run(&reading(&args.name)?),
            Command::Check(args) => args.run(&reading(&args.name)?),
            Command::Repair(args) => args.run(&of(&args.name)?),
            Command::Undo(args) => args.run(&of(&args.name)?),
            Command::Request(args) => args.run(&reading(&args.name)?),
            Command::Switch(args) => args.run(&of(&args.name)?),
            Command::Checkpoint(args) => args.run(&of(&args.name)?),
            Command::Commit(args) => args.run(&of(&args.name)?),
            Command::Rollback(args) => args.run(&of(&args.name)?),
            Command::Checkpoints(args) => args.run(&reading(&args.name)?),
            Command::Prune(args) => args.run(&of(&args.name)?),
            Command::Recover(args) => args.run(&of(&args.name)?),
            Command::Reset(args) => args.run(&of(&args.name)?),
            Command::Incidents(args) => args.run(&reading(&args.name)?),
            Command::Verify(args) => args.run(store),
            Command::Fork(args) => args.run(&of(&args.name)?),
            Command::Export(args) => args.run(&reading(&args.name)?),
            Command::Erase(args) => args.run(&of(&args.name)?),
        }
    }
}

/// Prints one line of success.
fn report_success(text: &str) -> Exit {
    use crate::output::Output;
    use crate::render::style;
    let mut output = Output::new();
    let line = format!("{} {text}", style::GOOD.paint("✓"));
    output.text(&(screen::sentence(&line, screen::width()) + "\n"));
    output.finish(Exit::Clean)
}
