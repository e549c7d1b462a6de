//! Write-ahead logs that were damaged after their writer was killed.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futures_executor::block_on;
use seamline_store::{DamageKind, Error, LogLoss, OpenedCommit, Store};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Chance, Folder, child, from_env, lines, open, part, replayed, seal, session, tell};

/// The bytes of a log that the tests damage.
const LOG_BYTES: u64 = 64 * 1024;

/// The bytes of the header of a log, and of a frame with its page.
const HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

#[test]
fn fills_the_log_until_it_is_killed() {
    let Some(part) = part() else { return };
    let path = Path::new(&part[0]);
    let (store, name) = (open(path), session("s"));
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    let mut id = 0;
    while std::fs::metadata(beside(path, "-wal")).unwrap().len() < LOG_BYTES {
        id += 1;
        let commit = seal(&name, &mut lease, id, &[&"v".repeat(300)]);
        block_on(store.append(commit.clone())).unwrap();
        tell(&format!("ack {} {}", commit.seq(), commit.hash()));
    }
    tell("full");
    std::thread::sleep(std::time::Duration::from_mins(1));
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The files that a killed writer left, and the hashes of the commits that it acknowledged.
struct Left {
    database: Vec<u8>,
    log: Vec<u8>,
    index: Vec<u8>,
    acked: BTreeMap<u64, String>,
}

impl Left {
    fn new() -> Self {
        let folder = Folder::new();
        let path = folder.file();
        // The log shall hold only commits, not the creation of the tables.
        drop(open(&path));
        let mut writer = child("logs::fills_the_log_until_it_is_killed", &[path.to_str().unwrap()], &[]);
        let mut acked = BTreeMap::new();
        for line in lines(&mut writer) {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["ack", seq, hash] => acked.insert(seq.parse().unwrap(), hash.to_owned()),
                ["full"] => break,
                _ => panic!("the writer says: {line}"),
            };
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let read = |end: &str| std::fs::read(beside(&path, end)).unwrap();
        Self { database: read(""), log: read("-wal"), index: read("-shm"), acked }
    }

    /// Writes the files into a folder, with this log, and with the index unless a machine that crashed lost it.
    fn put(&self, folder: &Folder, log: Option<&[u8]>, has_index: bool) {
        let path = folder.file();
        let _ = std::fs::remove_dir_all(beside(&path, "-quarantine"));
        std::fs::write(&path, &self.database).unwrap();
        let put = |end: &str, bytes: Option<&[u8]>| match bytes {
            Some(bytes) => std::fs::write(beside(&path, end), bytes).unwrap(),
            None => drop(std::fs::remove_file(beside(&path, end))),
        };
        put("-wal", log);
        put("-shm", has_index.then_some(&self.index));
    }

    /// Opens the store and says what became of the commits.
    fn fate(&self, folder: &Folder) -> Fate {
        let options = SqliteOptions { busy_timeout: std::time::Duration::from_millis(100), ..SqliteOptions::default() };
        let Ok(store) = SqliteStore::open(folder.file(), options) else { return Fate::Refused };
        let losses = block_on(store.losses()).unwrap();
        let name = session("s");
        if !losses.is_empty() {
            return Fate::Named(losses);
        }
        let Ok(replayed) = replayed(&store, &name) else { return Fate::Refused };
        let commits = block_on(store.read(&name, 0, usize::MAX)).unwrap();
        let kept: BTreeMap<u64, String> = commits
            .iter()
            .filter_map(|commit| Some((commit.seq, OpenedCommit::open(&commit.bytes).ok()?.hash.to_string())))
            .collect();
        if kept == self.acked && replayed.damages.is_empty() { Fate::Exact } else { Fate::Silent }
    }
}

#[derive(Debug, PartialEq)]
enum Fate {
    Exact,
    Named(Vec<LogLoss>),
    Refused,
    Silent,
}

#[derive(Debug, Default)]
struct Tally {
    exact: u64,
    named: u64,
    refused: u64,
}

impl Tally {
    fn take(&mut self, fate: &Fate, what: impl Fn() -> String) {
        match fate {
            Fate::Exact => self.exact += 1,
            Fate::Named(_) => self.named += 1,
            Fate::Refused => self.refused += 1,
            Fate::Silent => panic!("a silent loss: {}", what()),
        }
    }
}

/// The distance of the damaged bytes: every byte and every bit in long runs, a sample else.
fn steps() -> (usize, usize) {
    if std::env::var_os("SEAMLINE_SOAK").is_some() { (1, 1) } else { (223, 457) }
}

#[test]
fn every_flipped_bit_of_a_log_is_exact_named_or_refused() {
    let (left, folder, (step, _)) = (Left::new(), Folder::quick(), steps());
    let mut chance = Chance::new(from_env("SEAMLINE_SEED", 3));
    let mut tally = Tally::default();
    // The headers of the log, of its first frame and of its last one have fields of their own.
    let last = HEADER + (left.log.len() - HEADER - 1) / FRAME * FRAME;
    let heads = (0..HEADER + 24).chain(last..last + 24).filter(|_| step > 1).step_by(5);
    for at in (0..left.log.len()).step_by(step).chain(heads) {
        let first = chance.below(8);
        let bits = if step == 1 { 0..8 } else { first..first + 1 };
        for bit in bits {
            let mut log = left.log.clone();
            log[at] ^= 1 << bit;
            left.put(&folder, Some(&log), true);
            tally.take(&left.fate(&folder), || format!("byte {at}, bit {bit}"));
        }
    }
    println!("flipped bits of a log of {} bytes: {tally:?}", left.log.len());
    assert!(tally.named > 50, "{tally:?}");
}

#[test]
fn every_truncation_of_a_log_is_exact_named_or_refused() {
    let (left, folder, (_, step)) = (Left::new(), Folder::quick(), steps());
    let mut tally = Tally::default();
    let ends = (HEADER..left.log.len()).step_by(FRAME);
    let around = ends.flat_map(|end| [end.saturating_sub(1), end, end + 1]).filter(|_| step > 1);
    for at in (0..left.log.len()).step_by(step).chain(around) {
        left.put(&folder, Some(&left.log[..at]), true);
        tally.take(&left.fate(&folder), || format!("cut at {at}"));
    }
    left.put(&folder, None, true);
    tally.take(&left.fate(&folder), || "no log".to_owned());
    println!("cuts of a log of {} bytes: {tally:?}", left.log.len());
    assert!(tally.named > 50, "{tally:?}");
}

#[test]
fn an_intact_log_gives_no_alarm() {
    let (left, folder) = (Left::new(), Folder::quick());
    for has_index in [true, false] {
        left.put(&folder, Some(&left.log), has_index);
        assert_eq!(left.fate(&folder), Fate::Exact, "index: {has_index}");
    }
    // A crash may leave a frame of a commit that was never acknowledged.
    let torn = [&left.log[..], &left.log[HEADER..HEADER + 2_000]].concat();
    for has_index in [true, false] {
        left.put(&folder, Some(&torn), has_index);
        assert_eq!(left.fate(&folder), Fate::Exact, "index: {has_index}");
    }
    let whole = [&left.log[..], &left.log[left.log.len() - FRAME..]].concat();
    left.put(&folder, Some(&whole), true);
    assert_eq!(left.fate(&folder), Fate::Exact);
}

#[test]
fn without_its_index_a_log_still_tells_what_it_lost() {
    let (left, folder) = (Left::new(), Folder::quick());
    let frames = (left.log.len() - HEADER) / FRAME;
    let fate = |at: usize| {
        let mut log = left.log.clone();
        log[at] ^= 16;
        left.put(&folder, Some(&log), false);
        left.fate(&folder)
    };
    let is_certain = |fate: &Fate| matches!(fate, Fate::Named(losses) if losses.iter().all(|loss| loss.is_certain));
    let is_possible = |fate: &Fate| matches!(fate, Fate::Named(losses) if losses.iter().all(|loss| !loss.is_certain));
    let found = fate(HEADER + FRAME + 100);
    assert!(is_certain(&found), "{found:?}");
    // The header, the salts and the page of the last frame: a power cut can leave the same bytes.
    for at in [17, HEADER + (frames - 1) * FRAME + 9, HEADER + (frames - 1) * FRAME + 2_000] {
        let found = fate(at);
        assert!(is_possible(&found), "byte {at}: {found:?}");
    }
}

#[test]
fn a_damaged_log_is_kept_and_named_until_the_operator_removes_it() {
    use std::os::unix::fs::PermissionsExt;
    let (left, folder) = (Left::new(), Folder::quick());
    let mut log = left.log.clone();
    log[HEADER + 3 * FRAME + 50] ^= 1;
    left.put(&folder, Some(&log), true);
    let name = session("s");
    let read_only = SqliteOptions { read_only: true, ..SqliteOptions::default() };
    for options in [read_only, SqliteOptions::default(), SqliteOptions::default()] {
        let store = SqliteStore::open(folder.file(), options).unwrap();
        let losses = block_on(store.losses()).unwrap();
        let [loss] = &losses[..] else { panic!("{losses:?}") };
        assert!(loss.is_certain);
        let kept = loss.kept.as_ref().unwrap();
        assert_eq!(std::fs::read(kept).unwrap(), log);
        assert_eq!(std::fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o600);
        let head = block_on(store.read_head(&name)).unwrap();
        let damage = loss.damage(&name, head).unwrap();
        assert!(matches!(damage.kind, DamageKind::Log { is_certain: true, .. }), "{damage}");
        assert_eq!(damage.seq, loss.heads.as_ref().unwrap()[&name] + 1);
    }
    let store = open(&folder.file());
    let later = session("later");
    block_on(store.create(&later, &this_process(1))).unwrap();
    let losses = block_on(store.losses()).unwrap();
    let head = block_on(store.read_head(&later)).unwrap();
    assert_eq!(losses[0].damage(&later, head), None, "a session that came later is not concerned");
    let erased = block_on(store.erase(&later));
    assert!(matches!(&erased, Err(Error::Failed(seamline_store::cause::Failed::EraseKept { .. }))), "{erased:?}");
    std::fs::remove_dir_all(beside(&folder.file(), "-quarantine")).unwrap();
    assert_eq!(block_on(store.losses()), Ok(Vec::new()));
}
