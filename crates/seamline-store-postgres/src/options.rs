//! What a caller can choose.

use std::time::Duration;

/// How a [`crate::PostgresStore`] works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whose sessions they are. A tenant is named like a session ([`seamline_store::SessionId`]).
    pub tenant: String,
    /// The most connections at a time.
    pub connections: usize,
    /// How long a connection may take to be made, or to become free.
    pub connect_timeout: Duration,
    /// How long the answer to one attempt may take.
    pub attempt_timeout: Duration,
    /// How long something that may have been written is asked about before it counts as unknown.
    pub settle_timeout: Duration,
    /// How long a session stays its writer's after the process is gone, by the clock of the database: as long as the
    /// store lives, it says three times in this time that the writer is there. No commit is taken or refused because
    /// of it: it only decides who may take over without being told to.
    pub lease: Duration,
    /// Certificates to trust instead of those of the machine, in PEM.
    pub roots: Option<Vec<u8>>,
    /// Makes tables without what only PostgreSQL itself has. Where another database is recognised, that is so anyway.
    /// Names are then ordered as the database orders text.
    pub portable: bool,
    /// Makes no tables and writes nothing: whatever would is answered with [`seamline_store::Error::ReadOnly`].
    pub read_only: bool,
}

impl Default for Options {
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
