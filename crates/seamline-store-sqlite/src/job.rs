//! A request to a thread of the store.

use futures_channel::oneshot;
use rusqlite::Connection;
use seamline_store::{CommitId, Error};

use crate::failure::{Failure, Outcome};

/// A request that waits for its thread.
pub(crate) trait Job: Send {
    /// Returns how many bytes its arguments have.
    fn bytes(&self) -> usize;

    /// Returns its kind, which decides its error when the outcome is unknown.
    fn kind(&self) -> Kind;

    /// Runs it and holds its result back. The thread may run it again after a rollback.
    fn run(&mut self, connection: &Connection) -> Result<(), Failure>;

    /// Replaces its result with an error.
    fn fail(&mut self, error: Error);

    /// Whether its result is a success.
    fn is_done(&self) -> bool;

    /// Sends the result to the caller, if it still waits.
    fn answer(self: Box<Self>);
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Appends a commit: the caller can send the same one again.
    Append(CommitId),
    /// Erases every byte of a session.
    Erase,
    /// Any other request.
    Other,
}

/// A request and the channel for its result.
pub(crate) struct Task<T, W> {
    pub(crate) kind: Kind,
    pub(crate) bytes: usize,
    pub(crate) work: W,
    pub(crate) found: Option<Result<T, Error>>,
    pub(crate) reply: oneshot::Sender<Result<T, Error>>,
}

impl<T, W> Job for Task<T, W>
where
    T: Send,
    W: Fn(&Connection) -> Outcome<T> + Send,
{
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn run(&mut self, connection: &Connection) -> Result<(), Failure> {
        self.found = Some(match (self.work)(connection) {
            Ok(value) => Ok(value),
            Err(Failure::Rejected(error)) => Err(error),
            Err(failure) => return Err(failure),
        });
        Ok(())
    }

    fn fail(&mut self, error: Error) {
        self.found = Some(Err(error));
    }

    fn is_done(&self) -> bool {
        matches!(self.found, Some(Ok(_)))
    }

    fn answer(self: Box<Self>) {
        if let Some(found) = self.found {
            // The caller may have stopped waiting; the change stays.
            let _ = self.reply.send(found);
        }
    }
}
