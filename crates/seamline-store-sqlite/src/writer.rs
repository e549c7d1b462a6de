//! The thread that writes.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use seamline_store::Error;

use crate::fault::{Doing, Fault};
use crate::job::{Job, Kind};
use crate::place::{Opened, Place, copy_log};
use crate::queue::Queue;

/// The most jobs, and about the most bytes, of one transaction.
const JOBS_MAX: usize = 256;
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// The log is copied into the database when about so much was written to it. It is then written over from its start,
/// and that costs a sync less than a log that grows.
const LOG_BYTES: usize = 4 * 1024 * 1024;

/// What a job costs in the log beside its own bytes: the pages of tables and indexes it touches.
const JOB_BYTES: usize = 12 * 1024;

/// Owns the connection that writes.
pub(crate) struct Writer {
    place: Arc<Place>,
    opened: Option<Opened>,
    busy_timeout: Duration,
    /// About how much is in the log.
    logged: usize,
    /// Whether bytes of an erased session may still be in the log.
    is_unclean: bool,
}

/// Why a transaction did not come to its end.
struct Trouble {
    fault: Fault,
    left: Left,
}

/// What is left of a transaction that did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Nothing: it was not begun.
    NotBegun,
    /// Nothing: it was taken back because of what one of the jobs met, or because there was no room for all.
    TakenBack,
    /// Nobody knows.
    Unknown,
}

impl Writer {
    pub(crate) fn new(place: Arc<Place>, opened: Option<Opened>, busy_timeout: Duration) -> Self {
        Self { place, opened, busy_timeout, logged: 0, is_unclean: false }
    }

    /// Writes what is asked until the queue is closed.
    pub(crate) fn run(mut self, queue: &Queue) {
        while let Some(jobs) = queue.take(JOBS_MAX, BYTES_MAX) {
            self.logged += jobs.iter().map(|job| job.bytes() + JOB_BYTES).sum::<usize>();
            self.write(jobs);
            self.look_after_log();
        }
    }

    /// Does jobs in one transaction, and answers them once it is on the disk.
    fn write(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        match self.attempt(&mut jobs) {
            Ok(()) => self.answer(jobs),
            // One of them may be to blame, so each is tried by itself: nothing of any was kept.
            Err(trouble) if trouble.left == Left::TakenBack && jobs.len() > 1 => {
                for job in jobs {
                    self.write(vec![job]);
                }
            }
            Err(Trouble { fault, left }) => {
                let error = fault.into_error(Doing::Writing);
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
        for mut job in erasing {
            if let Err(why) = &cleaned {
                let why =
                    format!("the session is erased, but its bytes are in the log until others let go of it: {why}");
                job.fail(Error::Failed(why));
            }
            job.answer();
        }
    }

    fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), Trouble> {
        let opened = match self.open() {
            Ok(opened) => opened,
            Err(error) => return Err(Trouble { fault: error.into(), left: Left::NotBegun }),
        };
        let done = transact(&opened.connection, jobs);
        let is_stuck = !opened.connection.is_autocommit();
        if is_stuck || done.as_ref().is_err_and(|trouble| trouble.left == Left::Unknown || trouble.fault.spoils()) {
            // What the disk did with it is not known: this connection does not sync again.
            self.discard();
        }
        done
    }

    fn open(&mut self) -> Result<&Opened, Error> {
        let opened = match self.opened.take() {
            Some(opened) if self.place.is_there(&opened) => opened,
            left => {
                if let Some(opened) = left {
                    self.place.leave(opened);
                }
                self.place.writer()?
            }
        };
        Ok(self.opened.insert(opened))
    }

    fn discard(&mut self) {
        if let Some(opened) = self.opened.take() {
            opened.discard();
        }
    }

    /// Copies the log into the database where there is much in it. Whoever asked has the answer already.
    fn look_after_log(&mut self) {
        if self.logged < LOG_BYTES && !self.is_unclean {
            return;
        }
        let Some(Opened { connection, .. }) = &self.opened else { return };
        let copied = if self.is_unclean {
            let waited = connection.busy_timeout(Duration::ZERO);
            let copied = waited.map_err(Fault::from).and_then(|()| copy_log(connection, "TRUNCATE"));
            let restored = connection.busy_timeout(self.busy_timeout).map_err(Fault::from);
            copied.and_then(|is_copied| restored.map(|()| is_copied))
        } else {
            copy_log(connection, "PASSIVE")
        };
        match copied {
            Ok(is_copied) => (self.logged, self.is_unclean) = (0, self.is_unclean && !is_copied),
            // The log is whole, so nothing is lost; what was half copied is copied again by the next connection.
            Err(_) => self.discard(),
        }
    }

    /// Empties the log.
    fn clean(&mut self) -> Result<(), String> {
        let Some(Opened { connection, .. }) = &self.opened else { return Err("it cannot be reached".to_owned()) };
        match copy_log(connection, "TRUNCATE") {
            Ok(true) => self.is_unclean = false,
            Ok(false) => return Err("somebody reads it".to_owned()),
            Err(fault) => {
                let why = fault.into_error(Doing::Writing).to_string();
                self.discard();
                return Err(why);
            }
        }
        Ok(())
    }
}

fn transact(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<(), Trouble> {
    execute(connection, "BEGIN IMMEDIATE").map_err(|fault| Trouble { fault, left: Left::NotBegun })?;
    for job in jobs {
        if let Err(fault) = job.run(connection) {
            take_back(connection);
            return Err(Trouble { fault, left: Left::TakenBack });
        }
    }
    execute(connection, "COMMIT").map_err(|fault| {
        if is_open_at_the_end(&fault) {
            return Trouble { fault, left: Left::Unknown };
        }
        take_back(connection);
        Trouble { fault, left: Left::TakenBack }
    })
}

/// Where this fails too, the connection is seen to be stuck and given up.
fn take_back(connection: &Connection) {
    if !connection.is_autocommit() {
        let _ = execute(connection, "ROLLBACK");
    }
}

fn execute(connection: &Connection, sql: &str) -> Result<(), Fault> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// Whether an error at the end of a transaction leaves open what is on the disk. SQLite knows that nothing is where it
/// found no room, or another process in its way.
fn is_open_at_the_end(fault: &Fault) -> bool {
    use ErrorCode as Code;
    let Fault::Sqlite(error) = fault else { return true };
    let is_clear = [Code::DiskFull, Code::DatabaseBusy, Code::ReadOnly, Code::ConstraintViolation];
    !error.sqlite_error_code().is_some_and(|code| is_clear.contains(&code))
}

fn unknown(kind: Kind, error: &Error) -> Error {
    let why = error.to_string();
    match kind {
        Kind::Append(commit) => Error::Unknown { commit, why },
        Kind::Erase | Kind::Other => Error::Failed(format!("it is not known whether it was kept: {why}")),
    }
}
