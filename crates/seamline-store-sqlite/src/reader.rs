//! The threads that read.

use rusqlite::Connection;
use seamline_store::Error;

use crate::fault::{Doing, Fault};
use crate::job::Job;
use crate::place::{Opened, Place};
use crate::queue::Queue;

/// Reads what is asked until the queue is closed.
pub(crate) fn run(place: &Place, queue: &Queue) {
    let mut opened = None;
    while let Some(jobs) = queue.take(1, 0) {
        for job in jobs {
            answer(place, &mut opened, job);
        }
    }
}

fn answer(place: &Place, opened: &mut Option<Opened>, mut job: Box<dyn Job>) {
    if let Err(fault) = open(place, opened).map_err(Fault::Said).and_then(|opened| read(&opened.connection, &mut *job))
    {
        if fault.spoils() {
            *opened = None;
        }
        job.fail(fault.into_error(Doing::Reading));
    }
    job.answer();
}

fn open<'a>(place: &Place, opened: &'a mut Option<Opened>) -> Result<&'a Opened, Error> {
    let there = opened.take().filter(|opened| place.is_there(opened));
    Ok(opened.insert(match there {
        Some(opened) => opened,
        None => place.reader()?,
    }))
}

/// Everything that a job reads is of one moment.
fn read(connection: &Connection, job: &mut dyn Job) -> Result<(), Fault> {
    connection.execute_batch("BEGIN")?;
    let done = job.run(connection);
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    done
}
