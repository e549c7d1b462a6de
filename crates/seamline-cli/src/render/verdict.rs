//! The explanation of an error, for people and for programs.

use std::fmt::Write as _;

use seamline::check::Checked;
use seamline::classify::{Certainty, Class, NamedMember, Verdict};
use seamline::report::{MeantRule, VerdictReport};
use seamline::{Finding, Options};
use serde::Serialize;

use super::findings::{self, Extent};
use super::style::{self, Paint};
use super::{Examined, Places, json as format, markdown};
use crate::screen;

/// The width of the column of labels.
const LABEL_COLUMNS: usize = 12;

/// An explained error, with the body that caused it.
pub(crate) struct Explained<'a> {
    pub(crate) verdict: &'a Verdict,
    /// The name of the body.
    pub(crate) label: Option<String>,
    pub(crate) body: &'a [u8],
    pub(crate) checked: Option<&'a Checked>,
}

impl Explained<'_> {
    fn causes(&self) -> Vec<Finding> {
        let causes = self.checked.map(|checked| seamline::classify::causes(self.verdict, checked));
        causes.unwrap_or_default().into_iter().cloned().collect()
    }
}

/// The explanation for people.
pub(crate) fn text(explained: &Explained<'_>, options: &Options, width: usize) -> String {
    let verdict = explained.verdict;
    let causes = explained.causes();
    let mut page = Page { out: heading(verdict), width };
    page.quote("the error", &verdict.said);
    page.row("means", style::STRONG, verdict.meaning);
    page.row("place", style::STRONG, &place(verdict));
    page.row("fields", style::STRONG, &members(verdict));
    page.row("rules", style::STRONG, &listed(&VerdictReport::of(verdict).rules, &causes));
    page.row("wait", style::STRONG, &wait(verdict));
    page.row("what to do", style::GOOD, verdict.advice);
    page.row("", style::PLAIN, &step(explained, &causes));
    page.row("", style::PLAIN, agent_step(explained));
    if let (Some(label), false) = (&explained.label, causes.is_empty()) {
        let examined = Examined { label, body: explained.body, options, findings: &causes, places: Places::Body };
        let about = format!("{} in {label} that this error is about:", screen::count(causes.len(), "finding"));
        let shown = findings::render(&examined, Extent::First, width);
        let _ = write!(page.out, "\n{}\n\n{}\n", screen::printable(&about), shown.trim_end());
    }
    page.out
}

/// The class, the name, and the certainty.
fn heading(verdict: &Verdict) -> String {
    let sure = match (verdict.certainty, verdict.known, verdict.status) {
        (Certainty::Known, Some(known), _) => format!("known as {}", known.source),
        (Certainty::Status, _, Some(status)) => format!("classified by its status {status}; the text is unknown"),
        _ => "a guess; neither the text nor the status is known".to_owned(),
    };
    let class = verdict.class.as_str();
    format!(
        "{} {}  {}\n\n",
        class_paint(verdict.class).paint(class),
        style::STRONG.paint(verdict.name),
        style::FAINT.paint(&sure)
    )
}

fn class_paint(class: Class) -> Paint {
    match class {
        Class::Corruption | Class::Fatal => style::ERROR,
        Class::Filter | Class::Overflow => style::WARNING,
        Class::Transient => style::INFO,
    }
}

/// Labelled rows, wrapped beside their label. Empty rows are left out.
struct Page {
    out: String,
    width: usize,
}

impl Page {
    /// Text of Seamline, with code between backticks.
    fn row(&mut self, label: &str, paint: Paint, text: &str) {
        let mut in_code = false;
        self.lines(label, paint, text, |line| markdown::inline(line, &mut in_code));
    }

    /// A quoted text, unchanged.
    fn quote(&mut self, label: &str, text: &str) {
        self.lines(label, style::STRONG, text, |line| style::FAINT.paint(line));
    }

    fn lines(&mut self, label: &str, paint: Paint, text: &str, mut painted: impl FnMut(&str) -> String) {
        if text.is_empty() {
            return;
        }
        let room = self.width.saturating_sub(LABEL_COLUMNS + 2);
        for (index, line) in screen::wrap(&screen::printable(text), room).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let gap = " ".repeat(LABEL_COLUMNS.saturating_sub(screen::columns(label)));
            let _ = writeln!(self.out, "  {}{gap}{}", paint.paint(label), painted(line));
        }
    }
}

