//! Finds requests whose length can be read in two ways.
//!
//! A server in front of the proxy and the proxy itself must agree where a request ends; else a client can hide a request
//! in the body of another one. hyper drops a `content-length` behind a `transfer-encoding` before a handler sees the
//! head, so the bytes themselves are watched. The watch follows the lengths of HTTP/1.1 and nothing else.

use memchr::memchr;

/// The start of a connection with HTTP/2, whose frames have lengths of their own.
const HTTP2: &[u8] = b"PRI * HTTP/2.0";

/// The most digits of the size of a chunk.
const SIZE_DIGITS_MAX: u8 = 16;

/// Follows the bytes of a connection.
#[derive(Debug)]
pub(crate) struct LengthWatch {
    state: State,
    /// The start of a head whose end has not arrived.
    head: Vec<u8>,
    head_bytes_max: usize,
}

/// The place in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    /// A body of which so many bytes are left.
    Body(u64),
    Size {
        value: u64,
        digits: u8,
    },
    /// The rest of the line with the size of a chunk.
    Extension {
        size: u64,
        after_return: bool,
    },
    Chunk(u64),
    /// The line end behind a chunk.
    ChunkEnd {
        after_return: bool,
    },
    /// The lines behind the last chunk.
    Trailers {
        is_empty: bool,
        after_return: bool,
    },
    /// Bytes of another protocol.
    Unwatched,
}

/// The findings of a watch in some bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// The length of a request can be read in two ways.
    pub(crate) is_ambiguous: bool,
    /// A request asks for another protocol, so the bytes behind it are not watched.
    pub(crate) ends_watch: bool,
}

impl LengthWatch {
    /// A watch of a new connection. A longer head than the limit is refused by the server.
    pub(crate) fn new(head_bytes_max: usize) -> Self {
        Self { state: State::Head, head: Vec::new(), head_bytes_max }
    }

    /// Whether a part of a head has arrived, and its end has not.
    pub(crate) fn is_inside_head(&self) -> bool {
        !self.head.is_empty()
    }

