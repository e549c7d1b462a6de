//! The part of HTTP/1.1 that clients of providers use.

use std::io::{BufRead, Read, Write};

/// The most bytes of a line, of all headers and of a body.
const LINE_BYTES_MAX: u64 = 64 * 1024;
const BODY_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A request.
pub(super) struct Request {
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Reads a request; nothing if the client sent none.
    pub(super) fn read(input: &mut impl BufRead, mut output: impl Write) -> std::io::Result<Option<Self>> {
        let first = line(input)?;
        let Some(path) = first.split(' ').nth(1).map(str::to_owned) else { return Ok(None) };
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let header = line(input)?.to_ascii_lowercase();
            let Some((name, value)) = header.split_once(':') else { break };
            match (name, value.trim()) {
                ("content-length", value) => length = value.parse().unwrap_or(0),
                ("transfer-encoding", value) => is_chunked = value.contains("chunked"),
                ("expect", "100-continue") => output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
                _ => {}
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            read_chunks(input, &mut body)?;
        } else {
            input.take(length.min(BODY_BYTES_MAX)).read_to_end(&mut body)?;
        }
        Ok(Some(Self { path, body }))
    }
}

fn read_chunks(input: &mut impl BufRead, body: &mut Vec<u8>) -> std::io::Result<()> {
    loop {
        let size = line(input)?;
        let size = u64::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16).unwrap_or(0);
        if size == 0 || body.len() as u64 + size > BODY_BYTES_MAX {
            return Ok(());
        }
        input.by_ref().take(size).read_to_end(body)?;
        line(input)?;
    }
}

fn line(input: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    input.by_ref().take(LINE_BYTES_MAX).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}
