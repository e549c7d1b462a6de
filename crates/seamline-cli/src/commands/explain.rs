//! `seamline explain`

mod error;
mod mark;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use seamline::Severity;
use seamline::files::DefectKind;
use seamline::rules::Rule;
use seamline::stream::FlawKind;
use serde::Serialize;

use crate::args::ListFormat;
use crate::commands::rules;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::render::{json, markdown, style};
use crate::{screen, suggest};
use mark::Mark;

/// Explain the code of a rule or the error of a provider
///
/// With a code it prints the documentation of a rule: what the rule finds, why that is bad, an example, and how a repair
/// fixes it. It prints Markdown if the output is not a terminal.
///
/// With `--error` it explains an error of a provider: its class, the rules that find its cause, the place that it names,
/// and what to do next. The text may be wrapped in the output of a gateway, an SDK or a log.
///
/// Exit status: 0 the code or error is known, 1 the error is unknown (its status may still tell something), 2 the command
/// failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Explain {
    /// The code or name of a rule, or the mark of a known error such as `ANT-5`
    #[arg(value_name = "CODE", required_unless_present_any = ["error", "status"])]
    #[arg(conflicts_with_all = ["error", "status", "provider", "body"])]
    code: Option<String>,
    /// The text of the error, or `-` to read it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    error: Option<String>,
    /// The HTTP status of the response
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    status: Option<u16>,
    /// The provider that returned it, such as `anthropic` or `openrouter`
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// The request body that was sent; shows the findings that caused the error
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const USAGE: &str = "seamline explain <CODE>\n       seamline explain --error <TEXT> [OPTIONS]";

const EXAMPLES: &str = "\
Examples:
  seamline explain PAIR001
  seamline explain orphan-result
  seamline explain ANT-5
  seamline explain --error 'ids were found without `tool_result` blocks'
  seamline explain --error - --status 400 --provider openrouter < error.txt
  seamline explain --error - --body request.json < error.txt";

/// The finding that reports a defect of Seamline; no rule makes it.
const BUG: Entry = Entry {
    code: "BUG001",
    name: "repair-did-not-settle",
    severity: Severity::Error,
    about: Cow::Borrowed("seamline · error · fix: none"),
    documentation: Cow::Borrowed(include_str!("explain_bug.md")),
};

/// The documentation of a code.
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
        seamline::rules::rule(code_or_name)
            .map(Self::of)
            .or_else(|| seamline::stream::flaw(code_or_name).map(Self::of_flaw))
            .or_else(|| seamline::files::defect(code_or_name).map(Self::of_defect))
    }

    fn of_defect(kind: &DefectKind) -> Self {
        let severity = seamline::files::defect_severity(kind);
        Self {
            code: kind.code,
            name: kind.name,
            severity,
            about: Cow::Owned(format!("{} · {} · fix: safe", rules::DEFECT_GROUP, severity.as_str())),
            documentation: Cow::Owned(seamline::files::defect_documentation(kind)),
        }
    }

    fn of_flaw(kind: &FlawKind) -> Self {
        let about = format!("{} · {} · fix: none", rules::STREAM_GROUP, kind.severity.as_str());
        Self {
            code: kind.code,
            name: kind.name,
            severity: kind.severity,
            about: Cow::Owned(about),
            documentation: Cow::Owned(seamline::stream::flaw_documentation(kind)),
        }
    }

    fn of(rule: &Rule) -> Self {
        let about = format!("{} · {} · fix: {}", rule.group.as_str(), rule.severity.as_str(), rule.safety.as_str());
        Self {
            code: rule.code,
            name: rule.name,
            severity: rule.severity,
            about: Cow::Owned(about),
            documentation: Cow::Owned(seamline::rules::documentation(rule)),
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

    fn for_programs(&self) -> String {
        #[derive(Serialize)]
        struct Explained<'a> {
            code: &'a str,
            name: &'a str,
            severity: &'a str,
            documentation: &'a str,
        }
        let severity = self.severity.as_str();
        let explained =
            Explained { code: self.code, name: self.name, severity, documentation: self.documentation.trim_end() };
        json::listing("rule", &explained)
    }

    fn as_markdown(&self) -> String {
        format!("# {} `{}`\n\n{}\n\n{}\n", self.code, self.name, self.about, self.documentation.trim_end())
    }
}

impl Explain {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        match &self.code {
            Some(code) => self.explain_code(code),
            None => error::explain(self),
        }
    }

    fn explain_code(&self, code: &str) -> Result<Exit, Failure> {
        let mut output = Output::new();
        let Some(entry) = Entry::find(code) else {
            let mark = Mark::find(code).ok_or_else(|| unknown(code))?;
            output.text(&match self.format {
                ListFormat::Json => mark.for_programs(),
                ListFormat::Text if output::is_terminal() => markdown::render(&mark.as_markdown(), screen::width()),
                ListFormat::Text => mark.as_markdown(),
            });
            return Ok(output.finish(Exit::Clean));
        };
        output.text(&match self.format {
            ListFormat::Json => entry.for_programs(),
            ListFormat::Text if output::is_terminal() => entry.for_people(),
            ListFormat::Text => entry.as_markdown(),
        });
        Ok(output.finish(Exit::Clean))
    }
}

fn unknown(asked: &str) -> Failure {
    let failure = Failure::new(format!("no rule is called `{asked}`"));
    if Path::new(asked).is_file() {
        return failure
            .with_hint(format!("it is a file; `seamline explain --error - < {asked}` reads an error from it"));
    }
    if asked.trim().contains(char::is_whitespace) {
        return failure.with_hint("`seamline explain --error TEXT` explains a provider's error");
    }
    let rules = seamline::rules::RULES.iter().map(|rule| (rule.code, rule.name));
    let flaws = seamline::stream::FLAWS.iter().map(|kind| (kind.code, kind.name));
    let defects = seamline::files::DEFECTS.iter().map(|kind| (kind.code, kind.name));
    let all: Vec<_> = rules.chain(flaws).chain(defects).collect();
    let proposals = suggest::closest(asked, &all, |(code, name)| vec![code.to_owned(), name.to_owned()]);
    if proposals.is_empty() {
        return failure.with_hint("`seamline rules` lists them all");
    }
    let proposals: Vec<_> = proposals.iter().map(|(code, name)| format!("{code} ({name})")).collect();
    failure.with_hint(format!("did you mean {}?", proposals.join(", ")))
}
