//! `seamline assemble`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seamline::{Answer, AnswerStream, ArgSource, Framing, StreamOptions};

use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Input, Inputs, Source};
use crate::output::{self, Output};
use crate::render::answer;
use crate::screen;

/// Put a streamed answer together
///
/// Reads the bytes of a response as they were streamed and says what came of them: how the answer ended, its text,
/// its calls with their input and whether they may be run, what was wrong with the stream, and why it failed if it did.
///
/// An answer is complete only when the provider said so. A stream that stops short, is filtered or fails is never
/// taken for a whole answer, and no call of it may be run.
///
/// Framing (an event stream, lines of JSON, a JSON array, an AWS event stream) and dialect are told by the stream
/// itself when they are not given.
///
/// Exit status: 0 the answer is complete and nothing was wrong with it, 1 it is not, 2 it could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Assemble {
    /// A response as it was streamed, or `-` for standard input, which is the default
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// The dialect it is written in; told by its first frames when not given
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<String>,
    /// Who answered; an error is understood better then
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// How the stream is cut into frames; told by its first bytes when not given
    #[arg(long, value_enum)]
    framing: Option<FramingName>,
    /// Which input counts where a call has one at its start and one in pieces
    #[arg(long, value_enum, default_value_t = ArgSourceName::DeltaWins)]
    arg_source: ArgSourceName,
    /// How what came of it is printed
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline assemble response.sse
  curl -sN https://… | seamline assemble
  seamline assemble response.bin --provider bedrock
  seamline assemble response.sse --format json | jq '.calls[] | select(.executable)'
  seamline assemble response.sse --format json | jq .message";

/// How a stream is cut into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum FramingName {
    /// Events, as `text/event-stream` has them
    Sse,
    /// Lines of JSON
    JsonLines,
    /// The elements of one JSON array
    JsonArray,
    /// `application/vnd.amazon.eventstream`
    AwsEventStream,
}

/// Which input of a call counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ArgSourceName {
    /// The pieces, if any came; else what stood at the start
    DeltaWins,
    /// A piece that begins an object replaces the start, any other goes on from it
    MergeHeuristic,
    /// The first of pieces and start that is an object
    ParsableWins,
}

impl Assemble {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let stream = AnswerStream::new(&self.options())?;
        let source = self.source()?;
        let label = source.label();
        let answer = match assembled(&source, stream) {
            Ok(answer) => answer,
            Err(failure) => {
                output::complain_about(&label, &failure);
                return Ok(Exit::Failed);
            }
        };
        let mut out = Output::new();
        out.text(&match self.format {
            ListFormat::Text => answer::text(&label, &answer, screen::width()),
            ListFormat::Json => answer::json(&label, &answer),
        });
        Ok(out.finish(if answer.is_well() { Exit::Clean } else { Exit::Findings }))
    }

    fn options(&self) -> StreamOptions {
        let framing = self.framing.map(|framing| match framing {
            FramingName::Sse => Framing::Sse,
            FramingName::JsonLines => Framing::JsonLines,
            FramingName::JsonArray => Framing::JsonArray,
            FramingName::AwsEventStream => Framing::AwsEventStream,
        });
        let arg_source = match self.arg_source {
            ArgSourceName::DeltaWins => ArgSource::DeltaWins,
            ArgSourceName::MergeHeuristic => ArgSource::MergeHeuristic,
            ArgSourceName::ParsableWins => ArgSource::ParsableWins,
        };
        let (dialect, provider) = (self.dialect.clone(), self.provider.clone());
        StreamOptions { dialect, provider, framing, arg_source, ..StreamOptions::default() }
    }

    fn source(&self) -> Result<Source, Failure> {
        let mut inputs = Inputs::of(self.path.as_slice())?.list;
        match (inputs.pop(), inputs.len()) {
            (Some(Input::Body(source)), 0) => Ok(source),
            (Some(Input::Unusable(label, failure)), 0) => {
                Err(Failure { message: format!("{label}: {}", failure.message), ..failure })
            }
            _ => Err(Failure::new("`assemble` takes one response").with_hint("name a file, not a folder")),
        }
    }
}

/// Reads the stream piece by piece, as it comes.
fn assembled(source: &Source, mut stream: AnswerStream) -> Result<Answer, Failure> {
    source.read_pieces(|piece| stream.feed(piece))?;
    Ok(stream.finish()?)
}
