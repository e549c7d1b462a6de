//! `seamline session repair` and `seamline session undo`

use std::path::PathBuf;

use clap::Args;
use seamline::repair::RepairAction;
use seamline::session::{PersistRepairs, RepairResult, SessionError};
use seamline::store::{RepairId, SessionId};
use seamline::{Finding, Options, Policy};
use serde::Serialize;

use super::context::{StoreContext, WriterArgs, exit_of};
use super::report_success;
use crate::args::{self, ListFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::repair::{self, Destination, InRequests, Outcome, SessionRepair};
use crate::render::{Counts, Examined, Places, json};
use crate::screen;

/// Repair the stored messages of a session
///
/// Moves results to their tool calls and keeps orphaned results as text. The repair is stored, and `seamline session undo`
/// undoes it. A result that is missing may still arrive, so it is left to each request, which adds a synthetic one, unless
/// you pass `--all` or the policy says `persist_repairs = "all"`; until then it counts as a finding. No content is lost unless the policy or `--unsafe` allows it, and
/// `undo` restores that, too.
///
/// After a switch of the provider, a fix of messages in another dialect is not stored: each request makes it.
///
/// As JSON: `version`, `session`, `dry_run`, `changed`, `repair` (its id, or `null` if nothing was written), the stored
/// `actions` as in `seamline fix --report`, the actions `left_to_requests`, and `remaining`, the findings that remain.
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
    /// The stored part of the repair.
    actions: &'a [RepairAction],
    /// The part of the repair that each request makes.
    left_to_requests: &'a [RepairAction],
    remaining: &'a [Finding],
}

impl Repair {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let session = context.read(&self.name)?;
        let exit = exit_of(session.health());
        let mut policy = args::policy_or_stored(self.policy.as_deref(), &session)?;
        if self.allow_unsafe {
            policy.allow_unsafe();
        }
        let options = session.options(policy).map_err(|error| context.failure(&error))?;
        let extent = if self.all { PersistRepairs::All } else { extent_of(&options) };
        let everything = storing(options.policy.clone(), PersistRepairs::All);
        let policy = storing(options.policy, extent);
        if self.dry_run {
            let planned = session.preview_repair(policy).map_err(|error| context.failure(&error))?;
            context.warn_of_damage(&self.name, session.health());
            let told = self.tell(context, (&planned, extent), || session.preview_repair(everything))?;
            return Ok(if told == Exit::Clean { exit } else { told });
        }
        let told = context.write(&self.name, self.writer.options(), |session| {
            let result = context.wait(session.repair_with(policy))?;
            self.tell(context, (&result, extent), || session.preview_repair(everything))
        })?;
        Ok(if told == Exit::Clean { exit } else { told })
    }

    /// Reports the repair. `everything` plans the repair with synthetic results, for the advice about `--all`.
    fn tell(
        &self,
        context: &StoreContext,
        (result, extent): (&RepairResult, PersistRepairs),
        everything: impl FnOnce() -> Result<RepairResult, SessionError>,
    ) -> Result<Exit, Failure> {
        let is_whole = extent == PersistRepairs::All && result.left_to_requests.is_empty();
        let remaining = findings_after(result)?;
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => {
                let report = Report {
                    version: 1,
                    session: &self.name,
                    dry_run: self.dry_run,
                    changed: result.id.is_some(),
                    repair: result.id.as_ref().filter(|_| !self.dry_run).map(RepairId::as_str),
                    actions: &result.stored,
                    left_to_requests: &result.left_to_requests,
                    remaining: &remaining,
                };
                output.text(&(json::text(&report) + "\n"));
            }
            ListFormat::Text => {
                let (request, keep) = (context.command("request"), context.command("repair --all"));
                let in_requests = if remaining.is_empty() || is_whole || !is_fixed_in_requests(result)? {
                    None
                } else {
                    let is_kept_by_all = extent != PersistRepairs::All && {
                        let all = everything().map_err(|error| context.failure(&error))?;
                        !Counts::of(&findings_after(&all)?).is_wrong()
                    };
                    Some(InRequests { request: &request, keep: is_kept_by_all.then_some(keep.as_str()) })
                };
                output.text(&self.text(context, result, &remaining, in_requests)?);
            }
        }
        let is_wrong = Counts::of(&remaining).is_wrong();
        Ok(output.finish(if is_wrong { Exit::Findings } else { Exit::Clean }))
    }

    /// The report for people.
    fn text(
        &self,
        context: &StoreContext,
        result: &RepairResult,
        remaining: &[Finding],
        in_requests: Option<InRequests<'_>>,
    ) -> Result<String, Failure> {
        let undo = context.command("undo");
        let (is_dry_run, left) = (self.dry_run, &result.left_to_requests);
        let session = SessionRepair { is_dry_run, left, undo: &undo, in_requests };
        let body: &[u8] = if remaining.is_empty() { &[] } else { &result.after };
        let (label, options) = (self.name.as_str(), &result.options);
        let examined = Examined { label, body, options, findings: remaining, places: Places::Joined };
        let outcome = Outcome::of_session(result);
        Ok(repair::document(&examined, &result.before, &outcome, &Destination::Session(&session))?)
    }
}

/// The findings in the session after the recorded part of a repair. A finding that is left to requests is shown with the fix
/// that each request makes. Where nothing is left to them, the repair has checked the same messages already.
fn findings_after(result: &RepairResult) -> Result<Vec<Finding>, Failure> {
    if result.left_to_requests.is_empty() {
        return Ok(result.remaining.clone());
    }
    Ok(seamline::check(&result.after, &result.options)?.findings)
}

/// Whether requests fix the findings that a repair leaves.
fn is_fixed_in_requests(result: &RepairResult) -> Result<bool, Failure> {
    let left = seamline::repair(&result.after, &result.options)?.remaining;
    Ok(!Counts::of(&left).is_wrong())
}

/// How much of a repair is stored without `--all`. The command asks for the repair, so it is stored though the policy leaves
/// repairs to requests.
pub(super) fn extent_of(options: &Options) -> PersistRepairs {
    let policy = options.policy.for_provider(options.provider.as_deref().unwrap_or_default());
    match policy.session.persist_repairs {
        PersistRepairs::All => PersistRepairs::All,
        PersistRepairs::Never | PersistRepairs::RealMovesOnly => PersistRepairs::RealMovesOnly,
    }
}

/// The policy of a repair of which this much is stored.
pub(super) fn storing(mut policy: Policy, extent: PersistRepairs) -> Policy {
    policy.set_persist_repairs(extent);
    policy
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
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let none = || {
            Failure::new(format!("session `{}` has no repair that can be undone", self.name))
                .with_hint(format!("{} lists past repairs", context.command("incidents --type repair")))
        };
        let (id, count) = context.write(&self.name, self.writer.options(), |session| {
            session.state().last_repair().ok_or_else(none)?;
            let id = context.wait(session.undo_repair())?;
            Ok((id, session.entries().len()))
        })?;
        Ok(report_success(&format!("{}: undid {id}; {} now", self.name, screen::count(count, "message"))))
    }
}
