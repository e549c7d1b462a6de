//! The load: connections that each send one request after the other.

use std::io::{IoSlice, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::bodies::Chat;
use crate::http::Message;

/// Where requests go, and the lines of their head that differ.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    pub(crate) path: String,
    /// The name of the model.
    pub(crate) model: String,
    /// Further lines of the head.
    pub(crate) lines: String,
}

/// The requests of a load.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) connections: usize,
    pub(crate) body_bytes: usize,
    pub(crate) result_bytes: usize,
    /// The number of times that each conversation grows after its first request. Only the grown ones are measured.
    pub(crate) growth: usize,
    pub(crate) is_stream: bool,
}

/// The figures of a load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    /// Sorted times of requests until their end.
    times: Vec<Duration>,
    /// Sorted times until the first bytes of the body.
    firsts: Vec<Duration>,
    elapsed: Duration,
    /// All requests, also those that are not measured.
    sent: usize,
}

impl Load {
    pub(crate) fn sent(&self) -> usize {
        self.sent
    }

    pub(crate) fn p50(&self) -> Duration {
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }

    pub(crate) fn first_p50(&self) -> Duration {
        self.firsts.get(self.firsts.len() / 2).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self) -> usize {
        self.times.len()
    }

    /// Requests per second.
    pub(crate) fn rate(&self) -> f64 {
        self.times.len() as f64 / self.elapsed.as_secs_f64()
    }
}

/// Sends requests for a time.
pub(crate) fn run(target: &Target, shape: Shape, time: Duration) -> Result<Load> {
    let start = Instant::now();
    let results: Vec<Result<Load>> = std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..shape.connections).map(|_| scope.spawn(|| client(target, shape, start + time))).collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap_or_else(|_| Err(std::io::Error::other("a client failed"))))
            .collect()
    });
    let mut load = Load { elapsed: start.elapsed(), ..Load::default() };
    for result in results {
        let part = result?;
        load.sent += part.sent;
        load.times.extend(part.times);
        load.firsts.extend(part.firsts);
    }
    load.times.sort_unstable();
    load.firsts.sort_unstable();
    Ok(load)
}

fn client(target: &Target, shape: Shape, end: Instant) -> Result<Load> {
    let mut chat = Chat::new(&target.model, shape.is_stream, shape.body_bytes, shape.result_bytes, shape.growth + 1);
    let mut stream = TcpStream::connect(target.address)?;
    stream.set_nodelay(true)?;
    let mut response = Message::default();
    let mut load = Load::default();
    while Instant::now() < end {
        chat.renew();
        for length in 0..chat.lengths().min(shape.growth + 1) {
            let start = Instant::now();
            if start > end {
                break;
            }
            send(&mut stream, target, chat.parts(length))?;
            let mut first = Duration::ZERO;
            if shape.is_stream {
                response.read_start(&mut stream)?;
                first = start.elapsed();
                response.read_rest(&mut stream)?;
            } else {
                response.read(&mut stream)?;
            }
            if !response.is_ok() {
                let text = String::from_utf8_lossy(response.body()).chars().take(300).collect::<String>();
                return Err(std::io::Error::other(format!("{} refused a request: {text}", target.name)));
            }
            load.sent += 1;
            if length > 0 || shape.growth == 0 {
                load.times.push(start.elapsed());
                load.firsts.push(first);
            }
        }
    }
    Ok(load)
}

/// Sends one request.
pub(crate) fn send(stream: &mut TcpStream, target: &Target, parts: [&[u8]; 2]) -> Result<()> {
    let length = parts[0].len() + parts[1].len();
    let Target { path, lines, address, .. } = target;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer dummy\r\ncontent-type: application/json\r\n\
         {lines}content-length: {length}\r\n\r\n"
    );
    let [body, end] = parts;
    let mut slices = [IoSlice::new(head.as_bytes()), IoSlice::new(body), IoSlice::new(end)];
    let mut left = &mut slices[..];
    while !left.is_empty() {
        let written = stream.write_vectored(left)?;
        IoSlice::advance_slices(&mut left, written);
    }
    Ok(())
}
