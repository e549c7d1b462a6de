//! Event streams, as in the HTML standard, and common deviations of servers.
//!
//! Beyond the standard: a line of JSON without a field name is a frame, because gateways write errors in this way. Data
//! at the end without an empty line are emitted as cut, because many streams end in this way. Data that begin an object
//! after a complete object are a separate frame, because programs that copy a stream by lines may drop the empty lines.
//! Data after a misspelled or missing field name are not data, but are emitted so that the reader can report them as
//! missing.

use crate::nesting::Nesting;
use crate::{Error, ErrorKind, Frame, FrameKind, FrameLimits};

/// The mark that some servers send before the first byte.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text that many streams end with. It is not JSON.
const DONE: &[u8] = b"[DONE]";

#[derive(Debug)]
pub(crate) struct Sse {
    limits: FrameLimits,
    /// The start of an incomplete line.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a following line feed belongs to it.
    after_return: bool,
    /// The name of the present frame.
    name: Vec<u8>,
    /// A name that came after its data: of this frame, or of the next one if the empty line between them is missing.
    late_name: Option<Vec<u8>>,
    /// The data of the frame so far, if they had to be copied.
    data: Option<Vec<u8>>,
    /// The number of blanks at the end of its data.
    blanks: usize,
    /// An open JSON value without a field name.
    raw: Option<Nesting>,
    /// The stream offsets of the present line and of the frame, if it has a line.
    line_start: u64,
    frame_start: Option<u64>,
    is_first_line: bool,
    /// Whether the stream has ended.
    is_over: bool,
}

impl Sse {
    pub(crate) fn new(limits: FrameLimits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            after_return: false,
            name: Vec::new(),
            late_name: None,
            data: None,
            blanks: 0,
            raw: None,
            line_start: 0,
            frame_start: None,
            is_first_line: true,
            is_over: false,
        }
    }

    /// An event stream that begins at an offset of another stream.
    pub(crate) fn at(offset: u64, limits: FrameLimits) -> Self {
        Self { line_start: offset, is_first_line: false, ..Self::new(limits) }
    }

    pub(crate) fn feed(&mut self, piece: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        // Data inside this piece, which are copied only if the piece ends before the frame.
        let mut here: Option<&[u8]> = None;
        let mut rest = piece;
        if rest.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
            self.line_start += 1;
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, after) = (&rest[..end], end + line_break(&rest[end..]));
            self.after_return = &rest[end..] == b"\r";
            let before = self.line.len();
            if before == 0 {
                self.take_line(line, &mut here, sink)?;
            } else {
                self.take_cut_line(line, sink)?;
            }
            self.line_start += (before + after) as u64;
            rest = &rest[after..];
        }
        self.keep(&mut here);
        self.check_length(self.line.len() + rest.len())?;
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// Takes a line that started in an earlier piece.
    fn take_cut_line(&mut self, end: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        self.check_length(self.line.len() + end.len())?;
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let mut here = None;
        self.take_line(&line, &mut here, sink)?;
        self.keep(&mut here);
        // Keeps the allocation for the next line.
        line.clear();
        self.line = line;
        Ok(())
    }

    pub(crate) fn finish(&mut self, sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        self.is_over = true;
        let line = std::mem::take(&mut self.line);
        let mut here = None;
        if !line.is_empty() {
            self.take_line(&line, &mut here, sink)?;
        }
        let data = match (&self.data, here) {
            (Some(kept), _) => kept,
            (None, Some(here)) => here,
            (None, None) if is_error(&self.name) || is_cut_field(&line) => b"",
            (None, None) => return Ok(()),
        };
        // A second name belongs to a frame that never came.
        let name = self.late_name.as_ref().filter(|_| self.name.is_empty()).unwrap_or(&self.name);
        sink(Frame { kind: FrameKind::Cut, name, data });
        self.data = None;
        Ok(())
    }

    /// Takes a line without its line break. `here` is the data of the frame inside the present piece.
    fn take_line<'l>(
        &mut self,
        line: &'l [u8],
        here: &mut Option<&'l [u8]>,
        sink: &mut dyn FnMut(Frame<'_>),
    ) -> Result<(), Error> {
        self.check_length(line.len())?;
        self.frame_start.get_or_insert(self.line_start);
        let line = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.is_first_line => rest,
            _ => line,
        };
        self.is_first_line = false;
        let (field, value) = field(line);
        let is_field = matches!(field, b"data" | b"event" | b"id" | b"retry" | b"");
        if !is_field && line.first() == Some(&b'{') || field == b"data" {
            self.divide(if is_field { value } else { line }, here, sink);
        }
        if self.raw.is_some() && !is_field || self.begins_raw(line, here.is_some()) {
            return self.take_raw(line, sink);
        }
        if self.raw.take().is_some() {
            // The event stream continues, so the value was cut.
            self.dispatch(here, sink);
        }
        match field {
            _ if line.is_empty() => self.dispatch(here, sink),
            b"data" => self.take_data(value, here)?,
            b"event" if self.data.is_some() || here.is_some() => self.late_name = Some(value.to_vec()),
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"" | b"id" | b"retry" => {}
            // An unknown field is ignored, unless its value was meant as data: then part of the stream is missing, and
            // the frame shows it to the reader.
            _ if may_hold_data(line, field, value) => {
                let kind = if self.is_over { FrameKind::Cut } else { FrameKind::Event };
                sink(Frame { kind, ..Frame::unnamed(line) });
            }
            _ => {}
        }
        Ok(())
    }

    /// Emits the data so far if the next line cannot continue them: in JSON, an object never begins right after
    /// another.
    fn divide(&mut self, next: &[u8], here: &mut Option<&[u8]>, sink: &mut dyn FnMut(Frame<'_>)) {
        let Some(data) = self.data.as_deref().or(*here).filter(|_| self.raw.is_none()) else { return };
        let (data, next) = (&data[..data.len() - self.blanks], next.trim_ascii());
        let is_closed = data.ends_with(b"}") || data == DONE;
        if is_closed && (next.starts_with(b"{") || next == DONE) {
            let name = self.late_name.take();
            self.dispatch(here, sink);
            self.name = name.unwrap_or_default();
            self.frame_start = Some(self.line_start);
        }
    }

    fn take_data<'l>(&mut self, value: &'l [u8], here: &mut Option<&'l [u8]>) -> Result<(), Error> {
        let blanks = value.len() - value.trim_ascii_end().len();
        if self.data.is_none() && here.is_none() {
            self.blanks = blanks;
            *here = Some(value);
            return Ok(());
        }
        self.keep(here);
        let kept = self.data.as_ref().map_or(0, Vec::len);
        self.check_length(kept + 1 + value.len())?;
        let data = self.data.get_or_insert_default();
        data.push(b'\n');
        data.extend_from_slice(value);
        self.blanks = if blanks == value.len() { self.blanks + 1 + blanks } else { blanks };
        Ok(())
    }

    /// Whether a line begins a value without a field name.
    fn begins_raw(&self, line: &[u8], has_data: bool) -> bool {
        self.raw.is_none()
            && self.data.is_none()
            && !has_data
            && matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
    }

    fn take_raw(&mut self, line: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        let kept = self.data.as_ref().map_or(0, Vec::len);
        self.check_length(kept + 1 + line.len())?;
        let data = self.data.get_or_insert_default();
        if !data.is_empty() {
            data.push(b'\n');
        }
        data.extend_from_slice(line);
        let mut nesting = self.raw.take().unwrap_or_default();
        if nesting.close(line).is_some() {
            self.dispatch(&mut None, sink);
        } else {
            self.raw = Some(nesting);
        }
        Ok(())
    }

    /// Emits the present frame, if it has data.
    fn dispatch(&mut self, here: &mut Option<&[u8]>, sink: &mut dyn FnMut(Frame<'_>)) {
        let kind = FrameKind::Event;
        if let Some(name) = self.late_name.take() {
            self.name = name;
        }
        match (self.data.take(), here.take()) {
            (Some(data), _) => sink(Frame { kind, name: &self.name, data: &data }),
            (None, Some(data)) => sink(Frame { kind, name: &self.name, data }),
            (None, None) if is_error(&self.name) => sink(Frame { kind, name: &self.name, data: b"" }),
            (None, None) => {}
        }
        self.name.clear();
        self.frame_start = None;
    }

    /// Copies data out of a piece that is about to end.
    fn keep(&mut self, here: &mut Option<&[u8]>) {
        if let Some(here) = here.take() {
            self.data.get_or_insert_default().extend_from_slice(here);
        }
    }

    fn check_length(&self, length: usize) -> Result<(), Error> {
        let max = self.limits.frame_bytes_max;
        let offset = self.frame_start.unwrap_or(self.line_start);
        if length > max { Err(Error { offset, kind: ErrorKind::TooLong(max) }) } else { Ok(()) }
    }
}

