//! Requests in the bytes of a connection.

/// A request as a client sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    /// Names in lower case, and values.
    pub(super) headers: Vec<(String, String)>,
    /// The body without the framing of chunks.
    pub(super) body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Removes the complete requests at the start of the bytes. Messages of a WebSocket are dropped.
pub(super) fn take_requests(bytes: &mut Vec<u8>) -> Vec<Request> {
    let mut requests = Vec::new();
    while let Some((request, length)) = first(bytes) {
        bytes.drain(..length);
        let is_upgrade = request.header("upgrade").is_some();
        requests.push(request);
        if is_upgrade {
            bytes.clear();
        }
    }
    requests
}

/// The first request, and its length; nothing if it is not complete.
fn first(bytes: &[u8]) -> Option<(Request, usize)> {
    let end = find(bytes, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let pairs = lines.filter_map(|line| line.split_once(':'));
    let headers = pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let mut request = Request { method, target, headers, body: Vec::new() };
    let rest = &bytes[end + 4..];
    let length = if request.header("transfer-encoding").is_some() {
        let (body, length) = chunks(rest)?;
        request.body = body;
        length
    } else {
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        request.body = rest.get(..length)?.to_vec();
        length
    };
    Some((request, end + 4 + length))
}

/// A body in chunks without their framing, and its length with it.
fn chunks(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let line = find(&bytes[at..], b"\r\n")?;
        let digits = std::str::from_utf8(&bytes[at..at + line]).ok()?.split(';').next()?.trim();
        let length = usize::from_str_radix(digits, 16).ok()?;
        at += line + 2;
        if length == 0 {
            // Trailers end with an empty line.
            let end = if bytes[at..].starts_with(b"\r\n") { 2 } else { find(&bytes[at..], b"\r\n\r\n")? + 4 };
            return Some((body, at + end));
        }
        body.extend(bytes.get(at..at + length)?);
        at += length + 2;
        bytes.get(..at)?;
    }
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_cut_from_a_connection_when_they_are_complete() {
        let first = "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        let second = "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        let third = "GET /c HTTP/1.1\r\nHost: x\r\n";
        let mut bytes = [first, second, third].concat().into_bytes();
        let requests = take_requests(&mut bytes);
        let seen: Vec<_> = requests.iter().map(|request| (request.target.as_str(), request.body.as_slice())).collect();
        assert_eq!(seen, [("/a", &b"abc"[..]), ("/b", b"abcde")]);
        assert_eq!(bytes, third.as_bytes());
        bytes.extend(b"\r\n");
        assert_eq!(take_requests(&mut bytes).len(), 1);
        assert!(bytes.is_empty());
    }

    #[test]
    fn a_cut_body_waits_for_its_rest() {
        for whole in [
            "POST /a HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc",
            "POST /b HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx: y\r\n\r\n",
        ] {
            for cut in 0..whole.len() {
                assert_eq!(take_requests(&mut whole.as_bytes()[..cut].to_vec()), [], "cut at {cut}");
            }
            assert_eq!(take_requests(&mut whole.as_bytes().to_vec())[0].body, b"abc");
        }
    }
}
