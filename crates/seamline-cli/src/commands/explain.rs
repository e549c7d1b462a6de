//! `seamline explain`

use std::borrow::Cow;

use clap::Args;
use seamline::{Rule, Severity};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::render::{markdown, style};
use crate::screen;

/// Say what a rule's code means
///
/// Prints the documentation of a rule: what it finds, why that is bad, an example, what a repair makes of
/// it, and what that may cost. Markdown when the output is not a terminal.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// A rule's code or name
    #[arg(value_name = "CODE")]
    code: String,
}

const EXAMPLES: &str = "\
Examples:
  seamline explain PAIR001
  seamline explain orphan-result";

/// How alike two names must be for one to be proposed for the other, from 0 to 1.
const LIKENESS_MIN: f64 = 0.7;
const PROPOSALS_MAX: usize = 3;

/// The finding that is about Seamline and has no rule.
const BUG: Entry = Entry {
    code: "BUG001",
    name: "repair-did-not-settle",
    severity: Severity::Error,
    about: Cow::Borrowed("seamline · error · fix: none"),
    documentation: Cow::Borrowed(include_str!("explain_bug.md")),
};

/// What is known about a code.
struct Entry {
    code: &'static str,
    name: &'static str,
    severity: Severity,
    about: Cow<'static, str>,
    documentation: Cow<'static, str>,
}

impl Entry {
    fn find(code_or_name: &str) -> Option<Self> {
        if BUG.code.eq_ignore_ascii_case(code_or_name) || BUG.name == code_or_name {
            return Some(BUG);
        }
        seamline::rule(code_or_name).map(Self::of)
    }

    fn of(rule: &Rule) -> Self {
        let about = format!("{} · {} · fix: {}", rule.group.as_str(), rule.severity.as_str(), rule.safety.as_str());
        Self {
            code: rule.code,
            name: rule.name,
            severity: rule.severity,
            about: Cow::Owned(about),
            documentation: Cow::Owned(seamline::documentation(rule)),
        }
    }

    fn for_people(&self) -> String {
        format!(
            "{} {}  {}\n\n{}",
            style::severity(self.severity).paint(self.code),
            style::STRONG.paint(self.name),
            style::FAINT.paint(&self.about),
            markdown::render(&self.documentation, screen::width())
        )
    }

    fn as_markdown(&self) -> String {
        format!("# {} `{}`\n\n{}\n\n{}\n", self.code, self.name, self.about, self.documentation.trim_end())
    }
}

impl Explain {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let entry = Entry::find(&self.code).ok_or_else(|| unknown(&self.code))?;
        let mut output = Output::new();
        output.text(&if output::is_terminal() { entry.for_people() } else { entry.as_markdown() });
        Ok(output.finish(Exit::Clean))
    }
}

fn unknown(asked: &str) -> Failure {
    let failure = Failure::new(format!("no rule is called `{asked}`"));
    let proposals = closest(asked);
    if proposals.is_empty() {
        failure.with_hint("`seamline rules` lists them all")
    } else {
        failure.with_hint(format!("did you mean {}?", proposals.join(", ")))
    }
}

/// The rules whose code or name is most like what was asked for.
fn closest(asked: &str) -> Vec<String> {
    let asked = asked.to_lowercase();
    let mut scored: Vec<_> = seamline::RULES
        .iter()
        .map(|rule| {
            let code = strsim::normalized_damerau_levenshtein(&asked, &rule.code.to_lowercase());
            let name = strsim::normalized_damerau_levenshtein(&asked, rule.name);
            let names_part = rule.name.split('-').any(|word| word == asked);
            let score = if names_part { 1.0 } else { code.max(name) };
            (score, rule)
        })
        .filter(|(score, _)| *score >= LIKENESS_MIN)
        .collect();
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.iter().take(PROPOSALS_MAX).map(|(_, rule)| format!("{} ({})", rule.code, rule.name)).collect()
}
