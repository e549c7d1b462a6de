//! Requests in HTTP/1.1: the head, the body and the trailers, with the bytes that the client sent.

use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::time::Duration;

/// The most bytes of a head, and of a body.
const HEAD_BYTES_MAX: usize = 1024 * 1024;
const BODY_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The names and values of headers, in the order and the spelling of the client.
pub type Headers = Vec<(String, String)>;

/// The head of a request.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    is_http_10: bool,
    pub(super) headers: Headers,
    /// The bytes of the head.
    pub(super) raw: Vec<u8>,
}

/// The body of a request.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// The bytes without the framing of chunks, in the coding of the client.
    pub(super) raw: Vec<u8>,
    pub(super) is_chunked: bool,
    pub(super) trailers: Headers,
}

/// How fast a body is read: at most so many bytes, then a pause.
pub(super) type Pace = Option<(usize, Duration)>;

impl Head {
    /// Reads the head of a request; nothing if the client closed the connection.
    pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Self>> {
        let mut head = Self::default();
        loop {
            let start = head.raw.len();
            let room = (HEAD_BYTES_MAX - start) as u64;
            input.by_ref().take(room).read_until(b'\n', &mut head.raw)?;
            let line = &head.raw[start..];
            if !line.ends_with(b"\n") {
                let is_closed = head.raw.is_empty();
                return if is_closed { Ok(None) } else { Err(invalid("the head of the request is cut or too long")) };
            }
            let line = str::from_utf8(line).map_err(|_| invalid("a header is not UTF-8"))?.trim_end();
            if head.method.is_empty() {
                // An empty line before a request is allowed.
                if line.is_empty() {
                    head.raw.clear();
                    continue;
                }
                (head.method, head.target, head.is_http_10) = first_line(line)?;
            } else if line.is_empty() {
                return Ok(Some(head));
            } else {
                head.headers.push(header(line)?);
            }
        }
    }

    /// The value of a header; the name is in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The path without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Whether the client waits for leave to send the body.
    pub(super) fn expects_continue(&self) -> bool {
        self.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    }

    /// Whether the client sends no further request on this connection.
    pub(super) fn is_last(&self) -> bool {
        match self.header("connection").map(str::to_ascii_lowercase) {
            Some(value) if value.contains("close") => true,
            Some(value) if value.contains("keep-alive") => false,
            _ => self.is_http_10,
        }
    }

    /// Whether the client wants to speak WebSocket.
    pub(super) fn is_upgrade(&self) -> bool {
        self.header("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
    }

    /// Reads the body.
    pub(super) fn read_body(&self, input: &mut impl BufRead, pace: Pace) -> Result<Body> {
        let mut body = Body::default();
        let lengths: Vec<&str> = self.values("content-length").collect();
        let codings: Vec<&str> = self.values("transfer-encoding").collect();
        match (lengths.as_slice(), codings.as_slice()) {
            ([], []) => {}
            ([], [coding]) if coding.eq_ignore_ascii_case("chunked") => {
                body.is_chunked = true;
                read_chunks(input, &mut body, pace)?;
            }
            ([length], []) => {
                let length = decimal(length).filter(|length| *length <= BODY_BYTES_MAX);
                pull(input, length.ok_or_else(|| invalid("a bad content length"))?, &mut body.raw, pace)?;
            }
            _ => return Err(invalid("the length of the body is ambiguous")),
        }
        Ok(body)
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = move |(held, value): &'_ (String, String)| held.eq_ignore_ascii_case(name).then_some(value.len());
        self.headers.iter().filter(move |header| named(header).is_some()).map(|(_, value)| value.as_str())
    }
}

/// The value of a header; the name is in lower case.
pub(super) fn find<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(held, _)| held.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn first_line(line: &str) -> Result<(String, String, bool)> {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        [method, target, version @ ("HTTP/1.1" | "HTTP/1.0")] if !method.is_empty() && !target.is_empty() => {
            Ok(((*method).to_owned(), (*target).to_owned(), *version == "HTTP/1.0"))
        }
        _ => Err(invalid("the first line is not that of a request")),
    }
}

/// Reads a name and its value.
pub(super) fn header(line: &str) -> Result<(String, String)> {
    let (name, value) = line.split_once(':').ok_or_else(|| invalid("a header without a colon"))?;
    let is_legal = !name.is_empty() && !name.contains(|held: char| held.is_whitespace());
    if is_legal { Ok((name.to_owned(), value.trim().to_owned())) } else { Err(invalid("a bad name of a header")) }
}

fn read_chunks(input: &mut impl BufRead, body: &mut Body, pace: Pace) -> Result<()> {
    loop {
        let line = line(input)?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let size = u64::from_str_radix(digits, 16).ok().filter(|_| is_hex).ok_or_else(|| invalid("a bad chunk"))?;
        if size == 0 {
            break;
        }
        if body.raw.len() as u64 + size > BODY_BYTES_MAX {
            return Err(invalid("the body is too long"));
        }
        pull(input, size, &mut body.raw, pace)?;
        if !self::line(input)?.is_empty() {
            return Err(invalid("a chunk is longer than its size"));
        }
    }
    loop {
        let line = line(input)?;
        if line.is_empty() {
            return Ok(());
        }
        body.trailers.push(header(&line)?);
    }
}

/// Reads exactly so many bytes.
fn pull(input: &mut impl BufRead, mut count: u64, bytes: &mut Vec<u8>, pace: Pace) -> Result<()> {
    let step = pace.map_or(u64::MAX, |(step, _)| step.max(1) as u64);
    bytes.reserve(count.min(16 * 1024 * 1024) as usize);
    while count > 0 {
        let wanted = count.min(step);
        if (input.by_ref().take(wanted).read_to_end(bytes)? as u64) < wanted {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        count -= wanted;
        if let Some((_, pause)) = pace {
            std::thread::sleep(pause);
        }
    }
    Ok(())
}

fn line(input: &mut impl BufRead) -> Result<String> {
    let mut line = Vec::new();
    input.by_ref().take(HEAD_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\n") {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let text = str::from_utf8(&line).map_err(|_| invalid("a line is not UTF-8"))?;
    Ok(text.trim_end().to_owned())
}

fn decimal(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn invalid(why: &str) -> Error {
    Error::new(ErrorKind::InvalidData, why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Body> {
        let mut input = text.as_bytes();
        let head = Head::read(&mut input)?.ok_or_else(|| invalid("no request"))?;
        head.read_body(&mut input, None)
    }

    #[test]
    fn a_body_has_a_length_or_chunks() {
        assert_eq!(read("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcdef").unwrap().raw, b"abc");
        let chunked =
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nx-sum: 7\r\n\r\n";
        let body = read(chunked).unwrap();
        assert_eq!((body.raw.as_slice(), body.trailers), (&b"abc"[..], vec![("x-sum".into(), "7".into())]));
        assert_eq!(read("GET / HTTP/1.1\r\n\r\n").unwrap().raw, b"");
    }

    #[test]
    fn ambiguous_and_broken_requests_are_refused() {
        for wrong in [
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
            "POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc",
            "POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            "POST /\r\n\r\n",
        ] {
            assert_eq!(read(wrong).unwrap_err().kind(), ErrorKind::InvalidData, "{wrong}");
        }
        assert_eq!(
            read("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab").unwrap_err().kind(),
            ErrorKind::UnexpectedEof
        );
    }
}
