//! Writes a response as its script says.

use std::fmt::Write as _;
use std::io::{ErrorKind, Result, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::coding;
use super::exchange::End;
use super::reply::Reply;
use super::script::{After, Fault, Script, Transfer};

/// How often the provider looks whether the client is still there while it waits.
const LOOK: Duration = Duration::from_millis(20);

/// How a body is framed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Chunked,
    Length(usize),
    UntilClose,
}

/// A response on its way.
pub(super) struct Sending<'s> {
    pub(super) stream: &'s TcpStream,
    pub(super) script: &'s Script,
    pub(super) is_last: bool,
    /// Whether the request was a `HEAD`, whose response has no body.
    pub(super) is_bare: bool,
}

impl Sending<'_> {
    /// Sends the response. A script may close the connection.
    pub(super) fn send(&self, reply: &Reply) -> Result<End> {
        let compressed;
        let mut frames = &reply.frames;
        let is_gzip = self.script.is_gzip;
        if is_gzip {
            compressed = coding::gzip(&reply.frames)?;
            frames = &compressed;
        }
        if !self.wait(self.script.head_delay)? {
            return Ok(End::ClientGone { frames: 0 });
        }
        let form = self.form(reply, frames);
        let mut bytes = self.head(reply, form).into_bytes();
        if self.is_bare {
            (&*self.stream).write_all(&bytes)?;
            return Ok(End::Sent);
        }
        let mut sent = 0;
        for (index, frame) in frames.iter().enumerate() {
            if let Some(piece) = self.cut(index, sent, frame) {
                add(&mut bytes, form, frame.len(), piece);
                return self.fail(bytes, reply, form, index);
            }
            if index > 0 && !self.script.frame_delay.is_zero() {
                self.flush(&mut bytes)?;
                if !self.wait(self.script.frame_delay)? {
                    return Ok(End::ClientGone { frames: index });
                }
            }
            add(&mut bytes, form, frame.len(), frame);
            sent += frame.len();
            // The end of a chunked body is sent with its last frame.
            let is_last = index + 1 == frames.len();
            if !(is_last && form == Form::Chunked) && gone(self.flush(&mut bytes))? {
                return Ok(End::ClientGone { frames: index });
            }
        }
        if self.cut(frames.len(), sent, &[]).is_some() {
            return self.fail(bytes, reply, form, frames.len());
        }
        if form == Form::Chunked {
            bytes.extend(self.end().into_bytes());
        }
        if gone(self.flush(&mut bytes))? {
            return Ok(End::ClientGone { frames: frames.len() });
        }
        Ok(End::Sent)
    }

    fn flush(&self, bytes: &mut Vec<u8>) -> Result<()> {
        if !bytes.is_empty() {
            (&*self.stream).write_all(bytes)?;
            bytes.clear();
        }
        Ok(())
    }

    /// The part of a frame that is sent before a fault; nothing if the fault comes later.
    fn cut<'f>(&self, index: usize, sent: usize, frame: &'f [u8]) -> Option<&'f [u8]> {
        match self.script.fault?.after() {
            After::Frames(frames) => (frames == index).then_some(&[]),
            After::Bytes(bytes) => frame.get(..bytes.checked_sub(sent)?).filter(|piece| piece.len() < frame.len()),
        }
    }

    /// Does what goes wrong.
    fn fail(&self, mut bytes: Vec<u8>, reply: &Reply, form: Form, frames: usize) -> Result<End> {
        match self.script.fault {
            Some(Fault::ErrorEvent(_)) => {
                if let Some(error) = reply.error_frame(frames) {
                    add(&mut bytes, form, error.len(), &error);
                }
                if form == Form::Chunked {
                    bytes.extend(self.end().into_bytes());
                }
                self.flush(&mut bytes)?;
                return Ok(End::Sent);
            }
            Some(Fault::Stall(_)) => {
                self.flush(&mut bytes)?;
                self.wait(Duration::MAX)?;
                return Ok(End::ClientGone { frames });
            }
            Some(Fault::Reset(_)) => {
                self.flush(&mut bytes)?;
                // The reset discards written bytes that have not reached the client yet.
                std::thread::sleep(LOOK);
                SockRef::from(self.stream).set_linger(Some(Duration::ZERO))?;
            }
            Some(Fault::Close(_)) | None => self.flush(&mut bytes)?,
        }
        Ok(End::Scripted)
    }

    fn form(&self, reply: &Reply, frames: &[Vec<u8>]) -> Form {
        let length = || Form::Length(frames.iter().map(Vec::len).sum());
        match self.script.transfer {
            _ if !self.script.trailers.is_empty() => Form::Chunked,
            Transfer::Chunked => Form::Chunked,
            Transfer::UntilClose => Form::UntilClose,
            Transfer::Usual if reply.stream.is_some() => Form::Chunked,
            Transfer::Usual | Transfer::Length => length(),
        }
    }

    /// Whether the connection ends with the response.
    pub(super) fn closes(&self) -> bool {
        self.is_last || self.script.closes || self.script.transfer == Transfer::UntilClose
    }

    fn head(&self, reply: &Reply, form: Form) -> String {
        let mut head =
            format!("HTTP/1.1 {} {}\r\ncontent-type: {}\r\n", reply.status, reason(reply.status), reply.kind);
        // Writing to a string cannot fail.
        let _ = match form {
            Form::Chunked => write!(head, "transfer-encoding: chunked\r\n"),
            Form::Length(length) => write!(head, "content-length: {length}\r\n"),
            Form::UntilClose => Ok(()),
        };
        if self.script.is_gzip {
            head += "content-encoding: gzip\r\n";
        }
        if self.closes() {
            head += "connection: close\r\n";
        }
        for (name, value) in reply.headers.iter().chain(&self.script.headers) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        for (name, _) in &self.script.trailers {
            let _ = write!(head, "trailer: {name}\r\n");
        }
        head + "\r\n"
    }

    /// The end of a chunked body.
    fn end(&self) -> String {
        let trailers = self.script.trailers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("0\r\n{}\r\n", trailers.collect::<String>())
    }

    /// Waits; false if the client closed the connection meanwhile.
    fn wait(&self, time: Duration) -> Result<bool> {
        if time.is_zero() {
            return Ok(true);
        }
        let start = Instant::now();
        let mut is_there = true;
        while is_there {
            let Some(rest) = time.checked_sub(start.elapsed()).filter(|rest| !rest.is_zero()) else { break };
            self.stream.set_read_timeout(Some(rest.min(LOOK).max(Duration::from_millis(1))))?;
            is_there = match self.stream.peek(&mut [0]) {
                Ok(0) => false,
                // The client has sent the next request.
                Ok(_) => {
                    std::thread::sleep(rest.min(LOOK));
                    true
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => true,
                Err(_) => false,
            };
        }
        self.stream.set_read_timeout(None)?;
        Ok(is_there)
    }
}

/// Adds a frame, or the first part of one, in the form of the body.
fn add(bytes: &mut Vec<u8>, form: Form, length: usize, piece: &[u8]) {
    if piece.is_empty() {
        return;
    }
    if form != Form::Chunked {
        bytes.extend(piece);
        return;
    }
    bytes.extend(format!("{length:x}\r\n").into_bytes());
    bytes.extend(piece);
    if piece.len() == length {
        bytes.extend(b"\r\n");
    }
}

/// Whether the client is gone.
fn gone(written: Result<()>) -> Result<bool> {
    match written {
        Ok(()) => Ok(false),
        Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(true),
        Err(error) => Err(error),
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Status",
    }
}
