//! The command as people and programs run it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a bench that cannot be set up fails its test")]

mod assemble;
mod bad_inputs;
mod bench;
mod check;
mod codex_history;
mod convert;
mod convert_sessions;
mod corpus;
mod databases;
mod degraded;
mod diffs;
mod doctor;
mod errors;
mod fix;
mod formats;
mod full_disk;
mod help;
mod histories;
mod host;
mod incidents;
mod large_inputs;
mod lists;
mod live_sessions;
mod logs;
mod programs;
mod proxy;
mod salvage;
mod session_advice;
mod session_bytes;
mod session_copies;
mod session_examples;
mod session_files;
mod session_folders;
mod session_inputs;
mod session_json;
mod session_repair;
mod session_reset;
mod session_stores;
mod sessions;
mod undo;
mod unusable;
mod watch;
