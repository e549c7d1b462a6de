//! Processes of several users at one file.
#![cfg(unix)]

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::time::{Duration, Instant};

use futures_executor::block_on;
use seamline_store::{Error, Store};
use seamline_store_sqlite::{Options, SqliteStore, this_process};

use crate::bed::{Folder, child, lines, open, part, seal, session, tell};
use crate::faults::has;

/// Two users who are nobody else.
const OWNER: u32 = 65_533;
const READER: u32 = 65_534;

/// What a child is started under to be of a user; nothing where this process cannot start one.
#[expect(clippy::print_stdout, reason = "what is left out is said")]
fn as_user(user: u32) -> Option<[String; 5]> {
    if !rustix::process::geteuid().is_root() || !has("setpriv") {
        println!("skipped: not running as root, or `setpriv` is not installed");
        return None;
    }
    let (user, group) = (format!("--reuid={user}"), format!("--regid={user}"));
    Some(["setpriv".to_owned(), user, group, "--clear-groups".to_owned(), "--".to_owned()])
}

fn told(test: &str, path: &Path, around: &[String]) -> Vec<String> {
    let around: Vec<&str> = around.iter().map(String::as_str).collect();
    let mut playing = child(test, &[path.to_str().unwrap()], &around);
    let heard = lines(&mut playing).collect();
    playing.wait().unwrap();
    heard
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A store that belongs to [`OWNER`], that everybody may read, in a folder that everybody may write.
fn shared() -> Folder {
    let folder = Folder::new();
    let name = session("s");
    let store = open(&folder.file());
    let mut lease = block_on(store.create(&name, &this_process(1))).unwrap();
    block_on(store.append(seal(&name, &mut lease, 1, &["one"]))).unwrap();
    block_on(store.release(&name, lease.epoch)).unwrap();
    drop(store);
    chown(folder.file(), Some(OWNER), Some(OWNER)).unwrap();
    mode(&folder.file(), 0o644);
    mode(folder.path(), 0o777);
    folder
}

fn read_only(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Options { read_only: true, ..Options::default() }).unwrap()
}

#[test]
fn reads_once() {
    let Some(part) = part() else { return };
    for store in [read_only(part[0].as_ref()), open(part[0].as_ref())] {
        tell(&block_on(store.head(&session("s"))).unwrap().seq.to_string());
    }
}

#[test]
fn writes_once() {
    let Some(part) = part() else { return };
    let store = open(part[0].as_ref());
    tell(&match block_on(store.acquire(&session("s"), &this_process(1), seamline_store::Acquire::TakeOver)) {
        Ok(_) => "written".to_owned(),
        Err(Error::ReadOnly(why)) => format!("read-only: {why}"),
        Err(error) => format!("otherwise: {error}"),
    });
}

#[test]
fn a_reader_of_another_user_locks_nobody_out() {
    let (Some(owner), Some(reader)) = (as_user(OWNER), as_user(READER)) else { return };
    let folder = shared();
    assert_eq!(told("users::reads_once", &folder.file(), &reader), ["1", "1"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside the file");
    assert_eq!(told("users::writes_once", &folder.file(), &owner), ["written"]);
}

#[test]
fn follows() {
    let Some(part) = part() else { return };
    let store = read_only(part[0].as_ref());
    let (started, mut last) = (Instant::now(), 0);
    while last < 3 && started.elapsed() < Duration::from_secs(20) {
        let seq = block_on(store.head(&session("s"))).unwrap().seq;
        if seq > last {
            last = seq;
            tell(&seq.to_string());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_reader_of_another_user_sees_what_comes() {
    let Some(reader) = as_user(READER) else { return };
    let folder = shared();
    let around: Vec<&str> = reader.iter().map(String::as_str).collect();
    let mut following = child("users::follows", &[folder.file().to_str().unwrap()], &around);
    let mut heard = lines(&mut following);
    assert_eq!(heard.next().as_deref(), Some("1"), "while nobody has it open");
    let (store, name) = (open(&folder.file()), session("s"));
    let mut lease = block_on(store.acquire(&name, &this_process(1), seamline_store::Acquire::TakeOver)).unwrap();
    block_on(store.append(seal(&name, &mut lease, 2, &["two"]))).unwrap();
    assert_eq!(heard.next().as_deref(), Some("2"), "while somebody writes it");
    block_on(store.append(seal(&name, &mut lease, 3, &["three"]))).unwrap();
    drop(store);
    assert_eq!(heard.next().as_deref(), Some("3"), "and when that one has closed it");
    following.wait().unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().uid(), OWNER, "{}", file.path().display());
    }
}

#[test]
fn who_is_locked_out_is_told_by_which_file() {
    let Some(owner) = as_user(OWNER) else { return };
    let folder = shared();
    for (end, len) in [("-wal", 0), ("-shm", 32_768)] {
        let mut beside = folder.file().into_os_string();
        beside.push(end);
        std::fs::write(&beside, vec![0; len]).unwrap();
        mode(beside.as_ref(), 0o644);
    }
    let heard = told("users::writes_once", &folder.file(), &owner);
    assert!(heard[0].starts_with("read-only: ") && heard[0].contains("-wal` belongs to user 0"), "{heard:?}");
    assert!(heard[1].contains("delete"), "{heard:?}");
}
