//! `seamline man`

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};

use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::Failure;

/// Write the manual pages of all commands
///
/// Each command has a page of its own: `seamline.1`, `seamline-check.1`, `seamline-session-new.1`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Man {
    /// The folder of the pages; it is created if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  seamline man ~/.local/share/man/man1
  seamline man pages && man ./pages/seamline-fix.1";

impl Man {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let written =
            std::fs::create_dir_all(&self.folder).and_then(|()| clap_mangen::generate_to(Cli::command(), &self.folder));
        written.map_err(|error| Failure::io(&format!("write to {}", self.folder.display()), &error))?;
        Ok(Exit::Clean)
    }
}
