//! What was asked and not done yet.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use crate::job::Job;

/// The most jobs that wait in a queue.
const JOBS_MAX: usize = 1_024;

/// The most bytes of jobs that wait in a queue; one job may have more.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Jobs in the order they came in. Where it is full, whoever asks waits for room, in the order they came.
#[derive(Default)]
pub(crate) struct Queue {
    inside: Mutex<Inside>,
    filled: Condvar,
}

#[derive(Default)]
struct Inside {
    jobs: VecDeque<Box<dyn Job>>,
    bytes: usize,
    /// Who waits for room, by the number of the ticket.
    waiting: BTreeMap<u64, Waker>,
    tickets: u64,
    is_closed: bool,
}

impl Inside {
    fn has_room(&self, bytes: usize) -> bool {
        self.jobs.is_empty() || (self.jobs.len() < JOBS_MAX && self.bytes + bytes <= BYTES_MAX)
    }

    fn push(&mut self, job: Box<dyn Job>) {
        // A job that nobody will do is dropped, and with it what its answer would have come by.
        if !self.is_closed {
            self.bytes += job.bytes();
            self.jobs.push_back(job);
        }
    }
}

impl Queue {
    /// Puts a job in, unless there is no room or somebody has waited longer.
    pub(crate) fn offer(&self, job: Box<dyn Job>) -> Result<(), Box<dyn Job>> {
        let mut inside = self.lock();
        if !inside.is_closed && (!inside.waiting.is_empty() || !inside.has_room(job.bytes())) {
            return Err(job);
        }
        inside.push(job);
        drop(inside);
        self.filled.notify_one();
        Ok(())
    }

    /// Puts a job in when its turn comes; until then `ticket` keeps its place.
    pub(crate) fn poll_offer(
        &self,
        ticket: &mut Option<u64>,
        job: Box<dyn Job>,
        context: &Context<'_>,
    ) -> Result<(), Box<dyn Job>> {
        let mut inside = self.lock();
        let number = *ticket.get_or_insert_with(|| {
            inside.tickets += 1;
            inside.tickets
        });
        let is_first = inside.waiting.keys().next().is_none_or(|first| number <= *first);
        if !inside.is_closed && !(is_first && inside.has_room(job.bytes())) {
            inside.waiting.insert(number, context.waker().clone());
            return Err(job);
        }
        inside.push(job);
        drop(inside);
        self.filled.notify_one();
        self.leave(ticket);
        Ok(())
    }

    /// Gives a place back; the next one may look whether there is room.
    pub(crate) fn leave(&self, ticket: &mut Option<u64>) {
        let Some(number) = ticket.take() else { return };
        let mut inside = self.lock();
        inside.waiting.remove(&number);
        let next = inside.waiting.values().next().cloned();
        drop(inside);
        if let Some(next) = next {
            next.wake();
        }
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
        while let Some(job) = inside
            .jobs
            .pop_front_if(|job| taken.is_empty() || (taken.len() < jobs_max && bytes + job.bytes() <= bytes_max))
        {
            bytes += job.bytes();
            taken.push(job);
        }
        inside.bytes -= bytes;
        let first = inside.waiting.values().next().cloned();
        drop(inside);
        if let Some(first) = first {
            first.wake();
        }
        Some(taken)
    }

    /// Takes nothing in any more; what is in it is still done.
    pub(crate) fn close(&self) {
        self.shut(false);
    }

    /// Takes nothing in any more, and nobody does what is in it.
    pub(crate) fn abandon(&self) {
        self.shut(true);
    }

    fn shut(&self, is_abandoned: bool) {
        let mut inside = self.lock();
        inside.is_closed = true;
        let waiting = mem::take(&mut inside.waiting);
        let dropped = if is_abandoned { mem::take(&mut inside.jobs) } else { VecDeque::new() };
        drop(inside);
        drop(dropped);
        self.filled.notify_all();
        for waker in waiting.into_values() {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        // Nothing that can panic happens while it is held.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("jobs", &self.lock().jobs.len()).finish_non_exhaustive()
    }
}
