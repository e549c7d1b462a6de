//! `seamline explain`

use clap::Args;

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

impl Explain {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let rule = seamline::rule(&self.code).ok_or_else(|| unknown(&self.code))?;
        let documentation = seamline::documentation(rule);
        let mut output = Output::new();
        if output::is_terminal() {
            let about = format!("{} · {} · fix: {}", rule.group.as_str(), rule.severity.as_str(), rule.safety.as_str());
            output.text(&format!(
                "{} {}  {}\n\n{}",
                style::severity(rule.severity).paint(rule.code),
                style::STRONG.paint(rule.name),
                style::FAINT.paint(&about),
                markdown::render(&documentation, screen::width())
            ));
        } else {
            output.text(&format!(
                "# {} `{}`\n\n{} · {} · fix: {}\n\n{documentation}\n",
                rule.code,
                rule.name,
                rule.group.as_str(),
                rule.severity.as_str(),
                rule.safety.as_str()
            ));
        }
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
