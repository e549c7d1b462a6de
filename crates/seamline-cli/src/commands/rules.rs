//! `seamline rules`

use clap::Args;
use serde::Serialize;

use crate::args::ListFormat;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::{json, style, table};
use crate::screen;

/// List every rule
///
/// One line per rule: its code, its name, its severity, the safety of its fix, and what it finds. The group `stream` is
/// about streamed responses (`seamline assemble`), the group `file` about session files of programs (`seamline doctor`).
/// `seamline explain CODE` prints the documentation.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Rules {
    /// The format of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline rules
  seamline rules --format json | jq -r '.rules[].code'";

/// The group of the defects of streams.
pub(crate) const STREAM_GROUP: &str = "stream";
/// The group of the defects of session files.
pub(crate) const DEFECT_GROUP: &str = "file";

#[derive(Serialize)]
struct Listed {
    code: &'static str,
    name: &'static str,
    group: &'static str,
    severity: &'static str,
    safety: &'static str,
    summary: String,
    documentation: String,
}

impl Rules {
    pub(crate) fn run(&self) -> Exit {
        let flaws = seamline::stream::FLAWS.iter().copied().map(listed_flaw);
        let defects = seamline::files::DEFECTS.iter().copied().map(listed_defect);
        let rules = seamline::rules::RULES.iter().copied().map(listed);
        let mut rules: Vec<_> = rules.chain(flaws).chain(defects).collect();
        rules.sort_by_key(|rule| rule.code);
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => output.text(&json::listing("rules", &rules)),
            ListFormat::Text => output.text(&text(&rules)),
        }
        output.finish(Exit::Clean)
    }
}

fn listed(rule: &'static seamline::rules::Rule) -> Listed {
    Listed {
        code: rule.code,
        name: rule.name,
        group: rule.group.as_str(),
        severity: rule.severity.as_str(),
        safety: rule.safety.as_str(),
        summary: rule.summary(),
        documentation: seamline::rules::documentation(rule),
    }
}

fn listed_flaw(kind: &'static seamline::stream::FlawKind) -> Listed {
    Listed {
        code: kind.code,
        name: kind.name,
        group: STREAM_GROUP,
        severity: kind.severity.as_str(),
        // A response that a provider sent cannot be repaired.
        safety: seamline::Safety::DisplayOnly.as_str(),
        summary: kind.summary(),
        documentation: seamline::stream::flaw_documentation(kind),
    }
}

fn listed_defect(kind: &'static seamline::files::DefectKind) -> Listed {
    Listed {
        code: kind.code,
        name: kind.name,
        group: DEFECT_GROUP,
        severity: seamline::files::defect_severity(kind).as_str(),
        safety: seamline::Safety::Safe.as_str(),
        summary: seamline::files::defect_summary(kind),
        documentation: seamline::files::defect_documentation(kind),
    }
}

fn text(rules: &[Listed]) -> String {
    let rows: Vec<_> = rules
        .iter()
        .map(|rule| [rule.code, rule.name, rule.severity, rule.safety, &rule.summary].map(str::to_owned))
        .collect();
    let paints = [style::HINT, style::STRONG, style::PLAIN, style::PLAIN, style::FAINT];
    format!(
        "{}\n{}; `seamline explain CODE` says more\n",
        table::render(&rows, paints, screen::width()),
        screen::count(rules.len(), "rule")
    )
}
