//! Full disks, failing disks and missing permissions.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use futures_executor::block_on;
use seamline_store::cause::{Address, Failed};
use seamline_store::{Acquire, Appended, Error, Lease, OpenedCommit, Store};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Folder, child, lines, open, part, replayed, seal, session, tell};

/// The number of commits that a child must store.
const COMMITS: u64 = 12;

#[test]
fn a_full_store_fails_and_continues_when_it_has_space() {
    let folder = Folder::new();
    let name = session("s");
    let options = SqliteOptions { bytes_max: Some(256 * 1024), ..SqliteOptions::default() };
    let store = SqliteStore::open(folder.file(), options).unwrap();
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    let text = "z".repeat(5_000);
    let (mut kept, mut id) = (0, 0);
    let refused = loop {
        id += 1;
        let before = lease.clone();
        let commit = seal(&name, &mut lease, id, &[&text]);
        match block_on(store.append(commit.clone())) {
            Ok(Appended::New) => kept += 1,
            Err(Error::NoSpace(_)) => {
                lease = before;
                break commit;
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(kept > 10, "{kept}");
    let small = seal(&name, &mut lease.clone(), 1 << 30, &["there may be room for this"]);
    let small_is_kept = block_on(store.append(small)).is_ok();
    assert_eq!(replayed(&store, &name).unwrap().commits, kept + u64::from(small_is_kept));
    drop(store);
    let store = open(&folder.file());
    let again = block_on(store.append(refused));
    if small_is_kept {
        assert_eq!(again, Err(Error::Conflict(name.clone())));
    } else {
        assert_eq!(again, Ok(Appended::New));
    }
    assert_eq!(replayed(&store, &name).unwrap().damages, Vec::new());
}

#[test]
fn one_too_large_commit_does_not_block_the_others() {
    let folder = Folder::new();
    let names = [session("a"), session("b"), session("c")];
    let options = SqliteOptions { bytes_max: Some(256 * 1024), ..SqliteOptions::default() };
    let store = SqliteStore::open(folder.file(), options).unwrap();
    let mut leases = names.clone().map(|name| block_on(store.create(&name, &this_process(1))).unwrap());
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let texts = ["small".to_owned(), "z".repeat(1 << 20), "small too".to_owned()];
    let all = names.iter().zip(&mut leases).zip(&texts);
    // The first commit is written alone; the other two wait for it and share a transaction.
    let asked: Vec<_> = all.map(|((name, lease), text)| store.append(seal(name, lease, 1, &[text.as_str()]))).collect();
    other.execute_batch("ROLLBACK").unwrap();
    let answers: Vec<_> = asked.into_iter().map(block_on).collect();
    assert!(matches!(answers[..], [Ok(Appended::New), Err(Error::NoSpace(_)), Ok(Appended::New)]), "{answers:?}");
}

#[test]
fn writing_to_a_removed_file_fails() {
    let folder = Folder::new();
    let store = open(&folder.file());
    let name = session("s");
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    block_on(store.append(seal(&name, &mut lease, 1, &["one"]))).unwrap();
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        std::fs::remove_file(folder.path().join(file)).unwrap();
    }
    let lost = block_on(store.append(seal(&name, &mut lease, 2, &["two"])));
    assert!(matches!(&lost, Err(Error::Failed(Failed::FileGone { .. }))), "{lost:?}");
    assert!(block_on(store.read_head(&name)).is_err());
}

#[test]
fn a_read_only_store_writes_nothing() {
    let folder = Folder::new();
    let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
    let missing = SqliteStore::open(folder.file(), options.clone());
    assert!(matches!(missing, Err(Error::Address(Address::Missing { .. }))), "{missing:?}");
    assert!(!folder.file().exists());
    let mut lease = write_store(&folder.file());
    let store = SqliteStore::open(folder.file(), options).unwrap();
    assert_read_only(&store, &mut lease);
}

/// Writes a store with one commit.
fn write_store(path: &Path) -> Lease {
    let store = open(path);
    let name = session("s");
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    block_on(store.append(seal(&name, &mut lease, 1, &["one"]))).unwrap();
    lease
}

fn assert_read_only(store: &SqliteStore, lease: &mut Lease) {
    let name = session("s");
    assert_eq!(replayed(store, &name).unwrap().state.view.len(), 1);
    let appended = block_on(store.append(seal(&name, lease, 2, &["two"])));
    assert!(matches!(appended, Err(Error::ReadOnly(_))), "{appended:?}");
    let acquired = block_on(store.acquire(&name, &this_process(1), Acquire::TakeOver));
    assert!(matches!(acquired, Err(Error::ReadOnly(_))), "{acquired:?}");
}

#[test]
fn reads_what_it_may_not_write() {
    let Some(part) = part() else { return };
    let store = open(part[0].as_ref());
    let name = session("s");
    let head = block_on(store.read_head(&name)).unwrap();
    assert_read_only(&store, &mut Lease { epoch: head.epoch, head });
    drop(store);
    let beside = Path::new(&part[0]).with_file_name("new.db");
    let refused = SqliteStore::open(beside, SqliteOptions::default());
    // In a writable folder another file can be created.
    let is_expected = if part[1] == "folder" { matches!(refused, Err(Error::ReadOnly(_))) } else { refused.is_ok() };
    assert!(is_expected, "{refused:?}");
    tell("as it should");
}

#[test]
fn a_file_or_folder_without_write_permission_is_read_only() {
    use std::os::unix::fs::PermissionsExt;
    // Root may write every file, so the child runs as an unprivileged user.
    let is_root = rustix::process::geteuid().is_root();
    let around: &[&str] =
        if is_root { &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] } else { &[] };
    if is_root && !has("setpriv") {
        println!("skipped: running as root, and `setpriv` is not installed");
        return;
    }
    for what in ["file", "folder"] {
        let folder = Folder::new();
        write_store(&folder.file());
        let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(&folder.file(), 0o444);
        mode(folder.path(), if what == "folder" { 0o555 } else { 0o777 });
        let path = folder.file();
        let mut reading = child("faults::reads_what_it_may_not_write", &[path.to_str().unwrap(), what], around);
        let heard: Vec<_> = lines(&mut reading).collect();
        mode(folder.path(), 0o755);
        assert_eq!(heard, ["as it should"], "{what}");
        reading.wait().unwrap();
    }
}

#[test]
fn writes_whatever_the_disk_does() {
    let Some(part) = part() else { return };
    let (store, name) = (open(part[0].as_ref()), session("s"));
    // Creating the session may fail too; a retry settles it.
    let mut lease = loop {
        match block_on(store.create(&name, &this_process(1))) {
            Ok(lease) => break lease,
            Err(Error::Exists(_)) => {
                break block_on(store.acquire(&name, &this_process(1), Acquire::TakeOver)).unwrap();
            }
            Err(error) => tell(&format!("failed {}", kind(&error))),
        }
    };
    for id in 0..COMMITS {
        let commit = seal(&name, &mut lease, u128::from(id), &[&"w".repeat(700 * (1 + id as usize % 4))]);
        let mut tries = 0;
        loop {
            match block_on(store.append(commit.clone())) {
                Ok(appended) => break tell(&format!("ack {} {} {appended:?}", commit.seq(), commit.hash())),
                Err(error) => tell(&format!("failed {}", kind(&error))),
            }
            tries += 1;
            if tries > 20 {
                return tell("gave up");
            }
        }
    }
    tell("whole");
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::Unknown { .. } => "unknown",
        Error::NoSpace(_) => "no-space",
        Error::Failed(_) => "failed",
        _ => "otherwise",
    }
}

