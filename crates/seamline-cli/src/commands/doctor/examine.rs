//! The examination of one session file.

use std::path::Path;
use std::time::{Duration, SystemTime};

use seamline::files::{CheckedFile, RepairedFile};
use seamline::outline::{OutlineBlock, OutlineKind, OutlineMessage, Role};
use seamline::repair::Loss;
use seamline::{Finding, Options, Severity};

use super::search::Candidate;
use crate::failure::Failure;
use crate::files::times::Times;
use crate::files::undo::{self, Force, SessionRepair};
use crate::files::{in_use, replace_session, unknown};
use crate::input::Source;
use crate::render::doctor::{Broken, Examined, Fixed, Plan, Session};
use crate::render::{Counts, file, repair};
use crate::screen;
use crate::stored::Store;

/// The longest session file whose repair is tried.
const PLANNED_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// How many of the last messages are searched for the last request of the user, before all are.
const LAST_MESSAGES: usize = 64;
/// The bytes of a block that a preview uses.
const PREVIEW_BYTES: usize = 400;
/// The most open calls that are named.
const CALLS_MAX: usize = 4;

/// The defects of bytes that belong to no complete record. They remain where a record is a row or a file of its own.
const UNREAD: [&str; 5] = ["FILE001", "FILE002", "FILE003", "FILE004", "FILE005"];

/// How sessions are examined.
pub(super) struct Examination<'a> {
    pub(super) options: &'a Options,
    /// Whether broken sessions are repaired.
    pub(super) fix: bool,
    pub(super) force: Force,
    /// Sessions of a database that changed before are left out, unless the user named one.
    pub(super) since: Option<SystemTime>,
}

impl Examination<'_> {
    /// Examines a file or the sessions of a database, and repairs them if that was asked.
    pub(super) fn examine(&self, candidate: &Candidate) -> Vec<Examined> {
        // Reading a file may change the time of its last access.
        let times = candidate.path.metadata().ok().and_then(|metadata| Times::of(&metadata));
        let examined = match Store::at(&candidate.path) {
            Ok(Some(store)) => self.examine_store(candidate, &store),
            Ok(None) => self.run(candidate, times).map(|one| vec![one]),
            Err(failure) => Err(failure),
        };
        examined.unwrap_or_else(|failure| vec![Examined::Failed(candidate.path.display().to_string(), failure)])
    }

    fn run(&self, candidate: &Candidate, times: Option<Times>) -> Result<Examined, Failure> {
        let path = &candidate.path;
        let source = Source::Path(path.clone());
        let opened = source.open()?;
        let length = opened.length;
        match opened.refuse_part() {
            Err(failure) if candidate.is_named => return Err(failure),
            Err(_) => return Ok(Examined::Other),
            Ok(()) => {}
        }
        if self.fix {
            replace_session::remove_leftovers_beside(path);
        }
        let Some(program) = opened.program() else {
            return match unknown::refusal(path, opened.head(), opened.is_longer()) {
                Some(failure) => Err(failure),
                None if candidate.is_named => Err(no_session()),
                None => Ok(Examined::Other),
            };
        };
        if !program.is_read() {
            return if candidate.is_named {
                Err(Failure::of_file(&source, program))
            } else {
                Ok(Examined::Unread(program))
            };
        }
        let checked = seamline::files::check(&source.name(), &mut opened.into_reader(), self.options)?;
        let Some(checked) = checked else { return Ok(Examined::Other) };
        let counts = Counts::of(&checked.findings);
        let waiting = self.waiting(&checked, candidate.modified);
        let is_whole = checked.is_healthy() || waiting.is_some();
        let broken = if is_whole { None } else { Some(self.broken(path, &checked, (length, times))?) };
        Ok(Examined::Session(Box::new(Session {
            path: path.clone(),
            program: checked.program,
            resume: file::resume(checked.program.session, &checked.about, &source.name()),
            about: checked.about,
            records: Vec::new(),
            modified: candidate.modified,
            counts,
            findings: checked.findings,
            broken,
            waiting,
        })))
    }

    /// The time since a session changed, if it may only wait for its last tool.
    pub(super) fn waiting(&self, checked: &CheckedFile, modified: Option<SystemTime>) -> Option<Duration> {
        let since = in_use::tool_may_run(modified, SystemTime::now()).filter(|_| self.force == Force::No)?;
        checked.is_waiting().then_some(since)
    }

    /// The damage, the planned repair, and its outcome.
    fn broken(
        &self,
        path: &Path,
        checked: &CheckedFile,
        (length, times): (u64, Option<Times>),
    ) -> Result<Broken, Failure> {
        if length > PLANNED_BYTES_MAX {
            let going_on = GoingOn::of(&checked.body, checked.dialect, &checked.findings);
            return Ok(Broken { request: going_on.request, open_calls: going_on.calls, plan: None, fixed: None });
        }
        let before = std::fs::read(path).map_err(|error| Failure::io("read", &error))?;
        let name = path.display().to_string();
        let Some(repaired) = seamline::files::repair(&name, &before, self.options)? else {
            return Err(no_session());
        };
        let going_on = GoingOn::of(&repaired.before, repaired.dialect, &repaired.found);
        let plan = plan(&repaired);
        let is_planned = repaired.is_changed() && plan.refusal.is_none();
        let fixed = (self.fix && is_planned).then(|| self.write(path, &before, &repaired, times));
        Ok(Broken { request: going_on.request, open_calls: going_on.calls, plan: Some(plan), fixed })
    }

    /// Writes the repaired session.
    fn write(&self, path: &Path, before: &[u8], repaired: &RepairedFile<'_>, times: Option<Times>) -> Fixed {
        if let (Force::No, Some(in_use)) = (self.force, in_use::look(path)) {
            return Fixed::InUse(in_use.reason());
        }
        match undo::repair_session(path, &SessionRepair::of(before, repaired, times, self.force)) {
            Ok(quarantine) => Fixed::Written { quarantine },
            Err(failure) => Fixed::Failed(failure),
        }
    }
}

