//! Options of a store.

use std::time::Duration;

/// The options of a [`crate::PostgresStore`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// The tenant that owns the sessions. Its name has the form of a [`seamline_store::SessionId`].
    pub tenant: String,
    /// The most connections of the pool.
    pub connections: usize,
    /// How long a request waits for a new or a free connection.
    pub connect_timeout: Duration,
    /// How long one round trip of an attempt may take.
    pub attempt_timeout: Duration,
    /// How long the store tries to settle a write before it reports it as unknown.
    pub settle_timeout: Duration,
    /// How long a lease lasts without renewal, by the clock of the database. The store renews its leases three times in
    /// this time. The lease only decides when another process can open the session without a take-over; whether the
    /// store accepts a commit depends on the epoch alone.
    pub lease: Duration,
    /// Root certificates in PEM to trust instead of those of the machine.
    pub roots: Option<Vec<u8>>,
    /// Whether to create tables without features that only PostgreSQL has. The store does so by itself where it
    /// recognises another database. Names then have the database's text order.
    pub portable: bool,
    /// Whether the store only reads. It then creates no tables, and writes fail with
    /// [`seamline_store::Error::ReadOnly`].
    pub read_only: bool,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            tenant: "default".to_owned(),
            connections: 8,
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(30),
            settle_timeout: Duration::from_mins(1),
            lease: Duration::from_secs(15),
            roots: None,
            portable: false,
            read_only: false,
        }
    }
}
