//! `seamline fix`

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use seamline::policy::SafetyMax;
use seamline::{Options, Repaired};

use crate::args::{Format, SubjectArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{replace, undo};
use crate::input::{Input, Inputs, Source};
use crate::many;
use crate::output::{self, Output};
use crate::render::repair::{Destination, Total};
use crate::render::series::Series;
use crate::render::{Counts, Examined, github, json, repair, sarif};

/// Put request bodies right
///
/// Repairs request bodies in place: calls without a result get one that is marked synthetic, results return to
/// their calls, and what belongs nowhere is kept as text. Nothing anyone said is lost unless a policy or
/// `--unsafe` allows it. A body with nothing wrong is not touched.
///
/// The old bytes are kept in `$XDG_STATE_HOME/seamline`, else in `~/.local/state/seamline`; `seamline undo`
/// gives them back. A body from standard input goes to standard output, and nothing else does.
///
/// Exit status: 0 nothing wrong any more, 1 findings remain, 2 a body could not be read or written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fix {
    /// Request bodies, folders of `*.json`, or `-` for standard input, which is the default
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    subject: SubjectArgs,
    /// How what was done and what remains is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Apply fixes that drop, alter or guess something, too
    #[arg(long = "unsafe")]
    allow_unsafe: bool,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with_all = ["stdout", "output"])]
    diff: bool,
    /// Write the repaired body to standard output
    #[arg(long, conflicts_with = "output")]
    stdout: bool,
    /// Write the repaired body to a file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write what was done to a file, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  seamline fix --diff request.json             look first
  seamline fix request.json                    repair in place
  seamline undo request.json                   take it back
  seamline fix < broken.json > whole.json
  seamline fix logs/ --report repairs.json
  seamline fix request.json --policy minimal --output smaller.json";

/// What came of one body.
struct Done {
    label: String,
    outcome: Result<Fixed, Failure>,
}

struct Fixed {
    /// The body in the format asked for.
    text: String,
    /// The body in the report, if there is one.
    report: Option<String>,
    /// The bytes for standard output.
    body: Option<Vec<u8>>,
    changed: bool,
    has_findings: bool,
    remaining: Counts,
}

