//! The report of `seamline doctor`.

mod json;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub(crate) use json::json;
use seamline::files::{About, Program};
use seamline::{Finding, Severity};

use super::Counts;
use super::record::{Record, record_at};
use super::style::{self, Paint};
use super::text::line;
use crate::failure::{Failure, quoted};
use crate::{screen, time};

/// The columns of the labels.
const LABEL_COLUMNS: usize = 13;
/// The most columns of a title.
const TITLE_COLUMNS: usize = 50;

/// The result of examining one file.
pub(crate) enum Examined {
    Session(Box<Session>),
    /// A file of a program whose sessions Seamline does not read.
    Unread(&'static Program),
    /// Not a session.
    Other,
    /// The name of a file that could not be read.
    Failed(String, Failure),
}

/// A session that was examined.
pub(crate) struct Session {
    pub(crate) path: PathBuf,
    pub(crate) program: &'static Program,
    pub(crate) about: About,
    /// The places of its records, for a session that is not one file.
    pub(crate) records: Vec<Record>,
    /// When the file changed last.
    pub(crate) modified: Option<SystemTime>,
    pub(crate) counts: Counts,
    pub(crate) findings: Vec<Finding>,
    /// The command that continues it in its program.
    pub(crate) resume: Option<String>,
    /// The damage, unless the program can continue the session.
    pub(crate) broken: Option<Broken>,
    /// The time since its last change, if it may wait for the tool that it called last.
    pub(crate) waiting: Option<Duration>,
}

/// A broken session.
pub(crate) struct Broken {
    /// The last request of the user, on one line.
    pub(crate) request: Option<String>,
    /// The calls without a result, each on one line.
    pub(crate) open_calls: Vec<String>,
    /// The changes that a repair would make; nothing if the file is too large to try it.
    pub(crate) plan: Option<Plan>,
    /// The result of a repair that was written.
    pub(crate) fixed: Option<Fixed>,
}

/// The changes that a repair would make, as counts.
pub(crate) struct Plan {
    /// Its steps, each with the number of places.
    pub(crate) steps: Vec<(String, usize)>,
    /// The bytes of incomplete records that no program can read.
    pub(crate) lost_bytes: usize,
    /// The pieces of the conversation that it removes.
    pub(crate) dropped: usize,
    /// Why the session cannot be written, if so.
    pub(crate) refusal: Option<&'static str>,
    /// The errors that it leaves.
    pub(crate) left: usize,
    /// Those of them that are about bytes which belong to no record.
    pub(crate) unread: Vec<Finding>,
}

impl Plan {
    /// Whether it would make the session whole.
    pub(crate) fn is_enough(&self) -> bool {
        self.refusal.is_none() && self.left == 0
    }
}

/// The outcome of a repair.
pub(crate) enum Fixed {
    Written {
        /// The path of the bytes that belong to no record.
        quarantine: Option<PathBuf>,
    },
    /// A program uses the file, for this reason.
    InUse(String),
    Failed(Failure),
}

impl Session {
    /// Whether it is healthy now.
    pub(crate) fn is_whole(&self) -> bool {
        let is_fixed = |broken: &Broken| {
            let is_enough = broken.plan.as_ref().is_some_and(Plan::is_enough);
            is_enough && matches!(broken.fixed, Some(Fixed::Written { .. }))
        };
        self.broken.as_ref().is_none_or(is_fixed)
    }

    /// Whether Seamline writes such sessions and no repair makes this one whole, so that its provider would refuse it.
    fn stays_broken(&self) -> bool {
        let plan = self.broken.as_ref().and_then(|broken| broken.plan.as_ref());
        self.program.is_written() && plan.is_some_and(|plan| !plan.is_enough())
    }

    /// The command that continues it in its program, unless it stays broken.
    pub(crate) fn continuation(&self) -> Option<&str> {
        self.resume.as_deref().filter(|_| !self.stays_broken())
    }

    /// The command that writes what is readable of a session that stays broken.
    fn rescue(&self) -> Option<String> {
        let id = self.about.id.as_deref().filter(|_| !self.records.is_empty());
        let session = id.map(|id| format!(" --session {}", quoted(id))).unwrap_or_default();
        self.stays_broken().then(|| format!("seamline salvage {}{session}", argument(&self.path)))
    }

