//! Runs operations on pooled connections, and retries where that is safe.

use std::future::Future;
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use seamline_store::Error;
use tokio::time::{Instant, sleep, timeout};

use crate::failure::{Failure, connect_error, unavailable};
use crate::options::PostgresOptions;
use crate::transaction::Attempt;

/// The pause before the second attempt, and the longest pause before a later one.
const PAUSE_FIRST: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// A request to the database.
pub(crate) trait Operation: Send + Sync + 'static {
    type Output: Send + 'static;

    /// Whether a lost attempt may have changed something.
    const WRITES: bool = true;

    /// Runs it once. [`Attempt::again`] says whether an earlier attempt may have taken effect: an operation that writes
    /// must recognise its own effect.
    fn run(&self, attempt: &Attempt<'_>) -> impl Future<Output = Result<Self::Output, Failure>> + Send;

    /// Makes the error of an operation whose outcome stays unknown.
    fn unknown(&self, why: String) -> Error {
        unavailable(why)
    }

    /// Returns how many round trips one attempt takes.
    fn steps(&self) -> u32 {
        1
    }
}

/// The pool of connections and its options.
#[derive(Debug)]
pub(crate) struct Connections {
    pub(crate) pool: Pool,
    pub(crate) options: PostgresOptions,
    /// The SQL that every transaction begins with.
    pub(crate) begin: String,
}

impl Connections {
    pub(crate) fn new(pool: Pool, options: PostgresOptions) -> Self {
        let (tenant, timeout_ms) = (&options.tenant, options.attempt_timeout.as_millis());
        // A tenant has only the characters of a session's name, so it needs no quoting. All settings end with the
        // transaction. `synchronous_commit = off` could lose acknowledged commits, so it becomes `on`; stronger values
        // stay.
        let mode = if options.read_only { " READ ONLY" } else { "" };
        let begin = format!(
            "BEGIN{mode}; SELECT set_config('seamline.tenant', '{tenant}', true), \
             set_config('statement_timeout', '{timeout_ms}', true), \
             set_config('synchronous_commit', \
             replace(current_setting('synchronous_commit'), 'off', 'on'), true)"
        );
        Self { pool, options, begin }
    }

    /// Runs an operation. It retries where another transaction was in the way, and where the connection was lost and the
    /// outcome must be settled.
    pub(crate) async fn perform<O: Operation>(&self, operation: O) -> Result<O::Output, Error> {
        let deadline = Instant::now() + self.options.settle_timeout;
        let mut is_open = false;
        let mut pause = PAUSE_FIRST;
        loop {
            let why = match self.attempt(&operation, is_open).await {
                Ok(output) => return Ok(output),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::NotDone(error)) if !is_open => return Err(error),
                Err(Failure::NotDone(error)) => error.message(),
                Err(Failure::Retry(why)) => why,
                Err(Failure::Lost(why)) => {
                    is_open = is_open || O::WRITES;
                    why
                }
            };
            if Instant::now() + pause >= deadline {
                return Err(if is_open { operation.unknown(why) } else { unavailable(why) });
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn attempt<O: Operation>(&self, operation: &O, again: bool) -> Result<O::Output, Failure> {
        let client = self.pool.get().await.map_err(|error| Failure::NotDone(connect_error(error)))?;
        let attempt = Attempt { client: &client, options: &self.options, begin: &self.begin, again };
        let patience = self.options.attempt_timeout * operation.steps();
        let result = timeout(patience, operation.run(&attempt)).await;
        let result = result.unwrap_or_else(|_| Err(Failure::Lost(format!("no response within {patience:?}"))));
        if matches!(result, Err(Failure::Lost(_))) {
            // The state of the connection is unknown, so it does not go back to the pool.
            drop(Object::take(client));
        }
        result
    }
}
