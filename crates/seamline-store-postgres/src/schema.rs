//! The tables and their format.

use std::fmt::Write as _;

use seamline_store::{Error, cause};
use tokio_postgres::error::SqlState;

use crate::connections::Operation;
use crate::failure::Failure;
use crate::row::{column, count, damaged};
use crate::transaction::Attempt;

/// The format that this version writes: the number of [`MIGRATIONS`] that ran.
const FORMAT: u64 = MIGRATIONS.len() as u64;

/// The migrations from each format to the next. A released migration never changes.
const MIGRATIONS: [fn(Layout) -> String; 4] = [first, second, third, fourth];

/// The number of partitions of the commits.
const PARTITIONS: u32 = 16;

/// The tables with rows of tenants.
const TABLES: [&str; 4] = ["seamline_sessions", "seamline_commits", "seamline_inbox", "seamline_quarantine"];

/// The features that the tables use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// The features of PostgreSQL itself.
    Whole,
    /// The features that compatible databases have too.
    Portable,
}

impl Layout {
    fn of(version: &str) -> Self {
        let is_compatible = ["CockroachDB", "-YB-"].iter().any(|mark| version.contains(mark));
        if is_compatible { Self::Portable } else { Self::Whole }
    }
}

/// Upgrades the tables to the format of this version. Fails if they have a newer one.
#[derive(Debug)]
pub(crate) struct Prepare;

impl Operation for Prepare {
    type Output = ();
    // A repeated attempt finds the tables that the first one created.
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<(), Failure> {
        let found = format(attempt).await?;
        if found > FORMAT {
            return Err(Failure::Final(Error::NewerFormat { found, known: FORMAT }));
        }
        if found < FORMAT { migrate(attempt, found).await } else { Ok(()) }
    }
}

/// Checks for a reader that the tables exist and have this or an older format.
#[derive(Debug)]
pub(crate) struct Find;

impl Operation for Find {
    type Output = ();
    const WRITES: bool = false;

    async fn run(&self, attempt: &Attempt<'_>) -> Result<(), Failure> {
        match format(attempt).await? {
            0 => Err(Failure::Final(Error::Address(cause::Address::NoTables))),
            found if found > FORMAT => Err(Failure::Final(Error::NewerFormat { found, known: FORMAT })),
            _ => Ok(()),
        }
    }
}

