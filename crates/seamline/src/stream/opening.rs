//! The first bytes of a stream, by which it is known how it is cut into frames.

use seamline_frame::Framing;

/// How much of what says nothing is waited through. It is an event stream then: only in these
/// do servers send blank lines to keep a connection open.
const START_BYTES_MAX: usize = 4096;

/// What some servers put before the first byte.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes that do not say yet how the stream is cut.
#[derive(Debug, Default)]
pub(super) struct Opening {
    start: Vec<u8>,
}

impl Opening {
    /// Takes a piece, and gives the framing and everything that came once it is decided. What
    /// decides is the start of the stream alone, however it was cut.
    pub(super) fn handle_piece(&mut self, piece: &[u8]) -> Option<(Framing, Vec<u8>)> {
        self.start.extend_from_slice(piece);
        let considered = &self.start[..self.start.len().min(START_BYTES_MAX)];
        let decided = says_something(considered) || considered.len() == START_BYTES_MAX;
        let framing = decided.then(|| Framing::of_start(considered))?;
        Some((framing, std::mem::take(&mut self.start)))
    }

    /// What came of a stream that says nothing.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.start)
    }
}

/// Whether there is more than white space and a mark that may not be whole.
fn says_something(start: &[u8]) -> bool {
    if start.first() == Some(&0) {
        return true;
    }
    let is_mark = BYTE_ORDER_MARK.starts_with(start);
    !is_mark && !start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start).trim_ascii_start().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(stream: &[u8], pieces: impl Iterator<Item = usize>) -> Option<(Framing, Vec<u8>)> {
        let mut opening = Opening::default();
        let mut at = 0;
        for length in pieces {
            let end = stream.len().min(at + length);
            if let Some((framing, mut start)) = opening.handle_piece(&stream[at..end]) {
                start.extend_from_slice(&stream[end..]);
                return Some((framing, start));
            }
            at = end;
        }
        None
    }

    #[test]
    fn the_framing_is_the_same_however_the_start_is_cut() {
        let blanks = "\n".repeat(START_BYTES_MAX);
        let long = format!("{blanks}[{{}}]");
        for (stream, framing) in [
            (&b"data: {}\n\n"[..], Some(Framing::Sse)),
            (b"\xef\xbb\xbf [{\"a\":1}]", Some(Framing::JsonArray)),
            (b"\xef\xbb\xbfdata: {}\n\n", Some(Framing::Sse)),
            (b"\xef\xbb?", Some(Framing::Sse)),
            (b" \r\n{}\n", Some(Framing::JsonLines)),
            (b"\0\0\0\x10", Some(Framing::AwsEventStream)),
            (long.as_bytes(), Some(Framing::Sse)),
            (b"\xef\xbb", None),
            (b"", None),
        ] {
            let expected = framing.map(|framing| (framing, stream.to_vec()));
            assert_eq!(decided(stream, [stream.len()].into_iter()), expected);
            assert_eq!(decided(stream, std::iter::repeat_n(1, stream.len())), expected);
        }
    }
}
