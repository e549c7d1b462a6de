//! A client of HTTP/1.1 that sends exactly the bytes of a test.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// The time until a test gives up on a response.
const TIME: Duration = Duration::from_secs(30);

/// A connection.
pub(crate) struct Client {
    input: BufReader<TcpStream>,
}

/// A response.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Vec<(String, String)>,
    /// Whether the body ended as its framing says.
    pub(crate) is_complete: bool,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(held, _)| held.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIME)).unwrap();
        stream.set_write_timeout(Some(TIME)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { input: BufReader::new(stream) }
    }

    /// Sends a request with a JSON body and reads the response.
    pub(crate) fn post(&mut self, path: &str, body: &[u8]) -> Answer {
        self.post_with(path, &[], body)
    }

    /// The same, with headers.
    pub(crate) fn post_with(&mut self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.send_post(path, headers, body);
        self.answer()
    }

    /// Sends a request with a JSON body.
    pub(crate) fn send_post(&mut self, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head = format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n");
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        self.send(&request);
    }

    /// Sends bytes. The proxy may have closed the connection already.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let _ = self.input.get_mut().write_all(bytes);
    }

    /// Gives up on a response after another time.
    pub(crate) fn limit_time(&self, time: Duration) {
        self.input.get_ref().set_read_timeout(Some(time)).unwrap();
    }

    /// Sends nothing more.
    pub(crate) fn finish(&mut self) {
        let _ = self.input.get_mut().shutdown(Shutdown::Write);
    }

    /// Reads a response. One without a status was not sent.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        while answer.status == 100 {
            answer = self.head();
        }
        if answer.status == 0 || answer.status == 101 {
            return answer;
        }
        self.read_body(&mut answer);
        answer
    }

    /// Reads the head of a response.
    pub(crate) fn head(&mut self) -> Answer {
        let mut answer = Answer::default();
        let Some(line) = self.line() else { return answer };
        answer.status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        answer.headers = self.fields();
        answer
    }

    /// Reads so many bytes of a body without a framing of its own.
    pub(crate) fn read(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let read = self.input.read(&mut bytes).unwrap_or_default();
        bytes.truncate(read);
        bytes
    }

    /// Gives the connection away, with what is buffered.
    pub(crate) fn into_stream(self) -> TcpStream {
        assert!(self.input.buffer().is_empty());
        self.input.into_inner()
    }

    fn read_body(&mut self, answer: &mut Answer) {
        if answer.header("transfer-encoding") == Some("chunked") {
            return self.read_chunks(answer);
        }
        match answer.header("content-length").map(|length| length.parse::<u64>().unwrap()) {
            Some(length) => {
                let _ = self.input.by_ref().take(length).read_to_end(&mut answer.body);
                answer.is_complete = answer.body.len() as u64 == length;
            }
            None => answer.is_complete = self.input.read_to_end(&mut answer.body).is_ok(),
        }
    }

    fn read_chunks(&mut self, answer: &mut Answer) {
        loop {
            let Some(line) = self.line() else { return };
            let Ok(size) = u64::from_str_radix(line.trim(), 16) else { return };
            if size == 0 {
                break;
            }
            let read = self.input.by_ref().take(size).read_to_end(&mut answer.body).unwrap_or_default();
            if read as u64 != size || self.line().as_deref() != Some("") {
                return;
            }
        }
        answer.trailers = self.fields();
        answer.is_complete = true;
    }

    fn fields(&mut self) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').unwrap();
            fields.push((name.to_owned(), value.trim().to_owned()));
        }
        fields
    }

    fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        self.input.read_until(b'\n', &mut line).ok()?;
        line.ends_with(b"\r\n").then(|| String::from_utf8_lossy(&line[..line.len() - 2]).into_owned())
    }
}
