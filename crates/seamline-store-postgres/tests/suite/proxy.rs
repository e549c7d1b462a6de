//! A proxy that passes bytes on until chance has it break the connection: within what was asked, or within the answer,
//! when all is done and only nobody is told.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::bench::Chance;

/// One piece in so many is broken off.
const CUT_REQUEST_ONE_IN: u64 = 150;
const CUT_ANSWER_ONE_IN: u64 = 40;

/// What was broken off.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    pub(crate) requests: AtomicU64,
    pub(crate) answers: AtomicU64,
    /// Of the answers, those that would have said that a transaction was committed.
    pub(crate) commits: AtomicU64,
}

/// Listens on the port it gives, for as long as the test runs.
pub(crate) fn start(server: &str, seed: u64) -> (u16, Arc<Cuts>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (server, cuts) = (server.to_owned(), Arc::new(Cuts::default()));
    let shared = cuts.clone();
    thread::spawn(move || {
        for (number, client) in listener.incoming().flatten().enumerate() {
            let Ok(server) = TcpStream::connect(&server) else { continue };
            serve(client, server, seed ^ number as u64, &shared);
        }
    });
    (port, cuts)
}

fn serve(client: TcpStream, server: TcpStream, seed: u64, cuts: &Arc<Cuts>) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (Ok(client_reading), Ok(server_reading)) = (client.try_clone(), server.try_clone()) else { return };
    let (asked, answered) = (cuts.clone(), cuts.clone());
    thread::spawn(move || {
        let mut chance = Chance(seed.wrapping_mul(3));
        pass_on(client_reading, server, &mut chance, CUT_REQUEST_ONE_IN, |_| {
            asked.requests.fetch_add(1, Ordering::Relaxed);
        });
    });
    thread::spawn(move || {
        let mut chance = Chance(seed.wrapping_mul(5));
        pass_on(server_reading, client, &mut chance, CUT_ANSWER_ONE_IN, |lost| {
            answered.answers.fetch_add(1, Ordering::Relaxed);
            let is_commit = lost.windows(7).any(|bytes| bytes == b"COMMIT\0");
            answered.commits.fetch_add(u64::from(is_commit), Ordering::Relaxed);
        });
    });
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, chance: &mut Chance, one_in: u64, cut: impl Fn(&[u8])) {
    let mut piece = vec![0; 64 * 1024];
    while let Ok(len @ 1..) = from.read(&mut piece) {
        if chance.below(one_in) == 0 {
            let kept = chance.below(len as u64) as usize;
            let _ = to.write_all(&piece[..kept]);
            let _ = to.shutdown(Shutdown::Write);
            // What comes behind it is lost too. The end of what was asked is passed on, so there is an end to this.
            let mut lost = piece[kept..len].to_vec();
            let _ = from.read_to_end(&mut lost);
            cut(&lost);
            break;
        }
        if to.write_all(&piece[..len]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write));
}
