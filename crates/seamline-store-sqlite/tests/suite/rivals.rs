//! Two processes that write the same session.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::time::Duration;

use futures_executor::block_on;
use seamline_store::{Acquire, Appended, Error, Lease, Store};
use seamline_store_sqlite::this_process;

use crate::bed::{Chance, Folder, child, lines, open, part, replayed, seal, session, tell};

/// The number of commits that each process must store.
const EACH: u64 = 5_000;

/// The number of commits that are sent before the first result arrives.
const BURST: u64 = 10;

#[test]
fn writes_against_a_rival() {
    let Some(part) = part() else { return };
    let store = open(part[0].as_ref());
    let (name, mut chance) = (session("s"), Chance::new(part[1].parse().unwrap()));
    let (mut kept, mut fenced) = (0, 0);
    while kept < EACH {
        let mut lease = block_on(store.acquire(&name, &this_process(1), Acquire::TakeOver)).unwrap();
        while kept < EACH {
            let burst = burst(&store, &mut lease, &mut chance);
            kept += burst;
            if burst < BURST {
                fenced += 1;
                // The other process gets time to write.
                std::thread::sleep(Duration::from_millis(chance.below(12)));
                break;
            }
            // Sometimes the other process gets its turn.
            if chance.below(8) == 0 {
                std::thread::sleep(Duration::from_millis(chance.below(12)));
            }
        }
    }
    tell(&format!("fenced {fenced}"));
}

/// Sends some commits and returns how many were stored.
fn burst(store: &dyn Store, lease: &mut Lease, chance: &mut Chance) -> u64 {
    let name = session("s");
    let ids = (0..BURST).map(|_| u128::from(chance.next()) << 64 | u128::from(chance.next()));
    let commits: Vec<_> = ids.map(|id| seal(&name, lease, id, &["mine"])).collect();
    let answers: Vec<_> = commits.iter().map(|commit| store.append(commit.clone())).collect();
    let mut kept = 0;
    for (commit, answer) in commits.iter().zip(answers) {
        match block_on(answer) {
            Ok(Appended::New) => {
                tell(&format!("ack {} {}", commit.seq(), commit.hash()));
                kept += 1;
            }
            Err(Error::Fenced { epoch, current, .. }) if epoch < current => {}
            other => panic!("{other:?}"),
        }
    }
    kept
}

#[test]
fn the_older_writer_is_fenced_and_no_acknowledged_commit_is_lost() {
    let folder = Folder::new();
    let path = folder.file();
    let store = open(&path);
    let name = session("s");
    block_on(store.create(&name, &this_process(1))).unwrap();
    let mut writers =
        ["3", "4"].map(|seed| child("rivals::writes_against_a_rival", &[path.to_str().unwrap(), seed], &[]));
    let heard = writers.each_mut().map(|writer| {
        let lines = lines(writer);
        std::thread::spawn(move || lines.collect::<Vec<String>>())
    });
    let (mut acked, mut fenced) = (BTreeMap::new(), Vec::new());
    for line in heard.into_iter().flat_map(|heard| heard.join().unwrap()) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["ack", seq, hash] => {
                let before = acked.insert(seq.parse::<u64>().unwrap(), hash.to_owned());
                assert_eq!(before, None, "two commits were acknowledged under one number");
            }
            ["fenced", count] => fenced.push(count.parse::<u64>().unwrap()),
            _ => panic!("unexpected line: {line}"),
        }
    }
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    let replayed = replayed(&store, &name).unwrap();
    assert_eq!((replayed.commits, replayed.damages), (acked.len() as u64, Vec::new()));
    assert!(replayed.commits >= 2 * EACH);
    let commits = block_on(store.read(&name, 0, usize::MAX)).unwrap();
    let kept: BTreeMap<u64, String> = commits
        .iter()
        .map(|commit| (commit.seq, seamline_store::OpenedCommit::open(&commit.bytes).unwrap().hash.to_string()))
        .collect();
    assert_eq!(kept, acked);
    println!("{} appends, fenced {fenced:?}", kept.len());
    assert!(fenced.iter().sum::<u64>() > 10, "{fenced:?}");
}
