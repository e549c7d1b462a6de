//! The thread that writes.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use seamline_store::{Error, cause};

use crate::connect::{Opened, StoreFile, copy_log};
use crate::failure::{Doing, Failure};
use crate::job::{Job, Kind};
use crate::lost;
use crate::queue::Queue;

/// The most jobs of one transaction, and about the most bytes.
const JOBS_MAX: usize = 256;
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// The log size at which the writer copies the log into the database. SQLite then overwrites the log from its start,
/// which costs one sync less than a growing log.
const LOG_BYTES: usize = 4 * 1024 * 1024;

/// The log bytes of a job beside its own bytes: the pages of tables and indexes that it changes.
const JOB_BYTES: usize = 12 * 1024;

/// The owner of the only connection that writes.
pub(crate) struct Writer {
    file: Arc<StoreFile>,
    opened: Option<Opened>,
    busy_timeout: Duration,
    /// About how many bytes the log has.
    logged: usize,
    /// Whether the log may still hold bytes of an erased session.
    is_unclean: bool,
}

/// A failed transaction.
struct Trouble {
    failure: Failure,
    left: Left,
}

/// The effect that a failed transaction had on the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// None: it did not begin.
    NotBegun,
    /// None: it was rolled back because a job failed or the disk was full.
    RolledBack,
    /// The file may or may not hold its changes.
    Unknown,
}

impl Writer {
    pub(crate) fn new(file: Arc<StoreFile>, opened: Option<Opened>, busy_timeout: Duration) -> Self {
        Self { file, opened, busy_timeout, logged: 0, is_unclean: false }
    }

    /// Runs the jobs of the queue until the queue is closed.
    pub(crate) fn run(mut self, queue: &Queue) {
        while let Some(jobs) = queue.take(JOBS_MAX, BYTES_MAX) {
            self.logged += jobs.iter().map(|job| job.bytes() + JOB_BYTES).sum::<usize>();
            self.write(jobs);
            self.maintain_log();
        }
    }

    /// Runs jobs in one transaction, and sends their results when it is on the disk.
    fn write(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        match self.attempt(&mut jobs) {
            Ok(()) => self.answer(jobs),
            // One job may have caused the failure, so each runs in its own transaction. Nothing was stored so far.
            Err(trouble) if trouble.left == Left::RolledBack && jobs.len() > 1 => {
                for job in jobs {
                    self.write(vec![job]);
                }
            }
            Err(Trouble { failure, left }) => {
                let error = failure.into_error(Doing::Writing, self.file.path());
                for mut job in jobs {
                    job.fail(if left == Left::Unknown { unknown(job.kind(), &error) } else { error.clone() });
                    job.answer();
                }
            }
        }
    }

    fn answer(&mut self, jobs: Vec<Box<dyn Job>>) {
        let (erasing, others): (Vec<_>, Vec<_>) =
            jobs.into_iter().partition(|job| job.kind() == Kind::Erase && job.is_done());
        others.into_iter().for_each(Job::answer);
        if erasing.is_empty() {
            return;
        }
        self.is_unclean = true;
        let cleaned = self.clean();
        let kept = lost::kept_logs(self.file.path());
        for mut job in erasing {
            if let Err(why) = &cleaned {
                job.fail(Error::Failed(cause::Failed::EraseIncomplete(why.clone())));
            } else if let Some(folder) = kept.clone() {
                job.fail(Error::Failed(cause::Failed::EraseKept { folder }));
            }
            job.answer();
        }
    }

    fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), Trouble> {
        let opened = match self.open() {
            Ok(opened) => opened,
            Err(error) => return Err(Trouble { failure: error.into(), left: Left::NotBegun }),
        };
        let done = transact(&opened.connection, jobs);
        let is_stuck = !opened.connection.is_autocommit();
        if is_stuck
            || done.as_ref().is_err_and(|trouble| trouble.left == Left::Unknown || trouble.failure.spoils_connection())
        {
            // The state of the disk is unknown, so this connection must not sync again.
            self.discard();
        }
        done
    }

    fn open(&mut self) -> Result<&Opened, Error> {
        let opened = match self.opened.take() {
            Some(opened) if self.file.is_current(&opened) => opened,
            left => {
                if let Some(opened) = left {
                    self.file.leave(opened);
                }
                self.file.connect_writer()?
            }
        };
        Ok(self.opened.insert(opened))
    }

    fn discard(&mut self) {
        if let Some(opened) = self.opened.take() {
            opened.discard();
        }
    }

    /// Copies the log into the database when it is large. The callers have their results already.
    fn maintain_log(&mut self) {
        if self.logged < LOG_BYTES && !self.is_unclean {
            return;
        }
        let Some(Opened { connection, .. }) = &self.opened else { return };
        let copied = if self.is_unclean {
            let waited = connection.busy_timeout(Duration::ZERO);
            let copied = waited.map_err(Failure::from).and_then(|()| copy_log(connection, "TRUNCATE"));
            let restored = connection.busy_timeout(self.busy_timeout).map_err(Failure::from);
            copied.and_then(|is_copied| restored.map(|()| is_copied))
        } else {
            copy_log(connection, "PASSIVE")
        };
        match copied {
            Ok(is_copied) => (self.logged, self.is_unclean) = (0, self.is_unclean && !is_copied),
            // The log is intact, so nothing is lost: the next connection copies it again.
            Err(_) => self.discard(),
        }
    }

    /// Empties the log.
    fn clean(&mut self) -> Result<(), String> {
        let Some(Opened { connection, .. }) = &self.opened else { return Err("the file cannot be opened".to_owned()) };
        match copy_log(connection, "TRUNCATE") {
            Ok(true) => self.is_unclean = false,
            Ok(false) => return Err("another connection reads it".to_owned()),
            Err(failure) => {
                let why = failure.into_error(Doing::Writing, self.file.path()).message();
                self.discard();
                return Err(why);
            }
        }
        Ok(())
    }
}

fn transact(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<(), Trouble> {
    execute(connection, "BEGIN IMMEDIATE").map_err(|failure| Trouble { failure, left: Left::NotBegun })?;
    for job in jobs {
        if let Err(failure) = job.run(connection) {
            roll_back(connection);
            return Err(Trouble { failure, left: Left::RolledBack });
        }
    }
    execute(connection, "COMMIT").map_err(|failure| {
        if leaves_outcome_open(&failure) {
            return Trouble { failure, left: Left::Unknown };
        }
        roll_back(connection);
        Trouble { failure, left: Left::RolledBack }
    })
}

/// Rolls the transaction back. If that fails too, the caller finds the connection still in it and discards it.
fn roll_back(connection: &Connection) {
    if !connection.is_autocommit() {
        let _ = execute(connection, "ROLLBACK");
    }
}

fn execute(connection: &Connection, sql: &str) -> Result<(), Failure> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// Whether an error of `COMMIT` leaves the outcome open. SQLite guarantees that nothing was written where the disk was
/// full or another process held a lock.
fn leaves_outcome_open(failure: &Failure) -> bool {
    use ErrorCode as Code;
    let Failure::Sqlite(error) = failure else { return true };
    let is_clear = [Code::DiskFull, Code::DatabaseBusy, Code::ReadOnly, Code::ConstraintViolation];
    !error.sqlite_error_code().is_some_and(|code| is_clear.contains(&code))
}

fn unknown(kind: Kind, error: &Error) -> Error {
    let why = error.message();
    match kind {
        Kind::Append(commit) => Error::Unknown { commit, why },
        Kind::Erase | Kind::Other => Error::Failed(cause::Failed::Unsettled(why)),
    }
}
