//! Shared parts of the tests: temporary folders, commits, reproducible random numbers, child processes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_executor::block_on;
use seamline_store::{
    Commit, CommitId, Error, Lease, MessageRecord, Origin, Raw, Record, Replayed, Sealed, SessionId, Store, replay,
};
use seamline_store_sqlite::{SqliteOptions, SqliteStore};

/// A folder that is removed after the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // Long read-only runs are quicker in a folder in memory.
        let above = std::env::var("SEAMLINE_SOAK_FOLDER").unwrap_or(env!("CARGO_TARGET_TMPDIR").to_owned());
        let path = Path::new(&above).join(format!("sqlite-{pid}-{count}"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A folder in memory where the system has one, for tests that open a store thousands of times.
    pub(crate) fn quick() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new("/dev/shm").join(format!("seamline-sqlite-{pid}-{count}"));
        if std::fs::create_dir(&path).is_ok() { Self(path) } else { Self::new() }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("store.db")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default()).unwrap()
}

pub(crate) fn session(name: &str) -> SessionId {
    name.parse().unwrap()
}

pub(crate) fn said(text: &str) -> Record {
    let message = Raw::parse(format!("{{\"role\":\"user\",\"content\":\"{text}\"}}")).unwrap();
    Record::Message(MessageRecord::new(message, Origin::Said, None))
}

/// Seals a commit of some messages after the head of a lease, and moves the head.
pub(crate) fn seal(session: &SessionId, lease: &mut Lease, id: u128, texts: &[&str]) -> Arc<Sealed> {
    let records: Vec<Record> = texts.iter().map(|text| said(text)).collect();
    seal_records(session, lease, id, &records)
}

pub(crate) fn seal_records(session: &SessionId, lease: &mut Lease, id: u128, records: &[Record]) -> Arc<Sealed> {
    let id = CommitId::from_bytes(id.to_be_bytes());
    let commit = Commit { session, epoch: lease.epoch, head: lease.head, id, at: 7, records }.seal().unwrap();
    lease.head = commit.after();
    Arc::new(commit)
}

pub(crate) fn replayed(store: &dyn Store, session: &SessionId) -> Result<Replayed, Error> {
    let head = block_on(store.read_head(session))?;
    let (mut commits, mut after) = (Vec::new(), 0);
    loop {
        let page = block_on(store.read(session, after, 1 << 20))?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        commits.extend(page);
    }
    Ok(replay(session, head, &commits))
}

/// Random numbers that are the same for the same seed.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Reads a number from the environment, for longer runs.
pub(crate) fn from_env(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// The variable that tells a child process its part.
pub(crate) const PART: &str = "SEAMLINE_TEST_PART";

/// Returns the arguments of a child process; none in the main process.
pub(crate) fn part() -> Option<Vec<String>> {
    Some(std::env::var(PART).ok()?.split('\n').map(ToOwned::to_owned).collect())
}

/// Starts this binary again as a process that runs one test with the arguments `part`. `around` is the command that
/// starts it.
pub(crate) fn child(test: &str, part: &[&str], around: &[&str]) -> Child {
    let own = std::env::current_exe().unwrap();
    let mut words: Vec<std::ffi::OsString> = around.iter().map(Into::into).collect();
    words.push(own.into());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(PART, part.join("\n"));
    // The output of the test harness is dropped; the child reports on standard error.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Reports a line to the parent process in one write.
pub(crate) fn tell(line: &str) {
    let mut all = line.to_owned();
    all.push('\n');
    let _ = std::io::stderr().lock().write_all(all.as_bytes());
}

/// Returns the complete lines that a child reports.
pub(crate) fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let mut heard = BufReader::new(child.stderr.take().unwrap());
    std::iter::from_fn(move || {
        let mut line = String::new();
        heard.read_line(&mut line).ok()?;
        line.ends_with('\n').then(|| line.trim_end().to_owned())
    })
}
