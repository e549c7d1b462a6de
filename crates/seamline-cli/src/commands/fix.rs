//! `seamline fix`

mod account;
mod rejection;
mod session_file;
mod stored;
mod told;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use account::Account;
use clap::Args;
use seamline::classify::{NamedMember, Verdict};
use seamline::repair::Repaired;
use seamline::{Options, classify};

use crate::args::{Format, SubjectArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::times::Times;
use crate::files::{replace, undo};
use crate::input::{Input, Inputs, Source};
use crate::log;
use crate::many;
use crate::output;
use crate::render::repair::{Destination, Outcome};
use crate::render::{self, Counts, Examined, Places, github, json, repair, sarif};

/// Repair request bodies and session files
///
/// Repairs request bodies in place. A tool call without a result gets a result that is marked synthetic, results move to
/// their tool calls, and orphaned results are kept as text. No content is lost unless the policy or `--unsafe` allows it. A
/// body without findings is not touched.
///
/// A session file of an agent is repaired so that its program can continue the session: damaged lines are split, and the
/// conversation that the program would send is repaired like a body. Records that need no repair keep their bytes, the file
/// keeps its mode and its times, and bytes that belong to no record go to a file beside the old bytes. A file that a program
/// has open, or that changed within the last 10 seconds, is not written without `--force`.
///
/// The history of Opal, OpenClaw, pi or llxprt is repaired in its own shape and order: a list of messages, or an object with
/// `messages` or `history`.
///
/// The old bytes are kept in `$XDG_STATE_HOME/seamline` or `~/.local/state/seamline`; `seamline undo` restores them. A body
/// from standard input goes to standard output, and nothing else does.
///
/// Exit status: 0 no findings are left, 1 findings remain, 2 a body could not be read or written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fix {
    /// Request bodies, session files, folders (every `*.json` below them), or `-` for standard input (the default)
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    subject: SubjectArgs,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also apply fixes that drop, alter or guess content, and those of unknown members and roles
    #[arg(long = "unsafe")]
    allow_unsafe: bool,
    /// Also remove the members that this error of the provider names as unknown; a file with its text, or `-`
    #[arg(long, value_name = "FILE")]
    after_error: Option<PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long, visible_alias = "dry-run", conflicts_with_all = ["stdout", "output"])]
    diff: bool,
    /// Write the repaired body to standard output
    #[arg(long, conflicts_with = "output")]
    stdout: bool,
    /// Write the repaired body to a file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the report to a file, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Repair only this session of a database; a part of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Write a session file although a program uses it; what that program writes meanwhile may be lost
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  seamline fix --diff request.json             # look first
  seamline fix request.json                    # repair in place
  seamline undo request.json                   # undo it
  seamline fix session.jsonl                   # a session file of an agent
  seamline fix < broken.json > whole.json
  seamline fix logs/ --report repairs.json
  seamline fix request.json --policy minimal --output smaller.json";

/// The options of one `fix` command.
struct Asked<'a> {
    options: &'a Options,
    /// The members that an error of the provider names.
    rejected: &'a [NamedMember],
}

/// The outcome of one body.
struct Done {
    label: String,
    outcome: Result<Fixed, Failure>,
}

struct Fixed {
    /// The report in the requested format.
    text: String,
    /// The part of the report file, if there is one.
    report: Option<String>,
    /// The bytes for standard output.
    body: Option<Vec<u8>>,
    changed: bool,
    is_session: bool,
    has_findings: bool,
    /// The error names a member, and nothing was removed.
    is_rejected: bool,
    remaining: Counts,
}

