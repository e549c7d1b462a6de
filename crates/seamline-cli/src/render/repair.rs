//! The report of a repair, for people.

use std::fmt::Write as _;
use std::ops::Deref;
use std::path::Path;

use seamline::policy::OnInvalid;
use seamline::repair::{ActionKind, Dropped, Loss, Prefix, RepairAction, Repaired};
use seamline::session::RepairResult;

use super::diff::{self, Sides};
use super::file::{self, FileOutcome};
use super::findings::{self, Extent};
use super::record::{Record, record_at};
use super::text::{counted, line, needs_unsafe, noun};
use super::{Counts, Examined, style, table};
use crate::screen;

/// The most actions shown of one body; `--report` lists all.
const SHOWN_MAX: usize = 50;
/// The indentation of actions.
const INDENT: &str = "  ";

/// The destination of a repaired body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Destination<'a> {
    /// The body is not written.
    Nowhere,
    Stdout,
    File(&'a Path),
    InPlace(&'a Path),
    /// The messages of a session, stored or only shown.
    Session(&'a SessionRepair<'a>),
}

/// The repair of the messages of a session: the part that is stored, and the part that each request makes.
#[derive(Debug)]
pub(crate) struct SessionRepair<'a> {
    pub(crate) is_dry_run: bool,
    /// The part that each request makes.
    pub(crate) left: &'a [RepairAction],
    /// The command that undoes it.
    pub(crate) undo: &'a str,
    /// The advice about findings that remain, if requests fix them.
    pub(crate) in_requests: Option<InRequests<'a>>,
}

/// The outcome of the repair of a body, or of the messages of a session.
pub(crate) struct Outcome<'a> {
    /// Whether the body at the destination changes.
    is_changed: bool,
    /// The body at the destination. The pieces of a repaired body are joined only where it is read.
    body: &'a dyn Deref<Target = [u8]>,
    provider: &'static str,
    found: usize,
    actions: &'a [RepairAction],
    /// The number of actions that are not listed.
    more_actions: usize,
    dropped: &'a [Dropped],
    prefix: Option<&'a Prefix>,
    file: Option<&'a FileOutcome<'a>>,
}

impl<'a> Outcome<'a> {
    pub(crate) fn of_body(repaired: &'a Repaired<'_>) -> Self {
        Self {
            is_changed: repaired.is_changed(),
            body: &repaired.body,
            provider: repaired.provider,
            found: repaired.found.iter().map(|finding| 1 + finding.more).sum(),
            actions: &repaired.actions,
            more_actions: repaired.more_actions.iter().map(|more| more.count).sum(),
            dropped: &repaired.dropped,
            prefix: Some(&repaired.prefix),
            file: None,
        }
    }

    pub(crate) fn of_file(file: &'a FileOutcome<'a>) -> Self {
        let repaired = file.repaired;
        Self {
            is_changed: repaired.is_changed(),
            body: &file.after,
            provider: repaired.provider,
            found: repaired.found.iter().map(|finding| 1 + finding.more).sum(),
            actions: &repaired.actions,
            more_actions: 0,
            dropped: &repaired.dropped,
            prefix: None,
            file: Some(file),
        }
    }

    /// The part of a repair that the session stores.
    pub(crate) fn of_session(result: &'a RepairResult) -> Self {
        Self {
            is_changed: result.id.is_some(),
            body: &result.after,
            provider: result.provider,
            found: result.found.iter().map(|finding| 1 + finding.more).sum(),
            actions: &result.stored,
            more_actions: 0,
            dropped: &result.dropped,
            prefix: Some(&result.prefix),
            file: None,
        }
    }
}

impl<'a> Outcome<'a> {
    /// The records of a session that is not one file.
    fn records(&self) -> Option<&'a [Record]> {
        self.file?.stored.map(|stored| stored.records.as_slice())
    }
}

/// The commands that help with findings that each request fixes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InRequests<'a> {
    /// The command that makes a request.
    pub(crate) request: &'a str,
    /// The command that stores the fixes, if they can be stored.
    pub(crate) keep: Option<&'a str>,
}

impl<'a> Destination<'a> {
    fn is_dry_run(&self) -> bool {
        matches!(self, Self::Nowhere) || self.session().is_some_and(|session| session.is_dry_run)
    }

    fn session(&self) -> Option<&'a SessionRepair<'a>> {
        match self {
            Self::Session(session) => Some(session),
            Self::Nowhere | Self::Stdout | Self::File(_) | Self::InPlace(_) => None,
        }
    }

