//! The report of a check, for people.

use seamline::check::Checked;
use seamline::files::CheckedFile;
use seamline::{Finding, Policy, Safety};

use super::findings::{self, Extent};
use super::{Counts, Examined, style};
use crate::screen;

/// The outcome of a check of a body or a session file.
#[derive(Clone, Copy)]
pub(crate) struct Checkup<'a> {
    findings: &'a [Finding],
    messages: usize,
    calls: usize,
    dialect: &'static str,
    provider: &'static str,
    file: Option<&'a CheckedFile>,
}

impl<'a> From<&'a Checked> for Checkup<'a> {
    fn from(checked: &'a Checked) -> Self {
        Self {
            findings: &checked.findings,
            messages: checked.messages,
            calls: checked.calls,
            dialect: checked.dialect,
            provider: checked.provider,
            file: None,
        }
    }
}

impl<'a> From<&'a CheckedFile> for Checkup<'a> {
    fn from(checked: &'a CheckedFile) -> Self {
        Self {
            findings: &checked.findings,
            messages: checked.messages,
            calls: checked.calls,
            dialect: checked.dialect,
            provider: checked.provider,
            file: Some(checked),
        }
    }
}

/// The findings of all bodies together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) bodies: usize,
    /// How many of them are session files.
    pub(crate) sessions: usize,
    pub(crate) wrong_bodies: usize,
    pub(crate) unreadable: usize,
    pub(crate) messages: usize,
    pub(crate) calls: usize,
    pub(crate) counts: Counts,
    /// Findings that a repair would fix.
    pub(crate) fixable: usize,
    /// Findings that a repair would fix only with `--unsafe`.
    pub(crate) unsafe_only: usize,
    /// Whether the repair would leave or cause other findings.
    pub(crate) leaves: bool,
    /// Findings in session files that Seamline cannot write.
    pub(crate) unwritable: usize,
}

impl Tally {
    /// The tally of one body or session file.
    pub(crate) fn of<'a>(checkup: impl Into<Checkup<'a>>, policy: &Policy) -> Self {
        let checked = checkup.into();
        let counts = Counts::of(checked.findings);
        let policy = &*policy.for_provider(checked.provider);
        let wrong = || checked.findings.iter().filter(|finding| finding.severity > seamline::Severity::Info);
        Self {
            bodies: 1,
            sessions: usize::from(checked.file.is_some()),
            wrong_bodies: usize::from(counts.is_wrong()),
            unreadable: 0,
            messages: checked.messages,
            calls: checked.calls,
            counts,
            fixable: wrong().filter(|finding| allows(policy, finding)).count(),
            unsafe_only: wrong().filter(|finding| needs_unsafe(policy, finding)).count(),
            leaves: false,
            unwritable: 0,
        }
    }

    /// Counts the findings as ones that no repair can fix, because the session file cannot be written.
    pub(crate) fn forbid_writing(&mut self) {
        self.unwritable = self.fixable + self.unsafe_only;
        (self.fixable, self.unsafe_only) = (0, 0);
    }

    /// Whether a repair would fix all errors and warnings.
    pub(crate) fn promises_all(&self) -> bool {
        self.fixable > 0 && self.fixable == self.counts.errors + self.counts.warnings
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.bodies += other.bodies;
        self.sessions += other.sessions;
        self.wrong_bodies += other.wrong_bodies;
        self.unreadable += other.unreadable;
        self.messages += other.messages;
        self.calls += other.calls;
        self.counts.add(other.counts);
        self.fixable += other.fixable;
        self.unsafe_only += other.unsafe_only;
        self.leaves |= other.leaves;
        self.unwritable += other.unwritable;
    }

    /// The word for what was checked.
    fn noun(&self) -> &'static str {
        noun(self.sessions, self.bodies)
    }
}

/// The word for bodies of which some are session files.
pub(super) fn noun(sessions: usize, bodies: usize) -> &'static str {
    match sessions {
        0 => "body",
        _ if sessions == bodies => "session",
        _ => "file",
    }
}

fn allows(policy: &Policy, finding: &Finding) -> bool {
    let fix = finding.fix.as_ref();
    fix.is_some_and(|fix| policy.allows(fix.safety))
}

/// Whether the policy would allow the fix if it allowed unsafe ones.
pub(crate) fn needs_unsafe(policy: &Policy, finding: &Finding) -> bool {
    let fix = finding.fix.as_ref();
    // Only its safety keeps a policy that repairs from applying a fix.
    let needs = |safety| matches!(safety, Safety::Unsafe | Safety::Unknown) && !policy.allows(safety);
    fix.is_some_and(|fix| needs(fix.safety)) && policy.allows(Safety::Safe)
}

