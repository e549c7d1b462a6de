//! The queue of waiting requests.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::job::Job;

/// The most jobs that stay in the queue when their caller stops waiting.
const JOBS_MAX: usize = 1_024;

/// The most bytes of jobs that stay in the queue when their caller stops waiting; the first job may have more.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Jobs in the order of their requests.
///
/// Jobs within the limits run even if their callers stop waiting. A job beyond the limits leaves the queue when its
/// caller stops waiting, so abandoned requests cannot fill the memory.
#[derive(Default)]
pub(crate) struct Queue {
    inside: Mutex<Inside>,
    filled: Condvar,
}

#[derive(Default)]
struct Inside {
    jobs: BTreeMap<u64, Box<dyn Job>>,
    /// How many jobs were ever added.
    count: u64,
    is_closed: bool,
}

impl Queue {
    /// Adds a job and returns its number.
    pub(crate) fn push(&self, job: Box<dyn Job>) -> u64 {
        let mut inside = self.lock();
        inside.count += 1;
        let number = inside.count;
        // A closed queue drops the job and with it the channel for its result, so the caller gets an error.
        if !inside.is_closed {
            inside.jobs.insert(number, job);
        }
        drop(inside);
        self.filled.notify_one();
        number
    }

    /// Removes a job whose caller stopped waiting, if it is beyond the limits and not done.
    pub(crate) fn forget(&self, number: u64) {
        let mut inside = self.lock();
        let dropped = if inside.is_beyond(number) { inside.jobs.remove(&number) } else { None };
        drop(inside);
        drop(dropped);
    }

    /// Waits for jobs and takes the first ones, up to `jobs_max` and about `bytes_max` bytes. Returns none when the queue
    /// is closed and empty.
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

    /// Closes the queue. The jobs that are in it still run.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_all();
    }

    /// Closes the queue and drops its jobs.
    pub(crate) fn abandon(&self) {
        self.close();
        let dropped = mem::take(&mut self.lock().jobs);
        drop(dropped);
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        // No code that can panic runs under this lock.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// Whether a job is in the queue and beyond the limits.
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