    /// The actions that only requests make.
    fn left(&self) -> &'a [RepairAction] {
        self.session().map_or(&[], |session| session.left)
    }
}

/// The outcome of all bodies together.
#[derive(Debug, Default)]
pub(crate) struct Total {
    pub(crate) bodies: usize,
    /// How many of them are session files.
    pub(crate) sessions: usize,
    pub(crate) changed: usize,
    pub(crate) still_wrong: usize,
    pub(crate) failed: usize,
}

impl Total {
    pub(crate) fn add(&mut self, changed: bool, remaining: Counts) {
        self.bodies += 1;
        self.changed += usize::from(changed);
        self.still_wrong += usize::from(remaining.is_wrong());
    }
}

/// The actions on a body and the findings that remain.
pub(crate) fn document(
    examined: &Examined<'_>,
    before: &[u8],
    outcome: &Outcome<'_>,
    destination: &Destination<'_>,
) -> Result<String, seamline::Error> {
    let mut out = headline(examined, outcome, destination);
    if outcome.is_changed {
        if destination.is_dry_run() && outcome.file.is_none_or(FileOutcome::changes_conversation) {
            let sides = Sides { before, after: outcome.body, options: examined.options };
            let _ = writeln!(out, "\n{}", diff::render(sides, screen::width())?);
        }
        out += &actions(outcome.actions, outcome.more_actions, outcome.records());
        if destination.left().is_empty() {
            out += &faint(&cost(outcome));
        }
        out += &outcome.file.map(|file| file::account(file, destination.is_dry_run())).unwrap_or_default();
        out += &footer(destination);
    }
    if let Some(file) = outcome.file {
        out += &file::advice(file, destination);
    }
    if !destination.left().is_empty() {
        if outcome.is_changed {
            out += &line("each request makes the rest of the repair:");
        }
        out += &actions(destination.left(), 0, None);
    }
    if !examined.findings.is_empty() {
        let _ = write!(out, "\n{}", remaining(examined, destination));
    }
    Ok(out)
}

/// The summary of a repair of many bodies.
pub(crate) fn summary(total: &Total, is_dry_run: bool) -> String {
    let is_clean = total.still_wrong == 0 && total.failed == 0;
    let mark = if is_clean { style::GOOD.paint("✓") } else { style::ERROR.paint("✗") };
    let done = if is_dry_run { "would repair" } else { "repaired" };
    let bodies = screen::count(total.bodies, noun(total.sessions, total.bodies));
    let mut out = match total.changed {
        0 => format!("{mark} {done} none of {bodies}"),
        changed => format!("{mark} {done} {} of {bodies}", screen::grouped(changed)),
    };
    if total.still_wrong > 0 {
        let _ = write!(out, "; findings remain in {}", screen::grouped(total.still_wrong));
    } else if total.changed > 0 {
        out += if is_dry_run { "; no findings would remain" } else { "; no findings remain" };
    }
    if total.failed > 0 {
        let _ = write!(out, "; {} could not be read or written", screen::count(total.failed, "body"));
    }
    line(&out)
}

fn headline(examined: &Examined<'_>, outcome: &Outcome<'_>, destination: &Destination<'_>) -> String {
    let label = screen::printable(if examined.label == "-" { "standard input" } else { examined.label });
    let is_wrong = Counts::of(examined.findings).is_wrong();
    let is_dry_run = destination.is_dry_run();
    let policy = examined.options.policy.for_provider(outcome.provider);
    let mark = if is_wrong { style::ERROR.paint("✗") } else { style::GOOD.paint("✓") };
    let found = screen::count(outcome.found, "finding");
    let what = match (outcome.is_changed, is_dry_run, is_wrong) {
        (false, ..) if !destination.left().is_empty() => "not stored; each request makes this repair".to_owned(),
        (true, true, false) if outcome.found == 1 => format!("{found}; it would be fixed"),
        (true, true, false) => format!("{found}; all would be fixed"),
        (true, true, true) => format!("{found}; some would be fixed"),
        (true, false, false) => format!("repaired; {found} fixed"),
        (true, false, true) => "repaired in part".to_owned(),
        (false, _, true) if matches!(policy.repair.on_invalid, OnInvalid::Block | OnInvalid::Warn) => {
            format!("not repaired; policy `{}` only reports", policy.preset)
        }
        (false, _, true) => match outcome.file.and_then(|file| file.repaired.refusal) {
            Some(refusal) => format!("not repaired: {refusal}"),
            None => "not repaired".to_owned(),
        },
        (false, _, false) if examined.findings.is_empty() => "nothing wrong, nothing changed".to_owned(),
        (false, _, false) => "no errors or warnings, nothing changed".to_owned(),
    };
    line(&format!("{mark} {}: {what}", style::STRONG.paint(&label)))
}