/// Renders the findings of one body; nothing if there are none.
pub(crate) fn document(examined: &Examined<'_>, extent: Extent) -> String {
    if examined.findings.is_empty() {
        return String::new();
    }
    findings::render(examined, extent, screen::width())
}

/// The summary of a check of one body or session file, with its name.
pub(crate) fn clean<'a>(label: &str, checkup: impl Into<Checkup<'a>>) -> String {
    let checked = checkup.into();
    let file = checked.file.map(|file| format!("{}, {}, ", file.program.name, screen::count(file.records, "record")));
    let about = format!(
        "({}{}, {}; {} for {})",
        file.unwrap_or_default(),
        screen::count(checked.messages, "message"),
        screen::count(checked.calls, "call"),
        checked.dialect,
        checked.provider
    );
    let verdict = clean_verdict(Counts::of(checked.findings));
    let label = screen::printable(label);
    line(&format!("{} {label}: {verdict} {}", style::GOOD.paint("✓"), style::FAINT.paint(&about)))
}

/// The summary of a check; `fix` is the command that repairs what it found.
pub(crate) fn summary(tally: &Tally, fix: &str) -> String {
    let unreadable = match tally.unreadable {
        0 => String::new(),
        count => format!("; {} could not be read", screen::count(count, "body")),
    };
    if !tally.counts.is_wrong() {
        if tally.bodies == 0 {
            return format!("{} nothing was checked{unreadable}\n", style::ERROR.paint("✗"));
        }
        let mark = if tally.unreadable == 0 { style::GOOD.paint("✓") } else { style::ERROR.paint("✗") };
        let about = format!("({}, {})", screen::count(tally.messages, "message"), screen::count(tally.calls, "call"));
        let (verdict, bodies) = (clean_verdict(tally.counts), screen::count(tally.bodies, tally.noun()));
        return line(&format!("{mark} {verdict} in {bodies} {}{unreadable}", style::FAINT.paint(&about)));
    }
    let found = counted(tally.counts);
    let bodies = match (tally.wrong_bodies, tally.bodies) {
        (1, 1) => String::new(),
        (wrong, all) => format!(" in {wrong} of {}", screen::count(all, tally.noun())),
    };
    line(&format!(
        "{} {}{bodies}; {}{unreadable}",
        style::ERROR.paint("✗"),
        style::STRONG.paint(&found),
        remedy(tally, fix)
    ))
}

/// The verdict on bodies without errors and warnings.
pub(crate) fn clean_verdict(counts: Counts) -> String {
    match counts.infos {
        0 => "nothing wrong".to_owned(),
        notes => format!("no errors or warnings, {}", screen::count(notes, "note")),
    }
}

/// A sentence that fits the screen.
pub(super) fn line(text: &str) -> String {
    screen::sentence(text, screen::width()) + "\n"
}

/// `3 errors, 1 warning`.
pub(crate) fn counted(counts: Counts) -> String {
    let parts = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.infos, "note")];
    let parts: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| screen::count(*count, what)).collect();
    parts.join(", ")
}

fn remedy(tally: &Tally, fix: &str) -> String {
    let all = tally.counts.errors + tally.counts.warnings;
    let remedy = match (tally.fixable, tally.unsafe_only) {
        (0, 0) if tally.unwritable > 0 => {
            format!("Seamline cannot write the repaired session; see `{fix} --diff`")
        }
        (1, _) if all == 1 => format!("it can be fixed with `{fix}`"),
        (fixable, _) if fixable == all => format!("all can be fixed with `{fix}`"),
        (0, 0) => "none can be fixed under this policy".to_owned(),
        (0, 1) if all == 1 => format!("it can be fixed with `{fix} --unsafe`"),
        (0, only) => format!("{} can be fixed with `{fix} --unsafe`", of(only, all)),
        (fixable, 0) => format!("{} can be fixed with `{fix}`", of(fixable, all)),
        (fixable, only) => {
            format!("{} can be fixed with `{fix}`, {only} more with `--unsafe`", of(fixable, all))
        }
    };
    if tally.leaves { format!("{remedy}, after which other findings remain: see `{fix} --diff`") } else { remedy }
}

fn of(some: usize, all: usize) -> String {
    if some == all { "all".to_owned() } else { format!("{} of them", screen::grouped(some)) }
}
