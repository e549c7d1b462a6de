//! The future of a request.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_channel::oneshot;
use rusqlite::Connection;
use seamline_store::Error;

use crate::failure::Outcome;
use crate::job::{Kind, Task};
use crate::queue::Queue;

/// The future of a request that is already in the queue.
pub(crate) struct Asked<T> {
    queue: Arc<Queue>,
    number: u64,
    outcome: oneshot::Receiver<Result<T, Error>>,
}

/// Queues a request.
pub(crate) fn ask<T, W>(queue: &Arc<Queue>, kind: Kind, bytes: usize, work: W) -> Asked<T>
where
    T: Send + 'static,
    W: Fn(&Connection) -> Outcome<T> + Send + 'static,
{
    let (reply, outcome) = oneshot::channel();
    let number = queue.push(Box::new(Task { kind, bytes, work, found: None, reply }));
    Asked { queue: queue.clone(), number, outcome }
}

impl<T> Future for Asked<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.outcome).poll(context).map(|outcome| outcome.unwrap_or_else(|_| Err(Error::Poisoned)))
    }
}

impl<T> Drop for Asked<T> {
    fn drop(&mut self) {
        self.queue.forget(self.number);
    }
}
