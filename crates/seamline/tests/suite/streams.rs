//! Streamed responses: the output of each fixture, and the laws that hold for all of them.
//!
//! L9: the same bytes give the same response in any pieces. A prefix of a stream never promises more than the whole
//! stream: no call may run that may not run in the whole, and nothing is complete before its end arrived.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use seamline::stream::{ArgSource, Ending, FLAWS, FlawKind, Framing, Response, ResponseStream, StreamOptions};
use seamline_testkit::Dialect;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::fixtures::{bytes, corpus, expect, folders, keys, read, report};

/// The most bytes that are read for one law on one stream: all offsets of handwritten streams, a selection of those of
/// the longest recorded ones.
const WORK_BYTES_MAX: usize = 48 * 1024 * 1024;
/// The size of a piece where a stream arrives in many.
const PIECE: usize = 31;
/// Every offset this close to the border of a frame is tried.
const BORDER: usize = 4;

#[test]
fn every_stream_gives_its_expected_output() {
    let streams = fixtures().unwrap();
    let failures = streams.iter().filter_map(|stream| {
        let told = stream.whole().and_then(|response| {
            expect(&stream.folder.join("assembled.snap"), Some(described(stream, &response)?.as_bytes()))
        });
        told.err().map(|failure| format!("{}: {failure}", stream.name))
    });
    report(streams.len(), failures);
}

#[test]
fn a_fixture_gives_the_same_response_at_every_cut() {
    let tally = over(&fixtures().unwrap(), Stream::is_the_same_however_cut);
    println!("{tally}");
}

#[test]
fn no_prefix_of_a_fixture_promises_more_than_the_whole() {
    let tally = over(&fixtures().unwrap(), Stream::promises_nothing_early);
    println!("{tally}");
}

#[test]
fn a_failure_anywhere_in_a_fixture_is_never_missed() {
    let tally = over(&fixtures().unwrap(), Stream::fails_wherever_it_fails);
    println!("{tally}");
}

#[test]
fn the_documentation_of_every_flaw_shows_its_example() {
    let failures = FLAWS.iter().filter_map(|kind| shows_its_example(kind).err());
    report(FLAWS.len(), failures);
}

fn shows_its_example(kind: &FlawKind) -> Result<(), String> {
    let docs = seamline::stream::flaw_documentation(kind);
    let example = docs.split_once("```text\n").and_then(|(_, rest)| rest.split_once("```")).map(|(example, _)| example);
    let example = example.ok_or(format!("{}: no example", kind.code))?;
    if kind.name == "message-too-long" {
        return Ok(());
    }
    let response = assembled(&StreamOptions::default(), [example.as_bytes()])?;
    let codes: BTreeSet<_> = response.findings.iter().map(|finding| finding.code).collect();
    if codes == BTreeSet::from([kind.code]) { Ok(()) } else { Err(format!("{}: finds {codes:?}", kind.code)) }
}

/// One stream, and how it is read.
pub(crate) struct Stream {
    pub(crate) name: String,
    folder: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) options: StreamOptions,
    /// Whether data after the end of the message change its ending.
    late: Option<Ending>,
}

impl Stream {
    pub(crate) fn of(name: &str, bytes: Vec<u8>, options: StreamOptions) -> Self {
        Self { name: name.to_owned(), folder: PathBuf::new(), bytes, options, late: None }
    }

