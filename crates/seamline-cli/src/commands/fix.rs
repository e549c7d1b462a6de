//! `seamline fix`

use std::fmt::Write as _;
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
use crate::render::diff::Sides;
use crate::render::series::Series;
use crate::render::{Counts, Examined, diff, github, json, repair, sarif, style};
use crate::screen;

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
    /// The body in the report.
    report: String,
    /// The bytes for standard output.
    body: Option<Vec<u8>>,
    changed: bool,
    remaining: Counts,
}

/// What came of all bodies together.
#[derive(Default)]
struct Total {
    bodies: usize,
    changed: usize,
    failed: usize,
    still_wrong: usize,
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
                    report += &reports.next(fixed.report.clone());
                    total.add(&fixed);
                    if let Some(body) = &fixed.body {
                        output.bytes(body);
                    }
                    tell(&mut output, speaks_aside, &series.next(fixed.text));
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
        if self.format == Format::Text && inputs.list.len() > 1 {
            tell(&mut output, speaks_aside, &self.summary(&total));
        }
        if let Some(path) = &self.report {
            report += &reports.closing();
            replace::write(path, report.as_bytes()).map_err(|failure| about(path, failure))?;
        }
        let is_lost = output.is_gone() && speaks_aside;
        let exit = if is_lost { Exit::Failed } else { total.exit() };
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
        let body = self.write(source, &before, &repaired)?;
        let examined = Examined { label, body: &repaired.body, options, findings: &repaired.remaining };
        let text = match self.format {
            Format::Text => self.text(&examined, &before, &repaired)?,
            Format::Json => json::repaired(label, &repaired),
            Format::Sarif => sarif::document(&examined),
            Format::Github => github::document(&examined),
        };
        Ok(Fixed {
            text,
            report: json::repaired(label, &repaired),
            body,
            changed: repaired.changed(),
            remaining: Counts::of(&repaired.remaining),
        })
    }

    /// Writes the body to where it belongs; what belongs on standard output comes back.
    fn write(&self, source: &Source, before: &[u8], repaired: &Repaired<'_>) -> Result<Option<Vec<u8>>, Failure> {
        match (self.diff, self.stdout, &self.output, source) {
            (true, ..) => Ok(None),
            (_, true, ..) | (_, _, None, Source::Stdin) => Ok(Some(repaired.body.to_vec())),
            (_, _, Some(path), _) => {
                replace::write(path, &repaired.body).map_err(|failure| about(path, failure))?;
                Ok(None)
            }
            (_, _, None, Source::Path(path)) => {
                if repaired.changed() {
                    undo::repair(path, before, &repaired.body)?;
                }
                Ok(None)
            }
        }
    }

    fn text(&self, examined: &Examined<'_>, before: &[u8], repaired: &Repaired<'_>) -> Result<String, Failure> {
        let policy = &examined.options.policy;
        let mut out = self.headline(examined, repaired);
        if repaired.changed() {
            if self.diff {
                let sides = Sides { before, after: &repaired.body, options: examined.options };
                let _ = writeln!(out, "\n{}", diff::render(sides, screen::width())?);
            }
            out += &repair::actions(repaired);
            out += &self.footer(examined.label);
        }
        if !examined.findings.is_empty() {
            let _ = write!(out, "\n{}", repair::remaining(examined, policy));
        }
        Ok(out)
    }

    fn headline(&self, examined: &Examined<'_>, repaired: &Repaired<'_>) -> String {
        let label = screen::printable(if examined.label == "-" { "standard input" } else { examined.label });
        let remaining = Counts::of(examined.findings);
        let mark = if remaining.is_wrong() { style::ERROR.paint("✗") } else { style::GOOD.paint("✓") };
        let found = screen::count(repaired.found.len(), "finding");
        let what = match (repaired.changed(), self.diff, remaining.is_wrong()) {
            (true, true, false) => format!("{found}; all would be put right"),
            (true, true, true) => format!("{found}; some would be put right"),
            (true, false, false) => format!("repaired; {found} put right"),
            (true, false, true) => "repaired in part".to_owned(),
            (false, _, true) => "not repaired".to_owned(),
            (false, _, false) => "nothing wrong, nothing changed".to_owned(),
        };
        format!("{mark} {}: {what}\n", style::STRONG.paint(&label))
    }

    /// Where the body went, and how to get the old one back.
    fn footer(&self, label: &str) -> String {
        let label = screen::printable(label);
        let text = match &self.output {
            Some(path) => format!("  written to {}", path.display()),
            None if self.diff => "  nothing was changed; without `--diff` it will be".to_owned(),
            None if self.stdout || label == "-" => return String::new(),
            None => format!("  `seamline undo {label}` takes it back"),
        };
        style::FAINT.paint(&text) + "\n"
    }

    fn summary(&self, total: &Total) -> String {
        let done = if self.diff { "would repair" } else { "repaired" };
        let bodies = screen::count(total.bodies, "body");
        let mark = if total.exit() == Exit::Clean { style::GOOD.paint("✓") } else { style::ERROR.paint("✗") };
        let mut out = format!("\n{mark} {done} {} of {bodies}", total.changed);
        if total.remaining.is_wrong() {
            let _ = write!(out, "; {} still have findings", total.still_wrong);
        } else if total.bodies > 0 {
            out += "; nothing is wrong any more";
        }
        if total.failed > 0 {
            let _ = write!(out, "; {} could not be read or written", screen::count(total.failed, "body"));
        }
        out + "\n"
    }
}

impl Total {
    fn add(&mut self, fixed: &Fixed) {
        self.bodies += 1;
        self.changed += usize::from(fixed.changed);
        self.still_wrong += usize::from(fixed.remaining.is_wrong());
        self.remaining.add(fixed.remaining);
    }

    fn exit(&self) -> Exit {
        if self.failed > 0 {
            Exit::Failed
        } else if self.remaining.is_wrong() {
            Exit::Findings
        } else {
            Exit::Clean
        }
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
