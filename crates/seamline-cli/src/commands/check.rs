//! `seamline check`

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use seamline::Options;
use seamline::check::Checked;

use crate::args::{Format, SubjectArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Input, Inputs, Source};
use crate::many;
use crate::output::{self, Output};
use crate::render::findings::Extent;
use crate::render::series::Series;
use crate::render::text::{self, Tally};
use crate::render::{Counts, Examined, github, json, sarif};

/// Report what is wrong with request bodies
///
/// Reads request bodies and reports each place where the conversation is broken: what is wrong, which error the provider
/// would return, and what `seamline fix` would do. It changes nothing.
///
/// The history of Opal, OpenClaw, pi or llxprt is read, too: a list of messages, or an object with `messages` or `history`.
///
/// Exit status: 0 no findings, 1 findings, 2 a body could not be read (the others are still checked).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// Request bodies, folders (every `*.json` below them), or `-` for standard input (the default)
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    subject: SubjectArgs,
    /// The format of the findings
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show every finding, not only the first 50 of a body
    #[arg(long)]
    all: bool,
}

const EXAMPLES: &str = "\
Examples:
  seamline check request.json
  seamline check logs/ --format json
  seamline check b.json --provider openai
  jq .request trace.json | seamline check";

/// The outcome of one body.
struct Done {
    label: String,
    /// The findings in the requested format, and their counts.
    outcome: Result<(String, Tally, Option<String>), Failure>,
}

impl Check {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let options = self.subject.options()?;
        let inputs = Inputs::of(&self.paths)?;
        for note in &inputs.notes {
            output::say(&format!("seamline: {note}\n"));
        }
        let mut output = Output::new();
        let mut series = Series::new(self.format);
        let mut tally = Tally::default();
        let mut alone = None;
        output.text(&series.opening());
        let work = |input: &Input| self.look(input, &options);
        many::in_order("checking", &inputs.list, work, |done| {
            match done.outcome {
                Ok((text, counted, clean)) => {
                    output.text(&series.next(text));
                    tally.add(counted);
                    alone = clean;
                }
                Err(failure) => {
                    output::complain_about(&done.label, &failure);
                    output.text(&series.next_failed(&done.label, failure));
                    tally.unreadable += 1;
                }
            }
            if output.is_gone() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        output.text(&series.closing());
        if self.format == Format::Text {
            let is_alone = inputs.list.len() == 1;
            let clean = alone.filter(|_| is_alone);
            let failed = is_alone && tally.unreadable > 0;
            if !failed {
                output.text(&clean.unwrap_or_else(|| text::summary(&tally)));
            }
        }
        Ok(output.finish(exit(&tally)))
    }

    fn look(&self, input: &Input, options: &Options) -> Done {
        let source = match input {
            Input::Body(source) => source,
            Input::Unusable(label, failure) => {
                return Done { label: label.clone(), outcome: Err(failure.clone()) };
            }
        };
        let label = source.label();
        let _span = tracing::info_span!("file", path = label).entered();
        let outcome = self.examine(source, &label, options);
        Done { label, outcome }
    }

    fn examine(
        &self,
        source: &Source,
        label: &str,
        options: &Options,
    ) -> Result<(String, Tally, Option<String>), Failure> {
        let body = source.read()?;
        Failure::of_program(source, &body)?;
        let checked = seamline::check(&body, options).map_err(|error| Failure::of_body(error, &body))?;
        output::say_note(label, checked.note.as_deref());
        let mut tally = Tally::of(&checked, &options.policy);
        // A fix may uncover another finding that the policy leaves.
        tally.leaves = self.format == Format::Text
            && tally.promises_all()
            && seamline::repair(&body, options).is_ok_and(|repaired| Counts::of(&repaired.remaining).is_wrong());
        let clean = checked.findings.is_empty();
        let clean = clean.then(|| text::clean(label, &checked));
        Ok((self.render(label, &body, options, &checked), tally, clean))
    }

    fn render(&self, label: &str, body: &[u8], options: &Options, checked: &Checked) -> String {
        let examined = Examined { label, body, options, findings: &checked.findings, has_lines: true };
        match self.format {
            Format::Text if self.all => text::document(&examined, Extent::All),
            Format::Text => text::document(&examined, Extent::First),
            Format::Json => json::checked(label, checked),
            Format::Sarif => sarif::document(&examined),
            Format::Github => github::document(&examined),
        }
    }
}

fn exit(tally: &Tally) -> Exit {
    if tally.unreadable > 0 {
        Exit::Failed
    } else if tally.counts.is_wrong() {
        Exit::Findings
    } else {
        Exit::Clean
    }
}