    /// Whether a repair would make it whole.
    pub(crate) fn can_be_fixed(&self) -> bool {
        self.broken.as_ref().and_then(|broken| broken.plan.as_ref()).is_some_and(Plan::is_enough)
    }
}

/// Everything that was found.
#[derive(Default)]
pub(crate) struct Checkup {
    /// The sessions that were asked for by name, and all broken ones.
    pub(crate) shown: Vec<Session>,
    /// The numbers of each program, by its name.
    pub(crate) programs: BTreeMap<&'static str, Numbers>,
    /// The files that hold no session.
    pub(crate) others: usize,
    pub(crate) failed: usize,
    /// The paths of healthy sessions with warnings, each once.
    pub(crate) warned: Vec<PathBuf>,
}

/// The sessions of one program.
#[derive(Debug, Default, Clone)]
pub(crate) struct Numbers {
    pub(crate) sessions: usize,
    pub(crate) healthy: usize,
    pub(crate) broken: usize,
    /// The broken ones that a repair would make whole.
    pub(crate) fixable: usize,
    /// The broken ones that a repair made whole.
    pub(crate) fixed: usize,
    /// The healthy ones with warnings.
    pub(crate) warned: usize,
    /// The files that Seamline recognises and does not read.
    pub(crate) unread: usize,
    /// The broken sessions by the name of an error.
    pub(crate) kinds: BTreeMap<&'static str, usize>,
}

impl Checkup {
    /// Counts a session, and keeps it if it is shown.
    pub(crate) fn add(&mut self, session: Session, is_named: bool) {
        let numbers = self.programs.entry(session.program.name).or_default();
        numbers.sessions += 1;
        if session.broken.is_none() {
            numbers.healthy += 1;
            if session.counts.warnings > 0 {
                numbers.warned += 1;
                self.warned.extend((self.warned.last() != Some(&session.path)).then(|| session.path.clone()));
            }
        } else {
            numbers.broken += 1;
            numbers.fixable += usize::from(session.can_be_fixed());
            numbers.fixed += usize::from(session.is_whole());
            for kind in kinds(&session.findings) {
                *numbers.kinds.entry(kind).or_default() += 1;
            }
        }
        if session.broken.is_some() || session.waiting.is_some() || is_named {
            self.shown.push(session);
        }
    }

    /// The numbers of all programs together.
    pub(crate) fn total(&self) -> Numbers {
        let mut total = Numbers::default();
        for numbers in self.programs.values() {
            total.sessions += numbers.sessions;
            total.healthy += numbers.healthy;
            total.broken += numbers.broken;
            total.fixable += numbers.fixable;
            total.fixed += numbers.fixed;
            total.warned += numbers.warned;
            total.unread += numbers.unread;
        }
        total
    }
}

/// The names of the errors of a session, each once.
fn kinds(findings: &[Finding]) -> Vec<&'static str> {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let mut kinds: Vec<_> = errors.map(|finding| finding.name).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// How the report is shown.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// The most sessions that are described.
    pub(crate) shown_max: usize,
    /// Whether repairs were asked for.
    pub(crate) fix: bool,
    /// The command that repairs the shown sessions.
    pub(crate) remedy: &'a str,
    pub(crate) now: SystemTime,
}

/// The report for people.
pub(crate) fn text(checkup: &Checkup, view: View<'_>) -> String {
    let is_one = checkup.shown.len() == 1 && checkup.total().sessions == 1;
    let mut out = if is_one { String::new() } else { table::render(&checkup.programs, view.fix, screen::width()) };
    for session in checkup.shown.iter().take(view.shown_max) {
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = write!(out, "{gap}{}", described(session, view.now));
    }
    let hidden = checkup.shown.len().saturating_sub(view.shown_max);
    if hidden > 0 {
        let _ = write!(out, "\n… and {} more; `--all` describes them\n", screen::grouped(hidden));
    }
    out += &warned(&checkup.warned, view.shown_max);
    let _ = write!(out, "\n{}", summary(checkup, view));
    out
}

/// The files of sessions with warnings, and the command that shows them.
fn warned(paths: &[PathBuf], shown_max: usize) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}", line("warnings, which `seamline check FILE` shows, are in:"));
    for path in paths.iter().take(shown_max) {
        let _ = writeln!(out, "  {}", screen::printable(&argument(path)));
    }
    if paths.len() > shown_max {
        let _ = writeln!(out, "  … and {} more; `--all` lists them", screen::grouped(paths.len() - shown_max));
    }
    out
}