/// Whether a frame of this name counts even without data: an error event does.
fn is_error(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"error")
}

/// Whether the last line belongs to a frame whose data were still to come.
fn is_cut_field(line: &[u8]) -> bool {
    let is_cut_name = b"data".starts_with(line) || b"event".starts_with(line);
    !line.is_empty() && is_cut_name || line.starts_with(b"event:")
}

/// The length of the line break at the start of `bytes`.
fn line_break(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\r\n") { 2 } else { 1 }
}

/// Whether a line begins a field of an event stream.
pub(crate) fn is_field(line: &[u8]) -> bool {
    line.contains(&b':') && matches!(field(line).0, b"data" | b"event" | b"id" | b"retry" | b"")
}

/// Whether an ignored line may hold data: its field name is close to `data`, JSON follows an unknown name or is inside
/// a text, or it is an HTML page of a gateway.
fn may_hold_data(line: &[u8], name: &[u8], value: &[u8]) -> bool {
    let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let is_data = name.trim_ascii().eq_ignore_ascii_case(b"data") && !value.trim_ascii().is_empty();
    let has_json = if is_name {
        matches!(value.trim_ascii_start(), [b'{', ..] | [b'[', b'{' | b'[' | b'"', ..])
    } else {
        memchr::memchr(b'"', line).is_some() && memchr::memchr2(b'{', b'}', line).is_some()
    };
    // A field name with several words is a sentence of a failing server.
    let is_sentence = !is_name && memchr::memchr(b' ', name.trim_ascii()).is_some();
    is_data || has_json || is_sentence || line.trim_ascii_start().starts_with(b"<")
}

/// The name and the value of a field; a line without a colon is only a name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let (name, value) = match line {
        // A fast path for most lines.
        [] => return (b"", b""),
        [b'd', b'a', b't', b'a', b':', value @ ..] => (&line[..4], value),
        _ => match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => return (line, b""),
        },
    };
    (name, value.strip_prefix(b" ").unwrap_or(value))
}
