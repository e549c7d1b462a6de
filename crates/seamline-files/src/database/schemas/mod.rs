//! The programs that keep sessions in databases, one file each.

mod goose;
mod langgraph;
mod openai_agents;
mod openclaw;
mod opencode;

use rusqlite::Connection;

use super::open::columns_of;
use super::schema::Schema;

/// All schemas. The first one whose tables a database has counts.
pub(super) const ALL: &[&Schema] =
    &[&opencode::SCHEMA, &goose::SCHEMA, &openai_agents::SCHEMA, &langgraph::SCHEMA, &openclaw::SCHEMA];

/// The names of columns in a query, or `NULL` for a column that the table does not have: the tables of a program grow with
/// its versions.
fn columns(connection: &Connection, table: &str, names: &[&'static str]) -> rusqlite::Result<Vec<&'static str>> {
    let found = columns_of(connection, table)?;
    let has = |name: &str| found.iter().any(|found| found == name);
    Ok(names.iter().map(|name| if has(name) { *name } else { "NULL" }).collect())
}
