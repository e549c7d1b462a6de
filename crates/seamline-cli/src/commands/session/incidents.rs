//! `seamline session incidents`

use clap::Args;
use seamline::session::{Clock as _, SystemClock};
use seamline::store::{Incident, IncidentKind, Record, SessionId};

use super::context::{StoreContext, exit_of};
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::session;
use crate::{screen, suggest, time};

/// List the incidents of a session
///
/// Rollbacks, repairs, abandoned tool calls, provider errors and damage: each with its time, its severity and the number of
/// messages or tool calls. Incidents never contain the text of a conversation.
///
/// As JSON: `version`, `session` and `incidents`, each with `type`, `severity` (`info`, `warning`, `error` or
/// `critical`), `at` in milliseconds since 1970, `count`, `detail`, and, if there is one, the `checkpoint`, the `seq` of the
/// first damaged record, the index of the first `message` and the hash of the ignored `policy`.
///
/// Exit status: 0 the incidents are listed, 1 the session is degraded, so that incidents may be missing, 2 the command
/// failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Incidents {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// Only incidents of this type, such as `rollback`
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    kind: Option<IncidentKind>,
    /// Only incidents since a time: `2026-11-15`, `2026-11-15T06:20:00Z`, or `30m`, `2h`, `7d` ago
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<u64>,
    /// The format of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline session incidents s-1
  seamline session incidents s-1 --type rollback --since 2h";

/// All types of incidents.
const KINDS: [IncidentKind; 20] = [
    IncidentKind::ValidationFailed,
    IncidentKind::ContentFilter,
    IncidentKind::ApiError,
    IncidentKind::Timeout,
    IncidentKind::Corruption,
    IncidentKind::CheckpointCreated,
    IncidentKind::CheckpointCommitted,
    IncidentKind::Rollback,
    IncidentKind::Repair,
    IncidentKind::Undo,
    IncidentKind::Reset,
    IncidentKind::Aborted,
    IncidentKind::OutcomeUnknown,
    IncidentKind::NotExecuted,
    IncidentKind::Damaged,
    IncidentKind::TakenOver,
    IncidentKind::SnapshotTooLarge,
    IncidentKind::InboxQuarantined,
    IncidentKind::PolicyIgnored,
    IncidentKind::Other,
];

fn kind(text: &str) -> Result<IncidentKind, String> {
    let found = KINDS.into_iter().find(|kind| session::word(kind) == text);
    found.ok_or_else(|| {
        let names: Vec<String> = KINDS.iter().map(session::word).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        suggest::hint(text, &names, &format!("the kinds are {}", names.join(", ")))
    })
}

fn since(text: &str) -> Result<u64, String> {
    let wrong = || "a time is written `2026-11-15`, `2026-11-15T06:20:00Z`, `30m`, `2h` or `7d`".to_owned();
    time::parse(text, SystemClock.now()).ok_or_else(wrong)
}

impl Incidents {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        // The state of a session has only the last incidents; the log has all.
        let commits = context.commits(&self.name).map_err(|error| context.failure(&error))?;
        let opened = commits.iter().filter_map(|commit| context.open_commit(commit).ok());
        let records = opened.flat_map(|commit| commit.records);
        let incidents = records.filter_map(Record::into_incident);
        let wanted: Vec<Incident> = incidents.filter(|incident| self.wants(incident)).collect();
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => output.text(&session::listing(&self.name, "incidents", &wanted)),
            ListFormat::Text if wanted.is_empty() => output.text("no incidents\n"),
            ListFormat::Text => output.text(&session::incidents(wanted.iter(), screen::width())),
        }
        // A session that cannot be read is worse than a degraded one.
        let exit = context.read_aloud(&self.name).map_or(Exit::Findings, |session| exit_of(session.health()));
        Ok(output.finish(exit))
    }

    fn wants(&self, incident: &Incident) -> bool {
        self.kind.is_none_or(|kind| kind == incident.kind) && self.since.is_none_or(|since| incident.at >= since)
    }
}
