//! `seamline session erase`

use clap::Args;
use seamline::session::Session;
use seamline::store::{Acquire, SessionId};

use super::context::{StoreContext, WriterArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::style;
use crate::screen;

/// Remove a session permanently
///
/// Removes its commits, its inbox and its quarantined bytes. The name cannot be used again, so that a client that still
/// knows it cannot recreate the session by accident; `seamline session import --as NAME` imports an export of it as a copy
/// under another name. This is the only command that cannot be undone, so it requires `--yes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Erase {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// Confirm the removal
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    writer: WriterArgs,
}

const EXAMPLES: &str = "\
Examples:
  seamline session export s-1 --output s-1.jsonl    # keeps a copy
  seamline session erase s-1 --yes";

impl Erase {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let name = &self.name;
        if !self.yes {
            let commits = context.commits(name).map_err(|error| context.failure(&error))?;
            let bytes = commits.iter().map(|commit| commit.bytes.len()).sum();
            let what = format!("{} with {}", screen::count(commits.len(), "commit"), screen::count(bytes, "byte"));
            return Err(Failure::new(format!("this would remove session `{name}` for good: {what}"))
                .with_hint(format!("`--yes` does it; {} keeps a copy first", context.command("export"))));
        }
        let take_over = self.writer.options().take_over;
        let how = if take_over { Acquire::TakeOver } else { Acquire::IfFree };
        let erased = context.wait(Session::erase(context.store.clone(), name, how))?;
        let commits = screen::count(erased.commits as usize, "commit");
        let bytes = screen::count(erased.bytes as usize, "byte");
        let mut output = Output::new();
        output.text(&format!(
            "{} {name}: removed {commits} with {bytes}; its name is not used again\n",
            style::GOOD.paint("✓")
        ));
        for line in screen::wrap(reach(context.address.scheme()), screen::width().saturating_sub(2)) {
            output.text(&format!("  {}\n", style::FAINT.paint(&line)));
        }
        Ok(output.finish(Exit::Clean))
    }
}

/// Which copies erasing does not reach, by kind of store.
fn reach(scheme: &str) -> &'static str {
    match scheme {
        "sqlite" => {
            "its bytes were overwritten in the database and its log was emptied; backups, snapshots of the file system \
             and what an SSD keeps of blocks that were written over are not reached"
        }
        "postgres" | "postgresql" => {
            "its rows are deleted; their bytes stay in the tables until VACUUM, and in the write-ahead log, replicas and \
             backups of the server as long as those are kept"
        }
        _ => "copies that were made elsewhere are not reached",
    }
}