/// Runs the writer with a failing disk, checks the file, and returns the lines that the writer reported.
fn under(folder: &Folder, around: &[&str]) -> Vec<String> {
    let path = folder.file();
    let mut writing = child("faults::writes_whatever_the_disk_does", &[path.to_str().unwrap()], around);
    let heard: Vec<String> = lines(&mut writing).collect();
    writing.wait().unwrap();
    let store = open(&path);
    let name = session("s");
    let replayed = replayed(&store, &name).unwrap();
    assert_eq!(replayed.damages, Vec::new(), "{heard:?}");
    let kept: BTreeMap<u64, String> = block_on(store.read(&name, 0, usize::MAX))
        .unwrap()
        .iter()
        .map(|commit| (commit.seq, OpenedCommit::open(&commit.bytes).unwrap().hash.to_string()))
        .collect();
    for line in &heard {
        if let ["ack", seq, hash, _] = line.split(' ').collect::<Vec<_>>()[..] {
            assert_eq!(kept.get(&seq.parse().unwrap()).map(String::as_str), Some(hash), "{heard:?}");
        }
    }
    heard
}

#[test]
fn a_failing_sync_loses_no_acknowledged_commit() {
    if !can_trace() {
        println!("skipped: `strace` is not installed or may not trace");
        return;
    }
    let (mut unknown, mut failed) = (0, 0);
    for when in 1..=20 {
        let folder = Folder::new();
        // The file exists before, so that a write fails and not its creation.
        drop(open(&folder.file()));
        let inject = format!("inject=fsync,fdatasync:error=EIO:when={when}");
        let heard = under(&folder, &["strace", "-f", "-qq", "-o", "/dev/null", "-e", &inject]);
        assert!(heard.iter().any(|line| line == "whole"), "sync {when}: {heard:?}");
        assert!(!heard.iter().any(|line| line == "failed otherwise"), "sync {when}: {heard:?}");
        unknown += heard.iter().filter(|line| *line == "failed unknown").count();
        failed += heard.iter().filter(|line| *line == "failed failed").count();
    }
    println!("20 runs with a sync that fails: {unknown} commits of unknown fate, {failed} other requests failed");
    assert!(unknown > 0);
}