    /// A fixture. The dialect is that of its folder.
    fn read(folder: PathBuf) -> Result<Self, String> {
        let mut keys = keys(&read(&folder.join("case.toml"))?)?;
        keys.remove("about").ok_or("no `about` in case.toml")?;
        let framing = keys.remove("framing").map(|name| framing(&name)).transpose()?;
        let arg_source = keys.remove("arg_source").map(|name| arg_source(&name)).transpose()?.unwrap_or_default();
        let mut policy = seamline::Policy::default();
        policy.stream.arg_source = arg_source;
        let mut is_late = |key| keys.remove(key).is_some_and(|is_late| is_late == "true");
        let late = [("late_error", Ending::Failed), ("late_filter", Ending::Filtered)];
        let late = late.into_iter().find_map(|(key, ending)| is_late(key).then_some(ending));
        if let Some(key) = keys.into_keys().next() {
            return Err(format!("`{key}` is not a key of case.toml"));
        }
        let dialect = folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let case = folder.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: format!("{dialect}/{case}"),
            bytes: bytes(&folder.join("input.bin"))?,
            folder,
            options: StreamOptions { dialect: Some(dialect), framing, policy, ..StreamOptions::default() },
            late,
        })
    }

    pub(crate) fn whole(&self) -> Result<Response, String> {
        assembled(&self.options, [self.bytes.as_slice()])
    }

    /// Checks L9 and returns the number of cuts that were tried.
    pub(crate) fn is_the_same_however_cut(&self) -> Result<usize, String> {
        let whole = self.whole()?;
        let offsets = self.offsets();
        for &offset in &offsets {
            let (start, end) = self.bytes.split_at(offset);
            if assembled(&self.options, [start, end])? != whole {
                return Err(format!("cut at {offset} it is another answer"));
            }
        }
        // Every offset is the border of two pieces in one of these.
        for first in 1..=PIECE {
            let (start, rest) = self.bytes.split_at(first.min(self.bytes.len()));
            if assembled(&self.options, std::iter::once(start).chain(rest.chunks(PIECE)))? != whole {
                return Err(format!("in pieces of {PIECE} bytes after the first {first} it is another answer"));
            }
        }
        if assembled(&self.options, self.bytes.chunks(1))? != whole {
            return Err("byte by byte it is another answer".to_owned());
        }
        if assembled(&self.options, self.bytes.chunks(1).flat_map(|byte| [byte, b""]))? != whole {
            return Err("with pieces of nothing in between it is another answer".to_owned());
        }
        // Without the option the framing is detected, wherever the start is cut.
        let told = StreamOptions { framing: None, ..self.options.clone() };
        let found = assembled(&told, [self.bytes.as_slice()])?;
        if assembled(&told, self.bytes.chunks(1))? != found {
            return Err("byte by byte its framing is another".to_owned());
        }
        Ok(offsets.len() + PIECE + 3)
    }

    /// Checks the prefix law and returns the number of prefixes that were tried.
    ///
    /// A client that stops reading at the end of a message cannot know of an error or a filter that follows it, so the
    /// law cannot hold for such a stream; the whole stream still did not end well.
    pub(crate) fn promises_nothing_early(&self) -> Result<usize, String> {
        let whole = self.whole()?;
        if let Some(ending) = self.late {
            let why = "what follows the end was overheard".to_owned();
            return if whole.ending == ending { Ok(0) } else { Err(why) };
        }
        let offsets = self.offsets();
        for &offset in &offsets {
            let part = assembled(&self.options, [&self.bytes[..offset]])?;
            keeps_its_promise(&part, &whole).map_err(|why| format!("up to {offset}: {why}"))?;
        }
        Ok(offsets.len())
    }

    /// Checks that an error between any two frames fails the response, and returns the number of places that were
    /// tried.
    fn fails_wherever_it_fails(&self) -> Result<usize, String> {
        let Some(borders) = self.event_borders() else { return Ok(0) };
        let error = error_event(self.options.dialect.as_deref().unwrap_or_default());
        for &border in &borders {
            let mut bytes = self.bytes[..border].to_vec();
            bytes.extend_from_slice(error.as_bytes());
            for rest in [&b""[..], &self.bytes[border..]] {
                let response = assembled(&self.options, [&bytes, rest])?;
                let runnable = response.calls.iter().filter(|call| call.executable).count();
                if response.ending != Ending::Failed || runnable > 0 || response.error.is_none() {
                    return Err(format!("an error at {border}: {}, {runnable} to be run", response.ending.as_str()));
                }
            }
        }
        Ok(borders.len())
    }

    /// The ends of the frames of an event stream, except of a stream that failed before.
    fn event_borders(&self) -> Option<Vec<usize>> {
        let is_events = matches!(self.options.framing, None | Some(Framing::Sse))
            && Framing::of_start(&self.bytes) == Framing::Sse
            && self.bytes.ends_with(b"\n\n");
        let mut borders: Vec<_> = std::iter::once(0)
            .chain(self.bytes.windows(2).enumerate().filter(|(_, pair)| pair == b"\n\n").map(|(at, _)| at + 2))
            .collect();
        let whole = self.whole().ok()?;
        // A failed response keeps its first reason.
        let counts = |&border: &usize| {
            let part = assembled(&self.options, [&self.bytes[..border]]);
            part.is_ok_and(|part| part.ending != Ending::Failed)
        };
        borders.retain(counts);
        (is_events && whole.ending != Ending::Failed).then_some(borders)
    }

    /// The cuts of a stream: every offset or, if that is too much, every offset near the border of a frame and others
    /// at even distances. `SEAMLINE_EVERY_OFFSET` selects every offset anyway, which takes half an hour for the
    /// recorded streams.
    fn offsets(&self) -> Vec<usize> {
        let count = self.bytes.len() + 1;
        let affordable = WORK_BYTES_MAX / count;
        if count <= affordable || std::env::var_os("SEAMLINE_EVERY_OFFSET").is_some() {
            return (0..count).collect();
        }
        let near = |at: usize| at.saturating_sub(BORDER)..count.min(at + BORDER);
        let breaks = self.bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at);
        let mut offsets: Vec<_> = breaks.flat_map(near).collect();
        offsets.extend((0..count).step_by(count.div_ceil(affordable / 2)));
        offsets.sort_unstable();
        offsets.dedup();
        let step = offsets.len().div_ceil(affordable);
        offsets.into_iter().step_by(step).collect()
    }

    fn is_cut_everywhere(&self) -> bool {
        self.offsets().len() > self.bytes.len()
    }
}

