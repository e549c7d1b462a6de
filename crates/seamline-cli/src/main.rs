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

/// Gives memory back to the system after thousands of streams, where the allocator of the C library keeps it in pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return args::explain(&error),
    };
    log::start(cli.log);
    commands::run(&cli.command).into()
}