impl Fix {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let (options, rejected) = self.options()?;
        let inputs = Inputs::of(&self.paths)?;
        self.refuse_nonsense(&inputs)?;
        for note in &inputs.notes {
            output::say(&format!("seamline: {note}\n"));
        }
        let mut account = Account::open(self, &inputs);
        let work = |input: &Input| self.look(input, &Asked { options: &options, rejected: &rejected });
        many::in_order("repairing", &inputs.list, work, |all| {
            account.add(all);
            // A repair that began is finished even if the output is closed.
            ControlFlow::Continue(())
        });
        account.close()
    }

    /// The options of the repair, and the members that the error names.
    fn options(&self) -> Result<(Options, Vec<NamedMember>), Failure> {
        let mut options = self.subject.options()?;
        if self.allow_unsafe {
            options.policy.allow_unsafe();
        }
        let mut rejected = Vec::new();
        if let Some(path) = &self.after_error {
            let verdict = self.rejection(path, &options)?;
            options.policy.reject_reasoning(&verdict);
            rejected = verdict.members;
            options.policy.reject_members(&rejected);
        }
        Ok((options, rejected))
    }

    /// The verdict about the error that the provider returned.
    fn rejection(&self, path: &Path, options: &Options) -> Result<Verdict, Failure> {
        let is_input = path == Path::new("-");
        if is_input && (self.paths.is_empty() || self.paths.iter().any(|path| path == Path::new("-"))) {
            return Err(Failure::new("the error and the body cannot both come from standard input")
                .with_hint("save the error to a file: `seamline fix --after-error error.txt`"));
        }
        let source = if is_input { Source::Stdin } else { Source::Path(path.to_owned()) };
        let bytes = source.read().map_err(|failure| about(path, failure))?;
        let text = String::from_utf8_lossy(&bytes);
        let (provider, dialect) = (options.provider.as_deref(), options.dialect.as_deref());
        Ok(classify(&classify::Failure { provider, dialect, text: &text, ..classify::Failure::default() }))
    }

    fn refuse_nonsense(&self, inputs: &Inputs) -> Result<(), Failure> {
        if inputs.list.len() > 1 && (self.stdout || self.output.is_some()) {
            let option = if self.stdout { "--stdout" } else { "--output" };
            return Err(Failure::new(format!("`{option}` takes one body, and {} were given", inputs.list.len()))
                .with_hint("without it each body is repaired in place"));
        }
        if self.diff && self.format != Format::Text {
            return Err(Failure::new("`--diff` prints text only")
                .with_hint("`--report FILE` writes the planned changes as JSON"));
        }
        self.refuse_to_overwrite(inputs)
    }

    /// Refuses to write a report or a copy over an input.
    fn refuse_to_overwrite(&self, inputs: &Inputs) -> Result<(), Failure> {
        let bodies: Vec<PathBuf> = inputs.list.iter().filter_map(Input::real_path).collect();
        for (option, hint, target) in [
            ("--report", "give the report a name of its own", &self.report),
            ("--output", "leave `--output` out to repair in place, which can be undone", &self.output),
        ] {
            let Some(target) = target else { continue };
            if std::fs::canonicalize(target).is_ok_and(|target| bodies.contains(&target)) {
                let message = format!("`{option} {}` would overwrite a body that is to be repaired", target.display());
                return Err(Failure::new(message).with_hint(hint));
            }
        }
        Ok(())
    }

    /// Repairs an input: one body or session, or all sessions of a database.
    fn look(&self, input: &Input, asked: &Asked<'_>) -> Vec<Done> {
        let source = match input {
            Input::Unusable(label, failure) => {
                return vec![Done { label: label.clone(), outcome: Err(failure.clone()) }];
            }
            Input::Body(source) => source,
        };
        let label = source.label();
        let _span = log::enter_file(&label);
        // Reading a file may change the time of its last access.
        let times = source.path().and_then(|path| path.metadata().ok()).and_then(|metadata| Times::of(&metadata));
        match self.store_of(source) {
            Ok(Some(store)) => self.repair_store(&store, asked.options),
            Ok(None) => {
                let outcome = self.repair(source, &label, times, asked);
                vec![Done { label, outcome }]
            }
            Err(failure) => vec![Done { label, outcome: Err(failure) }],
        }
    }

    fn repair(&self, source: &Source, label: &str, times: Option<Times>, asked: &Asked<'_>) -> Result<Fixed, Failure> {
        let options = asked.options;
        let opened = source.open()?;
        opened.refuse_part()?;
        let before = opened.read()?;
        match seamline::files::recognise(&source.name(), &before) {
            Some(program) if program.is_read() => {
                return self.repair_session(source, &before, times, options);
            }
            Some(program) => return Err(Failure::of_file(source, program)),
            None => {}
        }
        let mut repaired =
            seamline::repair(&before, options).map_err(|error| Failure::of_source(source, error, &before))?;
        render::warn_of_open_calls(&mut repaired.found);
        render::warn_of_open_calls(&mut repaired.remaining);
        output::say_note(label, repaired.note.as_deref());
        let missed = rejection::missed(asked.rejected, &repaired);
        output::say_note(label, missed.as_deref());
        let destination = self.destination(source);
        let body = write(&destination, source, &before, &repaired)?;
        // Only the findings that remain need the joined body, to show excerpts of it.
        let whole: &[u8] = if repaired.remaining.is_empty() { &[] } else { &repaired.body };
        // The repaired body is read in the same dialect, whatever signs the repair changed.
        let options = &Options { dialect: Some(repaired.dialect.to_owned()), ..options.clone() };
        let examined = Examined { label, body: whole, options, findings: &repaired.remaining, places: Places::Body };
        let text = match self.format {
            Format::Text => repair::document(&examined, &before, &Outcome::of_body(&repaired), &destination)?,
            Format::Json => json::repaired(label, &repaired),
            Format::Sarif => sarif::document(&examined),
            Format::Github => github::document(&examined),
        };
        Ok(Fixed {
            text,
            report: self.report.is_some().then(|| json::repaired(label, &repaired)),
            body,
            changed: repaired.is_changed(),
            is_session: false,
            has_findings: !repaired.remaining.is_empty() || missed.is_some(),
            is_rejected: missed.is_some(),
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

/// Writes the body to its destination; returns the bytes for standard output.
fn write(
    destination: &Destination<'_>,
    source: &Source,
    before: &[u8],
    repaired: &Repaired<'_>,
) -> Result<Option<Vec<u8>>, Failure> {
    let pieces: Vec<&[u8]> = repaired.body.pieces().collect();
    match destination {
        Destination::Nowhere | Destination::Session(_) => Ok(None),
        Destination::Stdout => Ok(Some(pieces.concat())),
        Destination::File(path) => {
            replace::write(path, &pieces, source.path()).map_err(|failure| about(path, failure))?;
            Ok(None)
        }
        Destination::InPlace(path) => {
            if repaired.is_changed() {
                undo::repair(path, before, &pieces)?;
            }
            Ok(None)
        }
    }
}

fn about(path: &Path, failure: Failure) -> Failure {
    Failure { message: format!("{}: {}", path.display(), failure.message), ..failure }
}