/// One session: what was going on, what is wrong, what a repair does, and how to go on.
fn described(session: &Session, now: SystemTime) -> String {
    let mark = if session.is_whole() { style::GOOD.paint("✓") } else { style::ERROR.paint("✗") };
    let mut parts = vec![style::STRONG.paint(session.program.name)];
    let title = session.about.title.as_deref().map(|title| one_line(title, TITLE_COLUMNS));
    parts.extend(title.map(|title| format!("“{title}”")));
    parts.extend(session.modified.and_then(|time| now.duration_since(time).ok()).map(time::ago_text));
    if session.about.is_subagent {
        parts.push("sub-agent".to_owned());
    }
    let mut page = Page { out: line(&format!("{mark} {}", parts.join(" · "))) };
    page.row("file", style::FAINT, &shown_path(&session.path));
    if !session.records.is_empty() {
        page.row("session", style::FAINT, session.about.id.as_deref().unwrap_or_default());
    }
    page.row("folder", style::FAINT, &session.about.folder.clone().unwrap_or_default());
    if let Some(broken) = &session.broken {
        page.quote("you asked", broken.request.as_deref().unwrap_or_default());
        for (index, call) in broken.open_calls.iter().enumerate() {
            page.quote(if index == 0 { "open call" } else { "" }, call);
        }
        page.row("wrong", style::ERROR, &wrong(session));
        page.plan(session, broken);
        page.outcome(session, broken);
    } else if let Some(since) = session.waiting {
        page.row("waiting", style::WARNING, &waiting(since));
    } else {
        page.row("wrong", style::GOOD, "nothing");
    }
    let label = if session.is_whole() { "continue" } else { "then" };
    match (session.rescue(), session.continuation()) {
        (Some(command), _) => page.command("rescue", &command),
        (None, Some(command)) => page.command(label, command),
        (None, None) => page.row(label, style::GOOD, session.program.next_step().unwrap_or_default()),
    }
    page.out
}

/// Says why a session with an open call is not called broken.
fn waiting(since: Duration) -> String {
    let ago = time::ago_text(since);
    format!(
        "its last tool call has no result yet and may still be running (changed {ago}); if its program has ended, `--fix --force` repairs it"
    )
}

