//! `seamline convert`

mod agent;
mod project;
mod subject;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use seamline::convert::{ConvertOptions, Converted, ForeignReasoning};
use seamline::error::BodyError;
use seamline::files::Order;
use seamline::{Error, Options};
use subject::Subject;

use crate::args::{self, ListFormat, StoredOrder};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::replace;
use crate::input::{Input, Inputs, Source};
use crate::output::{self, Output};
use crate::render::conversion::{self, Way};
use crate::render::{Counts, json};
use crate::screen;

/// Convert a request body or a session for another provider or agent
///
/// Reads a request body of one dialect and writes the same conversation in another. Tool calls stay with their results, and
/// ids, names, system text, media, tools and settings take the form that the target provider accepts. Damage is repaired on
/// the way. The report lists what the target cannot express, where it was, and what happened to it.
///
/// A session file of an agent is read as its program reads it, and the conversation that the program would send is
/// converted. With `--to-agent` the conversation becomes a new session of another agent, which can continue it. The source
/// is never changed.
///
/// The history of Opal, OpenClaw, pi or llxprt is read, too: a list of messages, or an object with `messages` or `history`.
///
/// The body goes to standard output or to `--output`; the report goes to standard error. Within one dialect only what the
/// target provider rejects is changed.
///
/// Exit status: 0 the new body has no findings, 1 findings remain in it, 2 a body could not be read or written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Convert {
    /// A request body, a session of an agent (file, folder or database), or `-` for standard input (the default)
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// The target: a provider, a dialect, or both, such as `groq/openai_responses`
    #[arg(long, value_name = "PROVIDER", required_unless_present = "to_agent")]
    to: Option<String>,
    /// The target: a new session of an agent: claude-code, codex, gemini-cli, pi or qwen-code
    #[arg(long, value_name = "AGENT", conflicts_with = "to")]
    to_agent: Option<String>,
    /// The session of a database or folder with several: its id, or a part of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The source: a provider, a dialect, both, or the program of a history [default: detected]
    #[arg(long, value_name = "PROVIDER")]
    from: Option<String>,
    /// The order in which the history of a program is stored [default: found by its tool calls]
    #[arg(long, value_enum, value_name = "ORDER")]
    order: Option<StoredOrder>,
    /// The model of the new body [default: the model of the old one]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Treatment of reasoning that only the model that wrote it accepts
    #[arg(long, value_enum, default_value_t = ReasoningFate::Drop)]
    reasoning: ReasoningFate,
    /// The policy of repairs: a preset or a TOML file (see `seamline policies`)
    #[arg(long, value_name = "NAME|FILE", default_value = "lossless")]
    policy: PathBuf,
    /// Report what would be lost and which ids would change; write no body
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// Write the new body or session to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// With `--to-agent`: write the session to the place where that agent looks for it
    #[arg(long, requires = "to_agent", conflicts_with_all = ["to", "output", "dry_run"])]
    install: bool,
    /// With `--to-agent`: the folder that the agent is to work in [default: that of the session]
    #[arg(long, value_name = "DIR", requires = "to_agent", conflicts_with = "to")]
    folder: Option<PathBuf>,
    /// Write the report to a file, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  seamline convert b.json --to anthropic --dry-run    # look first
  seamline convert b.json --to anthropic --model claude-sonnet-4-5 > new.json
  seamline convert request.json --to gemini_generate --output new.json
  seamline convert request.json --to deepseek/openai_responses > new.json
  seamline convert --from openai --to bedrock < b.json
  seamline convert request.json --to openai --report lost.json
  seamline convert session.jsonl --to openai > body.json
  seamline convert goose.db --session 20260102_1 --to gemini > body.json
  seamline convert session.jsonl --to-agent codex --install";

