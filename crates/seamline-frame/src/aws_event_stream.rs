//! `application/vnd.amazon.eventstream`: binary messages with headers and checksums.
//!
//! ```text
//! ┌──────────────┬────────────────┬─────────────┬─────────┬─────────┬─────────────┐
//! │ total length │ headers length │ CRC of both │ headers │ payload │ CRC of all  │
//! │ 4            │ 4              │ 4           │         │         │ 4           │
//! └──────────────┴────────────────┴─────────────┴─────────┴─────────┴─────────────┘
//! ```

use crate::{Error, ErrorKind, Frame, FrameKind, FrameLimits};

/// The length of both length fields and their checksum.
const PRELUDE_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
/// The type of a header with a string value.
const STRING: u8 = 7;

#[derive(Debug)]
pub(crate) struct AwsEventStream {
    limits: FrameLimits,
    /// The start of an incomplete message.
    message: Vec<u8>,
    start: u64,
}

impl AwsEventStream {
    pub(crate) fn new(limits: FrameLimits) -> Self {
        Self { limits, message: Vec::new(), start: 0 }
    }

    pub(crate) fn feed(&mut self, piece: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        let mut rest = piece;
        while !rest.is_empty() {
            if self.message.is_empty() {
                match self.length(rest)? {
                    Some(length) if length <= rest.len() => {
                        self.emit(&rest[..length], sink)?;
                        self.start += length as u64;
                        rest = &rest[length..];
                        continue;
                    }
                    _ => {}
                }
            }
            rest = self.keep(rest, sink)?;
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self, sink: &mut dyn FnMut(Frame<'_>)) {
        let message = std::mem::take(&mut self.message);
        if !message.is_empty() {
            // An incomplete message cannot be trusted, because its checksum is missing.
            sink(Frame { kind: FrameKind::Cut, name: b"", data: b"" });
        }
    }

    /// Keeps the bytes that the incomplete message still needs, and returns the rest.
    fn keep<'r>(&mut self, rest: &'r [u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<&'r [u8], Error> {
        let wanted = self.length(&self.message)?.unwrap_or(PRELUDE_BYTES);
        let (more, rest) = rest.split_at(rest.len().min(wanted - self.message.len()));
        self.message.extend_from_slice(more);
        if self.length(&self.message)? == Some(self.message.len()) {
            let message = std::mem::take(&mut self.message);
            self.emit(&message, sink)?;
            self.start += message.len() as u64;
        }
        Ok(rest)
    }

    /// The length of the message at the start of `bytes`, if its prelude is complete.
    fn length(&self, bytes: &[u8]) -> Result<Option<usize>, Error> {
        let Some(prelude) = bytes.get(..PRELUDE_BYTES) else { return Ok(None) };
        let (total, headers) = (number(prelude, 0), number(prelude, 4));
        if crc32fast::hash(&prelude[..8]) != number(prelude, 8) {
            return Err(self.error(ErrorKind::Checksum));
        }
        let around = PRELUDE_BYTES + CHECKSUM_BYTES;
        if (total as usize) < around || headers as usize > total as usize - around {
            return Err(self.error(ErrorKind::Lengths));
        }
        if total as usize > self.limits.frame_bytes_max {
            return Err(self.error(ErrorKind::TooLong(self.limits.frame_bytes_max)));
        }
        Ok(Some(total as usize))
    }

    fn emit(&self, message: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), Error> {
        let (body, checksum) = message.split_at(message.len() - CHECKSUM_BYTES);
        if crc32fast::hash(body) != number(checksum, 0) {
            return Err(self.error(ErrorKind::Checksum));
        }
        let payload = PRELUDE_BYTES + number(message, 4) as usize;
        let Some(headers) = Headers::read(&body[PRELUDE_BYTES..payload]) else {
            return Err(self.error(ErrorKind::Lengths));
        };
        sink(Frame { kind: headers.kind, name: headers.name, data: &body[payload..] });
        Ok(())
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error { offset: self.start, kind }
    }
}

/// The relevant headers of a message.
struct Headers<'h> {
    kind: FrameKind,
    name: &'h [u8],
}

impl<'h> Headers<'h> {
    fn read(mut bytes: &'h [u8]) -> Option<Self> {
        let mut headers = Self { kind: FrameKind::Event, name: b"" };
        while let Some((&length, rest)) = bytes.split_first() {
            let (name, rest) = rest.split_at_checked(usize::from(length))?;
            let (&kind, rest) = rest.split_first()?;
            let (value, rest) = value(kind, rest)?;
            match (name, kind) {
                (b":event-type" | b":exception-type" | b":error-code", STRING) => headers.name = value,
                (b":message-type", STRING) if value != b"event" => headers.kind = FrameKind::Exception,
                _ => {}
            }
            bytes = rest;
        }
        Some(headers)
    }
}

/// The value of a header, and the bytes after it.
fn value(kind: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = match kind {
        // `true` and `false`.
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        // A 64-bit integer or a timestamp.
        5 | 8 => 8,
        // Byte arrays and strings have a length prefix.
        6 | STRING => {
            let (length, rest) = bytes.split_at_checked(2)?;
            let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
            return rest.split_at_checked(length);
        }
        // A UUID.
        9 => 16,
        _ => return None,
    };
    bytes.split_at_checked(length)
}

/// Four bytes as a big-endian number.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes)
}
