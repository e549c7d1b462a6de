//! `seamline convert`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use seamline::Error;
use seamline::convert::{ConvertOptions, Converted, ForeignReasoning};

use crate::args::{self, ListFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::replace;
use crate::input::{Input, Inputs, Source};
use crate::output::{self, Output};
use crate::render::{Counts, conversion, json};
use crate::screen;

/// Write a request body for another provider
///
/// Reads a request body of one dialect and writes the same conversation in another: calls stay with their results,
/// ids and names become what the target takes, system text, media, tools and settings go where it has them. Damage
/// is put right on the way. What the target has no words for is listed with its place and with what happens to it.
///
/// The body goes to standard output, or to `--output`; everything else goes to standard error. Within one dialect
/// only what the other provider refuses is changed.
///
/// Exit status: 0 nothing is wrong with the new body, 1 findings remain in it, 2 it could not be read or written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Convert {
    /// A request body, or `-` for standard input, which is the default
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Whom it is written for: a provider, or a dialect
    #[arg(long, value_name = "PROVIDER")]
    to: String,
    /// Whom it was written for: a provider, or a dialect; detected when not given
    #[arg(long, value_name = "PROVIDER")]
    from: Option<String>,
    /// The model to ask; the body's own when not given
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What becomes of reasoning that only the models that wrote it take back
    #[arg(long, value_enum, default_value_t = ReasoningFate::Drop)]
    reasoning: ReasoningFate,
    /// How damage is put right: the name of a preset, or a TOML file (see `seamline policies`)
    #[arg(long, value_name = "NAME|FILE", default_value = "lossless")]
    policy: PathBuf,
    /// Say what would be lost and which ids would change, and write no body
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// How what is said about the conversion is printed
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// Write the new body to a file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write what is said about the conversion to a file, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  seamline convert b.json --to anthropic --dry-run    # look first
  seamline convert b.json --to anthropic --model claude-sonnet-4-5 > new.json
  seamline convert request.json --to gemini_generate --output new.json
  seamline convert --from openai --to bedrock_converse < b.json
  seamline convert request.json --to openai --report lost.json";

/// What becomes of reasoning that only the models that wrote it take back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReasoningFate {
    /// It is left out
    Drop,
    /// What can be read of it is kept as text of the assistant
    Text,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let options = self.options()?;
        let source = self.source()?;
        self.refuse_to_overwrite(&source)?;
        let label = source.label();
        let done =
            source.read().and_then(|body| seamline::convert(&body, &options).map_err(|error| refused(error, &body)));
        let converted = match done {
            Ok(converted) => converted,
            Err(failure) => {
                output::complain_about(&label, &failure);
                return Ok(Exit::Failed);
            }
        };
        if let Some(path) = &self.report {
            let report = format!("{}{}{}", json::OPENING, conversion::json(&label, &converted), json::CLOSING);
            write(path, report.as_bytes())?;
        }
        self.tell(&label, &converted)
    }

    fn options(&self) -> Result<ConvertOptions, Failure> {
        let reasoning = match self.reasoning {
            ReasoningFate::Drop => ForeignReasoning::Drop,
            ReasoningFate::Text => ForeignReasoning::Text,
        };
        let (to, from, model) = (self.to.clone(), self.from.clone(), self.model.clone());
        Ok(ConvertOptions { from, to, model, policy: args::policy(&self.policy)?, reasoning })
    }

    fn source(&self) -> Result<Source, Failure> {
        let mut inputs = Inputs::of(self.path.as_slice())?.list;
        match (inputs.pop(), inputs.len()) {
            (Some(Input::Body(source)), 0) => Ok(source),
            (Some(Input::Unusable(label, failure)), 0) => {
                Err(Failure { message: format!("{label}: {}", failure.message), ..failure })
            }
            _ => Err(Failure::new("`convert` takes one body").with_hint("name a file, not a folder")),
        }
    }

    /// A report or a body in the place of the body that came would take it along.
    fn refuse_to_overwrite(&self, source: &Source) -> Result<(), Failure> {
        let Source::Path(path) = source else { return Ok(()) };
        let real = std::fs::canonicalize(path).ok();
        for (option, target) in [("--report", &self.report), ("--output", &self.output)] {
            let Some(target) = target else { continue };
            if real.is_some() && std::fs::canonicalize(target).ok() == real {
                let message = format!("`{option} {}` would overwrite the body that is converted", target.display());
                return Err(Failure::new(message).with_hint("give it a name of its own"));
            }
        }
        Ok(())
    }

    /// The body to where it belongs, and what is said about it to people or programs.
    fn tell(&self, label: &str, converted: &Converted) -> Result<Exit, Failure> {
        let is_aside = !self.dry_run && self.output.is_none();
        let width = if is_aside { screen::width_aside() } else { screen::width() };
        let told = match self.format {
            ListFormat::Text => conversion::text(label, converted, self.dry_run, width),
            ListFormat::Json => {
                format!("{}{}{}", json::OPENING, conversion::json(label, converted), json::CLOSING)
            }
        };
        let mut out = Output::new();
        match &self.output {
            _ if self.dry_run => out.text(&told),
            Some(path) => {
                write(path, &converted.body)?;
                out.text(&told);
            }
            None => {
                out.bytes(&converted.body);
                // What is said about it starts on a line of its own.
                if output::is_terminal() && !converted.body.ends_with(b"\n") {
                    out.bytes(b"\n");
                }
                output::say(&told);
            }
        }
        let is_wrong = Counts::of(&converted.remaining).is_wrong();
        Ok(out.finish(if is_wrong { Exit::Findings } else { Exit::Clean }))
    }
}

/// Why a body is not converted. Here it is `--from` that says what it is read as.
fn refused(error: Error, body: &[u8]) -> Failure {
    let hint = match &error {
        Error::OtherDialect { found, .. } => Some(format!("leave `--from` out, or say `--from {found}`")),
        _ => None,
    };
    let failure = Failure::of_body(error, body);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace::write(path, &[bytes])
        .map_err(|failure| Failure { message: format!("{}: {}", path.display(), failure.message), ..failure })
}
