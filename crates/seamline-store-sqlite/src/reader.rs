//! The threads that read.

use rusqlite::Connection;
use seamline_store::Error;

use crate::connect::{Opened, StoreFile};
use crate::failure::{Doing, Failure};
use crate::job::Job;
use crate::queue::Queue;

/// Runs the jobs of the queue until the queue is closed.
pub(crate) fn run(file: &StoreFile, queue: &Queue) {
    let mut opened = None;
    while let Some(jobs) = queue.take(1, 0) {
        for job in jobs {
            answer(file, &mut opened, job);
        }
    }
}

fn answer(file: &StoreFile, opened: &mut Option<Opened>, mut job: Box<dyn Job>) {
    if let Err(failure) =
        open(file, opened).map_err(Failure::Rejected).and_then(|opened| read(&opened.connection, &mut *job))
    {
        if failure.spoils_connection() {
            *opened = None;
        }
        job.fail(failure.into_error(Doing::Reading, file.path()));
    }
    job.answer();
}

fn open<'a>(file: &StoreFile, opened: &'a mut Option<Opened>) -> Result<&'a Opened, Error> {
    let there = opened.take().filter(|opened| file.is_current(opened));
    Ok(opened.insert(match there {
        Some(opened) => opened,
        None => file.connect_reader()?,
    }))
}

/// Runs a job in one read transaction, so that it sees one state of the file.
fn read(connection: &Connection, job: &mut dyn Job) -> Result<(), Failure> {
    connection.execute_batch("BEGIN")?;
    let done = job.run(connection);
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    done
}
