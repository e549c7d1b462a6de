//! Runs calls side by side until all are done or the host stops them.

use std::future::Future;
use std::pin::Pin;
use std::slice::Iter;
use std::task::{Context, Poll};

use futures_util::future::{BoxFuture, poll_fn};
use futures_util::stream::{FuturesUnordered, StreamExt};

use super::call::CallFailure;
use super::run::run_call;
use super::{StopCause, ToolExecutor, ToolOutput};
use crate::session::ToolCall;

/// A call that ran, and its outcome.
pub(super) type Ran<'c> = (&'c ToolCall, Result<ToolOutput, CallFailure>);

/// The next event of a race.
pub(super) enum Step<'c> {
    /// A call is done.
    Done(Ran<'c>),
    /// The host stopped them. These calls were done by then.
    Stopped(StopCause, Vec<Ran<'c>>),
    /// All are done.
    Over,
}

/// Calls that run side by side. No tool is begun once they are stopped, not even the first.
pub(super) struct Race<'c, S> {
    executor: &'c dyn ToolExecutor,
    waiting: Iter<'c, ToolCall>,
    running: FuturesUnordered<BoxFuture<'c, Ran<'c>>>,
    stop: Pin<&'c mut S>,
}

impl<'c, S: Future<Output = StopCause> + Send> Race<'c, S> {
    pub(super) fn new(executor: &'c dyn ToolExecutor, calls: &'c [ToolCall], stop: Pin<&'c mut S>) -> Self {
        Self { executor, waiting: calls.iter(), running: FuturesUnordered::new(), stop }
    }

    /// The calls that did not begin.
    pub(super) fn never_begun(&self) -> &'c [ToolCall] {
        self.waiting.as_slice()
    }

    pub(super) async fn next(&mut self) -> Step<'c> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Step<'c>> {
        if self.waiting.len() == 0 && self.running.is_empty() {
            return Poll::Ready(Step::Over);
        }
        loop {
            if let Poll::Ready(why) = self.stop.as_mut().poll(context) {
                return Poll::Ready(Step::Stopped(why, self.done(context)));
            }
            let Some(call) = self.waiting.next() else {
                return self.running.poll_next_unpin(context).map(|ran| ran.map_or(Step::Over, Step::Done));
            };
            if let Poll::Ready(ran) = self.begin(call, context) {
                return Poll::Ready(Step::Done(ran));
            }
        }
    }

    /// Begins a call. It is polled here and not among the running ones, which may poll it only after a stop.
    fn begin(&mut self, call: &'c ToolCall, context: &mut Context<'_>) -> Poll<Ran<'c>> {
        let mut running: BoxFuture<'c, Ran<'c>> = Box::pin(run_call(self.executor, call));
        let polled = running.as_mut().poll(context);
        if polled.is_pending() {
            self.running.push(running);
        }
        polled
    }

    /// The calls that are done by now.
    fn done(&mut self, context: &mut Context<'_>) -> Vec<Ran<'c>> {
        let mut done = Vec::new();
        while let Poll::Ready(Some(ran)) = self.running.poll_next_unpin(context) {
            done.push(ran);
        }
        done
    }
}
