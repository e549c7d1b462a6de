//! The journal of a repair of a database, from which it can be undone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cell::Cell;

/// The columns of a row with their values.
pub(super) type Cells = BTreeMap<String, Cell>;

/// The rows that a repair changed, with their old and their new values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// The version of this form.
    pub version: u32,
    /// The name of the program.
    pub program: String,
    /// The id of the session.
    pub session: String,
    /// The changes in the order in which they were made.
    pub changes: Vec<RowChange>,
    /// The counters of SQLite for new keys: the table, and the value before and after.
    #[serde(default)]
    pub counters: Vec<(String, Option<i64>, Option<i64>)>,
    /// The tables with rows that referred to missing rows before the repair. An undo gives such rows back.
    #[serde(default)]
    pub unlinked: Vec<String>,
}

/// The form of the journals that this version writes.
pub(super) const VERSION: u32 = 1;

/// A row that a repair changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowChange {
    /// The name of the table.
    pub table: String,
    /// The values before; nothing for a row that is new. A changed row has its key and the changed columns, a removed one
    /// has all columns.
    pub before: Option<BTreeMap<String, Cell>>,
    /// The values after; nothing for a row that was removed. A changed row has its key and the changed columns, a new one
    /// has all columns.
    pub after: Option<BTreeMap<String, Cell>>,
}

impl RowChange {
    /// The change that undoes this one.
    pub(super) fn reversed(&self) -> Self {
        Self { table: self.table.clone(), before: self.after.clone(), after: self.before.clone() }
    }
}
