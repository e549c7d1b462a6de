//! Detects the framing of a stream from its first bytes.

use seamline_frame::Framing;

/// The most bytes of white space to wait through. The stream is then an event stream: only in these do servers send
/// blank lines as keep-alives.
const START_BYTES_MAX: usize = 4096;

/// The mark that some servers send before the first byte.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// First bytes that do not identify the framing yet.
#[derive(Debug, Default)]
pub(super) struct Opening {
    start: Vec<u8>,
}

impl Opening {
    /// Takes a piece. Returns the framing and all bytes so far once the framing is decided. Only the start of the
    /// stream decides, in any pieces.
    pub(super) fn handle_piece(&mut self, piece: &[u8]) -> Option<(Framing, Vec<u8>)> {
        self.start.extend_from_slice(piece);
        let considered = &self.start[..self.start.len().min(START_BYTES_MAX)];
        let decided = says_something(considered) || considered.len() == START_BYTES_MAX;
        let framing = decided.then(|| Framing::of_start(considered))?;
        Some((framing, std::mem::take(&mut self.start)))
    }

    /// Returns the bytes of a stream whose framing stayed unknown.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.start)
    }
}

/// Whether there is more than white space and a possibly incomplete byte order mark.
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
