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
use crate::render::response;
use crate::screen;

/// Assemble a streamed response
///
/// Reads the bytes of a streamed response and reports how it ended, its text, its tool calls with their arguments and
/// whether each may run, the defects of the stream, and the error if it failed.
///
/// A response is complete only if the provider said so. A response that was cut, filtered or failed is never complete,
/// and none of its tool calls may run. The exception: if the token limit cut a tool call, the tool calls before it may
/// run, because they are complete.
///
/// As JSON: `version`, `path`, `dialect`, `ending` and `cut`, `stop_reason`, `message`, `messages`, `calls`, `findings` and
/// `error`. `message` is the whole response; if the arguments of a tool call are not a JSON object, it has their text as a
/// JSON string. `messages` is the part to append to the history: without members that only responses have, and without
/// tool calls that may not run, unless the policy keeps them (`partial_call`, `malformed_call`). The results of kept tool
/// calls that may not run follow them, and tell the model why.
///
/// The framing (event stream, lines of JSON, JSON array, AWS event stream) and the dialect are detected. Headers before the
/// stream, as `curl -i` writes them, are skipped.
///
/// Exit status: 0 the response is complete and has no findings, 1 it is not or has some, 2 it could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Assemble {
    /// A file with the streamed response, or `-` for standard input (the default)
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// The dialect of the stream; a stream in another dialect is refused [default: detected]
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<String>,
    /// The provider that sent the response; it helps to classify errors
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// The framing of the stream [default: detected]
    #[arg(long, value_enum)]
    framing: Option<FramingName>,
    /// The policy for reading the stream: a preset or a TOML file (see `seamline policies`)
    #[arg(long, value_name = "NAME|FILE", default_value = "lossless")]
    policy: PathBuf,
    /// Which arguments count if a tool call has some at its start and some in deltas [default: the policy's choice]
    #[arg(long, value_enum)]
    arg_source: Option<ArgSourceName>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

/// How many bytes of the input are kept to identify an input that is not a response.
const START_BYTES_MAX: usize = 1024 * 1024;

const EXAMPLES: &str = "\
Examples:
  seamline assemble response.sse
  curl -sN --data-binary @request.json \"$URL\" | seamline assemble
  seamline assemble response.bin --provider bedrock
  seamline assemble response.sse --format json |
    jq '.calls[] | select(.executable)'
  seamline assemble response.sse --format json | jq -c '.messages[]'";

/// The framing of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum FramingName {
    /// Server-sent events (`text/event-stream`)
    Sse,
    /// Lines of JSON
    JsonLines,
    /// The elements of one JSON array
    JsonArray,
    /// Event streams of AWS (`application/vnd.amazon.eventstream`)
    AwsEventStream,
}

/// The source of the arguments of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ArgSourceName {
    /// The deltas if there are any, else the arguments at the start
    DeltaWins,
    /// A delta that begins an object replaces the start; any other delta continues it
    MergeHeuristic,
    /// The deltas if they are a JSON object, else the start if it is one
    ParsableWins,
}

impl Assemble {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let stream = ResponseStream::new(&self.options()?)?;
        let source = self.source()?;
        let label = source.label();
        let response = match Self::read_response(&source, stream) {
            Ok(response) => response,
            Err(failure) => {
                output::complain_about(&label, &failure);
                return Ok(Exit::Failed);
            }
        };
        let mut out = Output::new();
        out.text(&match self.format {
            ListFormat::Text => response::text(&label, &response, screen::width()),
            ListFormat::Json => response::json(&label, &response),
        });
        Ok(out.finish(if response.is_well() { Exit::Clean } else { Exit::Findings }))
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
                    .with_hint("give a file, as in `seamline assemble response.sse`, or pipe a response in"))
            }
            None => Ok(Source::Stdin),
            Some(path) if path.as_os_str() == "-" => Ok(Source::Stdin),
            Some(path) if path.is_dir() => {
                Err(Failure::new("`assemble` takes one response").with_hint("name a file, not a folder"))
            }
            Some(path) => Ok(Source::Path(path.clone())),
        }
    }

    /// Reads the stream piece by piece until its ending is final.
    fn read_response(source: &Source, mut stream: ResponseStream) -> Result<Response, Failure> {
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
        let response = stream.finish();
        if is_refused && response.is_ok() {
            return Ok(response?);
        }
        // A recorded response can be taken out of a HAR file.
        if Nature::of(&start) != Nature::Har {
            Failure::of_program(source, &start)?;
        }
        explain_failure(response, &start)
    }
}

/// Whether a body cannot be a response because it is empty, a sentence or an HTML page.
fn is_prose(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    !start.starts_with(b"{") && !start.starts_with(b"[") && !start.contains(&b':') || start.starts_with(b"<")
}

/// Feeds a piece of the body to the stream and keeps the first bytes.
fn take(body: &[u8], start: &mut Vec<u8>, stream: &mut ResponseStream) {
    let room = START_BYTES_MAX.saturating_sub(start.len()).min(body.len());
    start.extend_from_slice(&body[..room]);
    stream.feed(body);
}

/// Returns the response, or explains that the input is not a response.
fn explain_failure(response: Result<Response, seamline::Error>, start: &[u8]) -> Result<Response, Failure> {
    let nature = Nature::of(start);
    let says_nothing = match (&response, nature) {
        (Err(seamline::Error::UnknownStream), _) => true,
        (Err(_), _) => nature == Nature::Request,
        (Ok(response), Nature::Request) => response.ending != Ending::Complete,
        (Ok(response), Nature::NotText | Nature::Mangled) => response.blocks.is_empty(),
        // The first frames of a response may have no sign of a response yet.
        (Ok(_), Nature::OtherJson) => false,
        (Ok(response), _) => response.ending == Ending::Truncated && response.blocks.is_empty(),
    };
    match nature.no_response() {
        Some(failure) if says_nothing || nature.is_hopeless() => Err(failure),
        _ => Ok(response?),
    }
}