    /// Follows the next bytes of the connection.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Sighting {
        let mut sighting = Sighting::default();
        while !bytes.is_empty() && self.state != State::Unwatched {
            let used = match self.state {
                State::Head => self.feed_head(bytes, &mut sighting),
                State::Body(left) | State::Chunk(left) => self.skip(left, bytes),
                State::Unwatched => bytes.len(),
                State::Size { .. } | State::Extension { .. } | State::ChunkEnd { .. } | State::Trailers { .. } => {
                    sighting.is_ambiguous |= !self.feed_framing(bytes[0]);
                    1
                }
            };
            bytes = &bytes[used..];
        }
        sighting
    }

    fn skip(&mut self, left: u64, bytes: &[u8]) -> usize {
        let used = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - used as u64;
        self.state = match self.state {
            State::Chunk(_) if left == 0 => State::ChunkEnd { after_return: false },
            State::Chunk(_) => State::Chunk(left),
            _ if left == 0 => State::Head,
            _ => State::Body(left),
        };
        used
    }

    /// Takes the bytes of a head. Returns how many belong to it.
    fn feed_head(&mut self, bytes: &[u8], sighting: &mut Sighting) -> usize {
        if self.head.is_empty() {
            // Empty lines before a request do not count.
            let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if blank > 0 {
                return blank;
            }
            if let Some(end) = head_end(bytes, 0) {
                self.enter(&bytes[..end], sighting);
                return end;
            }
        }
        let before = self.head.len();
        self.head.extend_from_slice(bytes);
        if let Some(end) = head_end(&self.head, before.saturating_sub(3)) {
            let head = std::mem::take(&mut self.head);
            self.enter(&head[..end], sighting);
            return end - before;
        }
        if self.head.len() > 2 * self.head_bytes_max {
            // The server refuses such a head before its end.
            self.head = Vec::new();
            self.state = State::Unwatched;
            *sighting = Sighting { is_ambiguous: true, ends_watch: true };
        }
        bytes.len()
    }

    /// Goes on behind a head.
    fn enter(&mut self, head: &[u8], sighting: &mut Sighting) {
        if head.starts_with(HTTP2) {
            self.state = State::Unwatched;
            return;
        }
        let fields = Fields::of(head);
        sighting.is_ambiguous |= fields.is_ambiguous;
        self.state = match fields {
            Fields { is_upgrade: true, .. } => State::Unwatched,
            Fields { is_chunked: true, .. } => State::Size { value: 0, digits: 0 },
            Fields { length: Some(length), .. } if length > 0 => State::Body(length),
            Fields { .. } => State::Head,
        };
        sighting.ends_watch |= fields.is_upgrade;
    }

    /// Takes one byte of the framing of chunks. Returns whether it can be read in one way only.
    fn feed_framing(&mut self, byte: u8) -> bool {
        let (next, is_clear) = match self.state {
            State::Size { value, digits } => match (char::from(byte).to_digit(16), byte) {
                (Some(digit), _) => {
                    let value = value.saturating_mul(16).saturating_add(u64::from(digit));
                    (State::Size { value, digits: digits.saturating_add(1) }, digits < SIZE_DIGITS_MAX)
                }
                (None, b'\r') => (State::Extension { size: value, after_return: true }, digits > 0),
                (None, b';' | b' ' | b'\t') => (State::Extension { size: value, after_return: false }, digits > 0),
                (None, _) => (State::Extension { size: value, after_return: false }, false),
            },
            State::Extension { size, after_return } if byte == b'\n' => {
                let next = if size == 0 {
                    State::Trailers { is_empty: true, after_return: false }
                } else {
                    State::Chunk(size)
                };
                (next, after_return)
            }
            State::Extension { size, after_return } => {
                (State::Extension { size, after_return: byte == b'\r' }, !after_return)
            }
            State::ChunkEnd { after_return } if byte == b'\n' => (State::Size { value: 0, digits: 0 }, after_return),
            State::ChunkEnd { after_return } => {
                (State::ChunkEnd { after_return: byte == b'\r' }, byte == b'\r' && !after_return)
            }
            State::Trailers { is_empty, after_return } if byte == b'\n' => (
                if is_empty { State::Head } else { State::Trailers { is_empty: true, after_return: false } },
                after_return,
            ),
            State::Trailers { is_empty, after_return } => {
                let is_return = byte == b'\r';
                (State::Trailers { is_empty: is_empty && is_return, after_return: is_return }, !after_return)
            }
            other => (other, true),
        };
        self.state = next;
        is_clear
    }
}

