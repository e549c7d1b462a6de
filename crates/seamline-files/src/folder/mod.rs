//! Sessions that programs spread over the files of a folder, one file for each record.
//!
//! The caller lists folders and reads the files; this module knows their names and their order. The files of a session are
//! read as lines, one record each, so that the program's [`Format`](crate::session::Format) reads and writes them like the
//! lines of a file. Each program has one file here.

mod layout;
mod opencode;
mod openhands;

pub use layout::{FolderEntry, FolderLayout, FolderSession, NumberGap, find, part_of};

/// All layouts. The first one that a folder fits counts.
const ALL: &[&FolderLayout] = &[&openhands::LAYOUT, &opencode::LAYOUT];
