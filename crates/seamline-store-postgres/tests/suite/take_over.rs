//! Two writers of one session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures_executor::block_on;
use seamline_store::{Appended, CommitId, Error, OpenedCommit, Store};

use crate::bench::{Chance, Writer, connect, database, options, replayed};

const COMMITS: usize = 2_000;
/// The number of commits under strict isolation, where conflicting transactions are retried.
const COMMITS_IF_STRICT: usize = 300;
/// The most commits that a writer makes before it yields.
const RUN_MAX: u64 = 30;

#[test]
fn no_acknowledged_commit_is_lost_when_two_writers_alternate() {
    let Some(url) = database() else { return };
    take_from_each_other(&url, COMMITS);
}

/// The same under serializable isolation, where conflicting transactions fail.
#[test]
fn no_acknowledged_commit_is_lost_under_serializable_isolation() {
    let Some(url) = database() else { return };
    take_from_each_other(&format!("{url}&options=-cdefault_transaction_isolation%3Dserializable"), COMMITS_IF_STRICT);
}

fn take_from_each_other(url: &str, count: usize) {
    let options = options("take_over");
    let first = Writer::create(Arc::new(connect(url, &options)), "shared", 1);
    let second = Writer::rival(Arc::new(connect(url, &options)), &first.session, 2);
    let (store, session) = (first.store.clone(), first.session.clone());
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let writing: Vec<_> = [first, second]
        .into_iter()
        .map(|mut writer| {
            let acknowledged = acknowledged.clone();
            thread::spawn(move || {
                let told = write(&mut writer, &acknowledged, count);
                (writer, told)
            })
        })
        .collect();
    let (mut writers, told): (Vec<Writer>, Vec<(Vec<CommitId>, u64)>) =
        writing.into_iter().map(|writer| writer.join().unwrap()).unzip();

    let commits = block_on(store.read(&session, 0, usize::MAX)).unwrap();
    let mut kept: Vec<CommitId> = commits.iter().map(|commit| OpenedCommit::open(&commit.bytes).unwrap().id).collect();
    let fenced: u64 = told.iter().map(|(_, fenced)| fenced).sum();
    let mut wanted: Vec<CommitId> = told.into_iter().flat_map(|(kept, _)| kept).collect();
    let epoch = block_on(store.read_head(&session)).unwrap().epoch;
    println!("{} commits by two writers: {fenced} times fenced, {epoch} epochs", kept.len());
    kept.sort();
    wanted.sort();
    assert_eq!(kept, wanted);
    assert_eq!(replayed(&store, &session).damages, Vec::new());
    // The writers may have alternated without a conflict, so one is forced here.
    writers.iter_mut().for_each(Writer::take_over);
    let commit = writers[0].seal();
    assert!(matches!(writers[0].send(&commit), Err(Error::Fenced { .. })));
}

/// Takes the session over whenever the other writer did. Returns the acknowledged commits and the count of fences.
fn write(writer: &mut Writer, acknowledged: &AtomicUsize, count: usize) -> (Vec<CommitId>, u64) {
    let (mut kept, mut fenced) = (Vec::new(), 0);
    let mut chance = Chance(u64::from(writer.id));
    while acknowledged.load(Ordering::Relaxed) < count {
        writer.take_over();
        for _ in 0..=chance.below(RUN_MAX) {
            let commit = writer.seal();
            match writer.send(&commit) {
                Ok(Appended::New) => kept.push(commit.id()),
                Err(Error::Fenced { epoch, current, .. }) => {
                    assert!(epoch < current);
                    fenced += 1;
                    break;
                }
                other => panic!("{other:?}"),
            }
            acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        thread::yield_now();
    }
    (kept, fenced)
}
