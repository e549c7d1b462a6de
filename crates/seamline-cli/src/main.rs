//! The `seamline` command: arguments in, a call of the `seamline` crate, text out.

mod args;
mod commands;
mod exit;
mod failure;
mod files;
mod head;
mod input;
mod log;
mod many;
mod nature;
mod output;
mod render;
mod screen;
mod stored;
mod suggest;
mod time;

use clap::Parser as _;

fn main() -> std::process::ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return args::explain(&error),
    };
    log::start(cli.log);
    commands::run(&cli.command).into()
}
