//! `seamline assemble`

use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seamline::stream::{ArgSource, Ending, Framing, Response, ResponseStream, StreamOptions};

use crate::args::{self, ListFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::head::Head;
use crate::input::Source;
use crate::nature::Nature;
use crate::output::{self, Output};
use crate::render::answer;
use crate::screen;

/// Put a streamed answer together
///
/// Reads the bytes of a response as they were streamed and says what came of them: how the answer ended, its text,
/// its calls with their input and whether they may be run, what was wrong with the stream, and why it failed if it did.
///
/// An answer is complete only when the provider said so. A stream that stops short, is filtered or fails is never
/// taken for a whole answer, and no call of it may be run. Only where the limit of the answer was reached while a call
/// was being written may the calls before that one be run, because they are whole.
///
/// As JSON: `version`, `path`, `dialect`, `ending` and `cut`, `stop_reason`, `message`, `messages`, `calls`, `findings` and
/// `error`. `message` is the whole response; a call in it whose input is no JSON object has the text of it as a JSON
/// string, so that nothing of it is lost. `messages` is what a history keeps of it, ready to be sent back and to go into a
/// session: without what only responses have, and without calls that may not be run, unless the policy keeps them
/// (`partial_call`).
///
/// Framing (an event stream, lines of JSON, a JSON array, an AWS event stream) and dialect are told by the stream
/// itself when they are not given. Headers before it, as `curl -i` writes them, are skipped.
///
/// Exit status: 0 the answer is complete and nothing was wrong with it, 1 it is not, 2 it could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Assemble {
    /// A response as it was streamed, or `-` for standard input, which is the default
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// The dialect it is written in; told by its first frames when not given. A stream in another one is refused
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<String>,
    /// Who answered; an error is understood better then. The stream itself says in which dialect it is
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// How the stream is cut into frames; told by its first bytes when not given
    #[arg(long, value_enum)]
    framing: Option<FramingName>,
    /// How the stream is read: the name of a preset, or a TOML file (see `seamline policies`)
    #[arg(long, value_name = "NAME|FILE", default_value = "lossless")]
    policy: PathBuf,
    /// Which input counts where a call has one at its start and one in pieces; the policy says so when not given
    #[arg(long, value_enum)]
    arg_source: Option<ArgSourceName>,
    /// How what came of it is printed
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

/// How much of the input is kept to say what it is when it is no answer.
const START_BYTES_MAX: usize = 1024 * 1024;

const EXAMPLES: &str = "\
Examples:
  seamline assemble response.sse
  curl -sN --data-binary @request.json \"$URL\" | seamline assemble
  seamline assemble response.bin --provider bedrock
  seamline assemble response.sse --format json |
    jq '.calls[] | select(.executable)'
  seamline assemble response.sse --format json | jq -c '.messages[]'";

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
        let stream = ResponseStream::new(&self.options()?)?;
        let source = self.source()?;
        let label = source.label();
        let answer = match Self::assembled(&source, stream) {
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

    fn options(&self) -> Result<StreamOptions, Failure> {
        let framing = self.framing.map(|framing| match framing {
            FramingName::Sse => Framing::Sse,
            FramingName::JsonLines => Framing::JsonLines,
            FramingName::JsonArray => Framing::JsonArray,
            FramingName::AwsEventStream => Framing::AwsEventStream,
        });
        let (dialect, provider) = (self.dialect.clone(), self.provider.clone());
        let policy = args::policy(&self.policy)?;
        let mut policy =
            provider.as_deref().map_or_else(|| policy.clone(), |name| policy.for_provider(name).into_owned());
        if let Some(source) = self.arg_source {
            policy.stream.arg_source = match source {
                ArgSourceName::DeltaWins => ArgSource::DeltaWins,
                ArgSourceName::MergeHeuristic => ArgSource::MergeHeuristic,
                ArgSourceName::ParsableWins => ArgSource::ParsableWins,
            };
        }
        Ok(StreamOptions { dialect, provider, framing, policy })
    }

    fn source(&self) -> Result<Source, Failure> {
        match &self.path {
            None if std::io::stdin().is_terminal() => {
                Err(Failure::new("no path given, and standard input is a terminal")
                    .with_hint("give a file, as in `seamline assemble answer.sse`, or pipe a response in"))
            }
            None => Ok(Source::Stdin),
            Some(path) if path.as_os_str() == "-" => Ok(Source::Stdin),
            Some(path) if path.is_dir() => {
                Err(Failure::new("`assemble` takes one response").with_hint("name a file, not a folder"))
            }
            Some(path) => Ok(Source::Path(path.clone())),
        }
    }

    /// Reads the stream piece by piece, as it comes, until nothing more can be said about it.
    fn assembled(source: &Source, mut stream: ResponseStream) -> Result<Response, Failure> {
        let (mut head, mut start) = (Head::default(), Vec::new());
        source.read_pieces(|piece| {
            head.handle_piece(piece, |body| take(body, &mut start, &mut stream));
            if stream.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        head.finish(|body| take(body, &mut start, &mut stream));
        if let Some(status) = head.status {
            stream.head(status, &head.headers());
        }
        if let Some(status) = head.status.filter(|status| *status >= 400) {
            output::say(&format!("seamline: {}: the response has status {status}\n", output::named(&source.label())));
        }
        let is_refused = head.status.is_some_and(|status| status >= 400) && is_prose(&start);
        if is_refused {
            stream.fail(String::from_utf8_lossy(&start).trim());
        }
        let answer = stream.finish();
        if is_refused && answer.is_ok() { Ok(answer?) } else { judged(answer, &start) }
    }
}

/// Whether a body is nothing that an answer could be: empty, a sentence or a page.
fn is_prose(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    !start.starts_with(b"{") && !start.starts_with(b"[") && !start.contains(&b':') || start.starts_with(b"<")
}

/// Gives a piece of the body to the stream, and keeps the start of it.
fn take(body: &[u8], start: &mut Vec<u8>, stream: &mut ResponseStream) {
    let room = START_BYTES_MAX.saturating_sub(start.len()).min(body.len());
    start.extend_from_slice(&body[..room]);
    stream.feed(body);
}

/// The answer, unless what came was none.
fn judged(answer: Result<Response, seamline::Error>, start: &[u8]) -> Result<Response, Failure> {
    let nature = Nature::of(start);
    let says_nothing = match (&answer, nature) {
        (Err(seamline::Error::UnknownStream), _) => true,
        (Err(_), _) => nature == Nature::Request,
        (Ok(answer), Nature::Request) => answer.ending != Ending::Complete,
        (Ok(answer), Nature::NotText | Nature::Mangled) => answer.blocks.is_empty(),
        // The first frames of an answer are JSON that has nothing of an answer yet.
        (Ok(_), Nature::OtherJson) => false,
        (Ok(answer), _) => answer.ending == Ending::Truncated && answer.blocks.is_empty(),
    };
    match nature.no_answer() {
        Some(failure) if says_nothing || nature.is_hopeless() => Err(failure),
        _ => Ok(answer?),
    }
}
