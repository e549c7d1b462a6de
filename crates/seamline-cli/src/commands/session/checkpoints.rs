//! `seamline session checkpoint`, `commit`, `rollback`, `checkpoints` and `prune`

use clap::{Args, ValueEnum};
use seamline::store::{CheckpointId, Operation, SessionId};

use super::context::{StoreContext, WriterArgs, exit_of};
use super::report_success;
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::session;
use crate::screen;

/// Make a checkpoint, and print its id
///
/// A checkpoint is a place that `rollback` returns to. Its cost does not depend on the length of the session. It stays open
/// until `commit` ends it or `rollback` returns to it.
#[derive(Debug, Args)]
#[command(after_help = CHECKPOINT_EXAMPLES)]
pub(super) struct MakeCheckpoint {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The operation that the checkpoint protects
    #[arg(long, value_enum, default_value_t = MadeFor::Manual)]
    operation: MadeFor,
    #[command(flatten)]
    writer: WriterArgs,
}

const CHECKPOINT_EXAMPLES: &str = "\
Examples:
  id=$(seamline session checkpoint s-1)
  seamline session append s-1 message.json &&
    seamline session commit s-1 $id || seamline session rollback s-1 $id";

const COMMIT_EXAMPLES: &str = "\
Examples:
  id=$(seamline session checkpoint s-1 --operation api_call)
  seamline session append s-1 message.json
  seamline session commit s-1 $id";

const ROLLBACK_EXAMPLES: &str = "\
Examples:
  seamline session rollback s-1 --reason 'the stream broke off'
  id=$(seamline session checkpoint s-1)
  seamline session rollback s-1 $id";

const CHECKPOINTS_EXAMPLES: &str = "\
Examples:
  seamline session checkpoints s-1
  seamline session checkpoints s-1 --format json | jq -r '.checkpoints[].id'";

const PRUNE_EXAMPLES: &str = "\
Examples:
  seamline session prune s-1 --keep 2
  seamline session prune s-1 --keep 0    # all that are committed";

/// The operation that a checkpoint protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum MadeFor {
    /// Tool calls and their results
    ToolCycle,
    /// A summary that replaces messages
    Compaction,
    /// A request to the provider
    ApiCall,
    /// A manual checkpoint
    Manual,
}

impl From<MadeFor> for Operation {
    fn from(made_for: MadeFor) -> Self {
        match made_for {
            MadeFor::ToolCycle => Self::ToolCycle,
            MadeFor::Compaction => Self::Compaction,
            MadeFor::ApiCall => Self::ApiCall,
            MadeFor::Manual => Self::Manual,
        }
    }
}

impl MakeCheckpoint {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let made = context.write(&self.name, self.writer.options(), |session| {
            context.wait(session.create_checkpoint(self.operation.into()))
        })?;
        let mut output = Output::new();
        output.text(&format!("{}\n", made.id));
        Ok(output.finish(Exit::Clean))
    }
}

/// Commit a checkpoint: the operation that it was made for succeeded
///
/// `rollback` returns to a committed checkpoint only by its id. The last five committed checkpoints are kept.
#[derive(Debug, Args)]
#[command(after_help = COMMIT_EXAMPLES)]
pub(super) struct Commit {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The id of the checkpoint
    #[arg(value_name = "ID")]
    id: CheckpointId,
    #[command(flatten)]
    writer: WriterArgs,
}

impl Commit {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        context
            .write(&self.name, self.writer.options(), |session| context.wait(session.commit_checkpoint(&self.id)))?;
        Ok(report_success(&format!("{}: committed {}", self.name, self.id)))
    }
}

/// Return to a checkpoint
///
/// Hides the messages after the checkpoint. It first checks the messages before it against their hash. Nothing is erased:
/// `show --records` still lists every record.
#[derive(Debug, Args)]
#[command(after_help = ROLLBACK_EXAMPLES)]
pub(super) struct Rollback {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The id of the checkpoint [default: the last open one]
    #[arg(value_name = "ID")]
    id: Option<CheckpointId>,
    /// The reason, for the list of incidents
    #[arg(long, value_name = "TEXT", default_value = "requested on the command line")]
    reason: String,
    #[command(flatten)]
    writer: WriterArgs,
}

impl Rollback {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let none = || {
            Failure::new(format!("session `{}` has no open checkpoint", self.name))
                .with_hint(context.checkpoints_hint("lists the checkpoints that can be named"))
        };
        let (id, result) = context.write(&self.name, self.writer.options(), |session| {
            if self.id.is_none() {
                context.refuse_calls(&session.unresolved(), "to roll it back anyway, name a checkpoint")?;
            }
            let latest = || session.latest_checkpoint().map(|latest| latest.id);
            let id = self.id.clone().or_else(latest).ok_or_else(none)?;
            let result = context.wait(session.rollback(&id, &self.reason))?;
            Ok((id, result))
        })?;
        let removed = screen::count(result.messages_removed, "message");
        let left = screen::count(result.new_message_count, "message");
        Ok(report_success(&format!("{}: back at {id}; {removed} hidden, {left} left", self.name)))
    }
}

/// List the checkpoints of a session
///
/// As JSON: `version`, `session` and `checkpoints`, each with `id`, `at` in milliseconds since 1970, the number of
/// `messages` at that time and their `hash`, the `operation` it was made for, its `state` (`open`, `committed`,
/// `rolled_back` or `expired`), `seq` (the record that made it), and the messages as `snapshot` if they were kept.
#[derive(Debug, Args)]
#[command(after_help = CHECKPOINTS_EXAMPLES)]
pub(super) struct Checkpoints {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The format of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

impl Checkpoints {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let session = context.read_aloud(&self.name)?;
        let checkpoints = &session.state().checkpoints;
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => output.text(&session::listing(&self.name, "checkpoints", checkpoints)),
            ListFormat::Text if checkpoints.is_empty() => output.text("no checkpoints\n"),
            ListFormat::Text => output.text(&session::checkpoints(checkpoints)),
        }
        Ok(output.finish(exit_of(session.health())))
    }
}

/// Remove all committed checkpoints except the last ones
///
/// Messages are not touched.
#[derive(Debug, Args)]
#[command(after_help = PRUNE_EXAMPLES)]
pub(super) struct Prune {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// How many committed checkpoints to keep; open ones are always kept
    #[arg(long, value_name = "N")]
    keep: usize,
    #[command(flatten)]
    writer: WriterArgs,
}

impl Prune {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let (gone, left) = context.write(&self.name, self.writer.options(), |session| {
            let gone = context.wait(session.prune_checkpoints(self.keep))?;
            Ok((gone, session.checkpoints().len()))
        })?;
        let gone = screen::count(gone, "checkpoint");
        Ok(report_success(&format!("{}: removed {gone}; {} left", self.name, screen::grouped(left))))
    }
}
