//! `seamline session repair` and `seamline session undo`

use std::path::PathBuf;

use clap::Args;
use seamline::session::{PersistRepairs, SessionPolicy};
use seamline::store::SessionId;
use seamline::{Finding, Options, Policy, RepairAction, Repaired};
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

/// Put right what a session keeps
///
/// Results return to their calls, and what belongs nowhere is kept as text; that is written down and can be taken back
/// with `seamline session undo`. What can only be made up, such as a result that never came, is left to each request
/// unless `--all` says otherwise: it may still come. Until then it counts as a finding here. Nothing anyone said is lost
/// unless a policy or `--unsafe` allows it, and even that `undo` takes back.
///
/// As JSON: `version`, `session`, `dry_run`, `changed`, `repair` (its id, or `null` where nothing was written), `actions`
/// as `seamline fix --report` has them, and `remaining`, the findings that are left.
///
/// Exit status: 0 nothing wrong any more, 1 findings remain, 2 could not do what was asked.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Repair {
    /// The session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "take_over")]
    dry_run: bool,
    /// Make up what is missing, too, and keep it, marked synthetic
    #[arg(long)]
    all: bool,
    /// Apply fixes that drop, alter or guess something, too
    #[arg(long = "unsafe")]
    allow_unsafe: bool,
    /// How damage is put right: the name of a preset, or a TOML file (see `seamline policies`)
    #[arg(long, value_name = "NAME|FILE", default_value = "lossless")]
    policy: PathBuf,
    /// How what was done is printed
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

/// What was done, for programs.
#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    session: &'a SessionId,
    dry_run: bool,
    changed: bool,
    /// What it can be taken back by.
    repair: Option<&'a str>,
    actions: &'a [RepairAction],
    remaining: &'a [Finding],
}

/// Messages as they are kept.
struct Kept {
    body: Vec<u8>,
    /// How they are put right.
    options: Options,
    /// How they are where what is missing is made up, too.
    in_requests: Options,
}

impl Repair {
    pub(super) fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let mut policy = args::policy(&self.policy)?;
        if self.allow_unsafe {
            policy.allow_unsafe();
        }
        let persist_repairs = if self.all { PersistRepairs::All } else { PersistRepairs::RealMovesOnly };
        let config = SessionPolicy { persist_repairs, ..SessionPolicy::default() };
        if self.dry_run {
            let kept = self.kept(place, policy, &config)?;
            return self.tell(place, &kept, &seamline::repair(&kept.body, &kept.options)?, None);
        }
        let options = self.writer.options_with(policy.clone(), config.clone());
        place.write(&self.name, options, |session| {
            // Nobody else writes now, so this is what is about to be repaired.
            let kept = self.kept(place, policy, &config)?;
            let repaired = seamline::repair(&kept.body, &kept.options)?;
            let result = place.wait(session.repair())?;
            self.tell(place, &kept, &repaired, result.id.as_deref())
        })
    }

    /// The messages as they are kept, and how they are put right.
    fn kept(&self, place: &Place, policy: Policy, config: &SessionPolicy) -> Result<Kept, Failure> {
        let session = place.read(&self.name)?;
        let failed = |error| place.failure(&error);
        let everything = SessionPolicy { persist_repairs: PersistRepairs::All, ..config.clone() };
        Ok(Kept {
            body: session.body("{}").map_err(failed)?,
            options: session.repair_options(policy.clone(), config).map_err(failed)?,
            in_requests: session.repair_options(policy, &everything).map_err(failed)?,
        })
    }

    fn tell(&self, place: &Place, kept: &Kept, repaired: &Repaired<'_>, id: Option<&str>) -> Result<Exit, Failure> {
        let Kept { body, in_requests, .. } = kept;
        // What is left to requests is shown with what they do about it.
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

/// Take the last repair of a session back
///
/// Gives the messages the exact bytes back that they had. Messages that came since stay. Several repairs are taken back
/// one after the other, the last one first.
#[derive(Debug, Args)]
#[command(after_help = UNDO_EXAMPLES)]
pub(super) struct Undo {
    /// The session
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
            Failure::new(format!("session `{}` has no repair that could be taken back", self.name))
                .with_hint(format!("{} lists those that were made", place.command("incidents --type repair")))
        };
        let (id, count) = place.write(&self.name, self.writer.options(), |session| {
            session.state().last_repair().ok_or_else(none)?;
            let id = place.wait(session.undo_repair())?;
            Ok((id, session.entries().len()))
        })?;
        Ok(done(&format!("{}: took back {id}; {} now", self.name, screen::count(count, "message"))))
    }
}
