//! One file per command.

pub(crate) mod assemble;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fix;
pub(crate) mod host;
pub(crate) mod incidents;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod policies;
pub(crate) mod providers;
pub(crate) mod proxy;
pub(crate) mod rules;
pub(crate) mod salvage;
pub(crate) mod session;
pub(crate) mod undo;
pub(crate) mod watch;

use crate::args::Command;
use crate::exit::Exit;
use crate::output;

/// Runs a command.
pub(crate) fn run(command: &Command) -> Exit {
    let done = match command {
        Command::Doctor(args) => args.run(),
        Command::Check(args) => args.run(),
        Command::Fix(args) => args.run(),
        Command::Convert(args) => args.run(),
        Command::Assemble(args) => args.run(),
        Command::Undo(args) => args.run(),
        Command::Salvage(args) => args.run(),
        Command::Watch(args) => args.run(),
        Command::Explain(args) => args.run(),
        Command::Rules(args) => Ok(args.run()),
        Command::Providers(args) => args.run(),
        Command::Policies(args) => args.run(),
        Command::Proxy(args) => args.run(),
        Command::Host(args) => args.run(),
        Command::Mcp(args) => args.run(),
        Command::Incidents(args) => args.run(),
        Command::Session(args) => args.run(),
        Command::Completions(args) => Ok(args.run()),
        Command::Man(args) => args.run(),
    };
    done.unwrap_or_else(|failure| {
        output::complain(&failure);
        Exit::Failed
    })
}
