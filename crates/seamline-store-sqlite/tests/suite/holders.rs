//! Holders of leases and take-overs.
#![cfg(target_os = "linux")]

use futures_executor::block_on;
use seamline_store::{Acquire, Appended, Error, Holder, Store};
use seamline_store_sqlite::this_process;

use crate::bed::{Folder, child, lines, open, part, seal, session, tell};

#[test]
fn holds_a_session() {
    let Some(part) = part() else { return };
    let store = open(part[0].as_ref());
    block_on(store.create(&session("s"), &this_process(1))).unwrap();
    tell("holds");
    std::thread::sleep(std::time::Duration::from_mins(10));
}

#[test]
fn a_process_that_ended_holds_no_lease() {
    let folder = Folder::new();
    let path = folder.file();
    let mut holding = child("holders::holds_a_session", &[path.to_str().unwrap()], &[]);
    let mut heard = lines(&mut holding);
    assert!(heard.any(|line| line == "holds"));
    let store = open(&path);
    let (session, own) = (session("s"), this_process(2));
    let busy = block_on(store.acquire(&session, &own, Acquire::IfFree)).unwrap_err();
    assert!(matches!(&busy, Error::Busy { holder, .. } if holder.pid == holding.id()), "{busy}");
    holding.kill().unwrap();
    // The process has ended and waits for its parent to collect it: it writes nothing any more.
    assert_eq!(heard.next(), None);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let free = loop {
        let free = block_on(store.acquire(&session, &own, Acquire::IfFree));
        if free.is_ok() || std::time::Instant::now() > until {
            break free;
        }
    };
    assert_eq!(free.unwrap().epoch, 2);
    holding.wait().unwrap();
}

#[test]
fn a_process_of_another_container_holds_its_lease_until_a_take_over() {
    let contained = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
    let may = std::process::Command::new(contained[0]).args(&contained[1..]).arg("true").output();
    if !may.is_ok_and(|output| output.status.success()) {
        // Not every user may create containers.
        return;
    }
    let folder = Folder::new();
    let path = folder.file();
    let mut holding = child("holders::holds_a_session", &[path.to_str().unwrap()], &contained);
    assert!(lines(&mut holding).any(|line| line == "holds"));
    let store = open(&path);
    let (session, own) = (session("s"), this_process(2));
    let busy = block_on(store.acquire(&session, &own, Acquire::IfFree));
    holding.kill().unwrap();
    holding.wait().unwrap();
    assert!(matches!(&busy, Err(Error::Busy { .. })), "{busy:?}");
    assert_eq!(block_on(store.acquire(&session, &own, Acquire::TakeOver)).unwrap().epoch, 2);
}

#[test]
fn a_process_of_another_machine_holds_its_lease_until_a_take_over() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let (session, own) = (session("s"), this_process(2));
    let elsewhere = Holder { host: "elsewhere".to_owned(), pid: u32::MAX, started: 1, since: 1, ..this_process(1) };
    block_on(store.create(&session, &elsewhere)).unwrap();
    assert!(matches!(block_on(store.acquire(&session, &own, Acquire::IfFree)), Err(Error::Busy { .. })));
    assert_eq!(block_on(store.acquire(&session, &own, Acquire::TakeOver)).unwrap().epoch, 2);
}

#[test]
fn a_clock_that_goes_backwards_changes_nothing() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let session = session("s");
    let year = 31_536_000_000;
    block_on(store.create(&session, &this_process(10 * year))).unwrap();
    for (round, since) in [9, 0, 12, 3].into_iter().enumerate() {
        let holder = this_process(since * year);
        let mut lease = block_on(store.acquire(&session, &holder, Acquire::TakeOver)).unwrap();
        assert_eq!(lease.epoch, round as u64 + 2);
        let at = 20 * year - since * year;
        let id = seamline_store::CommitId::from_bytes([round as u8; 16]);
        let records = [crate::bed::said("tick")];
        let commit = seamline_store::Commit {
            session: &session,
            epoch: lease.epoch,
            head: lease.head,
            id,
            at,
            records: &records,
        };
        assert_eq!(block_on(store.append(std::sync::Arc::new(commit.seal().unwrap()))), Ok(Appended::New));
        lease.head = block_on(store.read_head(&session)).unwrap();
        let fenced = seamline_store::Lease { epoch: lease.epoch - 1, ..lease.clone() };
        let late = seal(&session, &mut fenced.clone(), 99, &["late"]);
        assert!(matches!(block_on(store.append(late)), Err(Error::Fenced { .. })));
    }
    let replayed = crate::bed::replayed(&store, &session).unwrap();
    assert_eq!((replayed.state.view.len(), replayed.damages), (4, Vec::new()));
}
