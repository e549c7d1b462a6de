//! What somebody who asked waits for.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_channel::oneshot;
use rusqlite::Connection;
use seamline_store::Error;

use crate::fault::Outcome;
use crate::job::{Kind, Task};
use crate::queue::Queue;

/// The answer to come. What was asked is in the queue already.
pub(crate) struct Asked<T> {
    queue: Arc<Queue>,
    number: u64,
    answer: oneshot::Receiver<Result<T, Error>>,
}

/// Asks for something to be done.
pub(crate) fn ask<T, W>(queue: &Arc<Queue>, kind: Kind, bytes: usize, work: W) -> Asked<T>
where
    T: Send + 'static,
    W: Fn(&Connection) -> Outcome<T> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    let number = queue.push(Box::new(Task { kind, bytes, work, found: None, reply }));
    Asked { queue: queue.clone(), number, answer }
}

impl<T> Future for Asked<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.answer).poll(context).map(|answer| {
            answer.unwrap_or_else(|_| Err(Error::Poisoned("the thread that does the work has ended".to_owned())))
        })
    }
}

impl<T> Drop for Asked<T> {
    fn drop(&mut self) {
        self.queue.forget(self.number);
    }
}