/// Reads the format of the tables; 0 if there are none.
async fn format(attempt: &Attempt<'_>) -> Result<u64, Failure> {
    match attempt.client.query_typed("SELECT version FROM seamline_format", &[]).await {
        Ok(rows) => rows
            .first()
            .map_or_else(|| Err(damaged("`seamline_format` has no row".to_owned())), |row| count(row, "version")),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

async fn migrate(attempt: &Attempt<'_>, found: u64) -> Result<(), Failure> {
    let rows = attempt.client.query_typed("SELECT version() AS version", &[]).await?;
    let version: &str = rows.first().map(|row| column(row, "version")).transpose()?.unwrap_or_default();
    let layout = if attempt.options.portable { Layout::Portable } else { Layout::of(version) };
    let steps: String = MIGRATIONS.iter().skip(found as usize).map(|migration| migration(layout)).collect();
    let sql = format!("BEGIN;\n{steps}UPDATE seamline_format SET version = {FORMAT};\nCOMMIT;");
    match attempt.client.batch_execute(&sql).await {
        Ok(()) => Ok(()),
        // Another process creates the same tables. The transaction is still open, so the connection is not reused.
        Err(error) if error.code().is_some_and(is_race) => {
            Err(Failure::Lost("another process creates the tables".to_owned()))
        }
        Err(error) => {
            attempt.client.batch_execute("ROLLBACK").await?;
            Err(error.into())
        }
    }
}

fn is_race(code: &SqlState) -> bool {
    [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT].contains(code)
}

/// Creates the tables of the first format.
fn first(layout: Layout) -> String {
    // Names sort by their bytes, whatever the locale of the database. Compatible databases do so by default.
    let (bytewise, roomy, parted) = match layout {
        Layout::Whole => (" COLLATE \"C\"", " WITH (fillfactor = 60)", " PARTITION BY HASH (session)"),
        Layout::Portable => ("", "", ""),
    };
    let owned = format!("tenant text{bytewise} NOT NULL CHECK (tenant <> ''), session text{bytewise} NOT NULL");
    let mut sql = format!(
        "CREATE TABLE seamline_format (only_row boolean PRIMARY KEY CHECK (only_row), version bigint NOT NULL);
INSERT INTO seamline_format VALUES (true, 0);
CREATE TABLE seamline_sessions (
    {owned}, epoch bigint NOT NULL, head_seq bigint NOT NULL, head_hash bytea NOT NULL,
    commits bigint NOT NULL, bytes bigint NOT NULL, inbox_last bigint NOT NULL DEFAULT 0,
    holder text, lease_until timestamptz, erased_at timestamptz,
    made_at timestamptz NOT NULL DEFAULT now(), touched_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, session)
){roomy};
CREATE TABLE seamline_commits (
    {owned}, seq bigint NOT NULL, records bigint NOT NULL, epoch bigint NOT NULL, commit_id bytea NOT NULL,
    prev bytea NOT NULL, hash bytea NOT NULL, body bytea NOT NULL, kept_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, session, seq), UNIQUE (tenant, session, commit_id)
){parted};
CREATE TABLE seamline_inbox (
    {owned}, id bytea NOT NULL, place bigint NOT NULL, message bytea, hash bytea,
    PRIMARY KEY (tenant, session, id)
);
CREATE TABLE seamline_quarantine (
    {owned}, hash bytea NOT NULL, bytes bytea NOT NULL, put_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, session, hash)
);
"
    );
    for table in TABLES {
        sql += &row_security(table);
        // A missing setting is an error, so a transaction without a tenant sees no row.
        let is_own = "tenant = current_setting('seamline.tenant')";
        let _ = writeln!(sql, "CREATE POLICY seamline_tenant ON {table} USING ({is_own}) WITH CHECK ({is_own});");
    }
    if layout == Layout::Whole {
        sql += &partitions();
    }
    sql
}

/// Adds an index of the waiting messages: the rows of taken messages stay, and reads must not scan them.
fn second(_: Layout) -> String {
    "CREATE INDEX seamline_inbox_waiting ON seamline_inbox (tenant, session, place) WHERE message IS NOT NULL;\n"
        .to_owned()
}

/// Adds the dialects of inbox messages.
fn third(_: Layout) -> String {
    "ALTER TABLE seamline_inbox ADD COLUMN dialect text;\n".to_owned()
}

/// Adds the dialects of sessions.
fn fourth(_: Layout) -> String {
    "ALTER TABLE seamline_sessions ADD COLUMN dialect text;\n".to_owned()
}

/// Creates the partitions. They have no policy of their own, so their rows are visible only through the main table.
fn partitions() -> String {
    let mut sql = String::new();
    for part in 0..PARTITIONS {
        let name = format!("seamline_commits_{part}");
        let _ = writeln!(
            sql,
            "CREATE TABLE {name} PARTITION OF seamline_commits FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part});"
        );
        sql += &row_security(&name);
    }
    sql
}

/// Enables row-level security, also for the owner of the table.
fn row_security(table: &str) -> String {
    format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\nALTER TABLE {table} FORCE ROW LEVEL SECURITY;\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compatible_databases_get_tables_without_partitions() {
        assert_eq!(Layout::of("PostgreSQL 17.2 on x86_64-pc-linux-gnu"), Layout::Whole);
        assert_eq!(Layout::of("CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu)"), Layout::Portable);
        assert_eq!(Layout::of("PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64"), Layout::Portable);
        assert!(first(Layout::Whole).contains("PARTITION"));
        for only_ours in ["PARTITION", "COLLATE", "fillfactor"] {
            assert!(!first(Layout::Portable).contains(only_ours), "{only_ours}");
        }
    }

    #[test]
    fn every_table_of_tenants_has_row_level_security() {
        for layout in [Layout::Whole, Layout::Portable] {
            let sql = first(layout);
            assert_eq!(sql.matches("FORCE ROW").count(), sql.matches("CREATE TABLE").count() - 1);
        }
    }
}