/// The destination of the body and the command that restores the old one.
fn footer(destination: &Destination<'_>) -> String {
    let shown = |path: &Path| screen::printable(&path.display().to_string()).into_owned();
    let text = match destination {
        Destination::Nowhere => "nothing was changed; to change it, omit `--diff`".to_owned(),
        Destination::Stdout => return String::new(),
        Destination::File(path) => format!("written to {}", shown(path)),
        Destination::InPlace(path) => format!("`seamline undo {}` undoes it", shown(path)),
        Destination::Session(SessionRepair { is_dry_run: true, .. }) => {
            "nothing was changed; to change it, omit `--dry-run`".to_owned()
        }
        Destination::Session(SessionRepair { undo, .. }) => format!("{undo} undoes it"),
    };
    line(&format!("{INDENT}{}", style::FAINT.paint(&text)))
}

/// Actions on a body, one line each.
fn actions(all: &[RepairAction], more: usize, records: Option<&[Record]>) -> String {
    let width = screen::width();
    // In the order of the conversation, not of the repair.
    let mut shown: Vec<_> = all.iter().collect();
    shown.sort_by_key(|action| (action.line, action.pointer.as_deref().and_then(message_index)));
    shown.truncate(SHOWN_MAX);
    let rows: Vec<_> = shown.iter().map(|action| placed(action, records)).collect();
    let paints = [style::HINT, style::FAINT, style::PLAIN];
    let table = table::render(&rows, paints, width.saturating_sub(INDENT.len()));
    let mut out = String::new();
    for line in table.lines() {
        let _ = writeln!(out, "{INDENT}{line}");
    }
    let hidden = all.len() - shown.len() + more;
    if hidden > 0 {
        let listed = if more == 0 { "every one" } else { "a thousand of each rule" };
        let _ = writeln!(out, "{INDENT}… and {} more; `--report FILE` lists {listed}", screen::grouped(hidden));
    }
    out
}

/// An indented text of little weight.
pub(super) fn faint(text: &str) -> String {
    line(&format!("{INDENT}{}", style::FAINT.paint(text)))
}

/// The columns of an id at most: a conversation may hold ids of any length.
const ID_COLUMNS_MAX: usize = 80;
/// An action as a row, with the record that it changes.
fn placed(action: &RepairAction, records: Option<&[Record]>) -> [String; 3] {
    let [name, place, what] = row(action);
    match records.and_then(|records| record_at(records, action.line)) {
        Some(record) => [name, screen::printable(record.short()).into_owned(), what],
        None => [name, place, what],
    }
}

/// An action as a row: its rule, the message, and the change.
pub(crate) fn row(action: &RepairAction) -> [String; 3] {
    let place = match action.line {
        Some(line) => format!("line {line}"),
        None => action.pointer.as_deref().map(message_of).unwrap_or_default(),
    };
    let (name, done) = named(action);
    let mut what = match &action.call_id {
        Some(id) => format!("{}: {done}", screen::cut(id, ID_COLUMNS_MAX)),
        None => done,
    };
    if action.synthetic && !what.contains("synthetic") {
        what += ", marked synthetic";
    }
    [format!("{} {name}", action.code), place, screen::printable(&what).into_owned()]
}

/// Describes an action without its place.
pub(crate) fn step(action: &RepairAction) -> String {
    let (name, done) = named(action);
    screen::printable(&format!("{name}: {done}")).into_owned()
}

/// The name of the rule or defect of an action, and what the action does.
fn named(action: &RepairAction) -> (&'static str, String) {
    let defect = seamline::files::defect(action.code);
    let rule = || seamline::rules::rule(action.code).map_or("", |rule| rule.name);
    let done = match (&action.removed, defect) {
        (Some(what), _) => format!("{what} removed"),
        (None, Some(kind)) => kind.fix.to_owned(),
        (None, None) => match &action.from_call_id {
            Some(old) => format!("{}, it named `{}`", done(action.action), screen::cut(old, ID_COLUMNS_MAX)),
            None => done(action.action),
        },
    };
    (defect.map_or_else(rule, |kind| kind.name), done)
}