/// The errors of a session by their codes, with the line of the first of each.
fn wrong(session: &Session) -> String {
    let mut kinds: Vec<(&Finding, usize)> = Vec::new();
    for finding in session.findings.iter().filter(|finding| finding.severity == Severity::Error) {
        match kinds.iter_mut().find(|(first, _)| first.code == finding.code) {
            Some((_, count)) => *count += 1 + finding.more,
            None => kinds.push((finding, 1 + finding.more)),
        }
    }
    let one = |(first, count): &(&Finding, usize)| {
        let times = if *count > 1 { format!("{} × ", screen::grouped(*count)) } else { String::new() };
        let place = match record_at(&session.records, first.line) {
            Some(record) => format!(" ({})", record.short()),
            None => first.line.map(|line| format!(" (line {line})")).unwrap_or_default(),
        };
        format!("{times}{} {}{place}", first.code, first.name)
    };
    kinds.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Labelled rows below the heading of a session. Empty rows are left out.
struct Page {
    out: String,
}

impl Page {
    fn plan(&mut self, session: &Session, broken: &Broken) {
        let Some(plan) = &broken.plan else {
            return self.row("repair", style::FAINT, "the file is too large to try it here; `seamline fix` does it");
        };
        let step = |(step, count): &(String, usize)| match count {
            1 => step.clone(),
            count => format!("{step} ({} times)", screen::grouped(*count)),
        };
        match plan.refusal {
            Some(refusal) => self.row("repair", style::ERROR, &format!("none: {refusal}")),
            None => self.row("repair", style::HINT, &plan.steps.iter().map(step).collect::<Vec<_>>().join("; ")),
        }
        if plan.refusal.is_none() && plan.left > 0 {
            self.row("", style::ERROR, &format!("{} would remain", screen::count(plan.left, "error")));
        }
        let mut lost = Vec::new();
        if plan.lost_bytes > 0 {
            let bytes = screen::bytes(plan.lost_bytes as u64);
            lost.push(format!("{bytes} of incomplete records, which are kept beside the backup"));
        }
        for unread in &plan.unread {
            lost.push(match record_at(&session.records, unread.line) {
                Some(record) => format!("the content of {}, which cannot be read and stays as it is", record.short()),
                None => unread.message.clone(),
            });
        }
        if plan.dropped > 0 {
            lost.push(format!("{} of the conversation", screen::count(plan.dropped, "piece")));
        }
        let paint = if lost.is_empty() { style::GOOD } else { style::WARNING };
        let lost = if lost.is_empty() { "nothing".to_owned() } else { lost.join(", ") };
        if plan.refusal.is_none() {
            self.row("lost", paint, &lost);
        }
    }

    fn outcome(&mut self, session: &Session, broken: &Broken) {
        match &broken.fixed {
            None => {}
            Some(Fixed::Written { quarantine }) => {
                self.row("repaired", style::GOOD, &format!("`seamline undo {}` undoes it", argument(&session.path)));
                let kept = quarantine.as_ref().map(|path| path.display().to_string());
                self.row("quarantine", style::FAINT, &kept.unwrap_or_default());
            }
            Some(Fixed::InUse(reason)) => {
                self.row("not written", style::ERROR, &format!("{reason}; end its program and try again"));
            }
            Some(Fixed::Failed(failure)) => self.row("not written", style::ERROR, &failure.message),
        }
    }

    /// A text of Seamline.
    fn row(&mut self, label: &str, paint: Paint, text: &str) {
        if text.is_empty() {
            return;
        }
        let room = screen::width().saturating_sub(LABEL_COLUMNS + 2);
        let wrapped = screen::sentence(&screen::printable(text), room);
        for (index, text) in wrapped.lines().enumerate() {
            let label = if index == 0 { label } else { "" };
            let gap = " ".repeat(LABEL_COLUMNS.saturating_sub(screen::columns(label)));
            let _ = writeln!(self.out, "  {}{gap}{text}", paint.paint(label));
        }
    }

    /// A command, which is never wrapped so that it can be copied.
    fn command(&mut self, label: &str, command: &str) {
        let gap = " ".repeat(LABEL_COLUMNS.saturating_sub(screen::columns(label)));
        let _ = writeln!(self.out, "  {}{gap}{}", style::GOOD.paint(label), screen::printable(command));
    }

    /// A text of the conversation, on one line.
    fn quote(&mut self, label: &str, text: &str) {
        let text = one_line(text, screen::width().saturating_sub(LABEL_COLUMNS + 2));
        if !text.is_empty() {
            let gap = " ".repeat(LABEL_COLUMNS.saturating_sub(screen::columns(label)));
            let _ = writeln!(self.out, "  {}{gap}{text}", style::STRONG.paint(label));
        }
    }
}

fn one_line(text: &str, columns_max: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    screen::cut(&screen::printable(&text), columns_max).into_owned()
}

/// A path with `~` for the home folder.
pub(crate) fn shown_path(path: &Path) -> String {
    let home = std::env::home_dir().filter(|home| home.parent().is_some());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

/// A path as a shell takes it.
fn argument(path: &Path) -> String {
    let shown = shown_path(path);
    // A shell expands `~` only outside of quotes.
    if quoted(&shown.replace('~', "")) == shown.replace('~', "") { shown } else { quoted(&path.display().to_string()) }
}

/// The summary, with the command that helps.
fn summary(checkup: &Checkup, view: View<'_>) -> String {
    let total = checkup.total();
    let sessions = screen::count(total.sessions, "session");
    let failed = match checkup.failed {
        0 => String::new(),
        count => format!("; {} could not be read", screen::count(count, "file")),
    };
    let left = total.broken - total.fixed;
    let is_clean = left == 0 && checkup.failed == 0;
    let mark = if is_clean { style::GOOD.paint("✓") } else { style::ERROR.paint("✗") };
    let verdict = match (total.broken, view.fix) {
        (0, _) if total.sessions == 0 => "there is no session to check".to_owned(),
        (0, _) if total.sessions == 1 => "the session is not broken".to_owned(),
        (0, _) => format!("{sessions}, none is broken"),
        (broken, true) => {
            let rest = if left == 0 { String::new() } else { format!("; {} still broken", are(left)) };
            let broken = screen::count(broken, "broken session");
            format!("repaired {} of {broken}{rest}", screen::grouped(total.fixed))
        }
        (1, false) if total.sessions == 1 => match total.fixable {
            0 => "the session is broken, and it cannot be repaired".to_owned(),
            _ => format!("the session is broken; `{}` repairs it", view.remedy),
        },
        (broken, false) => {
            let remedy = match total.fixable {
                0 => "none can be repaired".to_owned(),
                fixable if fixable == broken => format!("`{}` repairs {}", view.remedy, all(broken)),
                fixable => format!("`{}` repairs {} of them", view.remedy, screen::grouped(fixable)),
            };
            format!(
                "{} of {sessions} {} broken; {remedy}",
                screen::grouped(broken),
                if broken == 1 { "is" } else { "are" }
            )
        }
    };
    let warned = match total.warned {
        0 => String::new(),
        count => format!("; {} with warnings", screen::grouped(count)),
    };
    line(&format!("{mark} {verdict}{warned}{failed}"))
}

fn are(count: usize) -> String {
    format!("{} {}", screen::grouped(count), if count == 1 { "is" } else { "are" })
}

fn all(count: usize) -> &'static str {
    if count == 1 { "it" } else { "all of them" }
}