/// The end of the first head at or behind a place: an empty line.
fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = memchr(b'\n', &bytes[at..]) {
        at += found + 1;
        match &bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// The fields of a head that say where its request ends.
#[derive(Debug, Clone, Copy, Default)]
struct Fields {
    length: Option<u64>,
    is_chunked: bool,
    is_upgrade: bool,
    is_ambiguous: bool,
}

impl Fields {
    fn of(head: &[u8]) -> Self {
        let mut fields = Self::default();
        for line in head.split(|byte| *byte == b'\n').skip(1) {
            fields.read(line);
        }
        fields.is_ambiguous |= fields.length.is_some() && fields.is_chunked;
        fields
    }

    fn read(&mut self, line: &[u8]) {
        // A folded line could belong to the field before it.
        self.is_ambiguous |= matches!(line.first(), Some(b' ' | b'\t'));
        let Some(colon) = memchr(b':', line) else { return };
        let (name, value) = (line[..colon].trim_ascii_end(), line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let length = length.and_then(|text| text.parse().ok());
            self.is_ambiguous |= self.length.is_some() || length.is_none();
            self.length = Some(length.unwrap_or_default());
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_ambiguous |= self.is_chunked || !value.eq_ignore_ascii_case(b"chunked");
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"upgrade") {
            self.is_upgrade |= value.eq_ignore_ascii_case(b"websocket");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMBIGUOUS: Sighting = Sighting { is_ambiguous: true, ends_watch: false };

    /// Watches bytes that are cut at every place, and returns the one sighting.
    fn found(bytes: &str) -> Sighting {
        let whole = LengthWatch::new(1 << 16).feed(bytes.as_bytes());
        for size in [1, 2, 3, 7] {
            let mut watch = LengthWatch::new(1 << 16);
            let pieces = bytes.as_bytes().chunks(size).map(|piece| watch.feed(piece));
            let joined = pieces.fold(Sighting::default(), |one, other| Sighting {
                is_ambiguous: one.is_ambiguous | other.is_ambiguous,
                ends_watch: one.ends_watch | other.ends_watch,
            });
            assert_eq!(joined, whole, "{bytes:?} in pieces of {size}");
        }
        whole
    }

    const BAD: &str = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n";

    #[test]
    fn two_lengths_are_found_in_any_order_and_spelling() {
        for fields in [
            "content-length: 4\r\ntransfer-encoding: chunked",
            "Transfer-Encoding: chunked\r\nhost: x\r\nContent-Length: 4",
            "content-length: 4\r\ncontent-length: 5",
            "content-length: 4\r\ncontent-length: 4",
            "content-length: 4, 5",
            "content-length: +4",
            "content-length:",
            "transfer-encoding: gzip, chunked",
            "transfer-encoding: chunked\r\ntransfer-encoding: identity",
            "transfer-encoding : chunked\r\ncontent-length: 4",
            "transfer-encoding: xchunked",
            "x: 1\r\n transfer-encoding: chunked",
        ] {
            assert_eq!(found(&format!("POST / HTTP/1.1\r\n{fields}\r\n\r\n")), AMBIGUOUS, "{fields}");
            assert_eq!(found(&format!("POST / HTTP/1.1\n{fields}\n\n").replace("\r\n", "\n")), AMBIGUOUS, "{fields}");
        }
    }

    #[test]
    fn clear_requests_are_followed_to_their_end() {
        let body = "POST / HTTP/1.1\r\nContent-Length: 66\r\n\r\nPOST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n";
        let body = body.replace("66", &BAD.len().to_string());
        assert_eq!(found(&body), Sighting::default(), "the text in a body is not a head");
        let chunks = "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n";
        let in_chunk = format!("{chunks}{:x};a=b\r\n{BAD}\r\n0\r\nx-sum: 1\r\n\r\n", BAD.len());
        assert_eq!(found(&in_chunk), Sighting::default());
        for start in ["\r\n\r\n", "GET / HTTP/1.1\r\nhost: x\r\n\r\n", &body, &in_chunk] {
            assert_eq!(found(&format!("{start}{start}{BAD}")), AMBIGUOUS, "{start:?}");
        }
    }

    #[test]
    fn chunks_without_proper_line_ends_are_ambiguous() {
        let head = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
        for chunks in [
            "5\nhello",
            "5;\n",
            "g\r\n",
            "\r\n",
            "5\r\nhello\n",
            "5\r\nhelloX",
            "0\r\nx: 1\n\n",
            "11111111111111111\r\n",
        ] {
            assert!(found(&format!("{head}{chunks}")).is_ambiguous, "{chunks:?}");
        }
    }

    #[test]
    fn other_protocols_are_not_watched() {
        assert_eq!(found(&format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{BAD}")), Sighting::default());
        let upgrade = "GET / HTTP/1.1\r\nUpgrade: WebSocket\r\n\r\n";
        assert_eq!(found(&format!("{upgrade}{BAD}")), Sighting { is_ambiguous: false, ends_watch: true });
    }

    #[test]
    fn a_head_without_an_end_is_held_up_to_a_bound() {
        let mut watch = LengthWatch::new(100);
        assert_eq!(watch.feed(b"GET /"), Sighting::default());
        assert!(watch.is_inside_head());
        assert!(watch.feed(&[b'a'; 300]).is_ambiguous);
        assert!(!watch.is_inside_head() && watch.head.capacity() == 0);
    }
}