/// The fate of reasoning that only the model that wrote it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReasoningFate {
    /// Remove the reasoning
    Drop,
    /// Keep its readable part as text of the assistant
    Text,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let options = self.options()?;
        let source = self.source()?;
        self.refuse_to_overwrite(&source)?;
        self.convert(&source, options).or_else(|failure| {
            output::complain_about(&source.label(), &failure);
            Ok(Exit::Failed)
        })
    }

    fn convert(&self, source: &Source, options: ConvertOptions) -> Result<Exit, Failure> {
        let plain = Options { policy: options.policy.clone(), ..Options::default() };
        let subject = Subject::read(source, self.session.as_deref(), &plain)?;
        if let Some(agent) = &self.to_agent {
            return self.export(agent, subject, source, options);
        }
        let (converted, from) = match &subject {
            Subject::Body(body) => (seamline::convert(body, &options).map_err(|error| refused(error, body))?, None),
            Subject::Saved(saved) if saved.messages == 0 => return Err(Failure::new("the session has no messages")),
            Subject::Saved(saved) => (saved.convert(&options)?, saved.program.map(|program| program.name)),
        };
        let way = Way { from, to: None, file: None };
        if let Some(path) = &self.report {
            write_report(path, &conversion::json(&source.label(), &converted, &way), source)?;
        }
        self.tell(source, &converted, &way)
    }

    fn options(&self) -> Result<ConvertOptions, Failure> {
        let reasoning = match self.reasoning {
            ReasoningFate::Drop => ForeignReasoning::Drop,
            ReasoningFate::Text => ForeignReasoning::Text,
        };
        let (from, model) = (self.from.clone(), self.model.clone());
        let order = self.order.map(Order::from);
        let (to, policy) = (self.to.clone().unwrap_or_default(), args::policy(&self.policy)?);
        Ok(ConvertOptions { from, order, to, model, policy, reasoning, kept: false })
    }

    fn source(&self) -> Result<Source, Failure> {
        let mut inputs = Inputs::of(self.path.as_slice())?.list;
        match (inputs.pop(), inputs.len()) {
            (Some(Input::Body(source)), 0) => Ok(source),
            (Some(Input::Unusable(label, failure)), 0) => {
                Err(Failure { message: format!("{label}: {}", failure.message), ..failure })
            }
            _ => Err(Failure::new("`convert` takes one body or session")
                .with_hint("name one file, or the folder of a session that is spread over files")),
        }
    }

    /// Refuses to write a report or a body over the input.
    fn refuse_to_overwrite(&self, source: &Source) -> Result<(), Failure> {
        let Source::Path(path) = source else { return Ok(()) };
        let real = std::fs::canonicalize(path).ok();
        for (option, target) in [("--report", &self.report), ("--output", &self.output)] {
            let Some(target) = target else { continue };
            if real.is_some() && std::fs::canonicalize(target).ok() == real {
                let message = format!("`{option} {}` would overwrite the body that is converted", target.display());
                return Err(Failure::new(message).with_hint("choose another file name"));
            }
        }
        Ok(())
    }

    /// Writes the body to its destination and the report to people or programs.
    fn tell(&self, source: &Source, converted: &Converted, way: &Way<'_>) -> Result<Exit, Failure> {
        let label = &source.label();
        output::say_note(label, converted.note.as_deref());
        let is_aside = !self.dry_run && self.output.is_none();
        let width = if is_aside { screen::width_aside() } else { screen::width() };
        let told = self.told(label, converted, way, width);
        let mut out = Output::new();
        match &self.output {
            _ if self.dry_run => out.text(&told),
            Some(path) => {
                write(path, &converted.body, source)?;
                out.text(&told);
            }
            None => {
                out.bytes(&converted.body);
                // The report starts on its own line.
                if output::is_terminal() && !converted.body.ends_with(b"\n") {
                    out.bytes(b"\n");
                }
                output::say(&told);
            }
        }
        let is_wrong = Counts::of(&converted.remaining).is_wrong();
        Ok(out.finish(if is_wrong { Exit::Findings } else { Exit::Clean }))
    }

    /// The report in the requested format.
    fn told(&self, label: &str, converted: &Converted, way: &Way<'_>, width: usize) -> String {
        match self.format {
            ListFormat::Text => {
                let report = conversion::text(label, converted, (self.dry_run, width), way);
                report + &way.file.map(|file| conversion::advice(file, width)).unwrap_or_default()
            }
            ListFormat::Json => {
                format!("{}{}{}", json::OPENING, conversion::json(label, converted, way), json::CLOSING)
            }
        }
    }
}

fn write_report(path: &Path, document: &str, source: &Source) -> Result<(), Failure> {
    let report = format!("{}{document}{}", json::OPENING, json::CLOSING);
    write(path, report.as_bytes(), source)
}

/// Explains why a body is not converted; hints name `--from`, which selects the dialect here.
fn refused(error: Error, body: &[u8]) -> Failure {
    let hint = match &error {
        Error::OtherDialect { found, .. } => Some(format!("omit `--from`, or pass `--from {found}`")),
        Error::Body(BodyError::Split { dialects: [first, second], .. }) => {
            Some(format!("`--from {first}` or `--from {second}` says which one it is"))
        }
        _ => None,
    };
    let failure = Failure::of_body(error, body);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

fn write(path: &Path, bytes: &[u8], source: &Source) -> Result<(), Failure> {
    replace::write(path, &[bytes], source.path())
        .map_err(|failure| Failure { message: format!("{}: {}", path.display(), failure.message), ..failure })
}