#[test]
fn a_failing_write_loses_no_acknowledged_commit() {
    if !can_trace() {
        println!("skipped: `strace` is not installed or may not trace");
        return;
    }
    let mut said = BTreeMap::new();
    for error in ["ENOSPC", "EIO"] {
        for when in (1..60).step_by(6) {
            let folder = Folder::new();
            drop(open(&folder.file()));
            let inject = format!("inject=write,pwrite64:error={error}:when={when}..{}", when + 1);
            let log = folder.path().join("store.db-wal");
            let heard =
                under(&folder, &["strace", "-f", "-qq", "-o", "/dev/null", "-P", log.to_str().unwrap(), "-e", &inject]);
            assert!(heard.iter().any(|line| line == "whole"), "{error} at write {when}: {heard:?}");
            for line in heard.iter().filter(|line| line.starts_with("failed")) {
                *said.entry(format!("{error}: {line}")).or_insert(0) += 1;
            }
        }
    }
    println!("{said:?}");
    assert!(said.contains_key("ENOSPC: failed no-space"), "{said:?}");
}

#[test]
fn a_file_size_limit_loses_no_acknowledged_commit() {
    let folder = Folder::new();
    drop(open(&folder.file()));
    // The limit counts blocks of 512 bytes. Without the trap its signal would end the process.
    let heard = under(&folder, &["sh", "-c", "trap '' XFSZ; ulimit -f 150; exec \"$0\" \"$@\""]);
    let has = |start: &str| heard.iter().any(|line| line.starts_with(start));
    assert!(has("ack") && has("failed"), "{heard:?}");
}

#[test]
fn opens_where_the_disk_is_full() {
    let Some(part) = part() else { return };
    match SqliteStore::open(Path::new(&part[0]), SqliteOptions::default()) {
        Ok(_) => tell("opened"),
        Err(error) => tell(kind(&error)),
    }
}

/// SQLite reports only a failed write of a page as a full disk; here the index of the log cannot grow.
#[test]
fn a_store_that_cannot_grow_its_files_has_no_space() {
    let folder = Folder::new();
    write_store(&folder.file());
    let path = folder.file();
    let around = ["sh", "-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""];
    let mut opening = child("faults::opens_where_the_disk_is_full", &[path.to_str().unwrap()], &around);
    let heard: Vec<_> = lines(&mut opening).collect();
    opening.wait().unwrap();
    assert_eq!(heard, ["no-space"]);
}

pub(crate) fn has(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Whether this process may trace others.
fn can_trace() -> bool {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    traced.is_ok_and(|status| status.success())
}
