//! A proxy that breaks connections at random: within a request, or within a response, when the database has done its
//! work and only the acknowledgement is lost.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::bench::Chance;

/// How often connections break: once in so many pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breaking {
    pub(crate) requests_one_in: u64,
    pub(crate) answers_one_in: u64,
    pub(crate) seed: u64,
}

impl Breaking {
    /// Connections practically never break.
    pub(crate) const NONE: Self = Self { requests_one_in: u64::MAX, answers_one_in: u64::MAX, seed: 1 };
}

/// A proxy that runs as long as the test.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    pub(crate) cuts: Arc<Cuts>,
}

/// Counts of broken pieces, and whether responses pass at all.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    pub(crate) requests: AtomicU64,
    pub(crate) answers: AtomicU64,
    /// The broken responses that would have acknowledged a `COMMIT`.
    pub(crate) commits: AtomicU64,
    /// While set, requests pass, responses do not, and new connections are rejected.
    pub(crate) is_mute: AtomicBool,
}

impl Proxy {
    /// Starts a proxy to `server`.
    pub(crate) fn start(server: &str, breaking: Breaking) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (server, cuts) = (server.to_owned(), Arc::new(Cuts::default()));
        let shared = cuts.clone();
        thread::spawn(move || {
            for (number, client) in listener.incoming().flatten().enumerate() {
                if shared.is_mute.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(&server) else { continue };
                serve(client, server, Breaking { seed: breaking.seed ^ number as u64, ..breaking }, &shared);
            }
        });
        Self { port, cuts }
    }

    /// Returns the URL of a database through the proxy.
    pub(crate) fn lead(&self, url: &str) -> String {
        url.replace(host(url), &format!("127.0.0.1:{}", self.port))
    }
}

/// Returns the host and port of a URL.
pub(crate) fn host(url: &str) -> &str {
    url.rsplit_once('@').unwrap().1.split_once('/').unwrap().0
}

fn serve(client: TcpStream, server: TcpStream, breaking: Breaking, cuts: &Arc<Cuts>) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (Ok(client_reading), Ok(server_reading)) = (client.try_clone(), server.try_clone()) else { return };
    let Breaking { requests_one_in, answers_one_in, seed } = breaking;
    let (asked, answered) = (cuts.clone(), cuts.clone());
    thread::spawn(move || {
        let mut chance = Chance(seed.wrapping_mul(3));
        let is_cut = || chance.below(requests_one_in) == 0;
        if pass_on(client_reading, server, seed, is_cut).is_some() {
            asked.requests.fetch_add(1, Ordering::Relaxed);
        }
    });
    thread::spawn(move || {
        let mut chance = Chance(seed.wrapping_mul(5));
        let is_cut = || answered.is_mute.load(Ordering::Relaxed) || chance.below(answers_one_in) == 0;
        if let Some(lost) = pass_on(server_reading, client, seed, is_cut) {
            answered.answers.fetch_add(1, Ordering::Relaxed);
            let is_commit = lost.windows(7).any(|bytes| bytes == b"COMMIT\0");
            answered.commits.fetch_add(u64::from(is_commit), Ordering::Relaxed);
        }
    });
}

/// Forwards bytes until the connection is cut. Returns the bytes that were lost.
fn pass_on(mut from: TcpStream, mut to: TcpStream, seed: u64, mut is_cut: impl FnMut() -> bool) -> Option<Vec<u8>> {
    let (mut piece, mut lost) = (vec![0; 64 * 1024], None);
    while let Ok(len @ 1..) = from.read(&mut piece) {
        if is_cut() {
            let kept = Chance(seed ^ len as u64).below(len as u64) as usize;
            let _ = to.write_all(&piece[..kept]);
            let _ = to.shutdown(Shutdown::Write);
            // Later bytes are lost too. The loop ends, because the end of the requests is forwarded.
            let mut rest = piece[kept..len].to_vec();
            let _ = from.read_to_end(&mut rest);
            lost = Some(rest);
            break;
        }
        if to.write_all(&piece[..len]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write));
    lost
}
