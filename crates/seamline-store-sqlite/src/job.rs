//! One thing that a thread of the store is asked to do.

use futures_channel::oneshot;
use rusqlite::Connection;
use seamline_store::{CommitId, Error};

use crate::fault::{Fault, Outcome};

/// Something to be done once a thread gets to it.
pub(crate) trait Job: Send {
    /// How many bytes it brings along.
    fn bytes(&self) -> usize;

    /// What becomes of it when nobody can know whether it was kept.
    fn kind(&self) -> Kind;

    /// Does it, and keeps the answer back. It may be done again when what it did was taken back.
    fn run(&mut self, connection: &Connection) -> Result<(), Fault>;

    /// Its answer is this error, whatever it was before.
    fn fail(&mut self, error: Error);

    /// Whether its answer is no error.
    fn is_done(&self) -> bool;

    /// Gives the answer to whoever waits for it; it may be that nobody does.
    fn answer(self: Box<Self>);
}

/// What kind of thing was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To keep a commit: the same one can be sent again.
    Append(CommitId),
    /// To leave no byte of a session.
    Erase,
    /// Something else.
    Other,
}

/// A job, and where its answer goes.
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

    fn run(&mut self, connection: &Connection) -> Result<(), Fault> {
        self.found = Some(match (self.work)(connection) {
            Ok(value) => Ok(value),
            Err(Fault::Said(error)) => Err(error),
            Err(fault) => return Err(fault),
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
            // Whoever asked may have stopped waiting; what was done is done.
            let _ = self.reply.send(found);
        }
    }
}
