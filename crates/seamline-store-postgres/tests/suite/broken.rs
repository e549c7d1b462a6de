//! Connections that break at the worst moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use futures_executor::block_on;
use seamline_store::{Appended, CommitId, Error, OpenedCommit, Store};
use seamline_store_postgres::Options;

use crate::bench::{Direct, Writer, connect, database, options, replayed, unique};
use crate::proxy;

const WRITERS: u32 = 4;
const COMMITS: usize = 2_000;
const COMMITS_OF_A_SOAK: usize = 20_000;
const KILL_EVERY: Duration = Duration::from_millis(30);

/// What a writer was told.
#[derive(Default)]
struct Told {
    kept: Vec<CommitId>,
    already: u64,
    unknown: u64,
    unavailable: u64,
}

#[test]
fn no_commit_is_lost_or_kept_twice_when_connections_break() {
    let Some(url) = database() else { return };
    let total = if std::env::var_os("SEAMLINE_SOAK").is_some() { COMMITS_OF_A_SOAK } else { COMMITS };
    let (options, name) = (Options { connections: WRITERS as usize, ..options("broken") }, unique("broken"));
    let sure = Arc::new(connect(&url, &options));
    let writers: Vec<_> = (1..=WRITERS).map(|id| Writer::create(sure.clone(), &format!("s{id}"), id)).collect();

    let (host, _) = url.rsplit_once('@').unwrap().1.split_once('/').unwrap();
    let (port, cuts) = proxy::start(host, 7);
    let broken = format!("{}&application_name={name}", url.replace(host, &format!("127.0.0.1:{port}")));
    let store = Arc::new(connect_through(&broken, &options));
    let is_over = Arc::new(AtomicBool::new(false));
    let killer = {
        let (url, is_over) = (url.clone(), is_over.clone());
        thread::spawn(move || kill(&url, &name, &is_over))
    };
    let writing: Vec<_> = writers
        .into_iter()
        .map(|mut writer| {
            writer.store = store.clone();
            thread::spawn(move || (writer.session.clone(), write(&mut writer, total / WRITERS as usize)))
        })
        .collect();
    let told: Vec<_> = writing.into_iter().map(|writer| writer.join().unwrap()).collect();
    is_over.store(true, Ordering::Relaxed);
    let kills = killer.join().unwrap();

    let (mut lost, mut twice) = (0, 0);
    for (session, told) in &told {
        let commits = block_on(sure.read(session, 0, usize::MAX)).unwrap();
        let kept: Vec<CommitId> = commits.iter().map(|commit| OpenedCommit::open(&commit.bytes).unwrap().id).collect();
        let mut once = kept.clone();
        once.sort();
        once.dedup();
        twice += kept.len() - once.len();
        lost += told.kept.iter().filter(|id| once.binary_search(id).is_err()).count();
        assert_eq!(kept, told.kept, "the order of {session}");
        assert_eq!(replayed(&sure, session).damages, Vec::new());
    }
    let sum = |what: fn(&Told) -> u64| told.iter().map(|(_, told)| what(told)).sum::<u64>();
    let [requests, answers, commits] =
        [&cuts.requests, &cuts.answers, &cuts.commits].map(|count| count.load(Ordering::Relaxed));
    println!(
        "{} commits under {kills} killed backends, {requests} cut requests and {answers} cut answers ({commits} of them \
         after COMMIT): {lost} lost, {twice} kept twice; {} found to be kept already, {} unknown, {} unavailable",
        sum(|told| told.kept.len() as u64),
        sum(|told| told.already),
        sum(|told| told.unknown),
        sum(|told| told.unavailable),
    );
    assert_eq!((lost, twice), (0, 0));
    assert!(kills > 0 && commits > 0, "nothing was broken");
}

/// The proxy may break the very first connections.
fn connect_through(url: &str, options: &Options) -> seamline_store_postgres::PostgresStore {
    for _ in 0..50 {
        if let Ok(store) = block_on(seamline_store_postgres::PostgresStore::connect(url, options.clone())) {
            return store;
        }
    }
    panic!("no connection came through in 50 attempts");
}

/// Sends each commit until it is known to be kept.
fn write(writer: &mut Writer, count: usize) -> Told {
    let mut told = Told::default();
    for _ in 0..count {
        let commit = writer.seal();
        loop {
            match writer.send(&commit) {
                Ok(Appended::New) => break,
                Ok(Appended::Already) => {
                    told.already += 1;
                    break;
                }
                Err(Error::Unknown { .. }) => told.unknown += 1,
                Err(Error::Unavailable(_)) => told.unavailable += 1,
                Err(other) => panic!("{other}"),
            }
        }
        told.kept.push(commit.id());
    }
    told
}

/// Ends one backend after the other; says how many.
fn kill(url: &str, name: &str, is_over: &AtomicBool) -> usize {
    let direct = Direct::connect(url);
    let sql = format!(
        "SELECT pg_terminate_backend(pid) FROM \
         (SELECT pid FROM pg_stat_activity WHERE application_name = '{name}' ORDER BY random() LIMIT 1) AS one"
    );
    let mut kills = 0;
    while !is_over.load(Ordering::Relaxed) {
        kills += direct.ask(&sql).unwrap().len();
        thread::sleep(KILL_EVERY);
    }
    kills
}
