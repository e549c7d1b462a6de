//! One transaction, for one tenant.

use futures_util::future::{join_all, join3};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::fault::Fault;
use crate::options::Options;

/// What a statement is given, with the types that the database shall take it for.
pub(crate) type Params<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// A connection, and what has to be known to use it.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) client: &'a Client,
    pub(crate) options: &'a Options,
    pub(crate) begin: &'a str,
    /// Whether an earlier attempt at the same thing may have been carried out.
    pub(crate) again: bool,
}

impl Place<'_> {
    pub(crate) fn tenant(&self) -> &str {
        &self.options.tenant
    }

    /// The seconds of a lease.
    pub(crate) fn lease(&self) -> f64 {
        self.options.lease.as_secs_f64()
    }

    /// One statement in a transaction of its own.
    pub(crate) async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Fault> {
        Ok(self.transact(&[(sql, params)]).await?.pop().unwrap_or_default())
    }

    /// One statement, or nothing where it fails with this code.
    pub(crate) async fn query_unless(
        &self,
        code: &str,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Option<Vec<Row>>, Fault> {
        match self.sent(&[(sql, params)]).await {
            Ok(mut rows) => Ok(rows.pop()),
            Err(error) if error.code().is_some_and(|found| found.code() == code) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Statements in one transaction. All is sent at once: where one fails, the end of the transaction that is already
    /// under way undoes it.
    pub(crate) async fn transact(&self, statements: &[(&str, Params<'_>)]) -> Result<Vec<Vec<Row>>, Fault> {
        Ok(self.sent(statements).await?)
    }

    async fn sent(&self, statements: &[(&str, Params<'_>)]) -> Result<Vec<Vec<Row>>, tokio_postgres::Error> {
        let work = statements.iter().map(|(sql, params)| self.client.query_typed(sql, params));
        let (begun, rows, ended) =
            join3(self.client.batch_execute(self.begin), join_all(work), self.client.batch_execute("COMMIT")).await;
        begun?;
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
        ended?;
        Ok(rows)
    }
}
