//! `seamline undo`

use std::path::PathBuf;

use clap::Args;

use crate::exit::Exit;
use crate::files::undo::{self, Force};
use crate::output::{self, Output};
use crate::render::style;
use crate::screen;

/// Take the last repair of a file back
///
/// Gives a file the exact bytes back that it had before `seamline fix` repaired it in place. Several repairs
/// are taken back one after the other, the last one first. A file that was changed since is left alone.
///
/// The old bytes are in `$XDG_STATE_HOME/seamline`, else in `~/.local/state/seamline`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Undo {
    /// The file that was repaired
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Give the bytes back even if the file was changed since; what it holds now is kept aside
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  seamline fix request.json
  seamline undo request.json";

impl Undo {
    pub(crate) fn run(&self) -> Exit {
        let force = if self.force { Force::Yes } else { Force::No };
        let label = self.path.display().to_string();
        let undone = match undo::undo(&self.path, force) {
            Ok(undone) => undone,
            Err(failure) => {
                output::complain_about(&label, &failure);
                return Exit::Failed;
            }
        };
        let left = match undone.left {
            0 => String::new(),
            count => format!("; {} can still be taken back", screen::count(count, "repair")),
        };
        let mut output = Output::new();
        output.text(&format!(
            "{} {}: took back the repair of {}{left}\n",
            style::GOOD.paint("✓"),
            screen::printable(&label),
            undone.record.time
        ));
        if let Some(path) = undone.overwritten {
            output.text(&format!("what the file held is kept in {}\n", path.display()));
        }
        output.finish(Exit::Clean)
    }
}
