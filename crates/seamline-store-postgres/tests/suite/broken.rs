//! Connections that break at random.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use futures_executor::block_on;
use seamline_store::{Appended, CommitId, Erased, Error, InboxItem, OpenedCommit, Pushed, Raw, Store};
use seamline_store_postgres::{PostgresOptions, PostgresStore};

use crate::bench::{Direct, Writer, connect, database, holder, options, replayed, unique};
use crate::proxy::{Breaking, Proxy, host};

const WRITERS: u32 = 4;
const COMMITS: usize = 2_000;
const COMMITS_OF_A_SOAK: usize = 20_000;
const BREAKING: Breaking = Breaking { requests_one_in: 150, answers_one_in: 40, seed: 7 };
const KILL_EVERY: Duration = Duration::from_millis(30);

/// The results that a writer got.
#[derive(Default)]
struct Told {
    kept: Vec<CommitId>,
    already: u64,
    unknown: u64,
    unavailable: u64,
}

#[test]
fn no_commit_is_lost_or_stored_twice_when_connections_break() {
    let Some(url) = database() else { return };
    let total = if std::env::var_os("SEAMLINE_SOAK").is_some() { COMMITS_OF_A_SOAK } else { COMMITS };
    let (options, name) = (PostgresOptions { connections: WRITERS as usize, ..options("broken") }, unique("broken"));
    let sure = Arc::new(connect(&url, &options));
    let writers: Vec<_> = (1..=WRITERS).map(|id| Writer::create(sure.clone(), &format!("s{id}"), id)).collect();

    let proxy = Proxy::start(host(&url), BREAKING);
    let broken = format!("{}&application_name={name}", proxy.lead(&url));
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
        [&proxy.cuts.requests, &proxy.cuts.answers, &proxy.cuts.commits].map(|count| count.load(Ordering::Relaxed));
    println!(
        "{} commits under {kills} killed backends, {requests} cut requests and {answers} cut responses ({commits} of them \
         after COMMIT): {lost} lost, {twice} stored twice; {} stored already, {} unknown, {} unavailable",
        sum(|told| told.kept.len() as u64),
        sum(|told| told.already),
        sum(|told| told.unknown),
        sum(|told| told.unavailable),
    );
    assert_eq!((lost, twice), (0, 0));
    assert!(kills > 0 && commits > 0, "no connection broke");
}

/// Connects through the proxy, which may break the first connections too.
fn connect_through(url: &str, options: &PostgresOptions) -> PostgresStore {
    for _ in 0..50 {
        if let Ok(store) = block_on(PostgresStore::connect(url, options.clone())) {
            return store;
        }
    }
    panic!("no connection came through in 50 attempts");
}

/// Sends each commit until it is acknowledged.
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

/// Terminates one backend after the other. Returns how many.
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

/// Returns options with short timeouts, so that an unknown outcome is reported soon.
fn impatient() -> PostgresOptions {
    let (attempt_timeout, settle_timeout) = (Duration::from_secs(1), Duration::from_secs(4));
    PostgresOptions { attempt_timeout, settle_timeout, ..options("mute") }
}

#[test]
fn an_unsettled_commit_is_unknown_until_it_is_sent_again() {
    let Some(url) = database() else { return };
    let proxy = Proxy::start(host(&url), Breaking::NONE);
    let options = impatient();
    let mut writer = Writer::create(Arc::new(connect(&proxy.lead(&url), &options)), "s", 1);
    writer.append(1);
    let commit = writer.seal();
    proxy.cuts.is_mute.store(true, Ordering::Relaxed);
    let sent = writer.send(&commit);
    assert!(matches!(&sent, Err(Error::Unknown { commit: id, .. }) if *id == commit.id()), "{sent:?}");
    // The connection is closed now, so nothing was sent.
    let later = writer.send(&commit);
    assert!(matches!(later, Err(Error::Unavailable(_))), "{later:?}");
    proxy.cuts.is_mute.store(false, Ordering::Relaxed);
    assert_eq!(writer.send(&commit), Ok(Appended::Already));
    assert_eq!((writer.replayed().commits, writer.replayed().damages), (2, Vec::new()));
}

#[test]
fn an_operation_recognises_its_effect_after_a_lost_response() {
    let Some(url) = database() else { return };
    let proxy = Proxy::start(host(&url), Breaking::NONE);
    let store = Arc::new(connect(&proxy.lead(&url), &impatient()));
    let mute = || {
        // There must be a connection that can be lost.
        block_on(store.list_sessions(None, 1)).unwrap();
        let cuts = proxy.cuts.clone();
        cuts.is_mute.store(true, Ordering::Relaxed);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(1_500));
            cuts.is_mute.store(false, Ordering::Relaxed);
        })
    };
    let listening = mute();
    // This panics if the store reports that the session exists.
    let mut writer = Writer::create(store.clone(), "s", 1);
    listening.join().unwrap();
    writer.append(2);

    let item = InboxItem { id: "i".into(), message: Raw::default(), dialect: None };
    let listening = mute();
    assert_eq!(block_on(store.push(&writer.session, &item)), Ok(Pushed::Already));
    listening.join().unwrap();
    assert_eq!(block_on(store.read_inbox(&writer.session)), Ok(vec![item]));

    let kept = block_on(store.read(&writer.session, 0, usize::MAX)).unwrap();
    let bytes: Vec<Vec<u8>> = kept.into_iter().map(|commit| commit.bytes).collect();
    let listening = mute();
    let erased = Erased { commits: 2, bytes: bytes.iter().map(|commit| commit.len() as u64).sum() };
    assert_eq!(block_on(store.erase(&writer.session)), Ok(erased));
    listening.join().unwrap();
    assert_eq!(block_on(store.erase(&writer.session)), Err(Error::Erased(writer.session.clone())));
    assert_eq!(
        block_on(store.create(&writer.session, &holder(1))).map(drop),
        Err(Error::Erased(writer.session.clone()))
    );
    assert!(proxy.cuts.commits.load(Ordering::Relaxed) >= 3, "{:?}", proxy.cuts);
}
