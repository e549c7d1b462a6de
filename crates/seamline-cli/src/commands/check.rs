//! `seamline check`

mod stored;

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use seamline::Options;

use crate::args::{Format, SubjectArgs};
use crate::exit::Exit;
use crate::failure::{Failure, quoted};
use crate::input::{Input, Inputs, Opened, Source};
use crate::log;
use crate::many;
use crate::output::{self, Output};
use crate::render::findings::Extent;
use crate::render::series::Series;
use crate::render::text::{self, Tally};
use crate::render::{self, Counts, Examined, Places, file, github, json, sarif};
use crate::stored::Store;

/// Report what is wrong with request bodies and session files
///
/// Reads request bodies and reports each place where the conversation is broken: what is wrong, which error the provider
/// would return, and what `seamline fix` would do. It changes nothing.
///
/// A session file of an agent, such as those of Claude Code, is read as its program reads it: the file itself is checked,
/// and the conversation that the program would send. `seamline doctor` finds the session files of all agents.
///
/// The history of Opal, OpenClaw, pi or llxprt is read, too: a list of messages, or an object with `messages` or `history`.
///
/// Exit status: 0 no findings, 1 findings, 2 a body could not be read (the others are still checked).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// Request bodies, session files, folders (every `*.json` below them), or `-` for standard input (the default)
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
    /// Check only this session of a database; a part of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  seamline check request.json
  seamline check session.jsonl              # a session file of an agent
  seamline check logs/ --format json
  seamline check b.json --provider openai
  jq .request trace.json | seamline check";

/// The longest session file whose repair is tried, to say what it would leave.
const FORESEEN_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The most paths that the command of the summary names.
const NAMED_MAX: usize = 4;

/// The outcome of one body.
struct Done {
    label: String,
    outcome: Result<Report, Failure>,
}