/// Runs a law over streams and prints how much was tried.
pub(crate) fn over(streams: &[Stream], law: impl Fn(&Stream) -> Result<usize, String>) -> String {
    let mut tried = 0;
    let failures: Vec<_> = streams
        .iter()
        .filter_map(|stream| match law(stream) {
            Ok(count) => {
                tried += count;
                None
            }
            Err(failure) => Some(format!("{}: {failure}", stream.name)),
        })
        .collect();
    report(streams.len(), failures.into_iter());
    let everywhere = streams.iter().filter(|stream| stream.is_cut_everywhere()).count();
    let bytes: usize = streams.iter().map(|stream| stream.bytes.len()).sum();
    format!(
        "{} streams of {bytes} bytes, {tried} tried; {everywhere} streams at every offset, {} around the borders of \
         frames and at even distances",
        streams.len(),
        streams.len() - everywhere
    )
}

/// Explains what a prefix of a stream promises beyond the whole.
fn keeps_its_promise(part: &Response, whole: &Response) -> Result<(), String> {
    for call in part.calls.iter().filter(|call| call.executable) {
        if !whole.calls.contains(call) {
            return Err(format!("`{}` may be run, and not in the whole", call.id));
        }
    }
    if part.ending != Ending::Complete {
        return Ok(());
    }
    // Only data after the end may be missing.
    let is_same = whole.ending == Ending::Complete
        && part.stop_reason == whole.stop_reason
        && part.calls == whole.calls
        && part.blocks == whole.blocks;
    if is_same { Ok(()) } else { Err("complete, and not all of it is there".to_owned()) }
}

pub(crate) fn assembled<'p>(
    options: &StreamOptions,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> Result<Response, String> {
    let mut stream = ResponseStream::new(options).map_err(|error| error.to_string())?;
    for piece in pieces {
        stream.feed(piece);
    }
    stream.finish().map_err(|error| error.to_string())
}

