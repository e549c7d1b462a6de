//! The entry points for untrusted bytes. Each accepts any bytes and must return.
//!
//! The fuzz targets under `fuzz/` and the property tests on stable call the same functions. Further demands are checked
//! here, too: the cuts of a stream make no difference, a call that may run comes from a complete message, and a repair
//! is settled.

use seamline::classify::Failure;
use seamline::stream::{ArgSource, Ending, Response, ResponseStream, StreamLimits, StreamOptions};
use seamline::{Error, Options, Severity};
use seamline_frame::{FrameKind, FrameLimits, Framer, Framing};
use seamline_guard::{classify, filter};

/// An entry point: its name, and the function that takes bytes.
pub(crate) type Entry = (&'static str, fn(&[u8]));

/// All entry points, by the names of the fuzz targets.
pub(crate) const ALL: [Entry; 9] = [
    ("frame_sse", |bytes| frames(Framing::Sse, bytes)),
    ("frame_json_lines", |bytes| frames(Framing::JsonLines, bytes)),
    ("frame_json_array", |bytes| frames(Framing::JsonArray, bytes)),
    ("frame_aws_event_stream", |bytes| frames(Framing::AwsEventStream, bytes)),
    ("stream", streams),
    ("check", check),
    ("repair", repair),
    ("classify", errors),
    ("recognise", recognise),
];

/// The entry of a name.
pub(crate) fn run(name: &str, bytes: &[u8]) {
    let entry = ALL.iter().find(|(known, _)| *known == name);
    assert!(entry.is_some(), "no entry is called `{name}`");
    if let Some((_, entry)) = entry {
        entry(bytes);
    }
}

/// Small, so that limits are reached.
const FRAME_BYTES_MAX: usize = 4096;
const BLOCKS_MAX: usize = 64;

/// A frame that was copied, or that framing failed.
type Seen = Vec<(FrameKind, Vec<u8>, Vec<u8>)>;

fn framed<'b>(framing: Framing, pieces: impl Iterator<Item = &'b [u8]>) -> (Seen, bool) {
    let mut framer = Framer::new(framing, FrameLimits { frame_bytes_max: FRAME_BYTES_MAX });
    let mut seen = Seen::new();
    for piece in pieces {
        let fed = framer.feed(piece, |frame| seen.push((frame.kind, frame.name.to_vec(), frame.data.to_vec())));
        if fed.is_err() {
            return (seen, true);
        }
    }
    let ended = framer.finish(|frame| seen.push((frame.kind, frame.name.to_vec(), frame.data.to_vec())));
    (seen, ended.is_err())
}

/// Checks that the frames do not depend on the cuts.
fn frames(framing: Framing, bytes: &[u8]) {
    let whole = framed(framing, std::iter::once(bytes));
    let single = framed(framing, bytes.chunks(1));
    assert_eq!(whole, single);
    assert_eq!(whole, framed(framing, in_two(bytes).into_iter()));
}

/// Cuts bytes into two pieces, at a place that the bytes themselves determine.
fn in_two(bytes: &[u8]) -> [&[u8]; 2] {
    let mixed = bytes.iter().fold(0_usize, |mixed, &byte| mixed.wrapping_mul(31).wrapping_add(usize::from(byte)));
    let (front, back) = bytes.split_at(mixed % (bytes.len() + 1));
    [front, back]
}

/// The response that a stream gives, as every caller gets it.
fn answered<'b>(options: &StreamOptions, pieces: impl Iterator<Item = &'b [u8]>) -> Result<Response, Error> {
    let mut stream = ResponseStream::new(options)?;
    for piece in pieces {
        stream.feed(piece);
    }
    stream.finish()
}

/// Reads a stream in every dialect, and once in the dialect that is detected.
fn streams(bytes: &[u8]) {
    for dialect in seamline::providers::dialect_names().into_iter().map(Some).chain([None]) {
        stream(dialect, bytes);
    }
}

/// Reads a stream in a dialect, or in the detected one.
pub(crate) fn stream(dialect: Option<&str>, bytes: &[u8]) {
    let sources = [ArgSource::DeltaWins, ArgSource::MergeHeuristic, ArgSource::ParsableWins];
    let limits = StreamLimits { frame_bytes_max: FRAME_BYTES_MAX, blocks_max: BLOCKS_MAX, ..StreamLimits::default() };
    let arg_source = sources[bytes.len() % sources.len()];
    let mut options = StreamOptions { dialect: dialect.map(str::to_owned), ..StreamOptions::default() };
    options.policy.stream.arg_source = arg_source;
    options.policy.stream.limits = limits;
    answer(&options, bytes);
}

/// Checks that the response does not depend on the cuts, and that no call may run unless it is complete.
fn answer(options: &StreamOptions, bytes: &[u8]) {
    let whole = answered(options, std::iter::once(bytes));
    assert_eq!(whole, answered(options, bytes.chunks(7)));
    assert_eq!(whole, answered(options, in_two(bytes).into_iter()));
    let Ok(answer) = whole else { return };
    let may_run = matches!(answer.ending, Ending::Complete | Ending::CutCall);
    assert!(may_run || answer.calls.iter().all(|call| !call.executable), "{answer:?}");
    assert!(seamline_dialects::Document::read(&answer.message).is_ok(), "{}", answer.message);
}

fn check(bytes: &[u8]) {
    for dialect in std::iter::once(None).chain(seamline::providers::dialect_names().into_iter().map(Some)) {
        let options = Options { dialect: dialect.map(str::to_owned), ..Options::default() };
        let _ = seamline::check(bytes, &options);
    }
}

fn repair(bytes: &[u8]) {
    let options = Options::default();
    let Ok(repaired) = seamline::repair(bytes, &options) else { return };
    assert!(repaired.remaining.iter().all(|finding| finding.code != "BUG001"), "it settles");
    let again = seamline::repair(&repaired.body, &options);
    let same = again.as_ref().is_ok_and(|again| again.body[..] == repaired.body[..]);
    assert!(same || repaired.remaining.iter().any(|finding| finding.severity == Severity::Error), "it is idempotent");
}

fn recognise(bytes: &[u8]) {
    for name in ["", "events.jsonl"] {
        assert_eq!(seamline::files::recognise(name, bytes), seamline::files::recognise(name, bytes));
    }
}

fn errors(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for status in [None, Some(200), Some(400), Some(429)] {
        let headers = [("retry-after", &*text), ("date", &*text), ("x-ratelimit-reset", &*text)];
        let failure = Failure { status, headers: &headers, text: &text, ..Failure::default() };
        assert_eq!(classify(&failure), classify(&failure));
        let _ = filter(&failure);
    }
}
