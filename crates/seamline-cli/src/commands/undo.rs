//! `seamline undo`

use std::path::{Path, PathBuf};

use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::prune::{self, Bounds};
use crate::files::undo::{self, Force};
use crate::output::{self, Output};
use crate::render::{style, table};
use crate::stored::Store;
use crate::{screen, time};

/// Undo the last repair of files
///
/// Restores the exact bytes that files had before `seamline fix` repaired them in place; for a folder, of every repaired
/// file below it. Several repairs of a file are undone one at a time, the last one first. A file that changed since its
/// repair is not touched.
///
/// The old bytes are in `$XDG_STATE_HOME/seamline` or `~/.local/state/seamline`, and only you can read them. They stay there
/// until `--prune` removes them; without them a repair cannot be undone.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Undo {
    /// Repaired files, or folders that contain them
    #[arg(value_name = "PATH", required_unless_present_any = ["list", "prune"])]
    paths: Vec<PathBuf>,
    /// Restore the bytes even if the file changed since; a copy of the changed file is kept
    #[arg(long)]
    force: bool,
    /// List the repairs that can be undone, of these paths or of all, and undo nothing
    #[arg(long, conflicts_with = "force")]
    list: bool,
    /// Remove the old bytes of repairs that are older than 30 days, or as `--older-than` and `--max-size` say
    #[arg(long, conflicts_with_all = ["force", "list", "paths"])]
    prune: bool,
    /// With `--prune`: remove repairs before this time, such as `7d`, `12h` or `2026-11-01`
    #[arg(long, value_name = "AGE", requires = "prune")]
    older_than: Option<String>,
    /// With `--prune`: keep at most this much, such as `100MB`; the oldest repairs go first
    #[arg(long, value_name = "SIZE", requires = "prune")]
    max_size: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  seamline fix request.json
  seamline undo request.json
  seamline undo logs/
  seamline undo --list
  seamline undo --prune --older-than 7d";

/// The age of the repairs that a prune removes, if no option says otherwise.
const AGE: &str = "30d";

impl Undo {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if self.list {
            return list(&self.paths);
        }
        if self.prune {
            return self.prune();
        }
        let mut exit = Exit::Clean;
        for path in &self.paths {
            exit = exit.max(if path.is_dir() { self.take_back_below(path) } else { self.take_back(path) });
        }
        Ok(exit)
    }

    /// Removes the old bytes of repairs.
    fn prune(&self) -> Result<Exit, Failure> {
        let since = match (&self.older_than, &self.max_size) {
            (None, Some(_)) => 0,
            (age, _) => {
                let age = age.as_deref().unwrap_or(AGE);
                time::parse(age, time::now()).ok_or_else(|| {
                    Failure::new(format!("`--older-than {}` is not a time", screen::printable(age)))
                        .with_hint("write an age such as `7d` or `12h`, or a date such as `2026-11-01`")
                })?
            }
        };
        let bytes_max = self.max_size.as_deref().map(|size| {
            screen::parse_bytes(size).ok_or_else(|| {
                Failure::new(format!("`--max-size {}` is not a size", screen::printable(size)))
                    .with_hint("write a size such as `500kB`, `100MB` or `2GB`")
            })
        });
        let pruned = prune::prune(Bounds { since, bytes_max: bytes_max.transpose()? })?;
        let mut output = Output::new();
        output.text(&format!(
            "{} removed {} and {}; {} ({}) can still be undone\n",
            style::GOOD.paint("✓"),
            screen::count(pruned.repairs, "repair"),
            screen::bytes(pruned.bytes),
            screen::count(pruned.left, "repair"),
            screen::bytes(pruned.bytes_left)
        ));
        Ok(output.finish(Exit::Clean))
    }

    /// Undoes the last repair of every file below a folder.
    fn take_back_below(&self, folder: &Path) -> Exit {
        let found = undo::repaired_below(folder).and_then(|mut files| {
            files.extend(of_sessions(folder)?.into_iter().filter(|file| undo::is_repaired(file)));
            Ok(files)
        });
        let files = match found {
            Ok(files) if files.is_empty() => Err(Failure::new("no repair of a file in this folder is known")
                .with_hint("`seamline undo --list` lists all repairs that can be undone")),
            files => files,
        };
        match files {
            Ok(files) => files.iter().map(|file| self.take_back(file)).max().unwrap_or_default(),
            Err(failure) => {
                output::complain_about(&folder.display().to_string(), &failure);
                Exit::Failed
            }
        }
    }

    fn take_back(&self, path: &Path) -> Exit {
        let force = if self.force { Force::Yes } else { Force::No };
        let label = path.display().to_string();
        let undone = match undo::undo(path, force) {
            Ok(undone) => undone,
            Err(failure) => {
                output::complain_about(&label, &failure);
                return Exit::Failed;
            }
        };
        let left = match undone.left {
            0 => String::new(),
            count => format!("; {} can still be undone", screen::count(count, "repair")),
        };
        let mut output = Output::new();
        output.text(&format!(
            "{} {}: undid the repair of {}{left}\n",
            style::GOOD.paint("✓"),
            screen::printable(&label),
            undone.record.time
        ));
        if let Some(path) = undone.overwritten {
            output.text(&format!("the overwritten bytes are kept in {}\n", path.display()));
        }
        output.finish(Exit::Clean)
    }
}

/// The files of the sessions that a folder names. They may be in other folders.
fn of_sessions(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let sessions = Store::at(folder)?.map(|store| store.sessions()).transpose()?.unwrap_or_default();
    let is_outside = |file: &PathBuf| !file.starts_with(folder);
    Ok(sessions.into_iter().flat_map(|session| session.files).filter(is_outside).collect())
}

/// The repairs that can be undone, oldest first.
fn list(paths: &[PathBuf]) -> Result<Exit, Failure> {
    let records = undo::list(paths)?.into_iter();
    let rows: Vec<_> = records.map(|record| [record.time, screen::printable(&record.path).into_owned()]).collect();
    let mut output = Output::new();
    output.text(&table::render(&rows, [style::FAINT, style::PLAIN], usize::MAX));
    if rows.is_empty() {
        output.text("no repair can be undone\n");
    }
    Ok(output.finish(Exit::Clean))
}
