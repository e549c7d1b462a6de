//! `seamline session repair` and `seamline session undo`

use std::path::PathBuf;

use clap::Args;
use seamline::repair::{RepairAction, Repaired};
use seamline::session::PersistRepairs;
use seamline::store::{RepairId, SessionId};
use seamline::{Finding, Options, Policy};
use serde::Serialize;

use super::done;
use super::place::{Place, WriterArgs};
use crate::args::{self, ListFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::repair::{self, Destination};
use crate::render::{Counts, Examined, json};
use crate::screen;

/// Repair the stored messages of a session
///
/// Moves results to their tool calls and keeps orphaned results as text. The repair is stored, and `seamline session undo`
/// undoes it. A result that is missing may still arrive, so it is left to each request, which adds a synthetic one, unless
/// you pass `--all`; until then it counts as a finding. No content is lost unless the policy or `--unsafe` allows it, and
/// `undo` restores that, too.
///
/// As JSON: `version`, `session`, `dry_run`, `changed`, `repair` (its id, or `null` if nothing was written), `actions` as in
/// `seamline fix --report`, and `remaining`, the findings that remain.
///
/// Exit status: 0 no findings are left, 1 findings remain, 2 the command failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Repair {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "take_over")]
    dry_run: bool,
    /// Also add and store synthetic results for missing ones
    #[arg(long)]
    all: bool,
    /// Also apply fixes that drop, alter or guess content
    #[arg(long = "unsafe")]
    allow_unsafe: bool,
    /// The policy of this repair: a preset or a TOML file (see `seamline policies`) [default: the stored one]
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<PathBuf>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    #[command(flatten)]
    writer: WriterArgs,
}

const EXAMPLES: &str = "\
Examples:
  seamline session repair s-1 --dry-run
  seamline session repair s-1
  seamline session repair s-1 --all
  seamline session undo s-1";

/// The report for programs.
#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    session: &'a SessionId,
    dry_run: bool,
    changed: bool,
    /// The id that `undo` takes.
    repair: Option<&'a str>,
    actions: &'a [RepairAction],
    remaining: &'a [Finding],
}

/// The stored messages and their repairs.
struct Kept {
    body: Vec<u8>,
    /// The repair without synthetic results.
    options: Options,
    /// The repair with synthetic results.
    in_requests: Options,
}

impl Repair {
    pub(super) fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let mut policy = args::policy_or_stored(self.policy.as_deref(), &place.read(&self.name)?)?;
        if self.allow_unsafe {
            policy.allow_unsafe();
        }
        policy.session.persist_repairs = if self.all { PersistRepairs::All } else { PersistRepairs::RealMovesOnly };
        if self.dry_run {
            let kept = self.kept(place, policy)?;
            return self.tell(place, &kept, &seamline::repair(&kept.body, &kept.options)?, None);
        }
        place.write(&self.name, self.writer.options(), |session| {
            // This process holds the lease, so these are the messages that the repair changes.
            let kept = self.kept(place, policy.clone())?;
            let repaired = seamline::repair(&kept.body, &kept.options)?;
            let result = place.wait(session.repair_with(policy))?;
            self.tell(place, &kept, &repaired, result.id.as_ref().map(RepairId::as_str))
        })
    }

    /// Reads the stored messages and computes their repairs.
    fn kept(&self, place: &Place, policy: Policy) -> Result<Kept, Failure> {
        let session = place.read(&self.name)?;
        let failed = |error| place.failure(&error);
        let mut everything = policy.clone();
        everything.session.persist_repairs = PersistRepairs::All;
        Ok(Kept {
            body: session.body("{}").map_err(failed)?,
            options: session.repair_options(policy).map_err(failed)?,
            in_requests: session.repair_options(everything).map_err(failed)?,
        })
    }

    fn tell(&self, place: &Place, kept: &Kept, repaired: &Repaired<'_>, id: Option<&str>) -> Result<Exit, Failure> {
        let Kept { body, in_requests, .. } = kept;
        // A finding that is left to requests is shown with the fix that each request makes.
        let remaining =
            if self.all { repaired.remaining.clone() } else { seamline::check(&repaired.body, in_requests)?.findings };
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => {
                let report = Report {
                    version: 1,
                    session: &self.name,
                    dry_run: self.dry_run,
                    changed: repaired.changed(),
                    repair: id,
                    actions: &repaired.actions,
                    remaining: &remaining,
                };
                output.text(&(json::text(&report) + "\n"));
            }
            ListFormat::Text => {
                let label = self.name.as_str();
                let left = seamline::repair(&repaired.body, in_requests)?.remaining;
                let (undo, request, keep) =
                    (place.command("undo"), place.command("request"), place.command("repair --all"));
                let destination = Destination::Session {
                    is_dry_run: self.dry_run,
                    undo: &undo,
                    in_requests: (!self.all && !Counts::of(&left).is_wrong()).then_some((&request, &keep)),
                };
                let whole: &[u8] = if remaining.is_empty() { &[] } else { &repaired.body };
                let examined =
                    Examined { label, body: whole, options: in_requests, findings: &remaining, has_lines: false };
                output.text(&repair::document(&examined, body, repaired, &destination)?);
            }
        }
        let is_wrong = Counts::of(&remaining).is_wrong();
        Ok(output.finish(if is_wrong { Exit::Findings } else { Exit::Clean }))
    }
}

/// Undo the last repair of a session
///
/// Restores the exact bytes that the messages had. Messages that were added since stay. Several repairs are undone one at a
/// time, the last one first.
#[derive(Debug, Args)]
#[command(after_help = UNDO_EXAMPLES)]
pub(super) struct Undo {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    #[command(flatten)]
    writer: WriterArgs,
}

const UNDO_EXAMPLES: &str = "\
Examples:
  seamline session undo s-1
  seamline session repair s-1 --all
  seamline session undo s-1";

impl Undo {
    pub(super) fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let none = || {
            Failure::new(format!("session `{}` has no repair that can be undone", self.name))
                .with_hint(format!("{} lists those that were made", place.command("incidents --type repair")))
        };
        let (id, count) = place.write(&self.name, self.writer.options(), |session| {
            session.state().last_repair().ok_or_else(none)?;
            let id = place.wait(session.undo_repair())?;
            Ok((id, session.entries().len()))
        })?;
        Ok(done(&format!("{}: undid {id}; {} now", self.name, screen::count(count, "message"))))
    }
}
