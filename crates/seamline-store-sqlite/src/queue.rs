//! What was asked and not done yet.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::job::Job;

/// The most jobs that are in a queue for good.
const JOBS_MAX: usize = 1_024;

/// The most bytes of jobs that are in a queue for good; the first one may have more.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Jobs in the order they came.
///
/// So many of them are in it for good: they are done whether anybody waits for the answer or not. Those beyond are in it
/// as long as somebody waits, so that what is kept in memory is bounded by those who do.
#[derive(Default)]
pub(crate) struct Queue {
    inside: Mutex<Inside>,
    filled: Condvar,
}

#[derive(Default)]
struct Inside {
    jobs: BTreeMap<u64, Box<dyn Job>>,
    /// How many jobs there ever were.
    count: u64,
    is_closed: bool,
}

impl Queue {
    /// Puts a job in, and gives it a number.
    pub(crate) fn push(&self, job: Box<dyn Job>) -> u64 {
        let mut inside = self.lock();
        inside.count += 1;
        let number = inside.count;
        // A job that nobody will do is dropped, and with it what its answer would have come by.
        if !inside.is_closed {
            inside.jobs.insert(number, job);
        }
        drop(inside);
        self.filled.notify_one();
        number
    }

    /// Nobody waits for a job any more: it goes, unless it is in for good or done.
    pub(crate) fn forget(&self, number: u64) {
        let mut inside = self.lock();
        let dropped = if inside.is_beyond(number) { inside.jobs.remove(&number) } else { None };
        drop(inside);
        drop(dropped);
    }

    /// Waits for jobs and takes the first ones, up to so many and about so many bytes; none once the queue is closed
    /// and everything is done.
    pub(crate) fn take(&self, jobs_max: usize, bytes_max: usize) -> Option<Vec<Box<dyn Job>>> {
        let mut inside = self.lock();
        while inside.jobs.is_empty() {
            if inside.is_closed {
                return None;
            }
            inside = self.filled.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while let Some(first) = inside.jobs.first_entry() {
            bytes += first.get().bytes();
            if !taken.is_empty() && (taken.len() >= jobs_max || bytes > bytes_max) {
                break;
            }
            taken.push(first.remove());
        }
        Some(taken)
    }

    /// Takes nothing in any more; what is in it is still done.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_all();
    }

    /// Takes nothing in any more, and nobody does what is in it.
    pub(crate) fn abandon(&self) {
        self.close();
        let dropped = mem::take(&mut self.lock().jobs);
        drop(dropped);
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        // Nothing that can panic happens while it is held.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// Whether a job is in the queue, and not for good.
    fn is_beyond(&self, number: u64) -> bool {
        if !self.jobs.contains_key(&number) {
            return false;
        }
        let earlier = self.jobs.range(..number);
        let (count, bytes) = earlier.fold((0, 0), |(count, bytes), (_, job)| (count + 1, bytes + job.bytes()));
        count >= JOBS_MAX || bytes >= BYTES_MAX
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("jobs", &self.lock().jobs.len()).finish_non_exhaustive()
    }
}