/// The message that a pointer points into.
fn message_of(pointer: &str) -> String {
    message_index(pointer).map(|index| format!("message {index}")).unwrap_or_default()
}

fn message_index(pointer: &str) -> Option<usize> {
    pointer.split('/').find_map(|part| part.parse().ok())
}

/// The text for an action.
fn done(action: ActionKind) -> String {
    let known = match action {
        ActionKind::Declare => "tools declared",
        ActionKind::Demote => "kept as text",
        ActionKind::Fill => "filled in",
        ActionKind::Hoist => "media moved to a message after it",
        ActionKind::Insert => "message inserted",
        ActionKind::Join => "joined with the message before",
        ActionKind::Patch => "fixed in place",
        ActionKind::Readdress => "addressed to its call",
        ActionKind::ReconstructCall => "call rebuilt",
        ActionKind::Reform => "rewritten in the required form",
        ActionKind::Regroup => "split by role",
        ActionKind::Relocate => "moved to its call",
        ActionKind::Remove => "removed",
        ActionKind::RenameCall => "call renamed",
        ActionKind::RenameTool => "tool renamed",
        ActionKind::Reorder => "results put first",
        ActionKind::SetRole => "role corrected",
        ActionKind::Sign => "signature added",
        ActionKind::TakeIn => "kept as text of the user",
        ActionKind::Synthesize => "answered with a synthetic result",
        other => return other.as_str().replace('_', " "),
    };
    known.to_owned()
}

/// The cost of the change.
fn cost(outcome: &Outcome<'_>) -> String {
    let count = |loss: Loss| outcome.dropped.iter().filter(|dropped| dropped.loss == loss).count();
    let (sealed, hidden) = (count(Loss::Sealed), count(Loss::Hidden));
    let has_quarantine = outcome.file.is_some_and(|file| !file.repaired.quarantined.is_empty());
    let mut kept = match count(Loss::Said) {
        0 if has_quarantine => "every complete record is kept".to_owned(),
        0 => "no content is lost".to_owned(),
        count => format!("{} removed", screen::count(count, "piece")),
    };
    if sealed > 0 {
        let _ = write!(kept, ", {} of sealed reasoning removed", screen::count(sealed, "piece"));
    }
    if hidden > 0 {
        let _ = write!(kept, ", {} behind repeated keys removed", screen::count(hidden, "value"));
    }
    let Some(prefix) = outcome.prefix else { return kept };
    let place = match (prefix.around_changed, prefix.first_changed_message) {
        (true, _) => "before all messages".to_owned(),
        (false, Some(first)) => format!("message {first}"),
        (false, None) => return kept,
    };
    let mut out = format!("{kept}; first change: {place}");
    for what in &prefix.invalidates {
        out += match *what {
            "prompt_cache" => ", so the provider's prompt cache is lost from there on",
            "thinking" => ", and signed thinking after it may no longer fit",
            _ => continue,
        };
    }
    out
}

/// The findings that remain.
fn remaining(examined: &Examined<'_>, destination: &Destination<'_>) -> String {
    let policy = &examined.options.policy;
    let found = findings::render(examined, Extent::First, screen::width());
    let helped = examined.findings.iter().filter(|finding| needs_unsafe(policy, finding)).count();
    let counts = Counts::of(examined.findings);
    let label = if counts.is_wrong() { "still wrong: " } else { "" };
    let mut out = format!("{}\n\n{found}", style::STRONG.paint(&format!("{label}{}", counted(counts))));
    if let Some(session) = destination.session() {
        match session.in_requests {
            Some(InRequests { request, keep: Some(keep) }) => {
                let _ = writeln!(out, "a tool result may still arrive; until then each request adds a synthetic one:");
                out += &line(&format!("{INDENT}{request} prints one"));
                out += &line(&format!("{INDENT}{keep} adds it now and stores it"));
            }
            Some(InRequests { request, keep: None }) => {
                let _ = writeln!(out, "each request fixes it, and the stored messages stay as they are:");
                out += &line(&format!("{INDENT}{request} prints one"));
            }
            None if helped == 0 && counts.is_wrong() => out += "this policy cannot fix all of it\n",
            None => {}
        }
    }
    if helped > 0 {
        let _ = writeln!(out, "`--unsafe` would fix {} of them, as `fix:` says above", screen::grouped(helped));
    }
    out
}