fn place(verdict: &Verdict) -> String {
    let place = &verdict.place;
    let mut parts = Vec::new();
    parts.extend(place.message_index.map(|index| format!("message {index}")));
    parts.extend(place.block_index.map(|index| format!("block {index}")));
    if let (Some(last), Some(notation)) = (parts.last_mut(), &place.notation) {
        *last = format!("{last} (the provider's `{notation}`)");
    }
    parts.extend(place.ids.iter().map(|id| format!("`{id}`")));
    parts.join(" · ")
}

/// The fields of the request that the error names, each with what is wrong with it.
fn members(verdict: &Verdict) -> String {
    let one = |member: &NamedMember| {
        let place = member.pointer.as_ref().map(|pointer| format!(" at `{pointer}`")).unwrap_or_default();
        format!("`{}` is {}{place}", member.name, member.fault.as_str())
    };
    verdict.members.iter().map(one).collect::<Vec<_>>().join(" · ")
}

/// The wait that the provider asks for; empty if it does not say.
pub(super) fn wait(verdict: &Verdict) -> String {
    verdict.retry_after.map_or_else(String::new, |wait| format!("{} s, as the provider asks", wait.as_secs_f64()))
}

/// The rules that find the cause of an error; with a body, those with findings.
fn listed(rules: &[MeantRule], causes: &[Finding]) -> String {
    let found = |rule: &&MeantRule| causes.is_empty() || causes.iter().any(|cause| cause.code == rule.code);
    let rules: Vec<_> = rules.iter().filter(found).collect();
    let Some(first) = rules.first() else { return String::new() };
    let names: Vec<_> = rules.iter().map(|rule| format!("{} {}", rule.code, rule.name)).collect();
    format!("{}; see `seamline explain {}`", names.join(", "), first.code)
}

/// The text for a body that breaks no known demand of the provider.
fn nothing_wrong(explained: &Explained<'_>, label: &str) -> String {
    let provider = explained.checked.map_or("", |checked| checked.provider);
    format!(
        "{label} meets every known demand of `{provider}`; if another provider answered, pass `--provider`; if a \
         proxy or an SDK changed the body, check the body that was sent"
    )
}

/// The next command, or the reason why there is none.
fn step(explained: &Explained<'_>, causes: &[Finding]) -> String {
    let verdict = explained.verdict;
    let is_in_body = verdict.class == Class::Corruption || verdict.certainty == Certainty::Guess;
    let label = explained.label.as_deref().unwrap_or("request.json");
    match explained.checked.map(|checked| checked.findings.len()) {
        _ if !causes.is_empty() => format!("`seamline fix --diff {label}`"),
        _ if !is_in_body => String::new(),
        None if !verdict.rules.is_empty() => format!("`seamline fix --diff {label}`"),
        None => format!("`seamline check {label}`"),
        Some(0) => nothing_wrong(explained, label),
        Some(all) => {
            let count = screen::count(all, "finding");
            format!("{count} in {label}, none of which is a known cause of this error: `seamline check {label}`")
        }
    }
}

/// The command for a reader without a request body, who holds only the session of an agent.
fn agent_step(explained: &Explained<'_>) -> &'static str {
    if explained.verdict.class == Class::Corruption && explained.checked.is_none() {
        "`seamline doctor` if the session of an agent is stuck"
    } else {
        ""
    }
}

/// The explanation for programs.
pub(crate) fn json(explained: &Explained<'_>) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        version: u32,
        #[serde(flatten)]
        verdict: VerdictReport<'a>,
        body: Option<Body<'a>>,
    }
    #[derive(Serialize)]
    struct Body<'a> {
        path: &'a str,
        dialect: &'a str,
        provider: &'a str,
        findings: Vec<Finding>,
    }
    let body = explained.label.as_ref().zip(explained.checked).map(|(path, checked)| Body {
        path,
        dialect: checked.dialect,
        provider: checked.provider,
        findings: explained.causes(),
    });
    let document = Document { version: 1, verdict: VerdictReport::of(explained.verdict), body };
    format::text(&document) + "\n"
}
