//! Many requests and many streams at once: connections, threads, files and memory must not grow.

use std::io::Result;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::http::Message;
use crate::load::{self, Shape, Target};
use crate::rivals::Rival;
use crate::upstream::Upstream;

/// The number of requests, unless the caller says another.
pub(crate) const REQUESTS: usize = 1_000_000;

/// The number of streams that are held at once.
const STREAMS: usize = 10_000;

/// The files that the processes need besides those of streams.
const OTHER_FILES: usize = 200;

/// The number of parts of the run after which the figures are printed.
const PARTS: usize = 10;

/// The time after which a part of the requests is given up.
const PART_TIME: Duration = Duration::from_mins(30);

const SHAPE: Shape = Shape { connections: 32, body_bytes: 1_500, result_bytes: 300, growth: 3, is_stream: false };
const STREAMED: Shape = Shape { is_stream: true, growth: 0, ..SHAPE };

/// Sends the requests and holds the streams.
pub(crate) fn run(rival: &Rival, upstream: &Upstream, requests: usize) -> Result<()> {
    println!("{:<28}{:>12}{:>10}{:>9}{:>9}{:>12}", "", "requests/s", "memory MB", "threads", "files", "upstream");
    print_state("idle", f64::NAN, rival, upstream);
    let mut total = 0;
    for part in 1..=PARTS {
        // Nine of ten requests are whole, as growing conversations; the others stream.
        let shape = if part % 10 == 0 { STREAMED } else { SHAPE };
        let start = Instant::now();
        let count = send(&rival.target, shape, requests / PARTS)?;
        total += count;
        print_state(&format!("after {total} requests"), count as f64 / start.elapsed().as_secs_f64(), rival, upstream);
    }
    let count = STREAMS.min(files_max().saturating_sub(OTHER_FILES) / 2);
    if count < STREAMS {
        println!("a process may open {} files here, so {count} streams are held", files_max());
    }
    for round in 1..=3 {
        let start = Instant::now();
        let streams = hold(&rival.target, count)?;
        let rate = streams.len() as f64 / start.elapsed().as_secs_f64();
        print_state(&format!("{} streams, round {round}", streams.len()), rate, rival, upstream);
        drop(streams);
        let idle = wait(upstream, count / 100);
        print_state(&format!("closed for {:.1} s", idle.as_secs_f64()), f64::NAN, rival, upstream);
    }
    Ok(())
}

/// Sends about so many requests and returns how many.
fn send(target: &Target, shape: Shape, count: usize) -> Result<usize> {
    let start = Instant::now();
    let mut sent = 0;
    while sent < count && start.elapsed() < PART_TIME {
        sent += load::run(target, shape, Duration::from_secs(2))?.sent();
    }
    Ok(sent)
}

/// Opens streams that the upstream does not end, and reads the first chunk of each.
fn hold(target: &Target, count: usize) -> Result<Vec<TcpStream>> {
    let body = format!(
        "{{\"model\":\"{}\",\"stream\":true,\"user\":\"hold\",\"messages\":[{{\"role\":\"user\",\"content\":\"hello\"}}",
        target.model
    );
    let mut response = Message::default();
    let mut streams = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(target.address)?;
        load::send(&mut stream, target, [body.as_bytes(), b"]}"])?;
        response.read_start(&mut stream)?;
        if !response.is_ok() {
            return Err(std::io::Error::other("a stream was refused"));
        }
        streams.push(stream);
    }
    Ok(streams)
}

/// Waits until the proxy has closed its connections to the upstream, except so many that it keeps.
fn wait(upstream: &Upstream, kept: usize) -> Duration {
    let start = Instant::now();
    while upstream.connections() > kept && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(50));
    }
    start.elapsed()
}

/// The number of files that a process may open.
fn files_max() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(usize::MAX)
}

fn print_state(title: &str, rate: f64, rival: &Rival, upstream: &Upstream) {
    let rate = if rate.is_finite() { format!("{rate:.0}") } else { "–".to_owned() };
    let server = &rival.server;
    println!(
        "{title:<28}{rate:>12}{:>10.1}{:>9}{:>9}{:>12}",
        server.memory() as f64 / 1e6,
        server.threads(),
        server.files(),
        upstream.connections()
    );
}
