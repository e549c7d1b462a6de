//! Processes of several users on one file.
#![cfg(unix)]

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::time::{Duration, Instant};

use futures_executor::block_on;
use seamline_store::{Error, Store, cause};
use seamline_store_sqlite::{SqliteOptions, SqliteStore, this_process};

use crate::bed::{Folder, child, lines, open, part, seal, session, tell};
use crate::faults::has;

/// Two user ids that no other account has.
const OWNER: u32 = 65_533;
const READER: u32 = 65_534;

/// Returns the command that starts a child as a user; none if this process cannot do that.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
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

/// Makes a store that [`OWNER`] owns and all users can read, in a folder that all users can write.
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
    SqliteStore::open(path, SqliteOptions { read_only: true, ..SqliteOptions::default() }).unwrap()
}

#[test]
fn reads_once() {
    let Some(part) = part() else { return };
    for store in [read_only(part[0].as_ref()), open(part[0].as_ref())] {
        tell(&block_on(store.read_head(&session("s"))).unwrap().seq.to_string());
    }
}

#[test]
fn writes_once() {
    let Some(part) = part() else { return };
    let store = open(part[0].as_ref());
    tell(&match block_on(store.acquire(&session("s"), &this_process(1), seamline_store::Acquire::TakeOver)) {
        Ok(_) => "written".to_owned(),
        Err(Error::ReadOnly(cause::ReadOnly::OtherOwner { beside, owner, other, has_log, .. })) => {
            let name = beside.file_name().unwrap().to_string_lossy().into_owned();
            format!("{name} {owner} {other} {has_log}")
        }
        Err(error) => format!("otherwise: {error}"),
    });
}

#[test]
fn a_reader_of_another_user_does_not_lock_the_owner_out() {
    let (Some(owner), Some(reader)) = (as_user(OWNER), as_user(READER)) else { return };
    let folder = shared();
    assert_eq!(told("users::reads_once", &folder.file(), &reader), ["1", "1"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the reader left a file behind");
    assert_eq!(told("users::writes_once", &folder.file(), &owner), ["written"]);
}

#[test]
fn follows() {
    let Some(part) = part() else { return };
    let store = read_only(part[0].as_ref());
    let (started, mut last) = (Instant::now(), 0);
    while last < 3 && started.elapsed() < Duration::from_secs(20) {
        let seq = block_on(store.read_head(&session("s"))).unwrap().seq;
        if seq > last {
            last = seq;
            tell(&seq.to_string());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_reader_of_another_user_sees_new_commits() {
    let Some(reader) = as_user(READER) else { return };
    let folder = shared();
    let around: Vec<&str> = reader.iter().map(String::as_str).collect();
    let mut following = child("users::follows", &[folder.file().to_str().unwrap()], &around);
    let mut heard = lines(&mut following);
    assert_eq!(heard.next().as_deref(), Some("1"), "while no process has it open");
    let (store, name) = (open(&folder.file()), session("s"));
    let mut lease = block_on(store.acquire(&name, &this_process(1), seamline_store::Acquire::TakeOver)).unwrap();
    block_on(store.append(seal(&name, &mut lease, 2, &["two"]))).unwrap();
    assert_eq!(heard.next().as_deref(), Some("2"), "while another process writes it");
    block_on(store.append(seal(&name, &mut lease, 3, &["three"]))).unwrap();
    drop(store);
    assert_eq!(heard.next().as_deref(), Some("3"), "after the writer closed it");
    following.wait().unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().uid(), OWNER, "{}", file.path().display());
    }
}

#[test]
fn an_error_names_the_file_of_another_user() {
    let Some(owner) = as_user(OWNER) else { return };
    let folder = shared();
    for (end, len) in [("-wal", 0), ("-shm", 32_768)] {
        let mut beside = folder.file().into_os_string();
        beside.push(end);
        std::fs::write(&beside, vec![0; len]).unwrap();
        mode(beside.as_ref(), 0o644);
    }
    let heard = told("users::writes_once", &folder.file(), &owner);
    assert_eq!(heard, [format!("store.db-wal {OWNER} 0 false")]);
}
