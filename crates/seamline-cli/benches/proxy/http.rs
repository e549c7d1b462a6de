//! As much of HTTP/1.1 as a benchmark needs.

use std::io::{Error, Read, Result};

/// The bytes that are read at once.
const PIECE_BYTES: usize = 256 * 1024;

/// A request or a response, read from a connection. Its buffer is used again for the next one.
#[derive(Default)]
pub(crate) struct Message {
    bytes: Vec<u8>,
    /// The end of the bytes that were read.
    filled: usize,
    /// The end of the head, with its empty line.
    head: usize,
}

impl Message {
    /// Reads the next message to its end; `false` where the connection ended before it.
    pub(crate) fn read(&mut self, stream: &mut impl Read) -> Result<bool> {
        self.filled = 0;
        if !self.read_head(stream)? {
            return Ok(false);
        }
        match self.content_length() {
            Some(length) => {
                while self.filled < self.head + length {
                    self.more(stream)?;
                }
            }
            // Nothing follows the last chunk, because one request is on its way at a time.
            None if self.is_chunked() => {
                while !self.bytes[..self.filled].ends_with(b"0\r\n\r\n") {
                    self.more(stream)?;
                }
            }
            None => (),
        }
        Ok(true)
    }

    /// Reads until the head and the first bytes of the body are there, and no further.
    pub(crate) fn read_start(&mut self, stream: &mut impl Read) -> Result<()> {
        self.filled = 0;
        self.read_head(stream)?;
        while self.filled == self.head {
            self.more(stream)?;
        }
        Ok(())
    }

    /// Reads to the end of a body in chunks whose start was read.
    pub(crate) fn read_rest(&mut self, stream: &mut impl Read) -> Result<()> {
        while !self.bytes[..self.filled].ends_with(b"0\r\n\r\n") {
            self.more(stream)?;
        }
        Ok(())
    }

    fn read_head(&mut self, stream: &mut impl Read) -> Result<bool> {
        loop {
            if let Some(end) = find(&self.bytes[..self.filled], b"\r\n\r\n") {
                self.head = end + 4;
                return Ok(true);
            }
            if self.filled == 0 && self.fill(stream)? == 0 {
                return Ok(false);
            } else if find(&self.bytes[..self.filled], b"\r\n\r\n").is_none() {
                self.more(stream)?;
            }
        }
    }

    fn more(&mut self, stream: &mut impl Read) -> Result<()> {
        match self.fill(stream)? {
            0 => Err(Error::other("the connection ended inside a message")),
            _ => Ok(()),
        }
    }

    fn fill(&mut self, stream: &mut impl Read) -> Result<usize> {
        if self.bytes.len() < self.filled + PIECE_BYTES {
            self.bytes.resize(self.filled + PIECE_BYTES, 0);
        }
        let length = stream.read(&mut self.bytes[self.filled..])?;
        self.filled += length;
        Ok(length)
    }

    /// The bytes after the head, with the framing of chunks.
    pub(crate) fn body(&self) -> &[u8] {
        &self.bytes[self.head..self.filled]
    }

    /// Whether a response has status 200.
    pub(crate) fn is_ok(&self) -> bool {
        self.bytes[..self.filled].starts_with(b"HTTP/1.1 200")
    }

    fn content_length(&self) -> Option<usize> {
        self.header("content-length:")?.trim().parse().ok()
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding:").is_some()
    }

    /// The value of a header, by its name with the colon.
    fn header(&self, name: &str) -> Option<&str> {
        let head = std::str::from_utf8(&self.bytes[..self.head]).ok()?;
        let mut lines = head.split("\r\n");
        lines.find_map(|line| {
            line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| &line[name.len()..])
        })
    }
}

/// The place of a text in bytes.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, text)
}