fn no_session() -> Failure {
    Failure::new("this is not a session file of a known program")
        .with_hint("`seamline check` reads request bodies; `seamline salvage` reads what is left of any file")
}

/// Summarises the changes that a repair would make.
pub(super) fn plan(repaired: &RepairedFile<'_>) -> Plan {
    let mut steps: Vec<(String, usize)> = Vec::new();
    for action in &repaired.actions {
        let step = repair::step(action);
        match steps.iter_mut().find(|(known, _)| *known == step) {
            Some((_, count)) => *count += 1,
            None => steps.push((step, 1)),
        }
    }
    let lost = repaired.quarantined.iter().filter(|part| !part.is_repeated);
    let errors = repaired.remaining.iter().filter(|finding| finding.severity == Severity::Error);
    let unread = errors.clone().filter(|finding| UNREAD.contains(&finding.code)).cloned().collect();
    Plan {
        steps,
        lost_bytes: lost.map(|part| part.bytes.len()).sum(),
        dropped: repaired.dropped.iter().filter(|dropped| dropped.loss == Loss::Said).count(),
        refusal: repaired.refusal,
        left: errors.map(|finding| 1 + finding.more).sum(),
        unread,
    }
}

/// The activity of the session when it broke.
pub(super) struct GoingOn {
    /// The last request of the user, on one line.
    pub(super) request: Option<String>,
    /// The calls without a result, each on one line.
    pub(super) calls: Vec<String>,
}

impl GoingOn {
    pub(super) fn of(body: &str, dialect: &str, findings: &[Finding]) -> Self {
        let options = Options { dialect: Some(dialect.to_owned()), kept: true, ..Options::default() };
        let outline = |indices: std::ops::Range<usize>| {
            seamline::outline::outline_at(body.as_bytes(), &options, indices, PREVIEW_BYTES).unwrap_or_default()
        };
        let count = seamline::outline::message_spans(body.as_bytes(), &options).map_or(0, |spans| spans.len());
        let request = request_in(&outline(count.saturating_sub(LAST_MESSAGES)..count));
        let request = request.or_else(|| request_in(&outline(0..count)));
        let open = findings.iter().filter(|finding| finding.name == "unanswered-call");
        let named = open.filter_map(|finding| Some((finding.message_index?, finding.call_id.as_deref()?)));
        let calls = named.filter_map(|(message, id)| {
            let message = outline(message..message + 1).pop()?;
            message.blocks.iter().find(|block| block.id.as_deref() == Some(id)).map(call)
        });
        Self { request, calls: calls.take(CALLS_MAX).collect() }
    }
}

/// The last text of the user; text in angle brackets is often written by a program.
fn request_in(messages: &[OutlineMessage]) -> Option<String> {
    let by_user = messages.iter().rev().filter(|message| message.role == Role::User);
    let texts = by_user.flat_map(|message| message.blocks.iter().rev());
    let mut texts = texts.filter(|block| block.kind == OutlineKind::Text && !block.preview.trim().is_empty());
    let text = texts.clone().find(|block| !block.preview.trim_start().starts_with(['<', '['])).or_else(|| texts.next());
    text.map(|block| block.preview.clone())
}

fn call(block: &OutlineBlock) -> String {
    let name = block.name.as_deref().unwrap_or("call");
    format!("{} {}", screen::printable(name), screen::printable(&block.preview))
}
