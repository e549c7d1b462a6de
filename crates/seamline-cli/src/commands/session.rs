//! `seamline session`

mod address;
mod append;
mod check;
mod checkpoints;
mod erase;
mod export;
mod fork;
mod import;
mod incidents;
mod list;
mod name;
mod new;
mod place;
mod recover;
mod repair;
mod request;
mod reset;
mod show;
mod switch;
mod tail;
mod verify;

use clap::{Args, Subcommand};
use place::Place;

use crate::exit::Exit;
use crate::failure::Failure;

/// Keep conversations that survive their process
///
/// A session keeps the messages of a conversation byte for byte in a store, as a chain of commits each sealed with the
/// hash of the one before it. Nothing that was acknowledged is lost by a crash, nothing that was altered is taken for
/// what was said, and everything but `erase` can be come back from. `docs/sessions.md` tells the whole story.
///
/// Sessions are kept in the store that `--store` names, else in the one `$SEAMLINE_STORE` names, else in
/// `$XDG_STATE_HOME/seamline/sessions.db` or `~/.local/state/seamline/sessions.db`.
///
/// With `--format json` a command prints one object with a `version`, which is 1; its help says what is in it. Members
/// may be added under the same version, none are taken away or changed.
///
/// Exit status: 0 done and nothing wrong, 1 findings remain or, for `verify`, bytes are damaged, 2 could not do what was
/// asked.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Session {
    /// Where sessions are kept: `sqlite:FILE` or `postgres://…`
    #[arg(long, value_name = "URL", global = true, display_order = 900)]
    store: Option<String>,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  seamline session new fix-1 --provider anthropic
  echo '{\"role\":\"user\",\"content\":\"hello\"}' | seamline session append fix-1
  seamline session show fix-1                              # what is kept
  seamline session request fix-1 --envelope envelope.json  # what to send
  seamline session checkpoint fix-1                        # a way back
  seamline session rollback fix-1                          # go back
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
    Checkpoint(checkpoints::Checkpoint),
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
        let of = |name| Place::of_session(store, name);
        let reading = |name| Place::of_session_to_read(store, name);
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

/// One line for something that went well.
fn done(text: &str) -> Exit {
    use crate::output::Output;
    use crate::render::style;
    let mut output = Output::new();
    output.text(&format!("{} {text}\n", style::GOOD.paint("✓")));
    output.finish(Exit::Clean)
}
