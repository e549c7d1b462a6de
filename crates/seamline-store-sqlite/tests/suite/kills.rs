//! Writers that are killed with a signal.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_executor::block_on;
use seamline_store::{Acquire, Appended, Error, Hash, OpenedCommit, SessionId, Store};
use seamline_store_sqlite::{SqliteStore, this_process};

use crate::bed::{Chance, Folder, child, from_env, lines, open, part, seal, session, tell};

/// The number of sessions of a writer.
const SESSIONS: usize = 3;

/// The number of kills after which a new file starts, so that the checks stay quick.
const KILLS_PER_FILE: u64 = 50;

#[test]
fn writes_until_it_is_killed() {
    let Some(part) = part() else { return };
    let store = Arc::new(open(part[0].as_ref()));
    let seed: u64 = part[1].parse().unwrap();
    let threads = (0..SESSIONS).map(|number| {
        let store = store.clone();
        std::thread::spawn(move || write(&store, number, seed + number as u64))
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
}

fn write(store: &SqliteStore, number: usize, seed: u64) {
    let name = session(&format!("s-{number}"));
    let mut chance = Chance::new(seed);
    let holder = this_process(1);
    let mut lease = match block_on(store.create(&name, &holder)) {
        Err(Error::Exists(_)) => block_on(store.acquire(&name, &holder, Acquire::IfFree)).unwrap(),
        made => made.unwrap(),
    };
    loop {
        // A whole cycle: several messages in one commit.
        let texts: Vec<String> = (0..=chance.below(4)).map(|_| text(&mut chance)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let id = u128::from(chance.next()) << 64 | u128::from(lease.head.seq);
        let commit = seal(&name, &mut lease, id, &texts);
        assert_eq!(block_on(store.append(commit.clone())), Ok(Appended::New));
        tell(&format!("ack {number} {} {}", commit.seq(), commit.hash()));
    }
}

/// Makes a text that is mostly short and sometimes longer than many pages.
fn text(chance: &mut Chance) -> String {
    let bits = if chance.below(20) == 0 { 17 } else { 9 };
    "y".repeat(1 << chance.below(bits))
}

#[test]
fn acknowledged_commits_survive_a_killed_writer() {
    let kills = from_env("SEAMLINE_SOAK_KILLS", 200);
    let mut chance = Chance::new(11);
    let (mut acks, mut kept) = (0, 0);
    let mut folder = Folder::new();
    let mut acked = Acked::new();
    for kill in 0..kills {
        if kill % KILLS_PER_FILE == 0 {
            (folder, acked) = (Folder::new(), Acked::new());
        }
        acks += write_and_kill(&folder, &mut chance, &mut acked);
        let store = open(&folder.file());
        kept = 0;
        for number in 0..SESSIONS {
            kept += verify(&store, &session(&format!("s-{number}")), acked.get(&number));
        }
        if kills > 1_000 && kill % 100 == 99 {
            println!("{} kills, {acks} acknowledged", kill + 1);
        }
    }
    println!("{kills} kills, {acks} acknowledged, {kept} commits in the last file");
    assert!(acks > kills, "too few commits: {acks}");
}

/// The acknowledged commits of each session, by their number.
type Acked = BTreeMap<usize, BTreeMap<u64, String>>;

fn write_and_kill(folder: &Folder, chance: &mut Chance, acked: &mut Acked) -> u64 {
    let path = folder.file();
    let seed = chance.next().to_string();
    let mut writer = child("kills::writes_until_it_is_killed", &[path.to_str().unwrap(), &seed], &[]);
    let mut heard = lines(&mut writer);
    let mut acks = 0;
    let mut take = |line: String| {
        let words: Vec<&str> = line.split(' ').collect();
        let ["ack", number, seq, hash] = words[..] else { panic!("the writer says: {line}") };
        acked.entry(number.parse().unwrap()).or_default().insert(seq.parse().unwrap(), hash.to_owned());
        acks += 1;
    };
    // The kill comes before the file is opened, while it is created, or after some commits.
    for _ in 0..chance.below(12) {
        heard.next().into_iter().for_each(&mut take);
    }
    std::thread::sleep(Duration::from_micros(chance.below(6_000)));
    writer.kill().unwrap();
    heard.for_each(&mut take);
    writer.wait().unwrap();
    acks
}

/// Checks one session and returns how many commits it has.
fn verify(store: &SqliteStore, name: &SessionId, acked: Option<&BTreeMap<u64, String>>) -> u64 {
    let head = match block_on(store.read_head(name)) {
        Err(Error::NotFound(_)) if acked.is_none() => return 0,
        head => head.unwrap(),
    };
    let commits = block_on(store.read(name, 0, usize::MAX)).unwrap();
    let replayed = seamline_store::replay(name, head, &commits);
    assert_eq!(replayed.damages, Vec::new());
    let kept: BTreeMap<u64, Hash> =
        commits.iter().map(|commit| (commit.seq, OpenedCommit::open(&commit.bytes).unwrap().hash)).collect();
    for (seq, hash) in acked.into_iter().flatten() {
        assert_eq!(kept.get(seq).map(ToString::to_string).as_ref(), Some(hash), "record {seq} of {name}");
    }
    replayed.commits
}
