//! The tables, and their format.

use std::fmt::Write as _;

use seamline_store::Error;
use tokio_postgres::error::SqlState;

use crate::connections::Operation;
use crate::fault::Fault;
use crate::row::{column, count, damaged};
use crate::transaction::Place;

/// The format that this version writes: how many of [`MIGRATIONS`] were carried out.
const FORMAT: u64 = MIGRATIONS.len() as u64;

/// What leads from each format to the next. One that was ever released is not changed any more.
const MIGRATIONS: [fn(Layout) -> String; 2] = [first, second];

/// How many parts the commits are kept in.
const PARTITIONS: u32 = 16;

/// The tables that belong to tenants.
const TABLES: [&str; 4] = ["seamline_sessions", "seamline_commits", "seamline_inbox", "seamline_quarantine"];

/// What a database can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// All that PostgreSQL can.
    Whole,
    /// What its relatives can too.
    Portable,
}

impl Layout {
    fn of(version: &str) -> Self {
        let is_relative = ["CockroachDB", "-YB-"].iter().any(|mark| version.contains(mark));
        if is_relative { Self::Portable } else { Self::Whole }
    }
}

/// Brings the tables to the format of this version, or says that they have a newer one.
#[derive(Debug)]
pub(crate) struct Prepare;

impl Operation for Prepare {
    type Output = ();
    // Whoever comes second finds what the first one did, and is content with it.
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<(), Fault> {
        let found = format(place).await?;
        if found > FORMAT {
            return Err(Fault::Answer(Error::NewerFormat { found, known: FORMAT }));
        }
        if found < FORMAT { migrate(place, found).await } else { Ok(()) }
    }
}

/// Finds the tables for whoever only reads, of this format or an older one.
#[derive(Debug)]
pub(crate) struct Find;

impl Operation for Find {
    type Output = ();
    const WRITES: bool = false;

    async fn attempt(&self, place: &Place<'_>) -> Result<(), Fault> {
        match format(place).await? {
            0 => Err(Fault::Answer(Error::Address("there is no store in this database".to_owned()))),
            found if found > FORMAT => Err(Fault::Answer(Error::NewerFormat { found, known: FORMAT })),
            _ => Ok(()),
        }
    }
}

/// The format that is there; 0 where there are no tables.
async fn format(place: &Place<'_>) -> Result<u64, Fault> {
    match place.client.query_typed("SELECT version FROM seamline_format", &[]).await {
        Ok(rows) => rows
            .first()
            .map_or_else(|| Err(damaged("`seamline_format` says nothing".to_owned())), |row| count(row, "version")),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

async fn migrate(place: &Place<'_>, found: u64) -> Result<(), Fault> {
    let rows = place.client.query_typed("SELECT version() AS version", &[]).await?;
    let version: &str = rows.first().map(|row| column(row, "version")).transpose()?.unwrap_or_default();
    let layout = if place.options.portable { Layout::Portable } else { Layout::of(version) };
    let steps: String = MIGRATIONS.iter().skip(found as usize).map(|migration| migration(layout)).collect();
    let sql = format!("BEGIN;\n{steps}UPDATE seamline_format SET version = {FORMAT};\nCOMMIT;");
    match place.client.batch_execute(&sql).await {
        Ok(()) => Ok(()),
        // Somebody else is making the same tables. The transaction is open, so this connection is not used again.
        Err(error) if error.code().is_some_and(is_race) => Err(Fault::Lost("the tables are being made".to_owned())),
        Err(error) => {
            place.client.batch_execute("ROLLBACK").await?;
            Err(error.into())
        }
    }
}

fn is_race(code: &SqlState) -> bool {
    [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT].contains(code)
}

/// The first format.
fn first(layout: Layout) -> String {
    // Names are ordered by their bytes, whatever language the database speaks. Its relatives do so by themselves.
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
        sql += &guarded(table);
        // A setting that is not there is an error, so whoever names no tenant gets nothing.
        let is_own = "tenant = current_setting('seamline.tenant')";
        let _ = writeln!(sql, "CREATE POLICY seamline_tenant ON {table} USING ({is_own}) WITH CHECK ({is_own});");
    }
    if layout == Layout::Whole {
        sql += &partitions();
    }
    sql
}

/// Messages that were taken stay in the inbox by their ids; those that wait are found without going through them.
fn second(_: Layout) -> String {
    "CREATE INDEX seamline_inbox_waiting ON seamline_inbox (tenant, session, place) WHERE message IS NOT NULL;\n"
        .to_owned()
}

/// Partitions have no policy of their own: past the table they belong to, nobody sees a row.
fn partitions() -> String {
    let mut sql = String::new();
    for part in 0..PARTITIONS {
        let name = format!("seamline_commits_{part}");
        let _ = writeln!(
            sql,
            "CREATE TABLE {name} PARTITION OF seamline_commits FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part});"
        );
        sql += &guarded(&name);
    }
    sql
}

/// Binds everybody, the owner of the table too.
fn guarded(table: &str) -> String {
    format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\nALTER TABLE {table} FORCE ROW LEVEL SECURITY;\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_of_postgresql_get_tables_without_partitions() {
        assert_eq!(Layout::of("PostgreSQL 17.2 on x86_64-pc-linux-gnu"), Layout::Whole);
        assert_eq!(Layout::of("CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu)"), Layout::Portable);
        assert_eq!(Layout::of("PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64"), Layout::Portable);
        assert!(first(Layout::Whole).contains("PARTITION"));
        for only_ours in ["PARTITION", "COLLATE", "fillfactor"] {
            assert!(!first(Layout::Portable).contains(only_ours), "{only_ours}");
        }
    }

    #[test]
    fn every_table_of_tenants_is_guarded() {
        for layout in [Layout::Whole, Layout::Portable] {
            let sql = first(layout);
            assert_eq!(sql.matches("FORCE ROW").count(), sql.matches("CREATE TABLE").count() - 1);
        }
    }
}
