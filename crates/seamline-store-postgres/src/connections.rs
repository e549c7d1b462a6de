//! How an operation is carried out: on a connection of the pool, and again where that is right.

use std::future::Future;
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use seamline_store::Error;
use tokio::time::{Instant, sleep, timeout};

use crate::fault::{Fault, unreached};
use crate::options::Options;
use crate::transaction::Place;

/// How long to wait before the second attempt, and at most before a later one.
const PAUSE_FIRST: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// Something that is asked of the database.
pub(crate) trait Operation: Send + Sync + 'static {
    type Output: Send + 'static;

    /// Whether an attempt that was lost may have changed something.
    const WRITES: bool = true;

    /// Asks once. [`Place::again`] says whether an earlier attempt may have been carried out: an operation that writes
    /// recognises what it has done itself.
    fn attempt(&self, place: &Place<'_>) -> impl Future<Output = Result<Self::Output, Fault>> + Send;

    /// What to say where nobody could find out what became of it.
    fn unknown(&self, why: String) -> Error {
        Error::Unavailable(why)
    }

    /// How many answers one attempt waits for, one after the other.
    fn steps(&self) -> u32 {
        1
    }
}

/// The connections, and how they are used.
#[derive(Debug)]
pub(crate) struct Connections {
    pub(crate) pool: Pool,
    pub(crate) options: Options,
    /// What every transaction begins with.
    pub(crate) begin: String,
}

impl Connections {
    pub(crate) fn new(pool: Pool, options: Options) -> Self {
        let (tenant, timeout_ms) = (&options.tenant, options.attempt_timeout.as_millis());
        // The tenant has the letters of a session's name, so it needs no quoting. All settings end with the transaction.
        // Where a role or a database says not to wait for the disk, what is acknowledged could be lost; where it says to
        // wait for others besides, it is waited for them.
        let mode = if options.read_only { " READ ONLY" } else { "" };
        let begin = format!(
            "BEGIN{mode}; SELECT set_config('seamline.tenant', '{tenant}', true), \
             set_config('statement_timeout', '{timeout_ms}', true), \
             set_config('synchronous_commit', \
             replace(current_setting('synchronous_commit'), 'off', 'on'), true)"
        );
        Self { pool, options, begin }
    }

    /// Carries an operation out, and tries again while it may help: where another transaction was in the way, and
    /// where the connection was lost and it must be found out what was done.
    pub(crate) async fn perform<O: Operation>(&self, operation: O) -> Result<O::Output, Error> {
        let deadline = Instant::now() + self.options.settle_timeout;
        let mut is_open = false;
        let mut pause = PAUSE_FIRST;
        loop {
            let why = match self.attempt(&operation, is_open).await {
                Ok(output) => return Ok(output),
                Err(Fault::Answer(error)) => return Err(error),
                Err(Fault::Nothing(error)) if !is_open => return Err(error),
                Err(Fault::Nothing(error)) => error.to_string(),
                Err(Fault::Aborted(why)) => why,
                Err(Fault::Lost(why)) => {
                    is_open = is_open || O::WRITES;
                    why
                }
            };
            if Instant::now() + pause >= deadline {
                return Err(if is_open { operation.unknown(why) } else { Error::Unavailable(why) });
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn attempt<O: Operation>(&self, operation: &O, again: bool) -> Result<O::Output, Fault> {
        let client = self.pool.get().await.map_err(|error| Fault::Nothing(unreached(error)))?;
        let place = Place { client: &client, options: &self.options, begin: &self.begin, again };
        let patience = self.options.attempt_timeout * operation.steps();
        let result = timeout(patience, operation.attempt(&place)).await;
        let result = result.unwrap_or_else(|_| Err(Fault::Lost(format!("no answer within {patience:?}"))));
        if matches!(result, Err(Fault::Lost(_))) {
            // Nobody knows in which state it is, so nobody gets it again.
            drop(Object::take(client));
        }
        result
    }
}
