//! Consecutive JSON values: lines of JSON, or the elements of a list that is read while it is written.
//!
//! A value ends where its brackets close, so a value that spans lines is one frame. Text without a bracket is a frame
//! up to the end of its line. If such a line belongs to an event stream, the rest is read as an event stream: gateways
//! write an error as plain JSON and then continue with events from elsewhere, and an event stream may also hold lines
//! of JSON.

use crate::nesting::Nesting;
use crate::sse::{self, Sse};
use crate::{Error, ErrorKind, Frame, FrameKind, FrameLimits};

/// How values are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Lines,
    /// Inside one list, separated by commas.
    List,
}

#[derive(Debug)]
pub(crate) struct JsonValues {
    layout: Layout,
    limits: FrameLimits,
    state: State,
    /// The start of an incomplete value.
    value: Vec<u8>,
    /// The event stream that the rest is read as.
    events: Option<Box<Sse>>,
    read: u64,
    start: u64,
    /// Whether the list was closed.
    is_behind: bool,
}

/// ```text
///            `[` of the list              bracket
/// Opening ─────────────────▸ Between ◂───────────────▸ Value
///    │                          │ ▴       last one closed
///    └── no list: lines ────────┘ │ line break
///                               ▾ │
///                               Word
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Only white space was read.
    Opening,
    Between,
    Value(Nesting),
    /// Text without a bracket.
    Word,
}

impl JsonValues {
    pub(crate) fn new(layout: Layout, limits: FrameLimits) -> Self {
        Self {
            layout,
            limits,
            state: State::Opening,
            value: Vec::new(),
            events: None,
            read: 0,
            start: 0,
            is_behind: false,
        }
    }

    pub(crate) fn feed(&mut self, piece: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        let mut rest = piece;
        while !rest.is_empty() {
            if let Some(events) = &mut self.events {
                return events.feed(rest, &mut mark_behind(self.is_behind, sink));
            }
            let used = match self.state {
                State::Opening => self.open(rest),
                State::Between => self.between(rest)?,
                State::Value(nesting) => self.value(nesting, rest, sink)?,
                State::Word => self.word(rest, sink)?,
            };
            self.read += used as u64;
            rest = &rest[used..];
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self, sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        let value = std::mem::take(&mut self.value);
        if self.is_event(&value) {
            self.continue_as_events(&value, sink)?;
        } else if !value.trim_ascii().is_empty() || self.is_list_open() {
            let cut = Frame { kind: FrameKind::Cut, ..Frame::unnamed(value.trim_ascii()) };
            mark_behind(self.is_behind, sink)(cut);
        }
        let mut sink = mark_behind(self.is_behind, sink);
        self.events.as_mut().map_or(Ok(()), |events| events.finish(&mut sink))
    }

    /// Whether the end of the list is missing.
    fn is_list_open(&self) -> bool {
        self.layout == Layout::List && self.state != State::Opening
    }

    /// Whether a word is a line of an event stream.
    fn is_event(&self, line: &[u8]) -> bool {
        self.state == State::Word && sse::is_field(line)
    }

    /// Reads the rest as an event stream that begins with a line.
    fn continue_as_events(&mut self, line: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        self.events
            .insert(Box::new(Sse::at(self.start, self.limits)))
            .feed(line, &mut mark_behind(self.is_behind, sink))
    }

    /// Decides at the first byte that is not white space whether a list surrounds the values.
    fn open(&mut self, rest: &[u8]) -> usize {
        let blank = blanks(rest);
        let used = match (self.layout, rest.get(blank)) {
            (_, None) => return blank,
            (Layout::List, Some(b'[')) => blank + 1,
            (Layout::List, Some(_)) => {
                // An error takes the place of the list.
                self.layout = Layout::Lines;
                blank
            }
            (Layout::Lines, Some(_)) => blank,
        };
        self.state = State::Between;
        used
    }

    fn between(&mut self, rest: &[u8]) -> Result<usize, Error> {
        let blank = blanks(rest);
        let Some(&byte) = rest.get(blank) else { return Ok(blank) };
        self.start = self.read + blank as u64;
        match (self.layout, byte) {
            (_, b'{') | (Layout::Lines, b'[') => self.state = State::Value(Nesting::default()),
            (Layout::List, b',') => return Ok(blank + 1),
            // Everything after the list is read as lines.
            (Layout::List, b']') => {
                self.layout = Layout::Lines;
                self.is_behind = true;
                return Ok(blank + 1);
            }
            (Layout::Lines, _) => self.state = State::Word,
            (Layout::List, _) => return Err(Error { offset: self.start, kind: ErrorKind::Between }),
        }
        Ok(blank)
    }

    fn value(&mut self, mut nesting: Nesting, rest: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<usize, Error> {
        let end = nesting.close(rest);
        self.state = if end.is_some() { State::Between } else { State::Value(nesting) };
        self.emit(rest, end, sink)
    }

    fn word(&mut self, rest: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<usize, Error> {
        let end = memchr::memchr2(b'\n', b'\r', rest);
        if let Some(end) = end {
            let mut line = std::mem::take(&mut self.value);
            line.extend_from_slice(&rest[..end]);
            if self.is_event(&line) {
                self.continue_as_events(&line, sink)?;
                return Ok(end);
            }
            line.truncate(line.len() - end);
            self.value = line;
        }
        self.state = if end.is_some() { State::Between } else { State::Word };
        self.emit(rest, end, sink)
    }

    /// Emits a value that ends at `end`, or keeps its start.
    fn emit(&mut self, rest: &[u8], end: Option<usize>, sink: &mut dyn FnMut(Frame<'_>)) -> Result<usize, Error> {
        let used = end.unwrap_or(rest.len());
        let max = self.limits.frame_bytes_max;
        if self.value.len() + used > max {
            return Err(Error { offset: self.start, kind: ErrorKind::TooLong(max) });
        }
        let mut sink = mark_behind(self.is_behind, sink);
        match (end, self.value.is_empty()) {
            (Some(end), true) => sink(Frame::unnamed(rest[..end].trim_ascii_end())),
            (Some(end), false) => {
                self.value.extend_from_slice(&rest[..end]);
                sink(Frame::unnamed(self.value.trim_ascii_end()));
                self.value.clear();
            }
            (None, _) => self.value.extend_from_slice(rest),
        }
        Ok(used)
    }
}

/// Wraps a sink so that it marks frames after the end of the list.
fn mark_behind(is_behind: bool, sink: &mut dyn FnMut(Frame<'_>)) -> impl FnMut(Frame<'_>) {
    move |frame| sink(if is_behind { Frame { kind: FrameKind::Behind, ..frame } } else { frame })
}

/// The number of leading bytes that are white space or part of a byte order mark.
fn blanks(bytes: &[u8]) -> usize {
    let blank = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf);
    bytes.iter().take_while(blank).count()
}
