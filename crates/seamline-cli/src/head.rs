//! The head of a response that was saved with its body, as `curl -i` does.

/// The longest head in bytes; a longer one is not taken as a head.
const BYTES_MAX: usize = 64 * 1024;
const START: &[u8] = b"HTTP/";

/// Splits the head off the bytes of a response, cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Head {
    held: Vec<u8>,
    is_over: bool,
    /// The status it names; of several heads, such as those of a proxy, the last counts.
    pub(crate) status: Option<u16>,
    headers: Vec<(String, String)>,
}

impl Head {
    /// Takes the next piece, and passes on the part that belongs to the body.
    pub(crate) fn handle_piece(&mut self, piece: &[u8], mut take: impl FnMut(&[u8])) {
        if self.is_over {
            return take(piece);
        }
        self.held.extend_from_slice(piece);
        while self.held.starts_with(START) {
            let Some(end) = end(&self.held) else { break };
            let head: Vec<u8> = self.held.drain(..end).collect();
            self.read(&String::from_utf8_lossy(&head));
        }
        let may_be_head = START.starts_with(&self.held) || self.held.starts_with(START);
        if !may_be_head || self.held.len() > BYTES_MAX {
            self.finish(take);
        }
    }

    /// Passes on the bytes that were held back, at the end of the input.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(&[u8])) {
        self.is_over = true;
        take(&std::mem::take(&mut self.held));
    }

    /// The headers in the form that `classify` takes.
    pub(crate) fn headers(&self) -> Vec<(&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn read(&mut self, head: &str) {
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split_whitespace().nth(1));
        self.status = status.and_then(|status| status.parse().ok());
        let header = |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        self.headers = lines.filter_map(header).collect();
    }
}

/// Where the empty line after a head ends.
fn end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        if matches!(line, b"\n" | b"\r\n") {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_taken_off_however_it_is_cut() {
        for (bytes, body, status) in [
            (&b"HTTP/2 429 \r\nretry-after: 17\r\n\r\n{}"[..], &b"{}"[..], Some(429)),
            (b"HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\nA: b\n\ndata: {}\n\n", b"data: {}\n\n", Some(200)),
            (b"HTTP/1.1 200 OK\n", b"HTTP/1.1 200 OK\n", None),
            (b"HTT", b"HTT", None),
            (b"data: HTTP/\n\n", b"data: HTTP/\n\n", None),
            (b"", b"", None),
        ] {
            for length in 1..=bytes.len().max(1) {
                let (mut head, mut rest) = (Head::default(), Vec::new());
                bytes.chunks(length).for_each(|piece| head.handle_piece(piece, |body| rest.extend_from_slice(body)));
                head.finish(|body| rest.extend_from_slice(body));
                assert_eq!((rest.as_slice(), head.status), (body, status), "{}", String::from_utf8_lossy(bytes));
            }
        }
    }
}
