//! Threads that serve the connections of a proxy, each with a runtime of its own.
//!
//! A request takes several tasks: the connection of the client, and the one to the upstream. On one thread they wake each
//! other without the system, and no lock or cache line moves between processors. Every thread has its own connections to
//! upstreams.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::num::NonZero;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// The most threads.
pub(crate) const WORKERS_MAX: usize = 64;

thread_local! {
    /// The number of this thread, from 1; 0 for every other thread.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// The threads of a proxy. They end when it is dropped.
pub struct Workers {
    handles: Vec<Handle>,
    threads: Vec<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Workers {
    /// Starts a thread for each processor.
    ///
    /// # Errors
    /// Fails when the system starts no thread.
    pub fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, NonZero::get).min(WORKERS_MAX);
        let mut workers = Self { handles: Vec::new(), threads: Vec::new() };
        for number in 1..=count {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            workers.handles.push(runtime.handle().clone());
            let (stop, stopped) = oneshot::channel::<()>();
            let run = move || {
                NUMBER.set(number);
                // A dropped sender means the same as a message.
                let _ = runtime.block_on(stopped);
                runtime.shutdown_background();
            };
            let thread = thread::Builder::new().name(format!("seamline-{number}")).spawn(run)?;
            workers.threads.push((stop, thread));
        }
        Ok(workers)
    }

    /// The runtimes of the threads.
    pub(crate) fn handles(&self) -> &[Handle] {
        &self.handles
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (stop, thread) in self.threads.drain(..) {
            drop(stop);
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("count", &self.handles.len()).finish_non_exhaustive()
    }
}

/// The number of this thread among the workers, from 1; 0 where it is none.
pub(crate) fn number() -> usize {
    NUMBER.get()
}