/// A response in the form of its expected output.
fn described(stream: &Stream, response: &Response) -> Result<String, String> {
    let mut text = String::new();
    let found = assembled(&StreamOptions::default(), [stream.bytes.as_slice()]);
    let found = found.map_or_else(|error| error, |found| found.dialect.to_owned());
    let _ = writeln!(text, "dialect: {} (by itself: {found})", response.dialect);
    let cut = response.ending.cut().map(|cut| format!(", cut by {cut}")).unwrap_or_default();
    let _ = writeln!(text, "ending: {}{cut}", response.ending.as_str());
    let _ = writeln!(text, "stop reason: {}", response.stop_reason.as_deref().unwrap_or("none"));
    for block in &response.blocks {
        let _ = writeln!(text, "block: {} {:?}", block.kind.as_str(), block.text);
    }
    for call in &response.calls {
        let fate = call.why_not.map_or("may be run".to_owned(), |why| format!("not to be run: {why}"));
        let _ = writeln!(text, "call: `{}` {} {} ({fate})", call.id, call.name, call.arguments);
    }
    for finding in &response.findings {
        let about = finding.call_id.as_ref().map(|id| format!(" `{id}`")).unwrap_or_default();
        let _ = writeln!(text, "found: {} {}{about}", finding.code, finding.name);
    }
    if let Some(error) = &response.error {
        let _ = writeln!(text, "error: {} {}: {}", error.verdict.class.as_str(), error.verdict.name, error.text);
    }
    let _ = writeln!(text, "message: {}", laid_out(&response.message)?);
    Ok(text)
}

/// JSON in lines, its members in the order they were written.
fn laid_out(json: &str) -> Result<String, String> {
    serde_json::from_str::<Once>(json).map_err(|error| format!("the message is not JSON: {error}: {json}"))?;
    let (mut out, mut depth, mut in_string, mut escaped) = (String::new(), 0, false, false);
    let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
    let mut chars = json.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' if !matches!(chars.peek(), Some('}' | ']')) => {
                depth += 1;
                out.push(char);
                out += &line(depth);
                continue;
            }
            '{' | '[' => {
                out.push(char);
                out.extend(chars.next());
                continue;
            }
            '}' | ']' => {
                depth -= 1;
                out += &line(depth);
            }
            ',' => {
                out.push(char);
                out += &line(depth);
                continue;
            }
            ' ' | '\n' | '\t' | '\r' => continue,
            ':' => {
                out += ": ";
                continue;
            }
            _ => {}
        }
        out.push(char);
    }
    Ok(out)
}

/// JSON without repeated members.
struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceVisitor)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Once;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_str<E>(self, _: &str) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Once, A::Error> {
        while list.next_element::<Once>()?.is_some() {}
        Ok(Once)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Once, A::Error> {
        let mut names = BTreeSet::new();
        while let Some((name, Once)) = object.next_entry::<String, Once>()? {
            if !names.insert(name.clone()) {
                return Err(serde::de::Error::custom(format!("`{name}` occurs twice")));
            }
        }
        Ok(Once)
    }
}

/// The event by which a dialect reports a failure in the middle of a stream.
fn error_event(dialect: &str) -> &'static str {
    Dialect::by_name(dialect).map_or("", Dialect::error_event)
}

pub(crate) fn fixtures() -> Result<Vec<Stream>, String> {
    let read = |folder: PathBuf| {
        let shown = folder.display().to_string();
        Stream::read(folder).map_err(|error| format!("{shown}: {error}"))
    };
    folders(&corpus().join("streams"), 2)?.into_iter().map(read).collect()
}

fn framing(name: &str) -> Result<Framing, String> {
    match name {
        "sse" => Ok(Framing::Sse),
        "json_lines" => Ok(Framing::JsonLines),
        "json_array" => Ok(Framing::JsonArray),
        "aws_event_stream" => Ok(Framing::AwsEventStream),
        _ => Err(format!("no framing is called `{name}`")),
    }
}

fn arg_source(name: &str) -> Result<ArgSource, String> {
    match name {
        "delta_wins" => Ok(ArgSource::DeltaWins),
        "merge_heuristic" => Ok(ArgSource::MergeHeuristic),
        "parsable_wins" => Ok(ArgSource::ParsableWins),
        _ => Err(format!("no source of arguments is called `{name}`")),
    }
}
