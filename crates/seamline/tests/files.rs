//! Session files of other programs are checked and repaired.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read fails its test")]

#[path = "files/corpus.rs"]
mod corpus;
#[path = "files/damage.rs"]
mod damage;
#[path = "files/export.rs"]
mod export;
#[path = "files/fixtures.rs"]
mod fixtures;
#[path = "files/packed.rs"]
mod packed;
