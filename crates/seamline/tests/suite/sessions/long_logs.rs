//! Logs that are much longer than the view.
#![cfg(target_os = "linux")]

use std::process::Command;

use seamline::session::{OpenOptions, ResetOptions, Session, SessionOptions};

/// Where the process that opens the session finds it.
const STORE: &str = "SEAMLINE_TEST_LONG_LOG";

/// How many commits of about a megabyte the log has.
const COMMITS: usize = 96;

/// The most bytes that opening may take beside the view: some pages while they are parsed.
const MOST: usize = 64 * 1024 * 1024;

#[test]
fn opening_takes_no_memory_for_messages_outside_the_view() {
    futures_executor::block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", folder.path().join("sessions.db").display());
        let store = seamline::open_store(&address).await.unwrap();
        let mut session = Session::create(store, "s".parse().unwrap(), SessionOptions::default()).await.unwrap();
        let long = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(1024 * 1024));
        for _ in 0..COMMITS {
            session.append(&long).await.unwrap();
            session.reset(ResetOptions::default()).await.unwrap();
        }
        session.close().await.unwrap();
        let opening = "sessions::long_logs::the_process_that_opens_it";
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", opening, "--nocapture"])
            .env(STORE, &address)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        let took = said.lines().find_map(|line| line.split_once("took ")?.1.split_once(' ')?.0.parse::<usize>().ok());
        let took = took.unwrap_or_else(|| panic!("{said}{}", String::from_utf8_lossy(&done.stderr)));
        assert!(took < MOST, "{took} bytes");
    });
}

/// Does nothing unless the variable names a session to open.
#[test]
fn the_process_that_opens_it() {
    let Ok(address) = std::env::var(STORE) else { return };
    futures_executor::block_on(async {
        let store = seamline::open_store(&address).await.unwrap();
        let before = most_bytes();
        let session = Session::open(store, "s".parse().unwrap(), OpenOptions::default()).await.unwrap();
        println!("\ntook {} bytes", most_bytes() - before);
        assert_eq!(session.messages().count(), 0);
    });
}

/// How much memory this process has had at most.
fn most_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}
