//! Event streams, as the HTML standard has them, and what servers make of them.
//!
//! Beyond the standard: a line of JSON without a field in front of it is a frame, because
//! gateways write their errors so; what stands at the end without an empty line behind it is
//! given out as cut, because many streams end so; and data that begin an object where those
//! before them closed one are a frame of their own, because whatever copies a stream by its
//! lines may leave the empty ones out. Data behind a field that is written otherwise, or behind
//! none, are no data, though they are given out for whoever has to know that they are missing.

use crate::nesting::Nesting;
use crate::{Error, ErrorKind, Frame, FrameKind, Limits};

/// What some servers put before the first byte.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What many streams end with, and no JSON.
const DONE: &[u8] = b"[DONE]";

#[derive(Debug)]
pub(crate) struct Sse {
    limits: Limits,
    /// The start of a line that was cut.
    line: Vec<u8>,
    /// The last byte was a carriage return, so a line feed that follows belongs to it.
    after_return: bool,
    /// The name of the frame that is being read.
    name: Vec<u8>,
    /// A name that came behind its data: of this frame, or of the next one where the empty line
    /// between them is missing.
    late_name: Option<Vec<u8>>,
    /// Its data so far, if there are any that had to be kept.
    data: Option<Vec<u8>>,
    /// How many blanks its data end with.
    blanks: usize,
    /// A value without a field in front of it that is still open.
    raw: Option<Nesting>,
    /// Where in the stream the line begins, and the frame, once it has a line.
    line_start: u64,
    frame_start: Option<u64>,
    is_first_line: bool,
    /// Nothing more comes.
    is_over: bool,
}

impl Sse {
    pub(crate) fn new(limits: Limits) -> Self {
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

    /// An event stream that begins at an offset of another one.
    pub(crate) fn at(offset: u64, limits: Limits) -> Self {
        Self { line_start: offset, is_first_line: false, ..Self::new(limits) }
    }

    pub(crate) fn feed(&mut self, piece: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        // Data that lie in this piece, and need not be kept unless it ends before the frame.
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

    /// Takes a line whose start came in a piece before.
    fn take_cut_line(&mut self, end: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        self.check_length(self.line.len() + end.len())?;
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let mut here = None;
        self.take_line(&line, &mut here, sink)?;
        self.keep(&mut here);
        // Its memory is used again.
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
        // A second name is that of a frame that never came.
        let name = self.late_name.as_ref().filter(|_| self.name.is_empty()).unwrap_or(&self.name);
        sink(Frame { kind: FrameKind::Cut, name, data });
        self.data = None;
        Ok(())
    }

    /// Takes a line without its break. `here` are the data of the frame that lie where the
    /// line does.
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
            // What follows is an event stream again: the value was cut.
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
            // A field nobody knows says nothing, unless what it holds was meant as data: then
            // something of the stream is missing, and whoever reads the frame sees it.
            _ if is_strange(line, field, value) => {
                let kind = if self.is_over { FrameKind::Cut } else { FrameKind::Event };
                sink(Frame { kind, ..Frame::unnamed(line) });
            }
            _ => {}
        }
        Ok(())
    }

    /// Gives out the data so far where what comes cannot go on from them: in no JSON does an
    /// object begin right behind another.
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

    /// Whether a line begins a value without a field in front of it.
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

    /// Gives out the frame that is being read, if there are data in it.
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

    /// Keeps data that lie in a piece that will be gone.
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

/// Whether a frame of this name says enough without data: an error that says nothing is one.
fn is_error(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"error")
}

/// Whether the last line is that of a frame whose data were still to come.
fn is_cut_field(line: &[u8]) -> bool {
    let is_cut_name = b"data".starts_with(line) || b"event".starts_with(line);
    !line.is_empty() && is_cut_name || line.starts_with(b"event:")
}

/// How long the line break is that `bytes` begin with.
fn line_break(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\r\n") { 2 } else { 1 }
}

/// Whether a line begins a field of an event stream.
pub(crate) fn is_field(line: &[u8]) -> bool {
    line.contains(&b':') && matches!(field(line).0, b"data" | b"event" | b"id" | b"retry" | b"")
}

/// Whether a line that says nothing in an event stream may hold data all the same: its field is
/// nearly called so, or there is JSON behind a name nobody knows or in the middle of a text. A
/// page that a gateway put there instead of data is one, too.
fn is_strange(line: &[u8], name: &[u8], value: &[u8]) -> bool {
    let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let is_data = name.trim_ascii().eq_ignore_ascii_case(b"data") && !value.trim_ascii().is_empty();
    let has_json = if is_name {
        matches!(value.trim_ascii_start(), [b'{', ..] | [b'[', b'{' | b'[' | b'"', ..])
    } else {
        memchr::memchr(b'"', line).is_some() && memchr::memchr2(b'{', b'}', line).is_some()
    };
    // No field is called with several words: they are what a server says that fails.
    let is_sentence = !is_name && memchr::memchr(b' ', name.trim_ascii()).is_some();
    is_data || has_json || is_sentence || line.trim_ascii_start().starts_with(b"<")
}

/// The name of a field and its value; a line without a colon is all name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let (name, value) = match line {
        // Most lines need not be searched.
        [] => return (b"", b""),
        [b'd', b'a', b't', b'a', b':', value @ ..] => (&line[..4], value),
        _ => match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => return (line, b""),
        },
    };
    (name, value.strip_prefix(b" ").unwrap_or(value))
}