/// The report about one body or session file.
struct Report {
    /// The findings in the requested format.
    text: String,
    tally: Tally,
    /// The summary, if there are no findings.
    clean: Option<String>,
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
        let mut count = 0;
        many::in_order("checking", &inputs.list, work, |all| {
            for done in all {
                count += 1;
                match done.outcome {
                    Ok(report) => {
                        output.text(&series.next(report.text));
                        tally.add(report.tally);
                        alone = report.clean;
                    }
                    Err(failure) => {
                        output::complain_about(&done.label, &failure);
                        output.text(&series.next_failed(&done.label, failure));
                        tally.unreadable += 1;
                    }
                }
            }
            if output.is_gone() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        output.text(&series.closing());
        if self.format == Format::Text {
            let is_alone = count == 1;
            let clean = alone.filter(|_| is_alone);
            let failed = is_alone && tally.unreadable > 0;
            if !failed {
                output.text(&clean.unwrap_or_else(|| text::summary(&tally, &self.remedy())));
            }
        }
        Ok(output.finish(exit(&tally)))
    }

    /// Checks an input: one body or session, or all sessions of a database.
    fn look(&self, input: &Input, options: &Options) -> Vec<Done> {
        let source = match input {
            Input::Body(source) => source,
            Input::Unusable(label, failure) => {
                return vec![Done { label: label.clone(), outcome: Err(failure.clone()) }];
            }
        };
        let label = source.label();
        let _span = log::enter_file(&label);
        match self.store_of(source) {
            Ok(Some(store)) => self.examine_store(&store, options),
            Ok(None) => {
                let outcome = self.examine(source, &label, options);
                vec![Done { label, outcome }]
            }
            Err(failure) => vec![Done { label, outcome: Err(failure) }],
        }
    }

    /// The command that repairs what this one finds.
    fn remedy(&self) -> String {
        let mut words = vec!["seamline fix".to_owned()];
        // A command with very many paths would hide the summary.
        if self.paths.len() <= NAMED_MAX {
            words.extend(self.paths.iter().map(|path| quoted(&path.display().to_string())));
        }
        words.extend(self.session.iter().map(|session| format!("--session {}", quoted(session))));
        words.extend(self.subject.words());
        words.join(" ")
    }

    /// The sessions of a database.
    fn store_of(&self, source: &Source) -> Result<Option<Store>, Failure> {
        let store = source.path().map_or(Ok(None), Store::at)?;
        if store.is_none() && self.session.is_some() {
            return Err(Store::has_one_session());
        }
        Ok(store)
    }

    fn examine(&self, source: &Source, label: &str, options: &Options) -> Result<Report, Failure> {
        let opened = source.open()?;
        opened.refuse_part()?;
        match opened.program() {
            Some(program) if program.is_read() => return self.examine_session(source, opened, options),
            Some(program) => return Err(Failure::of_file(source, program)),
            None => {}
        }
        let body = opened.read()?;
        let mut checked = seamline::check(&body, options).map_err(|error| Failure::of_source(source, error, &body))?;
        render::warn_of_open_calls(&mut checked.findings);
        output::say_note(label, checked.note.as_deref());
        let mut tally = Tally::of(&checked, &options.policy);
        // A fix may uncover another finding that the policy leaves.
        tally.leaves = self.format == Format::Text
            && tally.promises_all()
            && seamline::repair(&body, options).is_ok_and(|repaired| Counts::of(&repaired.remaining).is_wrong());
        let clean = checked.findings.is_empty();
        let clean = clean.then(|| text::clean(label, &checked));
        let examined = Examined { label, body: &body, options, findings: &checked.findings, places: Places::Body };
        let text = self.render(&examined, || json::checked(label, &checked));
        Ok(Report { text, tally, clean })
    }

    /// Checks a session file without reading it as a whole.
    fn examine_session(&self, source: &Source, opened: Opened, options: &Options) -> Result<Report, Failure> {
        let label = &source.label();
        let length = opened.length;
        let program = opened.program();
        let unread = || match program {
            Some(program) => Failure::of_file(source, program),
            None => Failure::new("the session could not be read"),
        };
        let checked = seamline::files::check(&source.name(), &mut opened.into_reader(), options)?.ok_or_else(unread)?;
        output::say_note(label, checked.note.as_deref());
        let mut tally = Tally::of(&checked, &options.policy);
        if self.format == Format::Text && tally.fixable > 0 && length <= FORESEEN_BYTES_MAX {
            foresee(source, options, &mut tally);
        }
        let conversation = Options { dialect: Some(checked.dialect.to_owned()), kept: true, ..options.clone() };
        let examined = Examined {
            label,
            body: checked.body.as_bytes(),
            options: &conversation,
            findings: &checked.findings,
            places: Places::File,
        };
        let mut text = self.render(&examined, || json::checked_file(label, &checked));
        if self.format == Format::Text && !text.is_empty() {
            text = file::introduction(label, &checked) + &text;
        }
        Ok(Report { text, tally, clean: checked.findings.is_empty().then(|| text::clean(label, &checked)) })
    }

    fn render(&self, examined: &Examined<'_>, json: impl FnOnce() -> String) -> String {
        match self.format {
            Format::Text if self.all => text::document(examined, Extent::All),
            Format::Text => text::document(examined, Extent::First),
            Format::Json => json(),
            Format::Sarif => sarif::document(examined),
            Format::Github => github::document(examined),
        }
    }
}

/// Finds out what a repair of a session file would leave. A file from standard input cannot be read again.
fn foresee(source: &Source, options: &Options, tally: &mut Tally) {
    let Some(bytes) = source.path().and_then(|path| std::fs::read(path).ok()) else { return };
    if let Ok(Some(repaired)) = seamline::files::repair(&source.name(), &bytes, options) {
        let is_wrong = Counts::of(&repaired.remaining).is_wrong();
        match repaired.refusal {
            Some(_) => tally.forbid_writing(),
            None => tally.leaves = tally.promises_all() && is_wrong,
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
