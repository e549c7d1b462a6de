//! One attempt of an operation: its connection and its transactions.

use futures_util::future::{join_all, join3};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::failure::Failure;
use crate::options::PostgresOptions;

/// The parameters of a statement and their types.
pub(crate) type Params<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// One attempt of an operation on a connection.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) client: &'a Client,
    pub(crate) options: &'a PostgresOptions,
    pub(crate) begin: &'a str,
    /// Whether an earlier attempt of the same operation may have taken effect.
    pub(crate) again: bool,
}

impl Attempt<'_> {
    pub(crate) fn tenant(&self) -> &str {
        &self.options.tenant
    }

    /// Returns the duration of a lease in seconds.
    pub(crate) fn lease(&self) -> f64 {
        self.options.lease.as_secs_f64()
    }

    /// Runs one statement in its own transaction.
    pub(crate) async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        Ok(self.transact(&[(sql, params)]).await?.pop().unwrap_or_default())
    }

    /// Runs one statement in its own transaction. Returns none if it fails with `code`.
    pub(crate) async fn query_unless(
        &self,
        code: &str,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Option<Vec<Row>>, Failure> {
        match self.send(&[(sql, params)]).await {
            Ok(mut rows) => Ok(rows.pop()),
            Err(error) if error.code().is_some_and(|found| found.code() == code) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs statements in one transaction. It sends all of them at once: if one fails, the `COMMIT` that was already sent
    /// rolls the transaction back.
    pub(crate) async fn transact(&self, statements: &[(&str, Params<'_>)]) -> Result<Vec<Vec<Row>>, Failure> {
        Ok(self.send(statements).await?)
    }

    async fn send(&self, statements: &[(&str, Params<'_>)]) -> Result<Vec<Vec<Row>>, tokio_postgres::Error> {
        let work = statements.iter().map(|(sql, params)| self.client.query_typed(sql, params));
        let (begun, rows, ended) =
            join3(self.client.batch_execute(self.begin), join_all(work), self.client.batch_execute("COMMIT")).await;
        begun?;
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
        ended?;
        Ok(rows)
    }
}