impl Fix {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let mut options = self.subject.options()?;
        if self.allow_unsafe {
            options.policy.safety = SafetyMax::Unsafe;
        }
        let inputs = Inputs::of(&self.paths)?;
        self.refuse_nonsense(&inputs)?;
        for note in &inputs.notes {
            output::say(&format!("seamline: {note}\n"));
        }
        let mut output = Output::new();
        let speaks_aside = !self.diff && self.output.is_none() && (self.stdout || inputs.has_stdin());
        let is_alone = inputs.list.len() == 1;
        let mut series = Series::new(self.format);
        let mut reports = Series::new(Format::Json);
        let mut report = reports.opening();
        let mut total = Total::default();
        let opening = series.opening();
        tell(&mut output, speaks_aside, &opening);
        let work = |input: &Input| self.look(input, &options);
        many::in_order("repairing", &inputs.list, work, |done| {
            match done.outcome {
                Ok(fixed) => {
                    report += &reports.next(fixed.report.unwrap_or_default());
                    total.add(fixed.changed, fixed.remaining);
                    if let Some(body) = &fixed.body {
                        output.bytes(body);
                    }
                    // Of many bodies only those are told that something was done to, or is wrong with.
                    let is_worth_telling = fixed.changed || fixed.has_findings || self.format != Format::Text;
                    if is_worth_telling || (is_alone && !speaks_aside) {
                        tell(&mut output, speaks_aside, &series.next(fixed.text));
                    }
                }
                Err(failure) => {
                    output::complain_about(&done.label, &failure);
                    report += &reports.next_failed(&done.label, failure.clone());
                    total.failed += 1;
                    tell(&mut output, speaks_aside, &series.next_failed(&done.label, failure));
                }
            }
            ControlFlow::Continue(())
        });
        tell(&mut output, speaks_aside, &series.closing());
        if self.format == Format::Text && !is_alone {
            tell(&mut output, speaks_aside, &repair::summary(&total, self.diff));
        }
        if let Some(path) = &self.report {
            report += &reports.closing();
            replace::write(path, report.as_bytes()).map_err(|failure| about(path, failure))?;
        }
        let is_lost = output.is_gone() && speaks_aside;
        let exit = if is_lost { Exit::Failed } else { exit(&total) };
        Ok(output.finish(exit))
    }

    fn refuse_nonsense(&self, inputs: &Inputs) -> Result<(), Failure> {
        if inputs.list.len() > 1 && (self.stdout || self.output.is_some()) {
            let option = if self.stdout { "--stdout" } else { "--output" };
            return Err(Failure::new(format!("`{option}` takes one body, and {} were given", inputs.list.len()))
                .with_hint("without it each body is repaired in place"));
        }
        if self.diff && self.format != Format::Text {
            return Err(Failure::new("`--diff` is for people and has no other format than text")
                .with_hint("`--report FILE` writes what would be done as JSON"));
        }
        Ok(())
    }

    fn look(&self, input: &Input, options: &Options) -> Done {
        match input {
            Input::Unusable(label, failure) => Done { label: label.clone(), outcome: Err(failure.clone()) },
            Input::Body(source) => {
                let label = source.label();
                let outcome = self.repair(source, &label, options);
                Done { label, outcome }
            }
        }
    }

    fn repair(&self, source: &Source, label: &str, options: &Options) -> Result<Fixed, Failure> {
        let before = source.read()?;
        let repaired = seamline::repair(&before, options)?;
        let destination = self.destination(source);
        let body = write(&destination, &before, &repaired)?;
        let examined = Examined { label, body: &repaired.body, options, findings: &repaired.remaining };
        let text = match self.format {
            Format::Text => repair::document(&examined, &before, &repaired, &destination)?,
            Format::Json => json::repaired(label, &repaired),
            Format::Sarif => sarif::document(&examined),
            Format::Github => github::document(&examined),
        };
        Ok(Fixed {
            text,
            report: self.report.is_some().then(|| json::repaired(label, &repaired)),
            body,
            changed: repaired.changed(),
            has_findings: !repaired.remaining.is_empty(),
            remaining: Counts::of(&repaired.remaining),
        })
    }

    fn destination<'a>(&'a self, source: &'a Source) -> Destination<'a> {
        match (self.diff, self.stdout, &self.output, source) {
            (true, ..) => Destination::Nowhere,
            (_, _, Some(path), _) => Destination::File(path),
            (_, true, ..) | (_, _, _, Source::Stdin) => Destination::Stdout,
            (_, _, _, Source::Path(path)) => Destination::InPlace(path),
        }
    }
}

/// Writes the body to where it belongs; what belongs on standard output comes back.
fn write(destination: &Destination<'_>, before: &[u8], repaired: &Repaired<'_>) -> Result<Option<Vec<u8>>, Failure> {
    match destination {
        Destination::Nowhere => Ok(None),
        Destination::Stdout => Ok(Some(repaired.body.to_vec())),
        Destination::File(path) => {
            replace::write(path, &repaired.body).map_err(|failure| about(path, failure))?;
            Ok(None)
        }
        Destination::InPlace(path) => {
            if repaired.changed() {
                undo::repair(path, before, &repaired.body)?;
            }
            Ok(None)
        }
    }
}

fn exit(total: &Total) -> Exit {
    if total.failed > 0 {
        Exit::Failed
    } else if total.still_wrong > 0 {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

/// Text to standard output, or aside when that is the body's.
fn tell(output: &mut Output, aside: bool, text: &str) {
    if aside {
        output::say(text);
    } else {
        output.text(text);
    }
}

fn about(path: &Path, failure: Failure) -> Failure {
    Failure { message: format!("{}: {}", path.display(), failure.message), ..failure }
}
